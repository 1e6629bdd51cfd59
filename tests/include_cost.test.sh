#!/usr/bin/env bash
# Measures the cost of including the headers that README lists for users, in non-blank preprocessed
# lines, header-only and with muster::core. Fails if a header costs more than README says, or less by a
# tenth: README is to be lowered then.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"

# lines HEADER FLAG...
lines() {
    local header=$1
    shift
    echo "#include <$header>" | "$cxx" -std=c++20 -I "$source/include" "$@" -E -P -x c++ - | grep -c .
}

status=0
rows=0
printf '%-34s %9s %9s %14s %9s\n' header lines README muster::core README
while IFS='|' read -r _ header _ _ whole core _; do
    header=$(tr -d ' `' <<<"$header")
    whole=$(tr -d ' ,' <<<"$whole")
    core=$(tr -d ' ,' <<<"$core")
    rows=$((rows + 1))
    found_whole=$(lines "$header")
    found_core=$(lines "$header" -DMUSTER_SEPARATE_COMPILATION)
    printf '%-34s %9d %9d %14d %9d\n' "$header" "$found_whole" "$whole" "$found_core" "$core"
    for each in "$found_whole $whole" "$found_core $core"; do
        read -r found stated <<<"$each"
        if ((found > stated || found < stated - stated / 10)); then
            echo "$header: $found lines, and README says $stated"
            status=1
        fi
    done
done < <(grep -E '^\| `muster/.*\| *[0-9]+,[0-9]+ \| *[0-9]+,[0-9]+ \|$' "$source/README.md")
if ((rows != 6)); then
    echo "README lists $rows headers with their lines (expected 6)"
    status=1
fi

# Foreign lines depend on whose they are, so README speaks for one toolchain only.
version=$("$cxx" --version | head -n 1)
if ((status != 0)) && [[ $("$cxx" -dumpfullversion -dumpversion) != 12.2* ]]; then
    echo "not compared: README speaks for g++ 12.2, this is $version"
    status=0
fi
exit $status
