#!/usr/bin/env bash
# Runs clang-tidy, with the checks of .clang-tidy, on a few sources that include most headers: the six front
# headers of README.md and the core compiled for four kinds, the drivers, the simulator and advice. It takes
# two minutes on two cores, so .ci/run runs it and tests/run does not.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
if ! command -v clang-tidy >/dev/null; then
    echo "skipped: this needs clang-tidy"
    exit 77
fi
rm -rf "$work"
mkdir -p "$work/wrong/include/muster"

cat >"$work/core.cpp" <<'SOURCE'
#include <muster/muster.hpp>
#include <muster/src.hpp>
template class muster::state<muster::string_traits<4>>;
MUSTER_COMPILE_CORE(4)
SOURCE
printf '#include <muster/%s.hpp>\n' input/manifests input/read_inputs >"$work/objects.cpp"
printf '#include <muster/%s.hpp>\n' adapter/driver advice/what_helps sim/run_jobs >"$work/drivers.cpp"

# tidy TREE SOURCE: from the tree, so that the headers' names are those that the filter expects.
tidy() {
    (cd "$1" && clang-tidy --quiet --config-file="$source/.clang-tidy" "$2" -- -std=c++20 -Iinclude)
}

# It must find what is wrong in a header.
printf '%s\n' '#include <string>' '#include <utility>' \
    'inline std::size_t sum(std::string a) { const auto b = std::move(a); return a.size() + b.size(); }' \
    >"$work/wrong/include/muster/wrong.hpp"
echo '#include <muster/wrong.hpp>' >"$work/wrong.cpp"
if tidy "$work/wrong" "$work/wrong.cpp" >"$work/said" 2>&1 || ! grep -q bugprone-use-after-move "$work/said"; then
    echo "self-test: a use after a move in a header is not found:"
    cat "$work/said"
    exit 1
fi
echo "self-test: a use after a move is found"

for each in core objects drivers; do
    take_turn
    { tidy "$source" "$work/$each.cpp" >"$work/$each.said" 2>&1 && touch "$work/$each.right"; } &
done
wait
status=0
for each in core objects drivers; do
    if [[ -e $work/$each.right ]]; then
        echo "$each: no findings"
    else
        grep -v ' warnings\? generated\.$' "$work/$each.said" || true
        status=1
    fi
done
exit $status
