#!/usr/bin/env bash
# `muster queues` and `muster prio`: what queues hold, and in which order groups are asked.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

golden queues.table 0 queues -f lab.yaml
golden queues.wide 0 queues -f lab.yaml -o wide --no-headers
golden queues.json 0 queues -f lab.yaml -o json
golden queues.yaml 0 queues -f lab.yaml -o yaml
golden queues.name 0 queues -f lab.yaml -o name
golden queues_everything.wide 0 queues -f everything.yaml -o wide
golden queues.csv 0 queues -f lab.yaml -o csv
golden queues.svg 0 queues -f lab.yaml -o svg
golden lab.svg 3 plan -f lab.yaml -o svg
golden prio.csv 0 prio -f lab.yaml -o csv --no-headers
golden prio.table 0 prio -f lab.yaml
golden prio.json 0 prio -f lab.yaml -o json
golden prio_everything.table 0 prio -f everything.yaml --now 2024-07-01T00:00:00Z
# Columns are chosen, and rows sorted: numbers as numbers, ties as they stood.
golden queues_sorted.table 0 queues -f lab.yaml --sort-by priority --columns PRIORITY,name
golden prio_sorted.csv 0 prio -f lab.yaml -o csv --sort-by name --columns name,rank
run 1 queues -f lab.yaml --sort-by age
grep -q '"age" is no column (expected one of NAME, STATE' "$work/err" || fail "which columns there are"
run 1 queues -f lab.yaml -o json --columns name
run 1 prio -f lab.yaml -o svg
run 1 queues
finish
