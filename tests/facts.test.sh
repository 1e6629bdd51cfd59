#!/usr/bin/env bash
# Checks that each key and version of a gang API is spelled in one place, and that no JSON is printed to be
# parsed again.
#   facts.test.sh [TREE]       checks another tree
#
#  - A text in quotes that a facts.hpp below include/muster/apis holds stands in no other header and in no
#    source of the program. The API server of `muster up` plays the other side and spells them itself.
#  - json::parse() reads what others wrote: annotations, and the tokens of a document. Every other value is
#    passed on as a value. The list below names the headers that call it.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"

may_parse='
document/json_reader.hpp document/json_skim.hpp
apis/hami/mig_profiles.hpp apis/hami/node_register.hpp
apis/koordinator/devices/partition_reader.hpp apis/koordinator/devices/pod_hints.hpp
apis/koordinator/devices/pod_shares.hpp apis/koordinator/gang_group_list.hpp
apis/yunikorn/task_groups.hpp'

# judge TREE: one line for each fault.
judge() {
    local tree=$1 literal file
    while IFS= read -r literal; do
        while IFS= read -r file; do
            echo "${file#"$tree"/}: spells $literal, which is a fact of $(grep -rlF -e "$literal" \
                "$tree/include/muster/apis" --include=facts.hpp | head -1 | sed "s|^$tree/||")"
        done < <(grep -rlF -e "$literal" "$tree/include" "$tree/examples" --include=*.hpp --include=*.cpp 2>/dev/null |
            grep -v -e '/facts\.hpp$' -e '/examples/muster/serve/')
    done < <(find "$tree/include/muster/apis" -name facts.hpp -exec grep -hoE '"[a-z0-9.-]+\.[a-z]+/[^"]+"' {} + |
        sort -u)
    while IFS= read -r file; do
        [[ " ${may_parse//$'\n'/ } " == *" ${file#"$tree"/include/muster/} "* ]] ||
            echo "${file#"$tree"/}: calls json::parse(); a value is to be passed on as a value"
    done < <(grep -rlE 'json::parse\(' "$tree/include/muster" --include=*.hpp)
}

if [[ ${1-} ]]; then
    found=$(judge "$1")
    [[ -z $found ]] || { echo "$found"; exit 1; }
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
must_say() {
    [[ $(judge "$scratch") == *"$1"* ]] || { echo "self-test: '$1' is not said of a wrong tree"; exit 1; }
}
mkdir -p "$scratch/include/muster/apis/a" "$scratch/include/muster/input" "$scratch/examples"
echo 'constexpr auto version = "a.example.org/v1";' >"$scratch/include/muster/apis/a/facts.hpp"
[[ -z $(judge "$scratch") ]] || { echo "self-test: a right tree is called wrong"; exit 1; }
echo 'read("a.example.org/v1");' >"$scratch/include/muster/input/a.hpp"
must_say 'input/a.hpp: spells "a.example.org/v1"'
echo 'auto value = boost::json::parse(boost::json::serialize(other));' >"$scratch/include/muster/input/a.hpp"
must_say 'input/a.hpp: calls json::parse()'

found=$(judge "$source")
[[ -z $found ]] || { echo "$found"; exit 1; }
echo "$(find "$source/include/muster/apis" -name facts.hpp | wc -l) APIs spell their facts once"
