#!/usr/bin/env bash
# `muster whatif` and `muster diff`: what changes to a cluster do, and by what two plans differ.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
lab=(-f lab.yaml)

golden lab.table 3 plan "${lab[@]}"
golden whatif_quota.table 3 whatif "${lab[@]}" --set queue.team-b.quota.nvidia.com/gpu=12
golden whatif_drain.wide 3 whatif "${lab[@]}" --drain gpu-1 --uncordon gpu-3 -o wide
golden whatif.json 3 whatif "${lab[@]}" --add-nodes 2xgpu-1 -o json
golden whatif.yaml 3 whatif "${lab[@]}" --add-nodes 2xgpu-1 -o yaml
golden whatif_remove.json 3 whatif "${lab[@]}" --remove-gang sweep --remove-pod default/solo -o json
golden whatif_nothing.table 3 whatif "${lab[@]}" --set queue.team-a.priority=3 --no-headers
# Changes are made in the order in which they are given.
golden whatif_order.table 3 whatif "${lab[@]}" --uncordon gpu-3 --add-nodes 1xgpu-3 --cordon gpu-3
# Whatever can be set. All that waits starts when enough is changed.
run 0 whatif "${lab[@]}" --add-nodes 5xgpu-3 --set queue.team-a.quota.nvidia.com/gpu=none \
    --set queue.team-a.closed=false --set group.tune.queue=default --set group.tune.minMember=3 \
    --set group.many.roles.worker.minMember=4 --set group.many.priority=100 \
    --set group.default/report.toleration=dedicated=storage:NoSchedule \
    --set group.report.nodeAffinity= --set group.report.nodeSelector.disk=ssd \
    --set group.solo.priority=5
run 3 whatif "${lab[@]}" --set group.report.nodeSelector.disk= -o json
grep -q '"change": "gained"' "$work/out" || fail "report does not start without its selector"

# Who waits for another reason than before has changed.
golden whatif_ghost.table 3 whatif "${lab[@]}" --set group.tune.queue=ghost
golden whatif_weight.table 3 whatif "${lab[@]}" --queue-order weighted --set queue.team-b.weight=3
run 3 whatif "${lab[@]}" --set queue.team-a.quota.bogus=4
grep -q "bogus.*changes nothing" "$work/err" || fail "a quota of what nobody has is taken silently"

"$muster" plan "${lab[@]}" -o json >"$work/a.json" || true
"$muster" plan "${lab[@]}" --score worst-fit -o json >"$work/same.json" || true
sed 's/cpu: "64"/cpu: "4"/' lab.yaml >"$work/small.yaml"
sed -i 's/name: solo,/name: solitary,/' "$work/small.yaml"
"$muster" plan -f "$work/small.yaml" -o json >"$work/b.json" || true
golden diff.table 0 diff "$work/a.json" "$work/b.json"
golden diff.json 0 diff "$work/a.json" "$work/b.json" -o json
golden diff_same.table 0 diff "$work/a.json" "$work/same.json"

# A bound volume is attached by the driver of its class, and an added node has no free volumes.
limit=(-f attachment_of_bound.yaml)
run 3 whatif "${limit[@]}" --bind-claim c-0 --bind-claim c-1 -o json
grep -q '"change": "gained"' "$work/out" && fail "a bound volume needs no attachment"
run 0 whatif "${limit[@]}" --add-nodes 1xa1
run 3 whatif -f volumes.yaml --add-nodes 1xb1 -o json
grep -q '"change": "gained"' "$work/out" && fail "an added node brings free volumes along"

run 1 whatif "${lab[@]}"
rm -f "$work/complaints"
for wrong in "--drain nowhere" "--add-nodes 4" "--add-nodes 0xgpu-1" "--add-nodes 2xnowhere" "--add-nodes 2xgpu-1,zone" "--add-nodes 2xgpu-1,=a" \
    "--remove-gang nobody" "--remove-pod nobody" "--set queue.none.priority=1" \
    "--set queue.team-a.priority=1000" "--set queue.team-a.color=red" "--set team-a=1" \
    "--set queue.team-a.quota.cpu=many" "--set queue.team-a.closed=maybe" "--set everything" \
    "--set group.nobody.minMember=1" "--set group.tune.roles.boss.minMember=1" \
    "--set group.tune.color=red" "--set group.solo.minMember=1" "--set group.tune.toleration=x" \
    "--bind-claim a/b/c" "--bind-claim /c" "--remove-pod a/" "--set group.tune.nodeSelector.a!=b"; do
    # shellcheck disable=SC2086
    run 1 whatif "${lab[@]}" $wrong
    [[ ! -s $work/out ]] || fail "stdout is not empty: $wrong"
    echo "$(<"$work/err")" >>"$work/complaints"
done
for wrong in "a b!=c" "-a=b" "a/b/c=d" "zone=a b" "zone=$(printf 'x%.0s' {1..64})"; do
    run 1 whatif "${lab[@]}" --add-nodes "2xgpu-1,$wrong"
    echo "$(<"$work/err")" >>"$work/complaints"
done
same whatif_wrong.stderr "$work/complaints"
run 1 diff "$work/a.json"
run 1 diff "$work/a.json" nowhere.json
run 2 diff "$work/a.json" lab.yaml
(cd "$work" && sed 's/"answer": "waiting"/"answer": "perhaps"/' a.json >answer.json)
run 2 diff "$work/a.json" "$work/answer.json"
grep -q 'perhaps.* is no answer' "$work/err" || fail "an answer that there is not"
(cd "$work" && sed 's/"podsPlaced": 1/"podsPlaced": "one"/' a.json >wrong.json)
run 2 diff "$work/a.json" "$work/wrong.json"
grep -q 'wrong.json:[0-9]*:[0-9]*: summary.podsPlaced: ' "$work/err" || fail "where it is wrong"
finish
