#!/usr/bin/env bash
# `muster schedule` speaks the gang APIs of other schedulers: the groups that it finds are those that
# `muster plan` finds in a snapshot of the same cluster, and it tells how they stand in each API's
# own form.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
for command in up schedule; do
    if ! "$muster" $command --help >/dev/null 2>&1; then
        echo "skipped: this muster has no command $command"
        exit 77
    fi
done
server=
scheduler=
trap 'kill $server $scheduler 2>/dev/null || true' EXIT

# pods SCHEDULER METADATA SPEC NAME...
pods() {
    local by=$1 metadata=$2 spec=$3 name
    shift 3
    for name; do
        cat <<END
---
apiVersion: v1
kind: Pod
metadata: {name: $name, namespace: team, $metadata}
spec: {schedulerName: $by, $spec containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
END
    done
}
group() { # VERSION NAME SPEC [METADATA]
    printf -- '---\napiVersion: %s\nkind: PodGroup\nmetadata: {name: %s, namespace: team%s}\nspec: %s\n' \
        "$1" "$2" "${4-}" "$3"
}
# ask METHOD PATH: the body
ask() {
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf '%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' "$1" "$2" >&3
    cat <&3
    exec 3<&-
}

# prove DIALECT COLLECTION EXPECTED OPTIONS...: what stands in $work/cluster.yaml, of which the gang
# `train` fits and `vast` does not; EXPECTED is in the status of train in the end.
prove() {
    local dialect=$1 collection=$2 expected=$3 line said
    shift 3
    rm -f "$work/says" "$work/config" "$work/log"
    mkfifo "$work/says" "$work/log"
    "$muster" up --only-server --plain --pod-delay 0 --kubeconfig "$work/config" "${crds[@]}" \
        -f "$work/cluster.yaml" >"$work/says" 2>"$work/err" &
    server=$!
    exec 4<"$work/says"
    read -r line <&4 || { fail "$dialect: muster up: $(cat "$work/err")"; return; }
    port=${line##*:}
    local at=(--server "http://127.0.0.1:$port")
    "$muster" snapshot "${at[@]}" -o "$work/snapshot.json" 2>"$work/err" ||
        fail "$dialect: snapshot: $(cat "$work/err")"
    "$muster" plan -f "$work/snapshot.json" -o pods --no-headers >"$work/planned" 2>"$work/err" || true
    "$muster" schedule "${at[@]}" --dialect "$dialect" "$@" --dry-run >"$work/dry" 2>"$work/err" || true
    local planned dry
    planned=$(awk '$3 == "Running" {print $1}' "$work/planned" | sort)
    dry=$(awk -F'\t' '$1 == "start" {sub("team/", "", $3); print $3}' "$work/dry" | sort)
    [[ $dry && $planned == "$dry" ]] ||
        fail "$dialect: plan and schedule differ:"$'\n'"$planned"$'\n'"$dry"$'\n'"$(cat "$work/planned" "$work/dry" "$work/err")"
    grep -q $'^wait\tteam/vast' "$work/dry" || fail "$dialect: vast does not wait: $(cat "$work/dry")"

    "$muster" schedule "${at[@]}" --dialect "$dialect" "$@" --no-leader-elect --address '' -v \
        2>"$work/log" &
    scheduler=$!
    exec 5<"$work/log"
    while IFS= read -r -t 30 line <&5; do
        [[ $line != *" info 3 pods bound "* ]] || break
    done
    [[ $line == *" info 3 pods bound "* ]] || fail "$dialect: nothing was bound: $line"
    local try
    for try in {1..100}; do
        said=$(ask GET "$collection/train")
        [[ $said != *"$expected"* ]] || break
        sleep 0.1
    done
    [[ $said == *"$expected"* ]] || fail "$dialect: the status of train is $said"
    kill -TERM "$scheduler"
    wait "$scheduler" || fail "$dialect: it ends with $?"
    kill "$server" && wait "$server" || true
    scheduler= server=
}

cat >"$work/nodes.yaml" <<'END'
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "2", pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-b}
status: {allocatable: {cpu: "2", pods: "10"}}
END
named=$source/tests/live/crds

crds=(-f "$named/scheduler-plugins.yaml")
{
    cat "$work/nodes.yaml"
    group scheduling.x-k8s.io/v1alpha1 train '{minMember: 3}'
    pods scheduler-plugins-scheduler 'labels: {scheduling.x-k8s.io/pod-group: train}' '' t0 t1 t2
    group scheduling.x-k8s.io/v1alpha1 vast '{minMember: 2}'
    pods scheduler-plugins-scheduler 'labels: {scheduling.x-k8s.io/pod-group: vast}' '' u0 u1
} >"$work/cluster.yaml"
prove scheduler-plugins /apis/scheduling.x-k8s.io/v1alpha1/namespaces/team/podgroups \
    '"phase":"Running","running":3'

crds=(-f "$named/volcano.yaml")
mark='annotations: {scheduling.k8s.io/group-name: '
{
    cat "$work/nodes.yaml"
    printf -- '---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: default}\nspec: {weight: 1, capability: {cpu: 3}}\n'
    group scheduling.volcano.sh/v1beta1 train '{minMember: 3, minTaskMember: {ps: 1, worker: 2}}'
    pods volcano "${mark}train, volcano.sh/task-spec: ps}" '' t0
    pods volcano "${mark}train, volcano.sh/task-spec: worker}" '' t1 t2
    group scheduling.volcano.sh/v1beta1 vast '{minMember: 1}'
    pods volcano "${mark}vast}" '' u0
} >"$work/cluster.yaml"
prove volcano /apis/scheduling.volcano.sh/v1beta1/namespaces/team/podgroups '"phase":"Running"'

crds=(-f "$named/kai.yaml")
mark='annotations: {pod-group-name: '
{
    cat "$work/nodes.yaml"
    printf -- '---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: research}\nspec: {resources: {cpu: {quota: 3000, limit: 3000, overQuotaWeight: 1}, memory: {quota: -1, limit: -1}, gpu: {quota: -1, limit: -1}}}\n'
    group scheduling.run.ai/v2alpha2 train '{minMember: 1, queue: research, subGroups: [{name: ps, minMember: 1}, {name: workers, minMember: 2}]}'
    pods kai-scheduler "${mark}train}, labels: {kai.scheduler/subgroup-name: ps}" '' t0
    pods kai-scheduler "${mark}train}, labels: {kai.scheduler/subgroup-name: workers}" '' t1 t2
    group scheduling.run.ai/v2alpha2 vast '{minMember: 1, queue: research}'
    pods kai-scheduler "${mark}vast}" '' u0
} >"$work/cluster.yaml"
prove kai /apis/scheduling.run.ai/v2alpha2/namespaces/team/podgroups '"type":"Scheduled"'

crds=(-f "$named/koordinator.yaml")
together=", annotations: {gang.scheduling.koordinator.sh/groups: '[\"team/train\",\"team/helpers\"]'}"
{
    cat "$work/nodes.yaml"
    group scheduling.sigs.k8s.io/v1alpha1 train '{minMember: 2}' "$together"
    group scheduling.sigs.k8s.io/v1alpha1 helpers '{minMember: 1}' "$together"
    pods koord-scheduler 'labels: {pod-group.scheduling.sigs.k8s.io: train}' '' t0 t1
    pods koord-scheduler 'labels: {pod-group.scheduling.sigs.k8s.io: helpers}' '' h0
    group scheduling.sigs.k8s.io/v1alpha1 vast '{minMember: 2}'
    pods koord-scheduler 'labels: {pod-group.scheduling.sigs.k8s.io: vast}' '' u0 u1
} >"$work/cluster.yaml"
prove koordinator /apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/team/podgroups \
    '"phase":"Running"'

crds=()
{
    cat "$work/nodes.yaml"
    group scheduling.k8s.io/v1alpha2 train '{schedulingPolicy: {gang: {minCount: 3}}}'
    pods gangs 'labels: {app: x}' 'schedulingGroup: {podGroupName: train},' t0 t1 t2
    group scheduling.k8s.io/v1alpha2 vast '{schedulingPolicy: {gang: {minCount: 2}}}'
    pods gangs 'labels: {app: x}' 'schedulingGroup: {podGroupName: vast},' u0 u1
} >"$work/cluster.yaml"
prove workload /apis/scheduling.k8s.io/v1alpha2/namespaces/team/podgroups \
    '"reason":"Scheduled"' --scheduler-name gangs

# It evicts as `plan` does, and no more than a budget lets go.
cat >"$work/cluster.yaml" <<'END'
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "2", pods: "10"}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
END
for pod in low-0 low-1; do
    cat >>"$work/cluster.yaml" <<END
---
apiVersion: v1
kind: Pod
metadata: {name: $pod, namespace: team, labels: {app: low}}
spec: {schedulerName: t9k-scheduler, nodeName: node-a, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
END
done
pods t9k-scheduler 'labels: {app: high}' 'priorityClassName: high,' high >>"$work/cluster.yaml"
budget='---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: low, namespace: team}
spec: {minAvailable: 2, selector: {matchLabels: {app: low}}}'
for case in free budget; do
    [[ $case == free ]] || echo "$budget" >>"$work/cluster.yaml"
    rm -f "$work/says" "$work/config"
    mkfifo "$work/says"
    "$muster" up --only-server --plain --pod-delay 0 --kubeconfig "$work/config" \
        -f "$work/cluster.yaml" >"$work/says" 2>"$work/err" &
    server=$!
    exec 4<"$work/says"
    read -r line <&4 || fail "$case: muster up: $(cat "$work/err")"
    at=(--server "http://127.0.0.1:${line##*:}")
    "$muster" schedule "${at[@]}" --dry-run >"$work/out" 2>"$work/err" || true
    ! grep -q ^evict "$work/out" || fail "$case: it evicts though nobody asked for that"
    "$muster" schedule "${at[@]}" --preempt queue --dry-run >"$work/out" 2>"$work/err" || true
    case $case in
    free) [[ $(grep -c ^evict "$work/out") == 1 ]] || fail "it does not evict one: $(cat "$work/out" "$work/err")" ;;
    budget) ! grep -q ^evict "$work/out" || fail "it evicts against the budget: $(cat "$work/out")" ;;
    esac
    kill "$server" && wait "$server" || true
    server=
done

run 1 schedule --dialect workload --server http://127.0.0.1:1 --dry-run
grep -q -- '--scheduler-name default-scheduler' "$work/err" || fail "it takes over kube-scheduler's pods"
finish
