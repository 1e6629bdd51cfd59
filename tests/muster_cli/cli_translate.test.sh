#!/usr/bin/env bash
# `muster translate`: the objects of one gang for every target, what is lost and refused, and that
# what is printed is read again as the same.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
targets="t9k ack-1.30 ack-1.31 scheduler-plugins volcano koordinator kai-0.14 kai-0.15
         workload-1.35 workload-1.36 workload-1.37 grove pods"

for target in $targets; do
    golden "translate.$target" 0 translate -f gangs.yaml --to "$target"
    same "translate.$target.stderr" "$work/err"
done
golden translate.json 0 translate -f gangs.yaml --to volcano -o json

# A loss is an error with --strict, and so is a warning; a gang without losses goes through.
complains translate.strict.stderr 2 translate -f gangs.yaml --to workload-1.37 --strict
run 0 translate -f gangs.yaml --to t9k --strict
# What the target would refuse is not printed, nor what is wrong already.
run 2 translate -f bad.yaml --to t9k
[[ ! -s $work/out ]] || fail "output of invalid input"
complains translate.nothing.stderr 2 translate -f lab.yaml --to kai-0.15 --strict
complains translate.dotted.stderr 2 translate -f dotted.yaml --to kai-0.15
# A set that is to have no replicas now is fine, and nothing is printed of it.
printf '%s\n' 'apiVersion: grove.io/v1alpha1' 'kind: PodCliqueSet' 'metadata: {name: s}' \
    'spec: {replicas: 0, template: {cliques: [{name: a, spec: {roleName: a, replicas: 1, podSpec: {containers: [{name: c, image: i}]}}}]}}' \
    >"$work/idle.yaml"
run 0 translate -f "$work/idle.yaml" --to volcano
[[ ! -s $work/out ]] || fail "output of a set without replicas"
run 1 translate -f gangs.yaml --to elsewhere
run 1 translate -f gangs.yaml
run 1 translate -f absent.yaml --to t9k

# What is printed, in both forms, says the same, and is its own translation.
for target in t9k ack-1.31 volcano koordinator kai-0.15 workload-1.36 grove pods; do
    "$muster" translate -f gangs.yaml --to "$target" >"$work/first.yaml" 2>"$work/err"
    "$muster" translate -f gangs.yaml --to "$target" -o json >"$work/first.json" 2>"$work/err"
    "$muster" translate -f "$work/first.yaml" --to t9k -o json >"$work/a.json" 2>"$work/err" || true
    "$muster" translate -f "$work/first.json" --to t9k -o json >"$work/b.json" 2>"$work/err" || true
    cmp "$work/a.json" "$work/b.json" || fail "YAML and JSON for $target differ"
done
"$muster" translate -f gangs.yaml --to t9k >"$work/first.yaml" 2>"$work/err"
"$muster" translate -f "$work/first.yaml" --to t9k >"$work/second.yaml" 2>"$work/err"
cmp "$work/first.yaml" "$work/second.yaml" || fail "a translation is translated otherwise"
finish
