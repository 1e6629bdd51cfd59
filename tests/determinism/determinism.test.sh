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

status=0
for compiler in g++ clang++; do
    for flags in "-O0" "-O2" "-O3 -march=native"; do
        way="$compiler $flags"
        if ! command -v "$compiler" >/dev/null; then
            echo "$way: skipped: $compiler not installed"
            continue
        fi
        program=$work/decide_${way//[^a-zA-Z0-9]/_}
        if ! fresh "$program" "$program.d"; then
            # shellcheck disable=SC2086
            "$compiler" -std=c++20 $flags -I "$source/include" -MMD -MF "$program.d" \
                "$here/decide.cpp" -o "$program"
        fi
        if "$program" >"$program.txt" && cmp -s "$here/digest.txt" "$program.txt"; then
            echo "$way: same"
        else
            echo "$way: DIFFERS"
            diff -u "$here/digest.txt" "$program.txt" | head -n 20 || true
            status=1
        fi
    done
done
exit $status
