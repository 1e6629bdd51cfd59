#!/usr/bin/env bash
# Measures what including each public header costs, in non-blank preprocessed lines: all of them,
# and Muster's own. Fails when the umbrella is over its budget, header-only or with the core compiled
# separately, or a header costs notably more than tests/data/include_cost.tsv says.
#   include_cost.test.sh [--update]      --update rewrites that table
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
. "$(dirname "$0")/include_chains.sh"

umbrella_budget=71000
separate_budget=53500
table=$source/tests/data/include_cost.tsv
flags=(-std=c++20 -I "$source/include")

# Foreign lines depend on whose they are, so a table speaks for one toolchain only.
boost=$(echo '#include <boost/version.hpp>' | "$cxx" -E -dM -x c++ - |
    sed -n 's/^#define BOOST_LIB_VERSION "\(.*\)"$/\1/p')
toolchain="$(basename "$cxx") $("$cxx" -dumpfullversion -dumpversion), Boost $boost"

# measure HEADER...: of headers that each include the one before, writes for each
# "HEADER <tab> total <tab> own", kept until something that they include changes.
measure() {
    local last=${*: -1} key result depfile
    key=${last//\//.}
    result=$work/$key.cost
    depfile=$work/$key.d
    [[ ! -f $work/$key.cpp || $(sed -n 's/^end_of //p' "$work/$key.cpp" | xargs) == "$*" ]] ||
        rm -f "$result"
    if ! fresh "$result" "$depfile"; then
        printf '#include <%s>\nend_of %s\n' $(printf '%s\n' "$@" | sed 's/.*/& &/') >"$work/$key.cpp"
        "$cxx" "${flags[@]}" -E -MMD -MF "$depfile" "$work/$key.cpp" |
            awk -v ours="$source/include/" '
                /^# [0-9]+ "/ { own = index($3, "\"" ours) == 1; next }
                /^#/ { next }
                /^end_of / { printf "%s\t%d\t%d\n", substr($2, 8), total, mine; next }
                length($0) > 0 { total++; if (own) mine++ }' >"$result.new" || return 1
        mv "$result.new" "$result"
    fi
    cat "$result"
}

measure_all() {
    local headers
    while read -r _ _ headers; do
        # shellcheck disable=SC2086
        measure $headers || return 1
    done < <(cd "$source/include" && include_chains) | sort
}

measured=$(measure_all)
printf '%s\n' "$measured" |
    awk -F'\t' 'BEGIN { printf "%-44s %9s %7s\n", "header", "lines", "own" }
                { printf "%-44s %9d %7d\n", $1, $2, $3 }'

status=0
cost=$(awk -F'\t' '$1 == "muster.hpp" { print $2 }' <<<"$measured")
echo "the umbrella costs $cost lines of $umbrella_budget ($toolchain)"
if ((cost > umbrella_budget)); then
    echo "muster.hpp: $cost lines, more than $umbrella_budget"
    status=1
fi

separate=$(echo '#include <muster/muster.hpp>' |
    "$cxx" "${flags[@]}" -DMUSTER_SEPARATE_COMPILATION -E -P -x c++ - | grep -c .)
echo "with the core compiled separately: $separate lines of $separate_budget"
if ((separate > separate_budget)); then
    echo "muster.hpp with MUSTER_SEPARATE_COMPILATION: $separate lines, more than $separate_budget"
    status=1
fi

if [[ ${1-} == --update ]]; then
    { echo "# $toolchain"; printf '%s\n' "$measured"; } >"$table"
    echo "wrote $table"
elif [[ ! -f $table ]]; then
    echo "not compared: there is no $table (--update makes it)"
elif [[ $(head -n 1 "$table") != "# $toolchain" ]]; then
    echo "not compared: the table speaks for another toolchain: $(head -n 1 "$table")"
else
    # The slack keeps a header without foreign lines from failing over one declaration.
    awk -F'\t' -v slack=50 '
        /^#/ { next }
        NR == FNR { known[$1] = $2; next }
        { seen[$1] = 1 }
        !($1 in known) { print $1 ": not in the table (--update)"; bad = 1; next }
        $2 > known[$1] * 1.05 + slack {
            printf "%s: %d lines, %d in the table (--update if it is worth it)\n", $1, $2, known[$1]
            bad = 1
        }
        END {
            for (header in known)
                if (!(header in seen)) { print header ": gone, but in the table (--update)"; bad = 1 }
            exit bad
        }' "$table" - <<<"$measured" || status=1
fi
exit $status
