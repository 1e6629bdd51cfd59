#!/usr/bin/env bash
# T9k's rules as somebody meets them who plans a cluster: manifests in, answers out. The table
# tests/data/t9k_rules.tsv names the rules of this file.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

# Objects, each a line of a List.
node() { # NAME CPU [LABELS]
    echo "- {apiVersion: v1, kind: Node, metadata: {name: $1, labels: {${3-}}}, status: {allocatable: {cpu: $2, pods: 110}}}"
}
queue() { # NAME SPEC
    echo "- {apiVersion: scheduler.tensorstack.dev/v1beta1, kind: Queue, metadata: {name: $1, namespace: t9k-system}, spec: {namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: Exists}]}, $2}}"
}
group() { # NAME SPEC [STATUS]
    echo "- {apiVersion: scheduler.tensorstack.dev/v1beta1, kind: PodGroup, metadata: {name: $1, uid: uid-$1}, spec: {$2}, status: {${3-}}}"
}
pod() { # NAME CPU LABELS [PHASE, on node n1 unless Pending]
    local phase=${4-Pending} on='nodeName: n1, '
    [[ $phase != Pending ]] || on=
    echo "- {apiVersion: v1, kind: Pod, metadata: {name: $1, labels: {$3}}, spec: {${on}containers: [{name: c, resources: {requests: {cpu: $2}}}]}, status: {phase: $phase}}"
}
in_group() { echo "scheduler.tensorstack.dev/group-name: $1"; }
in_queue() { echo "scheduler.tensorstack.dev/queue: $1"; }

# A gang of one of a group of its own: NAME QUEUE PRIORITY CPU [PHASE]
single() {
    group "$1" "minMember: 1, queue: $2, priority: $3"
    pod "$1" "$4" "$(in_group "$1")" "${5-Pending}"
}

# rule TEXT EXPECTED [OPTIONS...]: the objects in $work/objects are planned; EXPECTED holds `NAME ANSWER
# REASON` of every group that is listed, in the order in which they are asked, with commas between.
rule() {
    local text=$1 expected=$2 found code=0
    shift 2
    { printf 'apiVersion: v1\nkind: List\nitems:\n'; cat "$work/objects"; } >"$work/in.yaml"
    "$muster" plan -f "$work/in.yaml" -o csv --columns name,answer,reason --no-headers "$@" \
        >"$work/out" 2>"$work/err" || code=$?
    ((code == 0 || code == 3)) || { cat "$work/err"; fail "exit code $code: $text"; }
    found=$(tr ',' ' ' <"$work/out" | sed 's/ *$//' | paste -sd ',')
    [[ $found = "$expected" ]] || fail "$text: '$found' instead of '$expected'"
}

# ---- queues and quota ----------------------------------------------------------------------------

forty() {
    node n1 100
    queue q 'quota: {requests: {cpu: 40}}'
    single held q 0 38 Running
}
{ forty; single more q 0 4; } >"$work/objects"
rule "R002a: 4 more beside 38 of a quota of 40 is too much" "held Admitted,more Waiting QuotaExceeded"
{ forty; single more q 0 2; } >"$work/objects"
rule "R002a: 2 more beside 38 of a quota of 40 is within it" "held Admitted,more Admitted"

{ node n1 100; queue small 'quota: {requests: {cpu: 1}}'; queue large 'quota: {requests: {cpu: 90}}'
  group g 'minMember: 1, queue: small'; pod g-0 2 "$(in_group g), $(in_queue large)"
  group h 'minMember: 1, queue: large'; pod h-0 2 "$(in_group h), $(in_queue small)"; } >"$work/objects"
rule "the queue of a PodGroup counts, whatever its pods' labels say" "h Admitted,g Never QuotaExceeded"
grep -q 'warning: .*is not the queue of its group' "$work/err" || fail "nothing says that a label does not count"

{ node n1 4; queue first 'priority: 9'; queue second 'priority: 1'
  single a second 100 4; single b first 0 4; } >"$work/objects"
rule "the queue of the higher priority goes first, whatever its groups' priorities" "b Admitted,a Waiting InsufficientResource"
{ node n1 10; queue a 'quota: {requests: {cpu: 8}}'; queue b 'quota: {requests: {cpu: 10}}'
  single ran-a a 0 4 Running; single ran-b b 0 4 Running; single new-a a 100 2; single new-b b 0 2; } >"$work/objects"
rule "of equal queues the smaller dominant share goes first" \
    "new-b Admitted,new-a Waiting InsufficientResource,ran-a Admitted,ran-b Admitted"

# ---- closed queues -------------------------------------------------------------------------------

full() {
    node n1 10
    queue low 'priority: 1'
    queue closed 'priority: 9, closed: true'
    single victim low 0 6 Running
}
{ full; single new closed 0 8; } >"$work/objects"
rule "a closed queue's new groups get nothing, and nobody is evicted for them" "new Waiting QueueClosed,victim Admitted" --preempt queues
{ full; group runs 'minMember: 2, queue: closed'; pod runs-0 2 "$(in_group runs)" Running
  pod runs-1 4 "$(in_group runs)"; } >"$work/objects"
rule "a closed queue's group that holds something is completed, by evictions too" "runs Nominated Evicts(1),victim Evicted Loses(1)" --preempt queues

# ---- preemption ----------------------------------------------------------------------------------

four() {
    node n1 300
    queue A 'priority: 1, quota: {requests: {cpu: 200}}'
    queue B 'priority: 1, quota: {requests: {cpu: 100}}'
    queue C 'priority: 2, quota: {requests: {cpu: 50}}'
    queue D 'priority: 2, quota: {requests: {cpu: 200}}'
    single A1 A 2 50 Running
    single A2 A 2 50 Running
    [[ ${1-} = gone ]] || single A3 A 1 50 Running
    single B1 B 2 50 Running
    single C1 C 2 50 Running
    single D1 D 2 50 Running
}
new() { for each; do single "$each" "${each%?}" 0 50; done; }
only() { # keeps of what was planned what was asked for, and who loses
    grep -E '^([BCD]2|A3)|Evicted' "$work/out" | sort | tr ',' ' ' | sed 's/ *$//' | paste -sd ','
}
vector="T9k's four queues: B2 waits for room, C2 for quota, A3 goes for D2, and then D2 starts"
steps=$(
    for step in "B2" "B2 C2" "B2 C2 D2"; do
        # shellcheck disable=SC2086
        { printf 'apiVersion: v1\nkind: List\nitems:\n'; four; new $step; } >"$work/four.yaml"
        "$muster" plan -f "$work/four.yaml" --preempt queues -o csv --columns name,answer,reason \
            --no-headers >"$work/out" 2>/dev/null || true
        echo "$step: $(only)"
    done
    { printf 'apiVersion: v1\nkind: List\nitems:\n'; four gone; new B2 C2 D2; } >"$work/four.yaml"
    "$muster" plan -f "$work/four.yaml" --preempt queues -o csv --columns name,answer,reason \
        --no-headers >"$work/out" 2>/dev/null || true
    echo "A3 is gone: $(only)"
)
[[ $steps = "B2: A3 Admitted,B2 Waiting InsufficientResource
B2 C2: A3 Admitted,B2 Waiting InsufficientResource,C2 Waiting InsufficientResource(+1)
B2 C2 D2: A3 Evicted Loses(1),B2 Waiting InsufficientResource,C2 Waiting InsufficientResource(+1),D2 Nominated Evicts(1)
A3 is gone: B2 Waiting InsufficientResource,C2 Waiting InsufficientResource(+1),D2 Admitted" ]] ||
    fail "$vector: $steps"
# Where all is full there are two reasons for C2. Its quota alone keeps it waiting.
"$muster" plan -f "$work/four.yaml" --preempt queues -o json >"$work/out" 2>/dev/null || true
tr -d '\n' <"$work/out" | grep -q '"name": "C2",[^{}]*"gate": "quota"' || fail "C2 does not wait at its quota"
{ four; new D2; } >"$work/objects"
rule "without the action preempt nobody is evicted" \
    "D1 Admitted,D2 Waiting InsufficientResource,C1 Admitted,B1 Admitted,A1 Admitted,A2 Admitted,A3 Admitted"

# ---- members and status --------------------------------------------------------------------------

{ node n1 10; group g 'minMember: 3'; pod g-0 1 "$(in_group g)" Unknown
  pod g-1 1 "$(in_group g)"; pod g-2 1 "$(in_group g)"; } >"$work/objects"
rule "a pod of phase Unknown counts as a member and holds what it holds" "g Admitted"
{ node n1 10; group g 'minMember: 3'; pod g-0 1 "$(in_group g)" Failed
  pod g-1 1 "$(in_group g)"; pod g-2 1 "$(in_group g)"; } >"$work/objects"
rule "a pod of phase Failed counts for nothing" "g Waiting NotEnoughMembers"

# condition TYPE: its line of the only group on stdin, without times.
condition() {
    { printf 'apiVersion: v1\nkind: List\nitems:\n'; cat; } >"$work/in.yaml"
    "$muster" plan -f "$work/in.yaml" -o json >"$work/out" 2>/dev/null || true
    tr -d '\n' <"$work/out" | grep -o '{[^{}]*"type": "'"$1"'"' | sed 's/  */ /g'
}
says() { # TEXT TYPE WANTED, objects on stdin
    local found
    found=$(condition "$2")
    for part in "${@:3}"; do
        [[ $found == *"$part"* ]] || fail "$1: '$part' is not in '$found'"
    done
}
{ node n1 10; group g 'minMember: 2'; pod g-0 1 "$(in_group g)"; } >"$work/short"
says "SufficientGroupMember is False with T9k's reason and message" SufficientGroupMember \
    '"status": "False"' '"reason": "InsufficientMemberPod"' \
    '"message": "Insufficient members in PodGroup, waiting for more"' <"$work/short"
says "GroupScheduled is False with the reason GroupNotScheduled" GroupScheduled \
    '"status": "False"' '"reason": "GroupNotScheduled"' <"$work/short"
{ node n1 10; group g 'minMember: 1'; pod g-0 1 "$(in_group g)"; } >"$work/whole"
says "SufficientGroupMember is True with T9k's reason" SufficientGroupMember \
    '"status": "True"' '"reason": "SufficientMemberPods"' <"$work/whole"
says "GroupScheduled is True with T9k's reason and message" GroupScheduled \
    '"status": "True"' '"reason": "PodGroupScheduled"' \
    '"message": "Resources have been allocated to PodGroup"' <"$work/whole"
{ node n1 10; group g 'minMember: 1' 'conditions: [{type: GroupScheduled, status: "True", reason: PodGroupScheduled, transitionID: kept, lastTransitionTime: "2024-05-01T08:00:00Z"}]'; } >"$work/latch"
says "GroupScheduled stays True when no pod is left, with its id and its time" GroupScheduled \
    '"status": "True"' '"transitionID": "kept"' '2024-05-01T08:00:00Z' <"$work/latch"
# The id of a change depends on what changes alone.
first=$(condition SufficientGroupMember <"$work/whole" | grep -o 'transitionID": "[^"]*"')
again=$(condition SufficientGroupMember <"$work/whole" | grep -o 'transitionID": "[^"]*"')
other=$(condition GroupScheduled <"$work/whole" | grep -o 'transitionID": "[^"]*"')
turned=$({ node n1 10; group g 'minMember: 1' "conditions: [{type: SufficientGroupMember, status: \"False\", reason: x, ${first/\": /: }}]"
    pod g-0 1 "$(in_group g)"; } | condition SufficientGroupMember | grep -o 'transitionID": "[^"]*"')
text="a transitionID is made of the uid, the type and the id before: the same twice, another for each change"
[[ $first = "$again" && $first != "$other" && $first != "$turned" &&
    $first =~ [0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12} ]] || fail "$text"

# ---- nodes ---------------------------------------------------------------------------------------

loaded() {
    node n1 16
    node small 8
    single first default 0 6 Running
    pod other 4 'a: b' | sed 's/^- {/- {/; s/spec: {/spec: {nodeName: small, /; s/phase: Pending/phase: Running/'
    single g default 0 2
}
goes() { # TEXT NODE OPTIONS...
    local text=$1 wanted=$2
    shift 2
    { printf 'apiVersion: v1\nkind: List\nitems:\n'; loaded; } >"$work/in.yaml"
    "$muster" plan -f "$work/in.yaml" -o json "$@" >"$work/out" 2>"$work/err" || { cat "$work/err"; fail "$text"; }
    tr -d '\n' <"$work/out" | grep -q '"placements": \[ *{ *"pod": "g", *"role": null, *"node": "'"$wanted"'"' ||
        fail "$text: not on $wanted"
}
goes "binpack MostAllocated fills the node of which most is taken" small --score most-allocated
goes "binpack LeastAllocated takes the node of which least is taken" n1 --score least-allocated
goes "binpack weighs resources from 0 to 10" n1 --score most-allocated --score-weight cpu=0 --score-weight pods=10
run 1 plan -f "$work/in.yaml" --score most-allocated --score-weight cpu=11

# ---- what queues say -----------------------------------------------------------------------------

{ printf 'apiVersion: v1\nkind: List\nitems:\n'
  node n1 100; queue q 'closed: true, quota: {requests: {cpu: 10}}'
  single held q 0 9500m Running; pod alone 1 "$(in_queue q)"; } >"$work/in.yaml"
run 0 queues -f "$work/in.yaml" -o json
sed 's|.*"now".*||' "$work/out" >"$work/queues.json"
same t9k_queue_status.json "$work/queues.json"
finish
