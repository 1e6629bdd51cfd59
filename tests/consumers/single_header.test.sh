#!/usr/bin/env bash
# The core as one header: the same bytes every time, by the script and by the CMake target; nothing of
# Muster is included any more; without warnings it decides what the headers of the tree decide, header-only
# and separately compiled; and a stale one is told.
set -euo pipefail
. "$(dirname "$0")/../script_tools.sh"
here=$(cd "$(dirname "$0")" && pwd)
script=$source/cmake/single_header.sh
folder=$work/include
header=$folder/muster/muster.hpp

version=$(sed -nE 's/^#define MUSTER_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' \
    "$source/include/muster/base/version.hpp" | paste -sd.)

fail() { echo "$*"; exit 1; }
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }; }

# A header that did not change keeps its time, so that nothing is compiled again.
"$script" "$work/made.hpp"
mkdir -p "$folder/muster"
cmp -s "$work/made.hpp" "$header" || cp "$work/made.hpp" "$header"
(cd / && "$script" "$work/again.hpp")
cmp "$work/made.hpp" "$work/again.hpp"
! grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<](muster|boost)/|^[[:space:]]*#[[:space:]]*include[[:space:]]*"' \
    "$header" || fail "the header is not self-contained"
[[ $(grep -c '^# *pragma once' "$header") == 1 ]] || fail "#pragma once stands there more than once"

quiet cmake -G Ninja -S "$source" -B "$work/build" -DMUSTER_TRANSLATE=OFF -DMUSTER_BUILD_TESTS=OFF \
    -DMUSTER_BUILD_EXAMPLES=OFF -DCMAKE_CXX_COMPILER="$cxx"
quiet cmake --build "$work/build" --target muster_single_header
cmp "$work/made.hpp" "$work/build/single_header/muster/muster.hpp"
echo "generated: $(wc -l <"$header") lines, twice the same"

"$script" --check "$header"
sed 's/#define MUSTER_VERSION_MINOR .*/#define MUSTER_VERSION_MINOR 999/' "$header" >"$work/stale.hpp"
! "$script" --check "$work/stale.hpp" 2>"$work/log" || fail "a stale header passed for a fresh one"
grep -q 'is not what this tree gives' "$work/log" || fail "a stale header is not told as such"
echo "a stale header is told"

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror)
# build PROGRAM COMPILER ARGUMENT...: unless it is newer than all that goes into it.
build() {
    local program=$1
    shift
    fresh "$program" "$program.d" ||
        "$@" -std=c++20 "${warnings[@]}" -I "$folder" -MMD -MF "$program.d" -o "$program"
}
for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || { echo "$compiler: skipped: not installed"; continue; }
    build "$work/decide_$compiler" "$compiler" -fno-exceptions -fno-rtti \
        "$source/tests/determinism/decide.cpp"
    "$work/decide_$compiler" | diff "$source/tests/determinism/digest.txt" - ||
        fail "$compiler: decides otherwise than the tree"
    echo "$compiler: decides as the tree"
done

separately=("$cxx" -DMUSTER_SEPARATE_COMPILATION)
printf '#define MUSTER_DEFINITIONS\n#include <muster/muster.hpp>\nMUSTER_COMPILE_CORE(4)\n' >"$work/core.new"
cmp -s "$work/core.new" "$work/core.cpp" || mv "$work/core.new" "$work/core.cpp"
build "$work/core.o" "${separately[@]}" -O1 -c "$work/core.cpp"
for unit in main elsewhere; do
    build "$work/$unit.o" "${separately[@]}" -c "$here/$unit.cpp"
done
build "$work/decide.o" "${separately[@]}" -c "$source/tests/determinism/decide.cpp"
"$cxx" "$work"/{main,elsewhere,core}.o -o "$work/consumer"
[[ $("$work/consumer") == "muster $version" ]] || fail "the consumer does not print its version"
"$cxx" "$work"/{decide,core}.o -o "$work/decide"
"$work/decide" | diff "$source/tests/determinism/digest.txt" - || fail "decides otherwise, compiled separately"
echo "compiled separately: decides as the tree"

# With the headers of the tree beside it, the reason is said at once.
printf '#include <muster/base/version.hpp>\n#include "%s"\n' "$header" >"$work/both.cpp"
! "$cxx" -std=c++20 -I "$source/include" -fsyntax-only "$work/both.cpp" 2>"$work/log" ||
    fail "compiles together with a header of the tree"
grep -q 'include either this header or those of the folder muster' "$work/log" ||
    fail "the error does not say why both do not go together"
