#!/usr/bin/env bash
# Every help text says what the command does and has an example, and every example runs.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

scratch=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$scratch"' EXIT
cd "$scratch"
cat >cluster.yaml <<'END'
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "8", pods: "110", nvidia.com/gpu: "4"}}
---
apiVersion: scheduler.tensorstack.dev/v1beta1
kind: Queue
metadata: {name: a, namespace: t9k-system}
spec:
  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: Exists}]}
  quota: {requests: {cpu: "16"}}
---
apiVersion: scheduler.tensorstack.dev/v1beta1
kind: PodGroup
metadata: {name: trainer, namespace: default}
spec: {queue: a, minMember: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: trainer-0, namespace: default, labels: {scheduler.tensorstack.dev/group-name: trainer}}
spec: {schedulerName: t9k-scheduler, containers: [{name: main, image: "train:1", resources: {requests: {cpu: "20"}}}]}
END
cat >job.yaml <<'END'
apiVersion: batch.tensorstack.dev/v1beta1
kind: GenericJob
metadata: {name: train, namespace: default}
spec:
  scheduler: {t9kScheduler: {queue: a}}
  replicaSpecs:
  - type: worker
    replicas: 2
    template:
      metadata: {annotations: {muster.dev/run-seconds: "600"}}
      spec: {containers: [{name: main, image: "train:1", resources: {requests: {cpu: "1"}}}]}
END
cat >fractions.yaml <<'END'
apiVersion: v1
kind: Pod
metadata: {name: half, namespace: default, annotations: {gpu-fraction: "0.5"}}
spec: {schedulerName: kai-scheduler, containers: [{name: main, image: "train:1"}]}
END

muster() { "$muster" "$@"; }
# run_example COMMAND LINE: runs the line as bash does. What it prints goes to $work/out and $work/err.
run_example() {
    local code=0
    case $2 in
        *"muster up "*)
            eval "exec ${2/muster/\"\$muster\"}" >"$work/up" 2>"$work/err" &
            server=$!
            for ((waited = 0; waited < 300; ++waited)); do
                ! grep -q '^serving' "$work/up" || return 0
                sleep 0.1
            done
            fail "no server after 30 s: $2"
            return 0
            ;;
        # Only fish can source it.
        *"completion fish"*) muster completion fish >"$work/out" 2>"$work/err" || code=$? ;;
        *) (eval "$2") >"$work/out" 2>"$work/err" || code=$? ;;
    esac
    [[ $code == 0 || $code == 3 ]] || fail "$1 --help: exit code $code: $2: $(cat "$work/err")"
}

run 0 --help
mapfile -t commands < <(sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\) .*/\1/p' "$work/out")
((${#commands[@]} >= 16)) || fail "the help lists the commands ${commands[*]}"
# The program's own list says what each command does, and so does the help of the command.
declare -A summaries
while read -r command summary; do
    summaries[$command]=$summary
done < <(sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\)  */\1 /p' "$work/out")
examples=0
for command in "${commands[@]}"; do
    run 0 "$command" --help
    [[ $(head -n 1 "$work/out") == "${summaries[$command]}"* ]] ||
        fail "$command --help begins with $(head -n 1 "$work/out")"
    mapfile -t lines < <(sed -n '/^Examples\{0,1\}:$/,/^$/s/^  //p' "$work/out")
    ((${#lines[@]} > 0)) || fail "$command --help has no example"
    for line in "${lines[@]}"; do
        run_example "$command" "$line"
        examples=$((examples + 1))
    done
    [[ $command != up ]] || export KUBECONFIG=$scratch/trial.kubeconfig
done
# The examples leave what they promise.
[[ -s before.json && -s after.json ]] || fail "no plans to compare"
grep -q 'kind.*Node' cluster.yaml || fail "the snapshot has no node"
((examples >= 18)) || fail "only $examples examples ran"
finish
