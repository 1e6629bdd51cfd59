#!/usr/bin/env bash
# `muster up` serves what its files hold, runs what is bound, and ends when it is told to.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
if ! "$muster" up --help >/dev/null 2>&1; then
    echo "skipped: this muster has no command up"
    exit 77
fi
cat >"$work/nodes.yaml" <<'END'
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "2", pods: "10"}}
END

# An older muster may have left one without the marker, which is not replaced.
rm -f "$work/config"
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null' EXIT
# start ARGUMENTS...: sets `server` and `port` once it listens.
start() {
    rm -f "$work/says"
    mkfifo "$work/says"
    "$muster" up --only-server --kubeconfig "$work/config" "$@" >"$work/says" 2>"$work/err" &
    server=$!
    exec 4<"$work/says"
    read -r line <&4 || { fail "muster up $*: $(cat "$work/err")"; finish; }
    port=${line##*:}
}
# stop: it ends when it is told to, and ends well.
stop() {
    kill -TERM "$server"
    wait "$server" || fail "it ends with $?"
    server=
}
# ask METHOD PATH [BODY]: the answer, with its head.
ask() {
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf '%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' \
        "$1" "$2" "${#3}" "$3" >&3
    cat <&3
    exec 3<&-
}
# contains WHAT TEXT
contains() { [[ $2 == *"$1"* ]] || fail "no $1 in: $2"; }

pods=/api/v1/namespaces/default/pods
start --plain -f "$work/nodes.yaml" --pod-delay 0
[[ $line == "serving 1 node at http://127.0.0.1:$port" ]] || fail "it says: $line"
[[ $(stat -c %a "$work/config") == 600 ]] || fail "others can read the kubeconfig"
contains "server: http://127.0.0.1:$port" "$(cat "$work/config")"
contains '"name":"node-a"' "$(ask GET /api/v1/nodes "")"
contains "201 OK" "$(ask POST $pods '{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}')"
contains "201 OK" "$(ask POST $pods/p/binding '{"target":{"kind":"Node","name":"node-a"}}')"
# The watch begins with the pod as it is, and the pod runs at most a moment later.
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET %s?watch=1&timeoutSeconds=20 HTTP/1.1\r\nHost: x\r\n\r\n' "$pods" >&3
ran=no
while IFS= read -r -t 20 each <&3; do
    [[ $each != *'"phase":"Running"'* ]] || { ran=yes; break; }
done
exec 3<&-
[[ $ran == yes ]] || fail "the pod never ran"
contains '"resource":"pods/binding"' "$(ask GET /muster/journal "")"
stop

start -f "$work/nodes.yaml"
[[ $line == "serving 1 node at https://127.0.0.1:$port" ]] || fail "it says: $line"
contains "certificate-authority-data: " "$(cat "$work/config")"
contains "token: " "$(cat "$work/config")"
stop

# What befalls the requests, and which uids there are, follows from the seed.
half='{"what":"refuse","code":503,"verb":"list","resource":"nodes","percent":50,"times":0}'
# fares SEED: how 24 lists of nodes fare after one other, and then the uid of the node.
fares() {
    local each
    start --plain -f "$work/nodes.yaml" --seed "$1" --fault '{"what":"refuse","code":429,"name":"node-a"}' --fault "$half"
    ask GET /api/v1/nodes/node-a "" | head -1
    for each in {1..24}; do
        ask GET /api/v1/nodes "" | head -1
    done
    ask GET /api/v1/nodes/node-a "" | grep -oE '"uid":"[^"]+"'
    stop
}
fares 7 >"$work/seven"
fares 7 >"$work/again"
fares 8 >"$work/eight"
contains " 429 " "$(head -1 "$work/seven")"
contains " 503 " "$(cat "$work/seven")"
contains " 200 " "$(cat "$work/seven")"
contains '"uid"' "$(tail -1 "$work/seven")"
diff "$work/seven" "$work/again" || fail "the same seed gives other faults"
! diff -q <(head -25 "$work/seven") <(head -25 "$work/eight") >/dev/null || fail "another seed gives the same faults"
[[ $(tail -1 "$work/seven") != "$(tail -1 "$work/eight")" ]] || fail "another seed gives the same uids"
for each in reset '{"what":"flood"}' '{"what":"reset","percnt":5}' '{"what":"reset","percent":"5"}' '[]'; do
    run 1 up --plain --kubeconfig "$work/config" --fault "$each"
    contains "--fault $each: no such fault" "$(cat "$work/err")"
done

# Claims are bound, and volumes are provisioned unless --no-provisioner is given.
cat >"$work/claim.yaml" <<'END'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disk
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
END
# phase WANTED: prints the phase of the claim, once the phase is WANTED or after 3 s.
phase() {
    local found=
    for _ in {1..30}; do
        found=$(ask GET /api/v1/namespaces/default/persistentvolumeclaims/data "" | grep -oE '"phase":"[A-Za-z]+"')
        [[ $found != *"$1"* ]] || break
        sleep 0.1
    done
    echo "$found"
}
start --plain -f "$work/claim.yaml"
contains Bound "$(phase Bound)"
# Another one cannot have the same port.
run 1 up --only-server --kubeconfig "$work/second" --port "$port"
contains "cannot listen on 127.0.0.1:$port: Address already in use (expected a free port" "$(cat "$work/err")"
stop
start --plain -f "$work/claim.yaml" --no-provisioner
contains Pending "$(phase Bound)"
stop

# A dump of another cluster is loaded: namespaces that exist, uids and statuses, running pods, and
# objects of kinds that no file defines. The order of objects does not matter.
cat >"$work/dump.yaml" <<'END'
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: p, namespace: team, uid: u-p, resourceVersion: "9", managedFields: [{manager: m}]}
  spec:
    nodeName: node-a
    priorityClassName: high
    containers: [{name: c, image: i}]
  status: {phase: Running, podIP: 10.9.8.7}
- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}
- {apiVersion: v1, kind: Namespace, metadata: {name: default, uid: u-d, resourceVersion: "3", labels: {a: b}}}
- apiVersion: scheduler.tensorstack.dev/v1beta1
  kind: PodGroup
  metadata: {name: g, namespace: team, uid: u-g, resourceVersion: "4"}
  spec: {minMember: 1}
END
start --plain -f "$work/nodes.yaml" -f "$work/dump.yaml" -f "$work/dump.yaml"
contains '"a":"b"' "$(ask GET /api/v1/namespaces/default "")"
found=$(ask GET /api/v1/namespaces/team/pods/p "")
for each in '"uid":"u-p"' '"phase":"Running"' '"podIP":"10.9.8.7"' '"priority":7'; do
    contains "$each" "$found"
done
contains '"uid":"u-g"' "$(ask GET /apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups/g "")"
stop
contains "no file defines podgroups.scheduler.tensorstack.dev: served without a schema" "$(cat "$work/err")"

# A group without a namespace stands in `default`, though no file says that its kind has namespaces.
printf 'kind: PodGroup\napiVersion: scheduler.tensorstack.dev/v1beta1\nmetadata: {name: g}\nspec: {minMember: 1}\n' >"$work/group.yaml"
start --plain -f "$work/nodes.yaml" -f "$work/group.yaml"
contains '"namespace":"default"' \
    "$(ask GET /apis/scheduler.tensorstack.dev/v1beta1/namespaces/default/podgroups/g "")"
stop

printf 'kind: Flower\napiVersion: example.dev/v1\nmetadata: {name: f}\n' >"$work/odd.yaml"
run 2 up --kubeconfig "$work/config" -f "$work/odd.yaml"
contains "Flower f: no such kind is served" "$(cat "$work/err")"
# A file that cannot be read is no invalid input, as for every command.
run 1 up --kubeconfig "$work/config" -f "$work/no_such_file"
contains "no_such_file: cannot be read" "$(cat "$work/err")"
printf '{"kind":"Node","apiVersion":"v1","metadata":{"name":"a_b"}}' >"$work/bad_name.json"
run 2 up --kubeconfig "$work/config" -f "$work/bad_name.json"
contains 'Node "a_b" is invalid: metadata.name: Invalid value: "a_b"' "$(cat "$work/err")"
for each in 99999 -1 x; do
    run 1 up --kubeconfig "$work/config" --port "$each"
    contains "--port: Value $each not in range" "$(cat "$work/err")"
done
run 1 up --kubeconfig "$work/no/such/folder" -f "$work/nodes.yaml"
# A kubeconfig of another program stays as it is.
echo "kind: Config" >"$work/theirs"
chmod 644 "$work/theirs"
run 1 up --kubeconfig "$work/theirs" -f "$work/nodes.yaml"
contains "$work/theirs: exists and was not written by muster up" "$(cat "$work/err")"
[[ $(cat "$work/theirs") == "kind: Config" ]] || fail "it changed a file that it did not write"
finish
