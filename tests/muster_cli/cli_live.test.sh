#!/usr/bin/env bash
# `muster snapshot`, `schedule` and `shadow` speak to a cluster: here to the one of `muster up`.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
for command in up schedule; do
    if ! "$muster" $command --help >/dev/null 2>&1; then
        echo "skipped: this muster has no command $command"
        exit 77
    fi
done
cat >"$work/cluster.yaml" <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: podgroups.scheduler.tensorstack.dev}
spec:
  group: scheduler.tensorstack.dev
  scope: Namespaced
  names: {kind: PodGroup, plural: podgroups}
  versions:
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "2", pods: "10"}}
---
apiVersion: scheduler.tensorstack.dev/v1beta1
kind: PodGroup
metadata: {name: train, namespace: default}
spec: {minMember: 1}
END
for pod in train-0 train-1; do
    cat >>"$work/cluster.yaml" <<END
---
apiVersion: v1
kind: Pod
metadata: {name: $pod, namespace: default, labels: {scheduler.tensorstack.dev/group-name: train}}
spec:
  schedulerName: t9k-scheduler
  containers: [{name: c, image: i, env: [{name: KEY, value: s3cret}], resources: {requests: {cpu: 1}}}]
END
done
cat >>"$work/cluster.yaml" <<'END'
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, env: [{name: KEY, value: s3cret}]}]}
END
# Another scheduler has placed this pod, whose group labels are not valid.
cat >>"$work/cluster.yaml" <<'END'
---
apiVersion: v1
kind: Pod
metadata: {name: foreign, namespace: default, labels: {pod-group.scheduling.sigs.k8s.io/name: broken}}
spec:
  schedulerName: default-scheduler
  nodeName: node-a
  containers: [{name: c, image: i}]
status: {phase: Running}
END

server=
scheduler=
storage=
trap 'kill $server $scheduler $storage 2>/dev/null || true' EXIT
rm -f "$work/says" "$work/config" "$work/log"
mkfifo "$work/says"
"$muster" up --only-server --plain --pod-delay 0 --kubeconfig "$work/config" -f "$work/cluster.yaml" \
    >"$work/says" 2>"$work/err" &
server=$!
exec 4<"$work/says"
read -r line <&4 || { fail "muster up: $(cat "$work/err")"; finish; }
line_of_server=$line
at=(--server "http://127.0.0.1:${line##*:}")

"$muster" snapshot "${at[@]}" -o "$work/snapshot.json" 2>"$work/err" ||
    fail "snapshot: $(cat "$work/err")"
! grep -q s3cret "$work/snapshot.json" || fail "the snapshot holds what containers may keep secret"
grep -q '"ReplicaSet".*"spec":{"selector":{"matchLabels":{"app":"web"}}}' "$work/snapshot.json" ||
    fail "the snapshot lacks the selector of a ReplicaSet"
"$muster" plan -f "$work/snapshot.json" --default-spread system >"$work/out" 2>&1 ||
    fail "plan with default spread constraints: $(cat "$work/out")"
! grep -q "default-spread\|skipped\|web" "$work/out" || fail "the ReplicaSet of a snapshot: $(cat "$work/out")"
planned=$("$muster" plan -f "$work/snapshot.json" -o pods --no-headers 2>&1) || true
[[ $planned == *train-0*Running*train-1*Running* ]] || fail "plan: $planned"
"$muster" snapshot "${at[@]}" --scheduler-name somebody-else -o "$work/others.json" 2>"$work/err" ||
    fail "snapshot of another's pods: $(cat "$work/err")"
! grep -q train-0 "$work/others.json" || fail "a snapshot holds what waits for others"
"$muster" snapshot "${at[@]}" --scheduler-name t9k-scheduler 2>"$work/err" |
    diff -q - "$work/snapshot.json" >/dev/null || fail "a snapshot of one's own pods lacks something"
said=$("$muster" whatif -f "$work/snapshot.json" --cordon node-a 2>&1) || true
[[ $said == *train*Waiting*NodeUnschedulable* ]] || fail "whatif: $said"
said=$("$muster" explain -f "$work/snapshot.json" 2>&1) || fail "explain: $said"
[[ $said == *"none of the groups asked for waits" ]] || fail "explain of what starts: $said"
# A snapshot names the kinds that it lists: a claim that a snapshot lacks does not exist.
cat >"$work/claiming.yaml" <<'END'
apiVersion: v1
kind: Pod
metadata: {name: claiming, namespace: default}
spec:
  containers: [{name: c, image: i}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
END
said=$("$muster" explain -f "$work/snapshot.json" -f "$work/claiming.yaml" 2>&1) || true
[[ $said == *"claim data does not exist"* ]] || fail "a claim that a snapshot lacks: $said"

said=$("$muster" schedule "${at[@]}" --dry-run 2>&1) || fail "dry run: $said"
[[ $said == $'start\tdefault/train\tdefault/train-0\tnode-a\nstart\tdefault/train\tdefault/train-1\tnode-a' ]] ||
    fail "dry run: $said"
said=$("$muster" shadow "${at[@]}" --scheduler-name t9k-scheduler --for 1 2>&1) || fail "shadow: $said"
[[ $said == "0 pods bound"*"2 still wait that Muster would start" ]] || fail "shadow: $said"
said=$("$muster" shadow "${at[@]}" --scheduler-name t9k-scheduler --surplus in-turn --for 1 2>&1) ||
    fail "shadow: $said"
[[ $said == "0 pods bound"*"2 still wait that Muster would start" ]] ||
    fail "shadow where surplus has turns of its own: $said"

# Scores weigh the kinds that the cluster has: half of node-b would be in use, and less of node-a.
cat >"$work/packing.yaml" <<'END'
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "16", pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-b}
status: {allocatable: {cpu: "2", pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec:
  schedulerName: t9k-scheduler
  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]
END
rm -f "$work/packing" "$work/packing_config"
mkfifo "$work/packing"
"$muster" up --only-server --plain --kubeconfig "$work/packing_config" -f "$work/packing.yaml" \
    >"$work/packing" 2>"$work/err" &
packing=$!
exec 6<"$work/packing"
read -r line <&6 || { fail "muster up: $(cat "$work/err")"; finish; }
for score in most-allocated:node-b least-allocated:node-a; do
    said=$("$muster" schedule --server "http://127.0.0.1:${line##*:}" --dry-run \
        --score "${score%:*}" 2>&1) || fail "dry run with a score: $said"
    [[ $said == *"default/p"*"${score#*:}" ]] || fail "--score ${score%:*} placed: $said"
done
# A dry run without pods of its own is not silent.
run 0 schedule --server "http://127.0.0.1:${line##*:}" --dry-run --scheduler-name nobody
[[ ! -s $work/out ]] || fail "a dry run with nothing to do prints: $(cat "$work/out")"
grep -q "no pod names the scheduler nobody (expected pods with spec.schedulerName nobody; --scheduler-name" \
    "$work/err" || fail "a dry run without pods says: $(cat "$work/err")"
kill "$packing"
wait "$packing" || true
exec 6<&-

# A snapshot holds storage, and `muster explain` reads it: the one pod has no volume for its claim, the
# other one has two, and its node attaches one.
cat >"$work/storage.yaml" <<'END'
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "8", pods: "10"}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: node-a}
spec: {drivers: [{name: disk.example.com, nodeID: a, topologyKeys: [], allocatable: {count: 1}}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: unbound, namespace: default}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpus, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: no-disk, namespace: default}
spec:
  schedulerName: t9k-scheduler
  containers: [{name: c, image: i}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: unbound}}]
---
apiVersion: v1
kind: Pod
metadata: {name: two-disks, namespace: default}
spec:
  schedulerName: t9k-scheduler
  containers: [{name: c, image: i}]
  volumes:
  - {name: v, persistentVolumeClaim: {claimName: disk-0}}
  - {name: w, persistentVolumeClaim: {claimName: disk-1}}
END
for disk in disk-0 disk-1; do
    cat >>"$work/storage.yaml" <<END
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: $disk}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  csi: {driver: disk.example.com, volumeHandle: $disk}
  claimRef: {namespace: default, name: $disk}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $disk, namespace: default}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
END
done
rm -f "$work/storage" "$work/storage_config"
mkfifo "$work/storage"
"$muster" up --only-server --plain --kubeconfig "$work/storage_config" -f "$work/storage.yaml" \
    >"$work/storage" 2>"$work/err" &
storage=$!
exec 6<"$work/storage"
read -r line <&6 || { fail "muster up: $(cat "$work/err")"; finish; }
# The two claims are bound a moment after the server starts.
for ((tries = 0; tries < 50; ++tries)); do
    "$muster" snapshot --server "http://127.0.0.1:${line##*:}" -o "$work/storage.json" 2>"$work/err" ||
        fail "snapshot of storage: $(cat "$work/err")"
    said=$("$muster" explain -f "$work/storage.json" 2>&1) || true
    [[ $said != *"attachments of CSI driver"* ]] || break
    sleep 0.1
done
for each in StorageClass:local CSINode:node-a PersistentVolume:disk-0 PersistentVolume:disk-1 \
    PersistentVolumeClaim:disk-0 PersistentVolumeClaim:disk-1 PersistentVolumeClaim:unbound \
    ResourceClaimTemplate:gpus; do
    held=$(tr -d ' \n' <"$work/storage.json" |
        grep -oE "\"kind\":\"${each%:*}\",\"metadata\":\{[^{}]*\"name\":\"${each#*:}\"" || true)
    [[ $held ]] || fail "a snapshot of storage lacks ${each/:/ }"
done
for each in 'claim unbound is not bound: no free volume of class "local" matches: 2 are bound to or kept for other claims' \
    "attachments of CSI driver disk.example.com: the pod needs 2; nodes attach at most: node-a 1"; do
    [[ $said == *"$each"* ]] || fail "explain of a snapshot of storage lacks '$each': $said"
done
kill "$storage"
wait "$storage" || true
storage=
exec 6<&-

mkfifo "$work/log"
# The page listens on all addresses, as in examples/deploy/scheduler.yaml.
"$muster" schedule "${at[@]}" --lease-namespace default --address 0.0.0.0 --port 0 -v \
    2>"$work/log" &
scheduler=$!
exec 5<"$work/log"
page=
heard=
bound=no
while IFS= read -r -t 30 line <&5; do
    heard+=$line$'\n'
    [[ ! $line =~ " info status at http://0.0.0.0:"([0-9]+)"/metrics " ]] || page=${BASH_REMATCH[1]}
    [[ $line != *" info 2 pods bound "* ]] || { bound=yes; break; }
done
[[ $bound == yes && $page ]] || { fail "nothing was bound: $heard"; finish; }
said=$("$muster" schedule "${at[@]}" --dry-run 2>&1) || fail "dry run of what runs: $said"
[[ $said != *wait* ]] || fail "a gang that runs waits in a dry run: $said"
[[ $said == *"nothing to start or evict: pods that name the scheduler t9k-scheduler: "* ]] ||
    fail "a dry run with nothing to do says: $said"
run 3 schedule "${at[@]}" --dry-run --scheduler-name nobody
grep -q "no pod names the scheduler nobody" "$work/err" ||
    fail "a dry run of groups without pods says: $(cat "$work/err")"
# ask PATH [HOST]: stores the answer of the status page at `page` in `said`.
ask() {
    exec 3<>"/dev/tcp/${2-127.0.0.1}/$page"
    printf 'GET %s HTTP/1.1\r\n\r\n' "$1" >&3
    said=$(cat <&3)
    exec 3<&-
}
# answers CODE PATH
answers() {
    ask "$2"
    [[ $said == "HTTP/1.1 $1 "* ]] || fail "$2 does not answer $1: $said"
}
answers 200 /metrics
grep -q '^muster_pods_bound_total 2$' <<<"$said" || fail "the metrics do not say so"
answers 200 /healthz
answers 200 /readyz
answers 404 /
answers 404 /healthz/ping
# The metrics show why a gang waits, and clients on loopback get the text of `muster explain`.
# create POD CPUS [METADATA [SPEC]]
create() {
    post /api/v1/namespaces/default/pods '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'$1'","namespace":"default"'"${3-}"'},
"spec":{"schedulerName":"t9k-scheduler","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"'$2'"}}}]'"${4-}"'}}'
}
# post PATH OBJECT
post() {
    exec 3<>"/dev/tcp/127.0.0.1/${line_of_server##*:}"
    printf 'POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' \
        "$1" "${#2}" "$2" >&3
    said=$(cat <&3)
    exec 3<&-
    [[ $said == *" 201 "* ]] || fail "$1 does not take $2: $said"
}
create vast 64
for ((tries = 0; tries < 100; ++tries)); do
    ask /metrics
    ! grep -qE '^muster_pending_gangs\{queue=".*",gate="space"\} 1$' <<<"$said" || break
    sleep 0.1
done
for each in 'muster_pending_gangs\{queue=".*",gate="space"\} 1' \
    'muster_schedule_attempts_total\{result="scheduled"\} 1' \
    'muster_schedule_attempts_total\{result="unschedulable"\} [1-9]|muster_schedule_attempts_total\{result="never"\} [1-9]' \
    'muster_gang_scheduling_seconds_count 1'; do
    grep -qE "^($each)\$" <<<"$said" || fail "no metric $each: $(grep -E "pending|attempts|scheduling" <<<"$said")"
done
answers 200 '/debug/explain?group=default%2Fvast'
[[ $said == *"0/1 nodes are available: "*"Insufficient cpu"*vast*1.\ * ]] || fail "it explains: $said"
answers 200 '/debug/explain?group=default/train'
# The page has the positions and the changes that `muster explain` finds in a snapshot.
for pod in first second; do
    create $pod 1
    for ((tries = 0; tries < 100; ++tries)); do
        ask "/debug/explain?group=default/$pod"
        [[ $said != *" 200 "*Waiting* ]] || break
        sleep 0.1
    done
done
ask '/debug/explain?group=default/second'
[[ $said == *second*" 2 "*" 2 "*"It would start if"* ]] || fail "no position, or no change: $said"
# The same for groups that wait for volumes, whose changes are planned with all objects: one of two pods can
# use a claim at a time, and an unbound claim has no volume.
post /apis/storage.k8s.io/v1/storageclasses '{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass",
"metadata":{"name":"local"},"provisioner":"kubernetes.io/no-provisioner","volumeBindingMode":"WaitForFirstConsumer"}'
post /api/v1/persistentvolumes '{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"lone"},"spec":{
"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOncePod"],"storageClassName":"local",
"csi":{"driver":"disk.example.com","volumeHandle":"lone"},"claimRef":{"namespace":"default","name":"lone"}}}'
for claim in lone:ReadWriteOncePod unbound:ReadWriteOnce; do
    post /api/v1/namespaces/default/persistentvolumeclaims '{"apiVersion":"v1","kind":"PersistentVolumeClaim",
"metadata":{"name":"'"${claim%:*}"'","namespace":"default"},"spec":{"storageClassName":"local",
"accessModes":["'"${claim#*:}"'"],"resources":{"requests":{"storage":"1Gi"}}}}'
done
post /apis/scheduler.tensorstack.dev/v1beta1/namespaces/default/podgroups '{"apiVersion":
"scheduler.tensorstack.dev/v1beta1","kind":"PodGroup","metadata":{"name":"pair","namespace":"default"},"spec":{"minMember":2}}'
mounts() { echo ',"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"'"$1"'"}}]'; }
for pod in pair-0 pair-1; do
    create $pod 0 ',"labels":{"scheduler.tensorstack.dev/group-name":"pair"}' "$(mounts lone)"
done
create no-disk 0 '' "$(mounts unbound)"
for ((tries = 0; tries < 100; ++tries)); do
    ask /debug/explain?group=default/pair
    [[ $said != *"minimum is 1 instead of 2"* ]] || break
    sleep 0.1
done
"$muster" snapshot "${at[@]}" -o "$work/waiting.json" 2>"$work/err" || fail "snapshot: $(cat "$work/err")"
for group in first second vast pair no-disk; do
    answers 200 "/debug/explain?group=default/$group"
    planned=$("$muster" explain -f "$work/waiting.json" "default/$group" 2>"$work/err") || true
    diff -u <(echo "$planned") <(echo "${said#*$'\r\n\r\n'}") >"$work/diff" ||
        fail "the page differs from muster explain: $(cat "$work/diff")"
done
ask /debug/explain?group=default/pair
[[ $said == *"its minimum is 1 instead of 2"* ]] || fail "no lower minimum is proposed: $said"
ask /debug/explain?group=default/no-disk
[[ $said == *"--bind-claim unbound"* ]] || fail "no claim is proposed to be bound: $said"
answers 404 '/debug/explain?group=default/nothing'
answers 400 /debug/explain
answers 400 '/debug/explain?group='
for host in $(hostname -I 2>/dev/null); do
    [[ $host != *:* ]] || continue
    ask '/debug/explain?group=default/train' "$host"
    [[ $said == "HTTP/1.1 403 "*"kubectl port-forward"* ]] || fail "a client at $host gets: $said"
    ask /healthz "$host"
    [[ $said == "HTTP/1.1 200 "* ]] || fail "/healthz answers a client at $host: $said"
done
# Copies of the scheduler answer, two at a time, while it serves the rest.
for ((each = 0; each < 8; ++each)); do
    (ask /debug/explain?group=default/no-disk; echo "${said%%$'\r'*}") &
done >"$work/several"
answers 200 /metrics
for ((tries = 0; tries < 100; ++tries)); do
    [[ $(wc -l <"$work/several") -lt 8 ]] || break
    sleep 0.1
done
[[ $(grep -cE "^HTTP/1.1 (200 OK|503 Service Unavailable)$" "$work/several") -eq 8 ]] ||
    fail "several requests are answered: $(cat "$work/several")"
grep -q "^HTTP/1.1 200 OK$" "$work/several" || fail "no request of several is answered with a text"
kill -TERM "$scheduler"
wait "$scheduler" || fail "it ends with $?: $(cat <&5)"
scheduler=
exec 5<&-

# When its server goes away it lives on, but what it knows is soon too old to act on.
"$muster" schedule "${at[@]}" --no-leader-elect --address 127.0.0.1 --port 0 2>"$work/log" &
scheduler=$!
exec 5<"$work/log"
page=
listed=no
while [[ ! $page || $listed == no ]] && IFS= read -r -t 30 line <&5; do
    [[ ! $line =~ " info status at http://127.0.0.1:"([0-9]+)"/metrics " ]] || page=${BASH_REMATCH[1]}
    [[ $line != *" info listed: "* ]] || listed=yes
done
[[ $page && $listed == yes ]] || { fail "with a server: no page, or nothing listed"; finish; }
answers 200 /readyz
kill "$server"
wait "$server" || true
server=
for ((tries = 0; tries < 150; ++tries)); do
    ask /readyz
    [[ $said == "HTTP/1.1 200 "* ]] || break
    sleep 0.2
done
answers 503 /readyz
answers 200 /healthz
kill -TERM "$scheduler"
wait "$scheduler" || fail "with its server gone it ends with $?: $(cat <&5)"
scheduler=
exec 5<&-

# It lives without a server, but is of no use.
"$muster" schedule --server "http://127.0.0.1:1" --lease-namespace default --address 127.0.0.1 \
    --port 0 2>"$work/log" &
scheduler=$!
exec 5<"$work/log"
page=
complains=no
while [[ ! $page || $complains == no ]] && IFS= read -r -t 30 line <&5; do
    [[ ! $line =~ " info status at http://127.0.0.1:"([0-9]+)"/metrics " ]] || page=${BASH_REMATCH[1]}
    [[ $line != *"/api/v1/nodes: "* ]] || complains=yes
done
[[ $page && $complains == yes ]] || { fail "without a server: no page, or no complaint"; finish; }
answers 200 /healthz
answers 503 /readyz
answers 200 /metrics
grep -q '^muster_synced 0$' <<<"$said" || fail "the metrics do not say that nothing is listed"
kill -TERM "$scheduler"
wait "$scheduler" || fail "without a server it ends with $?: $(cat <&5)"
scheduler=
said=$("$muster" schedule --server "http://127.0.0.1:1" --timeout 1 --dry-run 2>&1) && fail "nobody is there"
[[ $said == *"/api/v1/nodes: "* ]] || fail "it does not say that nobody is there: $said"
said=$("$muster" schedule --server "http://127.0.0.1:1" --timeout 1 --dry-run --log-format json 2>&1) &&
    fail "a dry run without a server ends well"
[[ $said == *'"level":"warning","message":"/'*'"level":"error","message":"the first listing did not finish'* ]] ||
    fail "these are no JSON log lines: $said"
! grep -vE '^\{"time":"[0-9T:.-]+Z","level":"(info|warning|error)","message":".*","command":"schedule"\}$' <<<"$said" ||
    fail "a log line is not as the others"
said=$(HOME=/nowhere KUBECONFIG='' KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=1 \
    "$muster" snapshot 2>&1) && fail "this is no pod"
[[ $said == *"expected the pod's service account"* ]] || fail "an empty KUBECONFIG is none: $said"
said=$("$muster" snapshot --server "http://10.0.0.1" 2>&1) && fail "plain HTTP to another machine"
[[ $said == *"plain HTTP"* ]] || fail "it says: $said"
finish
