#!/usr/bin/env bash
# Tests kubectl on `muster up`: server-side apply, `kubectl create`, which sends protobuf, manifests of
# kind List, pods that name no scheduler, claims, and a snapshot that is loaded into another cluster.
# Skipped without a kubectl in PATH or built by tests/live/run.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
muster=${MUSTER_BUILD:-$source/build/release}/muster
skip() {
    echo "skipped: $*"
    exit 77
}
[[ -x $muster ]] || skip "there is no $muster"
"$muster" up --help 2>/dev/null | grep -q -- --only-server || skip "this muster has no command up"
said=$("$muster" schedule --server http://127.0.0.1:1 --timeout 1 --dry-run 2>&1) || true
[[ $said != *"built without"* ]] || skip "$said"
PATH=$PATH:$(dirname "$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/muster-live/*/kubectl 2>/dev/null | head -1)")
command -v kubectl >/dev/null || skip "there is no kubectl"

failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
# runs EXPECTED ARGUMENTS...: kubectl succeeds, and its output contains EXPECTED.
runs() {
    local expected=$1 said
    shift
    said=$(kubectl "$@" 2>&1) || fail "kubectl $*: $said"
    [[ $said == *"$expected"* ]] || fail "kubectl $* prints '$said', and not '$expected'"
}

cd "$work"
rm -f kubeconfig
: >up.log
export KUBECONFIG=$work/kubeconfig
"$muster" up --kubeconfig "$KUBECONFIG" -f "$source/examples/deploy/crds" \
    -f "$source/examples/tour/node-a.yaml" --pod-delay 0 >up.log 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    ! grep -q "^serving" up.log || break
    sleep 0.1
done

runs "Server Version: v1.36.3" version
runs "This server does not document the fields of Pod" explain pods

# Kubernetes' own kinds, in protobuf.
runs "deployment.apps/web created" create deployment web --image=i --port=80
runs 80 get deployment web -o 'jsonpath={.spec.template.spec.containers[0].ports[0].containerPort}'
runs "job.batch/one created" create job one --image=i -- true
# No controller runs for Deployments and Jobs: an event on each says so.
for _ in $(seq 50); do
    [[ $(kubectl get events --field-selector involvedObject.name=one 2>&1) != *NoController* ]] || break
    sleep 0.1
done
runs NoController get events --field-selector involvedObject.name=one
runs "configmap/some created" create configmap some --from-literal=a=b
runs "secret/hidden created" create secret generic hidden --from-literal=a=b
runs '{"a":"Yg=="}' get secret hidden -o 'jsonpath={.data}'
runs "namespace/team created" create namespace team

# Server-side apply creates objects, changes fields, and removes fields that are no longer applied.
map() {
    printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":%s}' "$1" >map.json
}
map '{"a":"1","b":"1"}'
runs "configmap/applied serverside-applied" apply --server-side -f map.json
map '{"a":"2"}'
runs "configmap/applied serverside-applied" apply --server-side -f map.json
runs '{"a":"2"}' get configmap applied -o 'jsonpath={.data}'
map '{"a":"3"}'
! said=$(kubectl apply --server-side --field-manager=other -f map.json 2>&1) ||
    fail "another manager's value is overwritten"
[[ $said == *'conflict with "kubectl": .data.a'* ]] || fail "the conflict says: $said"
runs "serverside-applied" apply --server-side --force-conflicts --field-manager=other -f map.json
runs "genericjob.batch.tensorstack.dev/generic-example serverside-applied" \
    apply --server-side -f "$source/examples/tour/job.yaml"
runs "deleted" delete -f "$source/examples/tour/job.yaml"

# A manifest of kind List is split by kubectl. The server validates its items.
cat >list.yaml <<'END'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: listed}, data: {a: b}}
- {apiVersion: v1, kind: Pod, metadata: {name: listed}, spec: {containers: [{name: c, image: i}]}}
END
runs "pod/listed created" apply -f list.yaml
runs "configmap/listed unchanged" apply -f list.yaml
runs "pod/listed serverside-applied" apply --server-side -f list.yaml
runs "deleted" delete -f list.yaml

# A pod that names no scheduler runs; one that cannot says why.
runs "pod/plain created" run plain --image=i
runs "condition met" wait --for=condition=Ready --timeout=30s pod/plain
runs "pod/vast created" run vast --image=i \
    --overrides='{"spec":{"containers":[{"name":"vast","image":"i","resources":{"requests":{"cpu":"1000"}}}]}}'
runs "condition met" wait --for=condition=PodScheduled=false --timeout=30s pod/vast
runs "Insufficient cpu" get pod vast -o 'jsonpath={.status.conditions[0].message}'

# What Kubernetes refuses is refused: an amount, an unknown field, a name.
# refuses EXPECTED SPEC: kubectl cannot create a pod with this spec, and its output contains EXPECTED.
refuses() {
    local said
    printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bad"},"spec":%s}' "$2" >bad.json
    ! said=$(kubectl apply -f bad.json 2>&1) || fail "a pod is created with $2"
    [[ $said == *"$1"* ]] || fail "kubectl apply with $2 prints '$said', and not '$1'"
}
refuses "quantities must match the regular expression" \
    '{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"abc"}}}]}'
refuses 'strict decoding error: unknown field "spec.containers[0].cmd"' \
    '{"containers":[{"name":"c","image":"i","cmd":["true"]}]}'
refuses 'spec.containers[0].name: Invalid value: "C": a lowercase RFC 1123 label' \
    '{"containers":[{"name":"C","image":"i"}]}'

# A claim that waits for its first consumer has an event, and is provisioned for the node of its pod.
cat >claim.yaml <<'END'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: example.com/disk
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: none}
spec: {storageClassName: "", accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
END
runs "persistentvolumeclaim/data created" apply -f claim.yaml
runs "condition met" wait --for=jsonpath='{.status.phase}'=Pending --timeout=10s pvc/data
# lists KIND PATTERN: a line of the table of a kind, with single blanks, matches.
lists() {
    local found
    found=$(kubectl get "$1" 2>&1 | tr -s ' ')
    grep -qE "$2" <<<"$found" || fail "kubectl get $1 prints '$found', and no line '$2'"
}
lists storageclass '^fast \(default\) example.com/disk Delete WaitForFirstConsumer false [0-9]+s$'
lists pvc '^data Pending fast <unset> [0-9]+s$'
# reasons CLAIM: the reasons of its events.
reasons() { kubectl get events --field-selector "involvedObject.name=$1" -o 'jsonpath={.items[*].reason}'; }
for _ in $(seq 50); do
    [[ $(reasons data) != WaitForFirstConsumer || $(reasons none) != FailedBinding ]] || break
    sleep 0.1
done
[[ $(reasons data) == WaitForFirstConsumer ]] || fail "the events of the claim are: $(reasons data)"
[[ $(reasons none) == FailedBinding ]] || fail "the events of a claim with no class are: $(reasons none)"
# pod NAME CLAIM: creates a pod that mounts the claim.
pod() {
    printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":{"containers":[{"name":"c","image":"i"}],
        "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"%s"}}]}}' "$1" "$2" >pod.json
    runs "pod/$1 created" apply -f pod.json
}
pod user data
runs "condition met" wait --for=condition=Ready --timeout=30s pod/user
lists pvc '^data Bound pvc-[0-9a-f-]+ 1Gi RWO fast <unset> [0-9]+s$'
lists pv '^pvc-[0-9a-f-]+ 1Gi RWO Delete Bound default/data fast <unset> [0-9]+s$'
# The condition of a pod whose claim cannot be bound has a reason.
pod stuck none
runs "condition met" wait --for=condition=PodScheduled=false --timeout=30s pod/stuck
runs "VolumeNotReady" get pod stuck -o 'jsonpath={.status.conditions[0].reason}'

# The spec of a claim is fixed, and a claim is kept while a pod with a node mounts the claim.
! said=$(kubectl patch pvc data -p '{"spec":{"accessModes":["ReadWriteMany"]}}' 2>&1) || fail "a claim is changed"
[[ $said == *"spec is immutable after creation"* ]] || fail "the change of a claim says: $said"
runs "persistentvolumeclaim/held created" create -f - <<'END'
{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"held"},
 "spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}
END
pod holds held
runs "condition met" wait --for=condition=Ready --timeout=30s pod/holds
runs "deleted" delete pvc held --wait=false
lists pvc '^held Terminating pvc-'
runs "deleted" delete pod holds --grace-period=1
runs "" wait --for=delete --timeout=30s pvc/held

# A snapshot of the cluster is loaded into another cluster, where running pods keep running.
runs "condition met" wait --for=condition=Ready --timeout=30s pod/plain
"$muster" snapshot -o cluster.yaml 2>snapshot.log || fail "muster snapshot: $(cat snapshot.log)"
started=$(kubectl get pod user -o 'jsonpath={.metadata.uid} {.spec.nodeName} {.status.startTime}')
bound=$(kubectl get pvc data -o 'jsonpath={.metadata.uid} {.spec.volumeName} {.status.phase}')
((failures == 0)) || { cat up.log; exit 1; }
kill "$server"
wait "$server" || { echo "FAILED: muster up ends with $?"; exit 1; }
: >up.log
"$muster" up --kubeconfig "$KUBECONFIG" -f cluster.yaml --pod-delay 0 >up.log 2>&1 &
server=$!
for _ in $(seq 100); do
    ! grep -q "^serving" up.log || break
    sleep 0.1
done
grep -q "^serving" up.log || fail "muster up -f cluster.yaml: $(cat up.log)"
runs "condition met" wait --for=condition=PodScheduled=false --timeout=30s pod/stuck
runs "$started" get pod user -o 'jsonpath={.metadata.uid} {.spec.nodeName} {.status.startTime}'
runs "$bound" get pvc data -o 'jsonpath={.metadata.uid} {.spec.volumeName} {.status.phase}'
# Deleting one restored pod leaves the other restored pods in place.
runs "deleted" delete pod plain
runs "Running" get pod user -o 'jsonpath={.status.phase}'

((failures == 0)) || { cat up.log; exit 1; }
kill "$server"
wait "$server" || { echo "FAILED: muster up ends with $?"; exit 1; }
trap - EXIT
echo "fine"
