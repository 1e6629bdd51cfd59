#!/usr/bin/env bash
# `muster translate --shares`: requests for shares of GPUs in the notation of another system, with
# and without another gang API, and what is lost.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
systems="hami volcano koordinator kai openb"

# Without --to nothing else changes. The example of the help is one of these.
run 0 translate --help
grep -qF 'muster translate -f fractions.yaml --shares hami' "$work/out" || fail "the help has no example"
for system in $systems; do
    golden "shares.fractions.$system" 0 translate -f fractions.yaml --shares "$system"
    same "shares.fractions.$system.stderr" "$work/err"
    golden "shares.hami.$system" 0 translate -f gpu_shares.yaml --shares "$system"
    same "shares.hami.$system.stderr" "$work/err"
    # The pods of the target's own notation are as they were, and lose nothing.
    "$muster" translate -f gpu_shares.yaml --shares "$system" >"$work/once.yaml" 2>"$work/err"
    "$muster" translate -f "$work/once.yaml" --shares "$system" >"$work/twice.yaml" 2>"$work/err" ||
        fail "$system is not translated again"
    cmp "$work/once.yaml" "$work/twice.yaml" || fail "a translation to $system is translated otherwise"
done
golden shares.json 0 translate -f fractions.yaml --shares hami -o json

# With --to the gang API changes as well; what is lost of shares is among all other losses.
golden shares.volcano 0 translate -f fractions.yaml --to volcano --shares volcano
same shares.volcano.stderr "$work/err"
golden shares.kept 0 translate -f fractions.yaml --to volcano
same shares.kept.stderr "$work/err"

# A loss is an error with --strict, and a translation without a loss goes through.
complains shares.strict.stderr 2 translate -f gpu_shares.yaml --shares kai --strict
run 0 translate -f gpu_shares.yaml --shares hami --strict

# Input that is wrong, or options that are.
printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: p}' \
    'spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: x}}}]}' >"$work/bad.yaml"
run 2 translate -f "$work/bad.yaml" --shares kai
[[ ! -s $work/out ]] || fail "output of invalid input"
grep -qF 'Pod p' "$work/err" || fail "the wrong pod is not named: $(cat "$work/err")"
run 1 translate -f fractions.yaml
grep -qF -- '--to or --shares is required' "$work/err" || fail "what is missing: $(cat "$work/err")"
run 1 translate -f fractions.yaml --shares elsewhere
finish
