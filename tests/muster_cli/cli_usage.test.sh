#!/usr/bin/env bash
# What `muster` says of a wrong command line or input, and how it ends then.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

golden version.table 0 version
golden version.json 0 version -o json
golden schema_plan.json 0 schema plan
golden schema_diff.json 0 schema diff
run 0 --help
mv "$work/out" "$work/help"
run 0 help
cmp "$work/help" "$work/out" || fail "help is not what --help says"
for command in plan run translate queues; do
    run 0 "$command" --help
    mv "$work/out" "$work/help"
    run 0 help "$command"
    cmp "$work/help" "$work/out" || fail "help $command is not what $command --help says"
done
# The help of every command names the exit codes that it has.
exit_codes() { # CODES COMMAND
    local found
    run 0 "$2" --help
    found=$(sed -n '/^Exit codes:/,$p' "$work/out" | grep -oE '[0-9] ' | tr -d ' \n')
    [[ $found = "$1" ]] || fail "$2 --help names the exit codes '$found' instead of $1"
}
for command in plan explain whatif; do exit_codes 01234 "$command"; done
for command in queues prio; do exit_codes 0124 "$command"; done
exit_codes 0123 run
for command in diff translate up; do exit_codes 012 "$command"; done
for command in schedule controller; do exit_codes 013 "$command"; done
for command in snapshot shadow schema version completion; do exit_codes 01 "$command"; done
run 1 help fly
grep -q '"fly" is no command' "$work/err" || fail "help of no command"

# What shells complete: commands, options, what these take, and words that follow a command.
for shell in bash zsh fish; do
    run 0 completion "$shell"
    for command in plan explain whatif diff prio queues run translate schema version completion; do
        grep -qw "$command" "$work/out" || fail "$shell knows no $command"
    done
done
"$muster" completion bash >"$work/completion.bash"
completes() { # WANTED WORDS...
    local found
    found=$(
        . "$work/completion.bash"
        COMP_WORDS=(muster "${@:2}")
        COMP_CWORD=$(($# - 1))
        _muster
        echo "${COMPREPLY[*]}"
    )
    [[ $found = "$1" ]] || fail "'$found' instead of '$1' completes ${*:2}"
}
completes plan pl
completes "best-fit" plan --score b
completes "--sort-by" queues --so
completes "plan diff" schema ""
completes zsh completion z
completes hami translate --shares h
completes "" plan --now x
run 1 completion tcsh
run 1 completion

run 1
run 1 plan
run 1 fly -f everything.yaml
grep -q '"fly" is no command (expected one of plan, ' "$work/err" || fail "which word is no command"
# A word that is nearly right is suggested.
says() { grep -qF -- "$1" "$work/err" || fail "no '$1' in: $(cat "$work/err")"; }
run 1 explian -f everything.yaml
says '(did you mean explain?)'
run 1 help shedule
says '(did you mean schedule?)'
run 1 plan -f everything.yaml --profle t9k
says '"--profle" is no option of muster plan (did you mean --profile?)'
run 1 plan -f everything.yaml --no-header=x
says '"--no-header" is no option of muster plan (did you mean --no-headers?)'
run 1 plan --filname everything.yaml
says '(did you mean --filename?)'
says '--filename is required'
run 1 plan -f everything.yaml --frobnicate
says '"--frobnicate" is no option of muster plan'
! grep -q "did you mean" "$work/err" || fail "a far word is suggested"
run 1 explain whoel -f lab.yaml
says '(did you mean whole?)'
run 1 explain default/whol -f lab.yaml
says '(did you mean default/whole?)'
run 1 plan -f everything.yaml -o jsno
says '--output: "jsno" is none of table, wide, pods, json, yaml, name, csv, svg (did you mean json?)'
run 1 explain -f everything.yaml -o wide
says '--output: "wide" is none of table, json, yaml'
run 1 translate -f everything.yaml --to kai-0.15 -o ymal
says '(did you mean yaml?)'
run 1 plan -f everything.yaml --profile kia
says '(did you mean kai?)'
golden version.table 0 --version
run 1 plan -f everything.yaml -o html
run 1 plan -f everything.yaml --score luck
run 1 plan -f everything.yaml --budget 0
run 1 schema run
complains bad_time.stderr 1 plan -f everything.yaml --now yesterday
complains distant_time.stderr 1 plan -f everything.yaml --now 9999-12-31T23:59:59Z
complains bad_patience.stderr 1 plan -f everything.yaml --patience -1
complains bad_topology.stderr 1 plan -f everything.yaml --topology block,,rack
complains bad_kubernetes.stderr 1 plan -f everything.yaml --kubernetes 1.34
complains unknown_kubernetes.stderr 1 plan -f everything.yaml --kubernetes 1.39
run 1 plan -f everything.yaml --default-spread everything.yaml
complains no_file.stderr 1 plan -f nowhere.yaml
complains no_group.stderr 1 explain nobody -f small.ndjson
run 1 plan -f - -f - </dev/null

# Input without any object is an error: the command before the pipe has failed.
: >"$work/empty.yaml"
for command in plan explain queues prio run "whatif --cordon x" "translate --to t9k"; do
    # shellcheck disable=SC2086
    run 2 $command -f - </dev/null
    says '<stdin>:1:1: no objects (expected Kubernetes objects in YAML or JSON'
    [[ ! -s $work/out ]] || fail "$command prints something for no objects"
done
run 2 plan -f "$work/empty.yaml" -f - <<<'{"kind":"List","apiVersion":"v1","items":[]}'
says "$work/empty.yaml, <stdin>:1:1: no objects"
run 2 plan -f - <<<'---'

complains bad.stderr 2 plan -f bad.yaml
complains hollow.stderr 2 plan -f hollow.yaml
golden broken_items.table 3 plan -f broken_items.yaml
same broken_items.stderr "$work/err"
golden contradictions.table 3 plan -f contradictions.yaml
same contradictions.stderr "$work/err"
golden unknown_field.table 0 plan -f unknown_field.yaml
same unknown_field.stderr "$work/err"
complains unknown_field_strict.stderr 2 plan -f unknown_field.yaml --strict
# Objects that describe no pods are no reason to refuse an input; workloads that make none now are one.
run 0 plan --strict -f - <<<'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}'
[[ ! -s $work/err ]] || fail "a ConfigMap with --strict says: $(cat "$work/err")"
run 2 plan --strict -f - <<<'{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {}}'
says "skipped 1 workload that makes no pods now, or whose pods are not in the input: 1 batch/v1 CronJob"
# An unknown field of a job's template gives one warning, at the field, and the pods wait.
golden unknown_job_field.table 3 plan -f unknown_job_field.yaml
same unknown_job_field.stderr "$work/err"
run 2 plan -f everything.yaml --strict
run 2 plan -f everything.yaml -f everything.yaml
run 2 plan -f - <<<'{"apiVersion": "v1", "kind": '
finish
