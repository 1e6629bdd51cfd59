#!/usr/bin/env bash
# Compiles every public header alone, by clang++ with the warnings that the tests have.
#
# Alone, most of a header's time goes into what it includes. So some headers that many include are
# compiled ahead; every other begins with the first of them that it includes, directly or not. It
# would be there in any case, and is itself compiled alone: nothing is seen that should not be.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
cxx=${CXX:-clang++}
if ! command -v "$cxx" >/dev/null || ! command -v ninja >/dev/null; then
    echo "skipped: this needs $cxx and ninja"
    exit 77
fi

# What saves most first. One that is not worth it any more costs time, nothing else.
ahead=(
    sim/run_stage codec/gang_reader cycle/engine kube/live_gangs sim/job_controller admission/admit
    codec/group_objects admission/affinity_counts codec/job_reader codec/membership kube/arrived
    codec/reading_context model/state testing/api_server/registry codec/objects translate/writing
    translate/pod_draft model/state_store translate/gang_object codec/document translate/t9k_job
    testing/api_server/json_values translate/target translate/json_text model/ledger
    index/capacity_tree model/labels codec/diagnostic resource/resources)
for each in "${ahead[@]}"; do
    [[ -f $source/include/muster/$each.hpp ]] ||
        { echo "there is no $each.hpp to compile ahead"; exit 1; }
done

cd "$source/include"
{
    cat <<RULES
flags = -std=c++20 -I $source/include -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion \$
    -Wshadow -Werror
rule ahead
  command = $cxx \$flags -MMD -MF \$out.d -MT \$out -x c++-header -fpch-instantiate-templates \$in -o \$out
  depfile = \$out.d
  deps = gcc
  description = \$in
rule alone
  command = echo '#include <\$header>' | $cxx \$flags -MMD -MF \$out.d -MT \$out \$after -x c++ -fsyntax-only - && touch \$out
  depfile = \$out.d
  deps = gcc
  description = \$header
RULES
    find muster -name '*.hpp' -printf 'header %p\n' | sort
    grep -rHoE --include='*.hpp' '^#include <muster/[^>]+' muster | sed 's/:#include </ /; s/^/edge /'
} | awk -v ahead="${ahead[*]}" -v root="$source/include/" '
    $1 == "header" { headers[++count] = $2; next }
    $1 == "edge" { included[$2] = included[$2] " " $3; next }
    { print }
    function reach(header, names, i, many) {
        if (header in reached)
            return
        reached[header] = 1
        many = split(included[header], names, " ")
        for (i = 1; i <= many; ++i)
            reach(names[i])
    }
    END {
        many = split(ahead, order, " ")
        for (i = 1; i <= many; ++i) {
            order[i] = "muster/" order[i] ".hpp"
            is_ahead[order[i]] = 1
            print "build " order[i] ".pch: ahead " root order[i]
        }
        for (i = 1; i <= count; ++i) {
            if (headers[i] in is_ahead)
                continue
            split("", reached)
            reach(headers[i])
            begin = ""
            for (j = 1; j <= many && begin == ""; ++j)
                if (order[j] in reached)
                    begin = order[j] ".pch"
            print "build " headers[i] ".alone: alone" (begin != "" ? " | " begin : "")
            print "  header = " headers[i]
            if (begin != "")
                print "  after = -include-pch " begin
        }
    }' >"$work/build.ninja.new"
cmp -s "$work/build.ninja.new" "$work/build.ninja" || cp "$work/build.ninja.new" "$work/build.ninja"
ninja -C "$work" -j "$(nproc)" -k 0 --quiet >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
echo "$(find muster -name '*.hpp' | wc -l) headers compile alone"
