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

# Surplus goes first, then the group of one; nobody of the queue that may not be evicted from.
golden preempt_none.table 3 plan -f preempt.yaml
golden preempt.wide 0 plan -f preempt.yaml --preempt queues -o wide
golden preempt.json 0 plan -f preempt.yaml --preempt queues -o json
run 3 plan -f preempt.yaml --preempt queue
run 1 plan -f preempt.yaml --preempt everybody
finish
