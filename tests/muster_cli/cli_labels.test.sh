#!/usr/bin/env bash
# `-l`: what is listed is chosen by labels, as kubectl has it; all of it is planned all the same.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

# lists EXPECTED CODE ARGUMENTS...: the first column, or the only one, in one line.
lists() {
    local expected=$1
    shift
    run "$@"
    local found
    found=$(cut -d, -f1 "$work/out" | tr '\n' ' ')
    [[ $found = "$expected" ]] || fail "muster ${*:2}: '$found' instead of '$expected'"
}
groups=(plan -f labels.yaml --now 2024-05-01T08:00:00Z -o csv --no-headers --columns name)
lists 'fits waits other lone ' 3 "${groups[@]}"
lists 'fits lone ' 0 "${groups[@]}" -l team=a
lists 'waits ' 3 "${groups[@]}" --selector team==b
lists 'waits other ' 3 "${groups[@]}" -l 'team!=a'
lists 'fits other lone ' 0 "${groups[@]}" -l 'team in (a, c)'
lists 'waits ' 3 "${groups[@]}" -l 'team notin (a,c),!step'
lists 'fits ' 0 "${groups[@]}" -l 'step>0,team'
# A group with an object has the labels of that, not of its pods.
lists '' 0 "${groups[@]}" -l team=hidden

lists 'lone ' 0 prio -f labels.yaml -o csv --no-headers --columns name -l 'team=a,!step'
lists 'gold ' 0 queues -f labels.yaml -o csv --no-headers --columns name -l tier=gold
lists 'plain ' 0 queues -f labels.yaml -o csv --no-headers --columns name -l '!tier'

# What is counted is what is listed.
run 0 plan -f labels.yaml -o json -l team=a
grep -q '"podsPlaced": 2' "$work/out" || fail 'pods placed that are listed'
grep -q '"podsPending": 0' "$work/out" || fail 'pods pending that are listed'
run 3 explain -f labels.yaml -l team=b
grep -q '^waits ' "$work/out" || fail 'explain lists whom the selector takes'
run 0 explain -f labels.yaml -l team=a
[[ ! -s $work/out ]] || fail 'explain lists others'
run 0 whatif -f labels.yaml --remove-gang fits -l team=a
! grep -q waits "$work/out" || fail 'whatif lists others'
# Pods by their own labels.
run 0 plan -f labels.yaml -o pods --no-headers -l team=hidden
[[ $(awk '{print $1}' "$work/out") = other-0 ]] || fail 'pods are listed by their own labels'

for wrong in 'team=' '=a' 'team in a' 'team in (a' 'team of (a)' 'a b' 'a,' 'step>x' '!' ''; do
    [[ $wrong = 'team=' ]] && continue
    run 1 plan -f labels.yaml -l "$wrong"
done
run 1 plan -f labels.yaml -l 'team of (a)'
grep -q '"of" is no operator (expected =, !=, in or notin)' "$work/err" || fail 'what is wrong'
finish
