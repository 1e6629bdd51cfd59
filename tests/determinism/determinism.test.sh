#!/usr/bin/env bash
# Builds one program that decides and prints a digest of its decisions in six ways header-only, and once
# with the core compiled separately; each must print what digest.txt says. Sources compiled in both ways
# must not link.
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

# The same program with the core compiled separately. Mixed with a header-only source it must not link,
# and the message must say why.
try_separately() {
    local core=$work/core_4.o source_of_core=$work/core_4.cpp
    local separately=(g++ -O2 -std=c++20 -I "$source/include" -DMUSTER_SEPARATE_COMPILATION)
    printf '#include <muster/src.hpp>\nMUSTER_COMPILE_CORE(4)\n' >"$source_of_core"
    fresh "$core" "$core.d" ||
        "${separately[@]}" -MMD -MF "$core.d" -c "$source_of_core" -o "$core" || return 1
    try "g++ -O2, core compiled separately" g++ -O2 -DMUSTER_SEPARATE_COMPILATION "$core" || return 1
    echo '#include <muster/muster.hpp>' >"$work/header_only.cpp"
    echo '#include <muster/muster.hpp>
          int main() { return 0; }' >"$work/separate.cpp"
    g++ -std=c++20 -I "$source/include" -c "$work/header_only.cpp" -o "$work/header_only.o" || return 1
    "${separately[@]}" -c "$work/separate.cpp" -o "$work/separate.o" || return 1
    g++ "$work/separate.o" "$core" -o "$work/separate" || return 1
    if g++ "$work/separate.o" "$work/header_only.o" "$core" -o "$work/mixed" 2>"$work/mixed.log"; then
        echo "sources compiled header-only and separately link together"
        return 1
    fi
    grep -q muster_core_and_header_only_sources_must_not_be_mixed "$work/mixed.log" ||
        { echo "the linker does not say why:"; cat "$work/mixed.log"; return 1; }
    echo "header-only and separately compiled sources: do not link, with the reason"
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
take_turn
{ try_separately && touch "$work/right.$ways"; } >"$work/said.$ways" 2>&1 &
ways=$((ways + 1))
wait
status=0
for ((way = 0; way < ways; ++way)); do
    cat "$work/said.$way"
    [[ -e $work/right.$way ]] || status=1
done
exit $status
