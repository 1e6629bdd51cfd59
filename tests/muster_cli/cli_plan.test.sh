#!/usr/bin/env bash
# `muster plan` and `muster explain`: every output of one cluster that holds a group for about
# every reason, and that the order of the objects decides nothing.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
all=(-f everything.yaml)

golden everything.table 3 plan "${all[@]}"
same everything.stderr "$work/err"
golden everything.wide 3 plan "${all[@]}" -o wide --no-headers
golden everything.json 3 plan "${all[@]}" -o json
golden everything.yaml 3 plan "${all[@]}" -o yaml
golden everything.name 3 plan "${all[@]}" -o name
golden everything.csv 3 plan "${all[@]}" -o csv
golden everything.svg 3 plan "${all[@]}" -o svg
golden everything.pods 3 plan "${all[@]}" -o pods
golden everything.explain 3 explain "${all[@]}"
golden everything.explain.json 3 explain "${all[@]}" -o json
golden fragmented.explain 3 explain default/fragmented "${all[@]}"
golden starts.explain 0 explain starts "${all[@]}"
golden small.json 3 plan -f small.ndjson -o json
golden small.explain 3 explain -f small.ndjson
for score in best-fit worst-fit first-fit; do
    golden "$score.wide" 3 plan "${all[@]}" --score "$score" -o wide
done
golden now.json 3 plan -f small.ndjson -o json --now 2030-01-02T03:04:05+01:00
golden namespace.table 3 plan -f small.ndjson -n elsewhere
# The search finds what the greedy order does not, unless its budget ends first.
golden terms.wide 3 plan -f terms.yaml -o wide
golden terms.explain 3 explain -f terms.yaml
golden terms.whatif 3 whatif -f terms.yaml --set group.seeker.podAffinity= --set group.even-1.topologySpread=
# A spread with an empty selector counts no pods before 1.38, and all pods from then on.
run 0 plan -f empty_spread.yaml
run 3 plan -f empty_spread.yaml --kubernetes 1.38
# Pods that a Service selects get default constraints; kube-scheduler's own are soft.
run 0 plan -f default_spread.yaml
run 0 plan -f default_spread.yaml --default-spread system
run 3 plan -f default_spread.yaml --default-spread spread_configuration.yml
[[ ! -s $work/err ]] || fail "default spread constraints: $(cat "$work/err")"
grep -v 'kind: Service' default_spread.yaml >"$work/without_service.yaml"
run 0 plan -f "$work/without_service.yaml" --default-spread system
same default_spread.stderr "$work/err"
# The room of a pod that another scheduler has nominated is kept, as on a live cluster.
golden foreign_nomination.table 3 plan -f foreign_nomination.yaml
golden foreign_nomination.explain 3 explain -f foreign_nomination.yaml
golden foreign_nomination.whatif 3 whatif -f foreign_nomination.yaml --add-nodes 1xn1
# The nomination of a pod that has run is over when its node is drained.
sed 's/default-scheduler, /&nodeName: n1, /; s/Pending/Running/' foreign_nomination.yaml >"$work/ran.yaml"
run 0 whatif -f "$work/ran.yaml" --drain n1 --add-nodes 2xn1
# Devices of ResourceSlices are what a node has of an extended resource that it does not list.
golden devices.table 0 plan -f devices.yaml
golden devices.json 0 plan -f devices.yaml -o json
run 0 explain -f devices.yaml
run 0 queues -f devices.yaml
run 0 prio -f devices.yaml
run 0 whatif -f devices.yaml --cordon n0
# An item of a list that is nested too deeply breaks no other; its gang waits.
golden deep_item.explain 3 explain -f deep_item.json
same deep_item.stderr "$work/err"
complains deep_item.strict 2 plan -f deep_item.json --strict
golden tight.wide 0 plan -f tight.yaml -o wide
golden undecided.json 3 plan -f tight.yaml -o json --budget 1
golden undecided.explain 3 explain -f tight.yaml --budget 1
# With the queues looked for elsewhere the `default` of T9k's own namespace is none.
golden queue_namespace.table 3 plan "${all[@]}" --queue-namespace default

# The same objects in another order, and from stdin, give the same bytes.
"$muster" plan "${all[@]}" -o json >"$work/straight.json" 2>/dev/null || true
awk 'BEGIN { RS = "---\n" } { text[NR] = $0 }
     END { for (at = NR; at > 0; at--) printf "%s%s", (at < NR ? "---\n" : ""), text[at] }' \
    everything.yaml >"$work/backwards.yaml"
awk 'BEGIN { RS = "---\n"; srand(7) } { text[NR] = $0 }
     END { for (at = NR; at > 0; at--) { other = int(rand() * at) + 1; t = text[at];
                                         text[at] = text[other]; text[other] = t }
           for (at = 1; at <= NR; at++) printf "%s%s", (at > 1 ? "---\n" : ""), text[at] }' \
    everything.yaml >"$work/shuffled.yaml"
for order in backwards shuffled; do
    for format in json wide pods yaml; do
        "$muster" plan "${all[@]}" -o "$format" >"$work/straight" 2>/dev/null || true
        code=0
        "$muster" plan -f - -o "$format" <"$work/$order.yaml" >"$work/$order" 2>/dev/null || code=$?
        ((code == 3)) || fail "exit code $code of $order $format"
        cmp "$work/straight" "$work/$order" || fail "the order of the objects shows in $format"
    done
    "$muster" explain "${all[@]}" >"$work/straight" 2>/dev/null || true
    "$muster" explain -f - <"$work/$order.yaml" >"$work/$order" 2>/dev/null || true
    cmp "$work/straight" "$work/$order" || fail "the order of the objects shows in explain"
done

# A directory is all manifests in it; several -f are one input.
mkdir -p "$work/split"
awk -v to="$work/split" 'BEGIN { RS = "---\n" } { printf "%s", $0 >(to "/" NR % 3 ".yaml")
                          printf "---\n" >(to "/" NR % 3 ".yaml") }' everything.yaml
run 3 plan -f "$work/split" -o json
cmp "$work/straight.json" "$work/out" || fail "a directory is read otherwise"
run 3 plan -f "$work/split/1.yaml" -f "$work/split/0.yaml" -f "$work/split/2.yaml" -o json
cmp "$work/straight.json" "$work/out" || fail "several files are read otherwise"

# A generated cluster of some size goes through; some of its groups wait.
"$here/../../bench/make_cluster" 300 60 >"$work/cluster.json"
run 3 plan -f "$work/cluster.json" -o name
[[ $(wc -l <"$work/out") == 60 ]] || fail "not 60 groups"
finish
