#!/usr/bin/env bash
# T9k's rules and where they are tested: every test that tests/data/t9k_rules.tsv names is there,
# and every section has some.
set -euo pipefail
tests=$(cd "$(dirname "$0")" && pwd)
table=$tests/data/t9k_rules.tsv
failures=0
count=0
declare -A text sections
while IFS=$'\t' read -r section rule file name more; do
    [[ $section != section && $section != '#'* ]] || continue
    count=$((count + 1))
    if [[ -z $name || -n $more ]]; then
        echo "FAILED: no four columns: $section $rule"
        failures=$((failures + 1))
        continue
    fi
    sections[${section%%[., ]*}]=1
    if [[ ! -f $tests/$file ]]; then
        echo "FAILED: there is no tests/$file"
        failures=$((failures + 1))
        continue
    fi
    # A name may be written in several pieces.
    [[ -n ${text[$file]-} ]] ||
        text[$file]=$(tr '\n' ' ' <"$tests/$file" | sed 's/" *"//g; s/\\"/"/g')
    if [[ $file == *.cpp ]]; then
        [[ ${text[$file]} == *'TEST_CASE'*"\"$name\""* ]]
    else
        [[ ${text[$file]} == *"$name"* ]]
    fi || {
        echo "FAILED: tests/$file has no test \"$name\" ($section: $rule)"
        failures=$((failures + 1))
    }
done <"$table"
for section in 1 2 3; do
    [[ -n ${sections[$section]-} ]] || {
        echo "FAILED: no rule of section $section"
        failures=$((failures + 1))
    }
done
((failures == 0)) || exit 1
echo "$count rules, each with a test"
