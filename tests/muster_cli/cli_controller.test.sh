#!/usr/bin/env bash
# `muster controller` runs jobs on a cluster, here on the one of `muster up`, beside `muster schedule`:
# from their creation to their end, killed and started again in between.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
for command in up controller; do
    if ! "$muster" $command --help >/dev/null 2>&1; then
        echo "skipped: this muster has no command $command"
        exit 77
    fi
done
said=$("$muster" controller --server http://127.0.0.1:1 --timeout 1 --dry-run 2>&1) || true
[[ $said != *"built without"* ]] || { echo "skipped: $said"; exit 77; }
cat >"$work/nodes.yaml" <<'END'
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "4", pods: "10"}}
END

server=
scheduler=
controller=
trap 'kill $server $scheduler $controller 2>/dev/null || true' EXIT
rm -f "$work/says" "$work/config"
mkfifo "$work/says"
"$muster" up --only-server --plain --pod-delay 0 --kubeconfig "$work/config" -f "$source/examples/deploy/crds" \
    -f "$work/nodes.yaml" >"$work/says" 2>"$work/err" &
server=$!
exec 4<"$work/says"
read -r line <&4 || { fail "muster up: $(cat "$work/err")"; finish; }
port=${line##*:}
at=(--server "http://127.0.0.1:$port" --lease-namespace default --lease-duration 2 --address "")

# ask METHOD PATH [BODY]: the answer's body.
ask() {
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf '%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s' \
        "$1" "$2" "$([[ $1 == PATCH ]] && echo application/merge-patch+json || echo application/json)" \
        "${#3}" "$3" >&3
    sed '1,/^\r*$/d' <&3
    exec 3<&-
}
# awaits PATH TEXT: until the object there holds the text.
awaits() {
    local seen
    for _ in $(seq 150); do
        seen=$(ask GET "$1" "")
        [[ $seen != *"$2"* ]] || return 0
        sleep 0.2
    done
    fail "$1 never says $2: $seen"
    finish
}
jobs=/apis/batch.tensorstack.dev/v1beta1/namespaces/default
pods=/api/v1/namespaces/default/pods
worker='"template":{"spec":{"containers":[{"name":"pytorch","image":"i","resources":{"requests":{"cpu":1}}}]}}'
job() { # NAME REPLICAS: of a GenericJob of the T9k scheduler
    echo '{"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"GenericJob","metadata":{"name":"'"$1"'"},
        "spec":{"scheduler":{"t9kScheduler":{"queue":"default"}},"successRules":[{"worker":[0]}],
        "failureRules":[{"worker":[1]}],"replicaSpecs":[{"type":"worker","replicas":'"$2"','"$worker"'}]}}'
}
ends() { # POD CODE
    ask PATCH "$pods/$1/status" '{"status":{"phase":"'"$([[ $2 == 0 ]] && echo Succeeded || echo Failed)"'",
        "containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":'"$2"'}}}]}}' >/dev/null
}

# What it would do, before it may.
ask POST $jobs/genericjobs "$(job train 2)" >/dev/null
run 3 controller --server "http://127.0.0.1:$port" --dry-run
[[ $(cut -f1 "$work/out" | tr '\n' ' ') == "status create create create " ]] || fail "dry run: $(cat "$work/out")"
[[ $(ask GET $pods "") == *'"items":[]'* ]] || fail "a dry run wrote something"

"$muster" controller "${at[@]}" -v 2>"$work/controller.err" &
controller=$!
"$muster" schedule "${at[@]}" 2>"$work/scheduler.err" &
scheduler=$!
awaits $jobs/genericjobs/train '"phase":"Running","tasks"'
awaits /apis/scheduler.tensorstack.dev/v1beta1/namespaces/default/podgroups/train '"minMember":2'

# Killed, and another takes over: nothing happens twice.
kill -9 "$controller"
wait "$controller" 2>/dev/null || true
ask POST $jobs/pytorchtrainingjobs '{"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"PyTorchTrainingJob",
    "metadata":{"name":"torch"},"spec":{"runPolicy":{"backoffLimit":0},"scheduler":{"t9kScheduler":{"queue":"default"}},
    "replicaSpecs":[{"type":"master","replicas":1,'"$worker"'},{"type":"worker","replicas":1,'"$worker"'}]}}' >/dev/null
"$muster" controller "${at[@]}" -v 2>>"$work/controller.err" &
controller=$!
awaits $jobs/pytorchtrainingjobs/torch '"phase":"Running","tasks"'
created=$(ask GET /muster/journal "" | grep -o '"verb":"create","resource":"pods"' | wc -l)
[[ $created == 4 ]] || fail "$created pods were created instead of 4"

ends train-worker-0 0
awaits $jobs/genericjobs/train '"phase":"Succeeded","tasks"'
ends torch-master-0 1
awaits $jobs/pytorchtrainingjobs/torch '"phase":"Failed","tasks"'
awaits /api/v1/namespaces/default/events '"reason":"JobFailed"'

# A job that goes takes what is its own with it.
ask DELETE $jobs/genericjobs/train "" >/dev/null
awaits /apis/scheduler.tensorstack.dev/v1beta1/namespaces/default/podgroups '"name":"torch"'
[[ $(ask GET $pods "") != *train-worker* ]] || fail "pods of a job that was deleted are there"

kill -TERM "$controller"
wait "$controller" || fail "it ends with $?: $(cat "$work/controller.err")"
controller=
run 1 controller --server "http://127.0.0.1:1" --timeout 1 --dry-run
grep -q "/podgroups: " "$work/err" || grep -q "genericjobs: " "$work/err" || fail "it does not say that nobody is there"
run 1 controller --backend pigeon
finish
