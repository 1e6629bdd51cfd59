#!/usr/bin/env bash
# Compiles every public header alone, by clang++ with the warnings that the tests have.
#
# Alone, most of a header's time goes into what it includes. So some headers that many include are
# compiled ahead; every other begins with the first of them that it includes, directly or not, and is
# compiled together with others of which each includes the one before it. All that is there would be
# there in any case, and is itself compiled alone: nothing is seen that should not be.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
. "$(dirname "$0")/include_chains.sh"
cxx=${CXX:-clang++}
if ! command -v "$cxx" >/dev/null || ! command -v ninja >/dev/null; then
    echo "skipped: this needs $cxx and ninja"
    exit 77
fi

# What saves most first. One that is not worth it any more costs time, nothing else.
ahead=(
    sim/run_stage input/gang_reader cycle/cycle_context kube/live_gangs sim/job_controller admission/admit
    input/group_objects problem/affinity_counts apis/job_reader input/membership kube/arrived
    apis/core/reading_context cluster/state apis/core/objects gangs/writing
    gangs/pod_draft cluster/cluster_state gangs/gang_object document/document apis/t9k/jobs/job
    gangs/target document/json_text cluster/ledger
    index/capacity_tree vocabulary/labels document/diagnostic resource/resources)
ahead=("${ahead[@]/%/.hpp}")

cd "$source/include/muster"
for each in "${ahead[@]}"; do
    [[ -f $each ]] || { echo "there is no $each to compile ahead"; exit 1; }
done
cd ..
{
    cat <<RULES
flags = -std=c++20 -I $source/include -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion \$
    -Wshadow -Werror
rule ahead
  command = $cxx \$flags -MMD -MF \$out.d -MT \$out -x c++-header \$
      -fpch-instantiate-templates \$in -o \$out
  depfile = \$out.d
  deps = gcc
  description = \$in
rule alone
  command = printf '#include <%s>\n' \$headers | $cxx \$flags -MMD -MF \$out.d -MT \$out \$after \$
      -x c++ -fsyntax-only - && touch \$out
  depfile = \$out.d
  deps = gcc
  description = \$headers
RULES
    include_chains "${ahead[@]/#/muster/}" | awk -v root="$source/include/" '
        $1 == "ahead" { print "build " $2 ".pch: ahead " root $2 }
        $1 == "chain" {
            print "build " $NF ".alone: alone" ($2 != "-" ? " | " $2 ".pch" : "")
            if ($2 != "-")
                print "  after = -include-pch " $2 ".pch"
            $1 = $2 = ""
            print "  headers =" $0
        }'
} >"$work/build.ninja.new"
cmp -s "$work/build.ninja.new" "$work/build.ninja" || cp "$work/build.ninja.new" "$work/build.ninja"
ninja -C "$work" -j "$(nproc)" -k 0 --quiet >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
echo "$(find muster -name '*.hpp' | wc -l) headers compile alone"
