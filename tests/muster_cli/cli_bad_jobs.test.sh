#!/usr/bin/env bash
# Jobs that are wrong: each is refused with the field that is wrong and what was expected there,
# by `muster translate` and by `muster run`, and nothing is printed for a script to take.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

complains bad_jobs_translate.stderr 2 translate -f bad_jobs.yaml --to kai-0.15
complains bad_jobs_run.stderr 2 run -f run_cluster.yaml -f bad_jobs.yaml

# refused FILE PATTERN: both subcommands refuse the file by a line that matches the pattern.
refused() {
    local command
    for command in "translate -f $1 --to volcano" "run -f $1"; do
        # shellcheck disable=SC2086
        run 2 $command
        [[ ! -s $work/out ]] || fail "stdout is not empty: muster $command"
        grep -qE "$2" "$work/err" || {
            fail "no line matches $2: muster $command"
            head -c 2000 "$work/err"
        }
    done
}

# The kind of a job with an error is understood all the same.
run 2 plan -f bad_jobs.yaml
if grep -q 'not understood' "$work/err"; then
    fail "the kinds of jobs with errors are said not to be understood"
    cat "$work/err"
fi

# job FIELD: a job with one more field in its metadata.
job() {
    printf '%s\n' 'apiVersion: batch.tensorstack.dev/v1beta1' 'kind: GenericJob' 'metadata:' \
        '  name: hostile' "  $1" 'spec: {replicaSpecs: []}'
}
long() { head -c "$1" /dev/zero | tr '\0' "$2"; }

job "annotations: {note: $(long 1000000 x)}" >"$work/annotations.yaml"
refused "$work/annotations.yaml" \
    'annotations.yaml:5:16: metadata.annotations: .* \(expected at most 262144\)$'

job "labels: $(long 10000 '[')$(long 10000 ']')" >"$work/deep.yaml"
refused "$work/deep.yaml" \
    'deep.yaml:5:73: metadata.labels(\[0\])+: nested too deeply \(expected at most 64 levels\)$'

printf '{"apiVersion": "batch.tensorstack.dev/v1beta1", "kind": "GenericJob", "metadata": %s' \
    "{\"name\": \"hostile\", \"labels\": $(long 10000 '[')$(long 10000 ']')}}" >"$work/deep.json"
refused "$work/deep.json" \
    'deep.json:1:[0-9]+: metadata.labels(\[0\])+: nested too deeply \(expected at most 64 levels\)$'
finish
