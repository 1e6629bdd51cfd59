#!/usr/bin/env bash
# Rules of others and where they are tested: every test that the tables tests/data/*_rules.tsv name
# is there, and every section that a table is about has some.
set -euo pipefail
tests=$(cd "$(dirname "$0")" && pwd)
failures=0
count=0
declare -A text

# check TABLE SECTION...
check() {
    local table=$tests/data/$1 section rule file name more
    local -A sections=()
    shift
    while IFS=$'\t' read -r section rule file name more; do
        [[ $section != section && $section != '#'* ]] || continue
        count=$((count + 1))
        if [[ -z $name || -n $more ]]; then
            echo "FAILED: no four columns: $section $rule"
            failures=$((failures + 1))
            continue
        fi
        sections[${section%%[ ,]*}]=1
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
    for section in "$@"; do
        [[ -n ${sections[$section]-} ]] || {
            echo "FAILED: no rule of section $section in $table"
            failures=$((failures + 1))
        }
    done
}

check t9k_rules.tsv 1 2 3
check gang_rules.tsv 2.5 10.1 10.2 10.3 10.4 10.5 10.6 10.7 10.8
((failures == 0)) || exit 1
echo "$count rules, each with a test"
