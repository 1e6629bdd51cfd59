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
# Pods and a group of the input that are a job's own; pods of DaemonSets get any age.
golden run_own.table 0 run -f run_cluster.yaml -f run_own.yaml
sed '/^  - {/s/uid: u1/uid: another/' run_own.yaml >"$work/clash.yaml"
run 2 run -f run_cluster.yaml -f "$work/clash.yaml"
grep -q 'train-worker-0 would be that of the input too' "$work/err" || fail "the pods do not clash"
# Grove's sets: start in order, scale, rolling update, gang termination, deletion.
sets=(-f run_cluster.yaml -f run_sets.yaml)
golden run_sets.table 0 run "${sets[@]}" --events run_sets_events.yaml
run 0 run "${sets[@]}" --until 10 -o json
grep -q '"MinAvailableBreached"' "$work/out" || fail "there are no statuses of sets"
# As Grove's complete example has it, cliques need no roleName, and the gate is another.
sed '/roleName/d' run_sets.yaml >"$work/no_roles.yaml"
run 2 run -f run_cluster.yaml -f "$work/no_roles.yaml" --until 100
grep -q 'cliques\[0\].spec.roleName: required, but missing' "$work/err" || fail "a role needs no name"
run 2 run -f run_cluster.yaml -f "$work/no_roles.yaml" --dialect upstream --until 100
run 0 run -f run_cluster.yaml -f "$work/no_roles.yaml" --dialect seed --until 100
grep -q 'Pod  *lab/serve-0-router-.*Ungated' "$work/out" || fail "no pod of the seed's dialect runs"
run 1 run -f run_cluster.yaml -f run_sets.yaml --dialect other
complains run_sets_wrong_events.stderr 2 run "${sets[@]}" --events run_sets_wrong_events.yaml
printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata:' '  name: serve-0-router-abcde' \
    '  namespace: lab' '  labels: {app.kubernetes.io/part-of: serve, grove.io/podclique: x}' \
    'spec: {containers: [{name: main, image: i}]}' >"$work/pod.yaml"
run 2 run "${sets[@]}" -f "$work/pod.yaml"
grep -q 'the PodCliqueSet "serve" is in the input as well' "$work/err" || fail "its pods are taken"
complains run_bad.stderr 2 run -f run_cluster.yaml -f run_bad.yaml
complains run_bad_events.stderr 2 run "${jobs[@]}" --events run_bad_events.yaml
complains run_wrong_events.stderr 2 run "${jobs[@]}" --events run_wrong_events.yaml

# Pods that wait for a claim name it.
golden run_claim.table 3 run -f run_claim.yaml

# The same bytes from the objects in another order.
backwards() {
    awk 'BEGIN { RS = "---\n" } { text[NR] = $0 }
         END { for (at = NR; at > 0; at--) printf "%s%s", (at < NR ? "---\n" : ""), text[at] }' "$1"
}
backwards run_sets.yaml >"$work/sets.yaml"
"$muster" run "${sets[@]}" --until 500 >"$work/straight" 2>/dev/null || true
"$muster" run -f "$work/sets.yaml" -f run_cluster.yaml --until 500 >"$work/backwards" 2>/dev/null || true
cmp "$work/straight" "$work/backwards" || fail "the order of the sets shows"
# Scores weigh the kinds of the input.
run 0 run -f scarce.yaml --score least-allocated
grep -qE "default/web +Running +on b-cpu" "$work/out" || fail "the score does not weigh kinds"
backwards run_jobs.yaml >"$work/backwards.yaml"
"$muster" run "${jobs[@]}" -o json >"$work/straight" 2>/dev/null || true
"$muster" run -f "$work/backwards.yaml" -f run_cluster.yaml -o json >"$work/backwards" 2>/dev/null || true
cmp "$work/straight" "$work/backwards" || fail "the order of the objects shows"
finish
