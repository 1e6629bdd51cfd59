#!/usr/bin/env bash
# Who starts by which policy: orders, and room that is kept.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
now=(--now 2024-05-01T08:45:00Z)

starts() {
    local wanted=$1 found
    shift
    run 3 plan -f line.yaml "${now[@]}" --no-headers "$@"
    found=$(awk '$5 == "Admitted" && $2 != "running" { print $2 }' "$work/out" | paste -sd ' ')
    [[ $found = "$wanted" ]] || fail "'$found' instead of '$wanted' with $*"
}

starts long
starts shortest --order shortest
starts short --backfill easy
starts "shortest" --backfill easy --order shortest
starts short --backfill conservative
starts "" --patience 0
starts long --patience 1
run 1 plan -f line.yaml --backfill lucky
run 1 plan -f line.yaml --order youngest
run 1 plan -f line.yaml --queue-order alphabet
run 1 plan -f line.yaml --patience -1

# A pod without GPUs leaves the nodes with GPUs to others, also where it packs better there.
stands() {
    local wanted=$1
    shift
    run 0 plan -f scarce.yaml --no-headers -o wide "$@"
    grep -qE "web +web +<none> +$wanted +Placed" "$work/out" || fail "web is not on $wanted with $*"
}
stands a-gpu --score most-allocated
stands b-cpu --score avoid-scarce
# By fragmentation a pod without GPUs leaves the CPUs beside GPUs to others; by power it goes where
# CPUs are in use.
for chosen in fgd=b-idle power=c-busy; do
    run 0 plan -f gpu_scores.yaml --no-headers -o wide --score "${chosen%=*}"
    grep -qE "a-web +a-web +<none> +${chosen#*=} +Placed" "$work/out" || fail "a-web: $chosen"
done
# On nodes whose GPUs HAMi shares, a half fills the half GPU of n2 and leaves two whole ones.
run 3 plan -f hami_fgd.yaml --no-headers -o wide --score first-fit
grep -qE "^(default +)?a +.* n1 +Placed" "$work/out" || fail "a with first-fit: $(cat "$work/out")"
golden hami_fgd.json 0 plan -f hami_fgd.yaml -o json --score fgd
grep -A8 '"pod": "a"' "$work/out" | grep -q '"device": "n2-GPU-0"' || fail "a is not on n2-GPU-0"
# The order of all groups, whatever the queues use.
starts long --queue-order next-group

# Surplus goes first, then the group of one; nobody of the queue that may not be evicted from.
golden preempt_none.table 3 plan -f preempt.yaml
# Who is nominated waits until those have left: something stays pending.
golden preempt.wide 3 plan -f preempt.yaml --preempt queues -o wide
golden preempt.json 3 plan -f preempt.yaml --preempt queues -o json
golden preempt.svg 3 plan -f preempt.yaml --preempt queues -o svg
golden preempt.explain 3 explain -f preempt.yaml --preempt queues --tries 0
golden preempt.prio 0 prio -f preempt.yaml --preempt queues
"$muster" plan -f preempt.yaml -o json >"$work/before.json" || true
"$muster" plan -f preempt.yaml --preempt queues -o json >"$work/after.json" || true
golden preempt_diff.table 0 diff "$work/before.json" "$work/after.json"
golden preempt_whatif.table 3 whatif -f preempt.yaml --preempt queues --set queue.low.preemptible=false
golden preempt_whatif_priority.table 3 whatif -f preempt.yaml --preempt queues --set queue.firm.preemptible=true
run 3 plan -f preempt.yaml --preempt queue
golden preempt_short.explain 3 explain -f preempt.yaml --preempt queue --tries 0
run 1 plan -f preempt.yaml --preempt everybody

# Who is protected by a budget is not evicted.
golden budget.table 3 plan -f budget.yaml --preempt queues

# The newer of two pods that stand in the way moves to the other's node.
run 3 plan -f consolidate.yaml
golden consolidate.table 3 plan -f consolidate.yaml --consolidate
golden consolidate.json 3 plan -f consolidate.yaml --consolidate -o json
golden consolidate.pods 3 plan -f consolidate.yaml --consolidate -o pods
golden consolidate.explain 3 explain -f consolidate.yaml --consolidate --tries 0 wide
golden consolidate.svg 3 plan -f consolidate.yaml --consolidate -o svg
"$muster" plan -f consolidate.yaml -o json >"$work/before.json" || true
"$muster" plan -f consolidate.yaml --consolidate -o json >"$work/after.json" || true
golden consolidate_diff.table 0 diff "$work/before.json" "$work/after.json"

# If a group starts, a member that waits for a pod to move away is marked.
golden nominated_surplus.json 3 plan -f nominated_surplus.yaml --profile kai -o json --now 2024-05-01T09:00:00Z
golden nominated_surplus.wide 3 plan -f nominated_surplus.yaml --profile kai -o wide
golden nominated_surplus.explain 3 explain -f nominated_surplus.yaml --profile kai --tries 0
"$muster" plan -f nominated_surplus.yaml --profile kai --no-consolidate -o json >"$work/before.json" || true
"$muster" plan -f nominated_surplus.yaml --profile kai -o json >"$work/after.json" || true
golden nominated_surplus_diff.json 0 diff "$work/before.json" "$work/after.json" -o json

# The queues of others, by their own rules: within its fair share the pod of "right" gets what "left"
# uses beyond its own, of pods that have run for the least time that the parent says.
golden kai_queues.wide 0 queues -f kai_queues.yaml -o wide
golden kai_queues.table 3 plan -f kai_queues.yaml --profile kai
golden volcano_queues.wide 0 queues -f volcano_queues.yaml -o wide
golden volcano_queues.table 3 plan -f volcano_queues.yaml --profile volcano
run 3 plan -f volcano_queues.yaml --profile volcano --preempt none
run 1 plan -f volcano_queues.yaml --profile slurm
# What "left" borrows is reclaimed for the job of "right", since that queue says so; the pod of the
# LocalQueue that holds waits.
nine=(--now 2024-05-01T09:00:00Z)
golden kueue_queues.wide 0 queues -f kueue_queues.yaml "${nine[@]}" -o wide
golden kueue_queues.table 3 plan -f kueue_queues.yaml "${nine[@]}" --profile kueue
golden kueue_none.table 3 plan -f kueue_queues.yaml "${nine[@]}" --profile kueue --preempt none

# Surplus at once leaves nothing for the minima of the second; in turns these go first.
golden surplus_at_once.table 3 plan -f surplus.yaml
golden surplus_in_turn.table 3 plan -f surplus.yaml --profile volcano
golden surplus_level.json 3 plan -f surplus.yaml --profile kai -o json
run 3 plan -f surplus.yaml --profile t9k
same surplus_at_once.table "$work/out"
run 3 plan -f surplus.yaml --profile volcano --surplus at-once
same surplus_at_once.table "$work/out"
run 1 plan -f surplus.yaml --surplus never
# KAI evicts for a member beyond the minimum, too; the others do so for minima alone.
run 3 plan -f more.yaml --profile kai -o json
grep -q '"podsEvicted": 1' "$work/out" || fail "who waits beyond its minimum has others evicted"
for others in "--profile volcano" "--profile t9k" "--preempt both"; do
    # shellcheck disable=SC2086
    run 3 plan -f more.yaml $others -o json
    grep -q '"podsEvicted": 0' "$work/out" || fail "surplus waits: $others"
done
complains queues_bad.err 2 plan -f queues_bad.yaml
complains queues_twice.err 2 plan -f queues_twice.yaml

# What is kept for others is no room, and why is said.
golden reserved.explain 3 explain -f line.yaml "${now[@]}" --patience 0 --tries 0
golden reserved.json 3 plan -f line.yaml "${now[@]}" --patience 0 -o json
golden planned.explain 3 explain -f line.yaml "${now[@]}" --backfill conservative --tries 0
finish
