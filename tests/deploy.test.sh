#!/usr/bin/env bash
# What examples/deploy says of the program is so: its alerts ask for metrics that there are, and its
# deployment gives options that there are.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
deploy=$source/examples/deploy
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
metrics=$(grep -oE '\bmuster_[a-z_]+' "$deploy/alerts.rules" | sed -E 's/_bucket$//' | sort -u)
[[ $(wc -l <<<"$metrics") -ge 6 ]] || fail "alerts.rules: too few metrics are asked for"
for each in $metrics; do
    grep -q "\"$each\"" "$source"/examples/muster/*.cpp || fail "alerts.rules: there is no metric $each"
done
for each in $(grep -oE 'args: .*' "$deploy/scheduler.yaml" | grep -oE -- '--[a-z-]+' | sort -u); do
    grep -q "\"$each[,\"]" "$source/examples/muster/main.cpp" || fail "scheduler.yaml: no option $each"
done
lease=$(sed -nE 's/.*lease_name = "(.*)";/\1/p' "$source/examples/muster/live.hpp")
home=$(sed -nE 's/.*lease_namespace = "(.*)";/\1/p' "$source/examples/muster/live.hpp")
grep -q "resourceNames: \[$lease\]" "$deploy/rbac.yaml" || fail "rbac.yaml: not for the lease $lease"
grep -q "name: muster-scheduler, namespace: $home}" "$deploy/rbac.yaml" ||
    fail "rbac.yaml: no role in $home"
((failures == 0)) && echo fine
exit $((failures > 0))
