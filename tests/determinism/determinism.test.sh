#!/usr/bin/env bash
# Builds one program that decides and prints a digest of its decisions in six ways; each must print
# what digest.txt says.
set -euo pipefail
. "$(dirname "$0")/../script_tools.sh"
here=$(cd "$(dirname "$0")" && pwd)

if [[ ! -f $here/decide.cpp ]]; then
    echo "skipped: there is no decide.cpp"
    exit 77
fi
if [[ ! -f $here/digest.txt ]]; then
    echo "there is a decide.cpp, but no digest.txt to compare its output with"
    exit 1
fi

# try WAY COMPILER FLAGS...: says how it went; fails when the output differs.
try() {
    local way=$1 program=$work/decide_${1//[^a-zA-Z0-9]/_}
    shift
    if ! command -v "$1" >/dev/null; then
        echo "$way: skipped: $1 not installed"
        return
    fi
    if ! fresh "$program" "$program.d"; then
        "$@" -std=c++20 -I "$source/include" -MMD -MF "$program.d" "$here/decide.cpp" -o "$program" ||
            { echo "$way: does not compile"; return 1; }
    fi
    if "$program" >"$program.txt" && cmp -s "$here/digest.txt" "$program.txt"; then
        echo "$way: same"
    else
        echo "$way: DIFFERS"
        diff -u "$here/digest.txt" "$program.txt" | head -n 20 || true
        return 1
    fi
}

# Most of the time is the compilers': as many at once as there are processors.
ways=0
rm -f "$work"/right.*
for compiler in g++ clang++; do
    for flags in "-O0" "-O2" "-O3 -march=native"; do
        take_turn
        # shellcheck disable=SC2086
        { try "$compiler $flags" "$compiler" $flags && touch "$work/right.$ways"; } \
            >"$work/said.$ways" 2>&1 &
        ways=$((ways + 1))
    done
done
wait
status=0
for ((way = 0; way < ways; ++way)); do
    cat "$work/said.$way"
    [[ -e $work/right.$way ]] || status=1
done
exit $status
