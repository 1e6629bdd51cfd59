#!/usr/bin/env bash
# `muster run`: jobs from creation to their end, with and without events from outside, that the
# order of the objects decides nothing, and what is refused.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
jobs=(-f run_cluster.yaml -f run_jobs.yaml)

golden run.table 0 run "${jobs[@]}"
golden run_events.table 0 run "${jobs[@]}" --events run_events.yaml
golden run.json 0 run "${jobs[@]}" -o json
golden run_cut.table 3 run "${jobs[@]}" --until 60
grep -q 'cut short' "$work/err" || fail "nothing says that the run was cut short"
# Jobs of others run as the groups and pods that they make first.
golden run_foreign.table 0 run -f run_cluster.yaml -f run_foreign.yaml
# Jobs go on from the status that is stored with them, and pods get only so old in some queues.
golden run_stored.table 0 run -f run_stored.yaml
# Conditions as in T9k's own sample: what was true before the end stays so.
golden run_sample.table 0 run "${jobs[@]}" --seed-conditions
run 0 run -f run_stored.yaml --seed-conditions -o json
grep -q '"Initializing"' "$work/out" || fail "the statuses are not as in T9k's sample"
complains run_bad.stderr 2 run -f run_cluster.yaml -f run_bad.yaml
complains run_bad_events.stderr 2 run "${jobs[@]}" --events run_bad_events.yaml
complains run_wrong_events.stderr 2 run "${jobs[@]}" --events run_wrong_events.yaml

# The same bytes from the objects in another order.
awk 'BEGIN { RS = "---\n" } { text[NR] = $0 }
     END { for (at = NR; at > 0; at--) printf "%s%s", (at < NR ? "---\n" : ""), text[at] }' \
    run_jobs.yaml >"$work/backwards.yaml"
"$muster" run "${jobs[@]}" -o json >"$work/straight" 2>/dev/null || true
"$muster" run -f "$work/backwards.yaml" -f run_cluster.yaml -o json >"$work/backwards" 2>/dev/null || true
cmp "$work/straight" "$work/backwards" || fail "the order of the objects shows"
finish
