#!/usr/bin/env bash
# The gangs of every API, and jobs that have no pods yet, planned as T9k's are.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

for api in kai volcano koordinator scheduler-plugins workload grove jobs; do
    # Of these two all start.
    code=3
    [[ $api != koordinator && $api != jobs ]] || code=0
    golden "apis_$api.wide" "$code" plan -f apis/nodes.yaml -f "apis/$api.yaml" -o wide
    same "apis_$api.stderr" "$work/err"
    run "$code" explain -f apis/nodes.yaml -f "apis/$api.yaml" --tries 0
    same "apis_$api.explain" "$work/out"
done

# A manifest of a claim that is bound, and a container's field beside the containers, stop no job.
golden applied_job.table 0 plan -f applied_job.yaml
same applied_job.stderr "$work/err"

# All that whatif can change of a group, it can change of these.
golden apis_whatif.table 0 whatif -f apis/nodes.yaml -f apis/kai.yaml --add-nodes 3xb1 \
    --set group.lab/wide.topology= --set queue.research.quota.nvidia.com/gpu=none \
    --set group.lab/train.roles.leader.minMember=0 --set group.lab/train.priority=3
run 0 whatif -f apis/nodes.yaml -f apis/kai.yaml --remove-gang lab/wide
run 1 whatif -f apis/nodes.yaml -f apis/kai.yaml --set group.lab/train.roles.boss.minMember=1

# The order of the objects decides nothing.
for api in kai volcano koordinator workload grove jobs; do
    awk '/^- / { at++ } at { text[at] = text[at] $0 "\n"; next } { head = head $0 "\n" }
         END { printf "%s", head; for (; at > 0; at--) printf "%s", text[at] }' \
        "apis/$api.yaml" >"$work/backwards.yaml"
    "$muster" plan -f apis/nodes.yaml -f "apis/$api.yaml" -o json >"$work/straight" 2>/dev/null || true
    "$muster" plan -f apis/nodes.yaml -f "$work/backwards.yaml" -o json >"$work/backwards" 2>/dev/null || true
    cmp "$work/straight" "$work/backwards" || fail "the order of the objects shows in $api"
done
finish
