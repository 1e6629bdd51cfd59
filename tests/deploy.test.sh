#!/usr/bin/env bash
# Checks examples/deploy against the program: alerts use existing metrics, and deployments use existing
# options.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
deploy=$source/examples/deploy
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
for page in alerts.rules dashboards/muster.json; do
    metrics=$(grep -oE '\bmuster_[a-z_]+' "$deploy/$page" |
        sed -E 's/_seconds_(bucket|sum|count)$/_seconds/' | sort -u)
    [[ $(wc -l <<<"$metrics") -ge 6 ]] || fail "$page: too few metrics are asked for"
    for each in $metrics; do
        grep -q "\"$each\"" "$source"/examples/muster/*/*.{cpp,hpp} || fail "$page: there is no metric $each"
    done
done
# Grafana reports no errors in a dashboard: it shows panels without data.
if type python3 >/dev/null 2>&1; then
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$deploy/dashboards/muster.json" ||
        fail "dashboards/muster.json: not JSON"
fi
# Both the alerts and the dashboard show why gangs wait and how much queues use.
for each in pending_gangs queue_used queue_quota schedule_attempts_total gang_scheduling_seconds_bucket; do
    for page in alerts.rules dashboards/muster.json; do
        grep -q "muster_$each" "$deploy/$page" || fail "$page: nothing asks for muster_$each"
    done
done
home=$(sed -nE 's/.*lease_namespace = "(.*)";/\1/p' "$source/examples/muster/live/live.hpp")
for part in scheduler controller; do
    for each in $(grep -oE 'args: .*' "$deploy/$part.yaml" | grep -oE -- '--[a-z-]+' | sort -u); do
        grep -q "\"$each[,\"]" "$source"/examples/muster/{commands,options}/*.cpp || fail "$part.yaml: no option $each"
    done
    grep -q "lease_name = \"muster-$part\";" "$source/examples/muster/live/live.hpp" ||
        fail "the lease of $part has another name"
    grep -q "resourceNames: \[muster-$part\]" "$deploy/rbac.yaml" || fail "rbac.yaml: no lease for $part"
    grep -q "name: muster-$part, namespace: $home}" "$deploy/rbac.yaml" ||
        fail "rbac.yaml: no role of $part in $home"
    grep -q "serviceAccountName: muster-$part" "$deploy/$part.yaml" || fail "$part.yaml: whose account"
    port=$(grep -oE 'containerPort: [0-9]+' "$deploy/$part.yaml" | grep -oE '[0-9]+')
    grep -q "port: $port}" "$deploy/networkpolicy.yaml" || fail "networkpolicy.yaml: no port $port"
    grep -q "podSelector: {matchLabels: {app: muster-$part}}" "$deploy/networkpolicy.yaml" ||
        fail "networkpolicy.yaml: no $part"
done
# Without a preemption rule the scheduler evicts nothing, but T9k's users expect preemption.
grep -qF -- '--profile, t9k,' "$deploy/scheduler.yaml" || fail "scheduler.yaml: no rule of preemption"
# Every kind that the controllers follow may be listed: T9k's by the one role, and Grove's by both.
# A rule is one line here.
role_of() { awk -v RS='---\n' "/kind: ClusterRole\n/ && /metadata: \{name: $1\}\n/" "$deploy/rbac.yaml"; }
rules_of() { awk '/^- / {print rule; rule = ""} /^---/ {print rule; rule = ""} {rule = rule " " $0} END {print rule}'; }
kinds_of() { grep -ohE '"[a-z]+s"' "$source/include/muster/kube/$1_controller.hpp" | tr -d '"' | sort -u; }
role=
for each in "t9k muster-controller 12" "grove muster-controller-grove 10"; do
    read -r whose name least <<<"$each"
    role+=$(role_of "$name" | rules_of | grep -F 'verbs: [get, list, watch')
    kinds=$(kinds_of "$whose" | grep -v '^configmaps$')
    [[ $(wc -l <<<"$kinds") -ge $least ]] || fail "too few kinds of $whose are found: $kinds"
    for each in $kinds; do
        grep -qE "\b$each\b" <<<"$role" || fail "rbac.yaml: $name may not list $each"
    done
done
# The controller must not read unrelated ConfigMaps: it lists none, and gets those of jobs by name.
grep -rqE 'configmaps[],].*(list|watch)' "$deploy/rbac.yaml" && fail "rbac.yaml: ConfigMaps are listed"
role=$(role_of muster-controller)
[[ ! $role =~ grove|run\.ai|volcano|scheduling\. ]] ||
    fail "rbac.yaml: muster-controller has rights that only Grove's sets need"
# The policy evaluates the pods that carry one of its keys, and no others: it names the same keys twice.
keys_in() { sed -n "/$1/,/$2/p" "$deploy/policies.yaml" | grep -oE '"[a-z0-9./-]+"' | sort; }
judged=$(keys_in '  variables:' 'name: labels')
[[ $(wc -l <<<"$judged") -ge 11 ]] || fail "policies.yaml: too few keys: $judged"
diff <(keys_in '  matchConditions:' '  variables:') <(echo "$judged") ||
    fail "policies.yaml: the match condition names other keys than the policy"
# The scheduler's account may change pods by their status, a binding or an eviction alone. `patch pods`,
# with which it could change an image, is a role of its own that rbac.yaml binds to no account.
role_of muster-scheduler-gates | rules_of | grep -qF 'resources: [pods], verbs: [patch]' ||
    fail "rbac.yaml: muster-scheduler-gates may not patch pods"
# So is the right to create pods: of any image, with any account of the namespace.
role_of muster-scheduler-kai-reservations | rules_of | grep -qF 'resources: [pods], verbs: [create, delete]' ||
    fail "rbac.yaml: muster-scheduler-kai-reservations may not create and delete pods"
bound=$(awk -v RS='---\n' '/ServiceAccount, name: muster-scheduler,/' "$deploy/rbac.yaml" |
    sed -nE 's/^roleRef: .*kind: ClusterRole, name: ([a-z-]+)\}/\1/p')
[[ $bound ]] || fail "rbac.yaml: no role is bound to the scheduler's account"
for each in $bound; do
    ! role_of "$each" | rules_of |
        grep -E 'resources: \[([^]]*, )?pods(,[^]]*)?\].*verbs: \[[^]]*(patch|update|create|delete|\*)' ||
        fail "rbac.yaml: $each, bound to the scheduler's account, may change pods"
done
# Whoever may run with a dialect may read all that it is about.
rules=$(rules_of <"$deploy/rbac.yaml")
followed=$(sed -nE 's/^ *\{"([^"]*)", "[A-Za-z]+", "([a-z]+)".*/\1 \2/p' \
    "$source/include/muster/kube/dialect.hpp" | sed -E 's/^v1 /"" /; s,/v[0-9a-z]+ , ,')
(($(wc -l <<<"$followed") >= 17)) || fail "dialect.hpp: too few collections"
while read -r group plural; do
    grep -F 'verbs: [get, list, watch' <<<"$rules" |
        grep -qE "apiGroups: \[([^]]*, )?$group(,[^]]*)?\],? +resources: \[([^]]*, )?$plural(,[^]]*)?\]" ||
        fail "rbac.yaml: nobody may read $plural of $group"
done <<<"$followed"
((failures == 0)) && echo fine
exit $((failures > 0))
