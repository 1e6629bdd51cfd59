#!/usr/bin/env bash
# Checks what headers may include, how they spell namespaces and which parts of the standard library they
# leave alone. Before it judges the tree, it proves on small wrong trees that it can fail.
#   floors.test.sh [TREE]      with a tree (that holds include/muster), judges only that one
set -euo pipefail
. "$(dirname "$0")/../script_tools.sh"

# From the lowest to the highest.
core=$(sed -n 's/^set(MUSTER_CORE_FOLDERS \(.*\))$/\1/p' "$(dirname "$0")/../../cmake/libraries.cmake")

# Headers are cut by idea; a header above this length is told, not refused.
usual_lines=500

# What each folder may include besides itself. `policy/concept` is policy/*_concept.hpp, `apis/facts` is
# apis/gang_facts.hpp and apis/*/facts.hpp.
declare -A may_include=(
    [base]=""
    [resource]="base"
    [vocabulary]="base resource"
    [cluster]="base resource vocabulary"
    [index]="base resource vocabulary cluster"
    [plan]="base resource vocabulary cluster index"
    [policy]="base resource vocabulary cluster index plan"
    [problem]="base resource vocabulary cluster index plan policy/concept"
    [exact]="base resource vocabulary cluster index plan policy/concept problem"
    [greedy]="base resource vocabulary cluster index plan policy/concept problem exact"
    [admission]="base resource vocabulary cluster index plan policy/concept problem exact greedy"
    [wait]="base resource vocabulary cluster index plan policy/concept problem exact greedy admission"
    [preempt]="base resource vocabulary cluster index plan policy/concept problem exact greedy admission"
    [explain]="base resource vocabulary cluster index plan policy/concept problem exact greedy admission"
    [cycle]="base resource vocabulary cluster index plan policy problem exact greedy admission wait preempt"
    [advice]="base resource vocabulary cluster index plan policy problem exact greedy admission wait preempt explain cycle"
    [words]="base resource vocabulary cluster index plan policy/concept problem exact greedy admission explain advice"
    [devices]="base resource"
    [document]="base resource vocabulary"
    [gangs]="base resource vocabulary document apis/facts"
    [apis]="$core adapter devices document gangs"
    [input]="$core adapter devices document gangs apis"
    [lifecycle]="base resource vocabulary document gangs apis"
    [adapter]="$core"
    [kube]="$core devices document gangs apis input lifecycle adapter"
    [sim]="$core devices document gangs apis input lifecycle adapter"
    [testing]="$core devices document gangs apis input lifecycle adapter kube sim"
)

# Foreign headers: never, not in the core, and only in one place.
never='iostream|regex|format|range/v3/all\.hpp|range/v3/view\.hpp'
never_in_core='chrono|iostream|regex|thread|random|boost/json(/.*|\.hpp)|yaml\.h|range/v3/.*'
network='curl/.*|openssl/.*|boost/(asio|beast)(/.*|\.hpp)|sys/socket\.h|netinet/.*|arpa/.*'
network_homes="kube"
graph='boost/graph/.*'
graph_home=cluster/topology_graph.hpp

is_in() { [[ " $2 " == *" $1 "* ]]; }

# judge TREE: one line for each violation.
judge() {
    local root=$1/include/muster file header folder included target text
    [[ -d $root ]] || { echo "there is no $root"; return 0; }
    while IFS= read -r file; do
        header=${file#"$root"/}
        folder=${header%%/*}
        case $header in
            muster.hpp | src.hpp) folder=umbrella ;;
            fwd.hpp) folder=base ;;
        esac
        if [[ $folder != umbrella && -z ${may_include[$folder]+known} ]]; then
            echo "$header: the folder has no floor"
            continue
        fi

        # ctags, and editors on top of it, see no symbol in a namespace that is spelled so.
        ! grep -q '^ *namespace .*::inline' "$file" ||
            echo "$header: spells an inline namespace on one level"
        text=$(sed 's://.*$::' "$file" | grep -noE 'std::(ranges::)?views\b|std::format\b' || true)
        [[ -z $text ]] || echo "$header: uses ${text//$'\n'/, }"

        while IFS= read -r included; do
            case $included in
                \"*) echo "$header: includes $included; headers are named from the root, in <>" ;;
                \<muster/muster.hpp\>) echo "$header: includes the umbrella" ;;
                \<muster/fwd.hpp\>) ;;
                \<muster/*\>)
                    included=${included:8:-1}
                    target=${included%%/*}
                    if [[ $folder == umbrella ]]; then
                        is_in "$target" "$core" && [[ $included != "$graph_home" ]] ||
                            echo "$header: includes $included; the umbrella is the core only"
                    elif [[ $target != "$folder" ]] &&
                        ! is_in "$target" "${may_include[$folder]}" &&
                        ! { [[ $included == policy/*_concept.hpp ]] &&
                            is_in policy/concept "${may_include[$folder]}"; } &&
                        ! { [[ $included == apis/*facts.hpp ]] &&
                            is_in apis/facts "${may_include[$folder]}"; }; then
                        echo "$header: includes $included; $folder may not"
                    fi
                    ;;
                *)
                    included=${included:1:-1}
                    if [[ $included =~ ^($never)$ ]]; then
                        echo "$header: includes <$included>; no header may"
                    elif [[ $included =~ ^$graph$ && $header != "$graph_home" ]]; then
                        echo "$header: includes <$included>; only $graph_home may"
                    elif [[ $included =~ ^($network)$ ]] && ! is_in "$folder" "$network_homes"; then
                        echo "$header: includes <$included>; only $network_homes may"
                    elif [[ $included =~ ^($never_in_core)$ ]] && is_in "$folder" "$core umbrella"; then
                        echo "$header: includes <$included>; the core may not"
                    fi
                    ;;
            esac
        done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*([<"][^>"]*[>"]).*/\1/p' "$file")
    done < <(find "$root" -name '*.hpp' | sort)

    # What the umbrella drags in through others counts as well.
    [[ -f $root/muster.hpp ]] || return 0
    { "$cxx" -std=c++20 -I "$1/include" -M -x c++ "$root/muster.hpp" ||
        echo "muster.hpp: does not compile" >&3; } |
        tr -s ' \\' '\n\n' | grep -v "^$root/" |
        grep -oE '/c\+\+/[0-9.]+/(chrono|iostream|regex|thread|random)$|/(boost/graph|boost/json|curl|range/v3)[/.].*$|/yaml\.h$' |
        sed -E 's#^/(c\+\+/[0-9.]+/)?(.*)$#muster.hpp: drags in <\2>#' || true
} 3>&1

if [[ ${1-} ]]; then
    found=$(judge "$1")
    [[ -z $found ]] || { echo "$found"; exit 1; }
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wrongs=0

# must_fail EXPECTED HEADER LINE...: a right tree becomes wrong by one header with these lines.
must_fail() {
    local expected=$1 header=$2 tree=$scratch/$((++wrongs)) found
    shift 2
    mkdir -p "$tree/include/muster/base" "$(dirname "$tree/include/muster/$header")"
    printf '#pragma once\n' >"$tree/include/muster/base/version.hpp"
    printf '#pragma once\n#include <muster/base/version.hpp>\n' >"$tree/include/muster/muster.hpp"
    if ! found=$(judge "$tree") || [[ -n $found ]]; then
        echo "self-test: the right tree is called wrong: $found"
        exit 1
    fi
    printf '%s\n' "$@" >"$tree/include/muster/$header"
    found=$(judge "$tree" 2>/dev/null)
    if [[ $found != *"$expected"* ]]; then
        echo "self-test: '$*' in $header gave '$found', not '$expected'"
        exit 1
    fi
}

must_pass() {
    local header=$1 tree=$scratch/right$((++wrongs)) found
    shift
    mkdir -p "$(dirname "$tree/include/muster/$header")"
    printf '%s\n' "$@" >"$tree/include/muster/$header"
    found=$(judge "$tree")
    if [[ -n $found ]]; then
        echo "self-test: '$*' in $header gave '$found', and is right"
        exit 1
    fi
}

must_fail 'base may not' base/a.hpp '#include <muster/resource/a.hpp>'
must_fail 'resource may not' resource/a.hpp '#  include  <muster/cluster/a.hpp> // why'
must_fail 'vocabulary may not' vocabulary/a.hpp '#include <muster/cluster/a.hpp>'
must_fail 'cluster may not' cluster/a.hpp '#include <muster/plan/a.hpp>'
must_fail 'index may not' index/a.hpp '#include <muster/plan/a.hpp>'
must_fail 'plan may not' plan/a.hpp '#include <muster/policy/order_concept.hpp>'
must_fail 'policy may not' policy/a.hpp '#include <muster/admission/a.hpp>'
must_fail 'exact may not' exact/a.hpp '#include <muster/greedy/a.hpp>'
must_fail 'admission may not' admission/a.hpp '#include <muster/policy/fifo.hpp>'
must_fail 'cycle may not' cycle/a.hpp '#include <muster/advice/a.hpp>'
must_fail 'cycle may not' cycle/a.hpp '#include <muster/adapter/a.hpp>'
must_fail 'advice may not' advice/a.hpp '#include <muster/words/a.hpp>'
must_fail 'words may not' words/a.hpp '#include <muster/document/a.hpp>'
must_fail 'gangs may not' gangs/a.hpp '#include <muster/index/a.hpp>'
must_fail 'gangs may not' gangs/a.hpp '#include <muster/apis/kai/writer.hpp>'
must_fail 'apis may not' apis/volcano/a.hpp '#include <muster/input/a.hpp>'
must_fail 'adapter may not' adapter/a.hpp '#include <muster/input/a.hpp>'
must_fail 'kube may not' kube/a.hpp '#include <muster/sim/a.hpp>'
must_fail 'sim may not' sim/a.hpp '#include <muster/testing/a.hpp>'
must_fail 'no floor' attic/a.hpp '#pragma once'
must_fail 'core only' muster.hpp '#include <muster/input/a.hpp>'
must_fail 'core only' muster.hpp '#include <muster/cluster/topology_graph.hpp>'
must_fail 'includes the umbrella' cycle/a.hpp '#include <muster/muster.hpp>'
must_fail 'named from the root' base/a.hpp '#include "version.hpp"'
must_fail 'no header may' testing/a.hpp '#include <iostream>'
must_fail 'no header may' sim/a.hpp '#include <range/v3/all.hpp>'
must_fail 'the core may not' cycle/a.hpp '#include <chrono>'
must_fail 'the core may not' plan/a.hpp '#include <boost/json.hpp>'
must_fail 'only cluster/topology_graph.hpp may' sim/a.hpp '#include <boost/graph/adjacency_list.hpp>'
must_fail 'only kube may' adapter/a.hpp '#include <curl/curl.h>'
must_fail 'only kube may' sim/a.hpp '#include <boost/beast/http.hpp>'
must_fail 'uses 1:std::views' base/a.hpp 'auto v = std::views::iota(0);'
must_fail 'uses 1:std::format' document/a.hpp 'auto s = std::format("{}", 1);'
must_fail 'on one level' base/a.hpp 'namespace muster::inline v0_1 {' '}'
must_fail 'drags in <chrono>' muster.hpp '#include <bits/stdc++.h>'
must_fail 'does not compile' muster.hpp '#include <muster/base/absent.hpp>'
must_pass admission/a.hpp '#include <muster/policy/order_concept.hpp>' '#include <vector>'
must_pass base/a.hpp $(seq 501)
must_pass plan/a.hpp '#include <muster/index/a.hpp>' '// unlike std::views'
must_pass cycle/a.hpp '#include <muster/policy/fifo.hpp>' '#include <muster/admission/a.hpp>'
must_pass cluster/topology_graph.hpp '#include <boost/graph/adjacency_list.hpp>'
must_pass adapter/a.hpp '#include <chrono>' '#include <muster/cycle/a.hpp>'
must_pass kube/a.hpp '#include <curl/curl.h>' '#include <muster/adapter/a.hpp>'
must_pass testing/a.hpp '#include <muster/sim/a.hpp>' '#include <muster/testing/b.hpp>'
echo "self-test: $wrongs small trees are judged as they should be"

# What a slip of a script leaves in the top folder is not ours to keep.
if tracked=$(git -C "$source" ls-files 2>/dev/null); then
    strays=$(sed 's|/.*||' <<<"$tracked" | sort -u |
        grep -vxE 'include|examples|tests|bench|cmake|CMakeLists.txt|CMakePresets.json|README.md|CHANGELOG.md|LICENSE|\..*' || true)
    if [[ -n $strays ]]; then
        echo "in the top folder, where only the house's own stand: $strays"
        exit 1
    fi
fi

found=$(judge "$source")
if [[ -n $found ]]; then
    echo "$found"
    exit 1
fi
while read -r length file; do
    [[ $file == total || $length -le $usual_lines ]] ||
        echo "warning: ${file#"$source"/} has $length lines: has it one idea?"
done < <(find "$source/include" -name '*.hpp' -exec wc -l {} +)
echo "$(find "$source/include" -name '*.hpp' | wc -l) headers keep to their floors"
