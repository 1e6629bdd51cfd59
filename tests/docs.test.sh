#!/usr/bin/env bash
# Builds the documentation site (target muster_docs): Doxygen has no warnings, every page below include/muster
# and the front types are there, and no link inside the site is broken. What the pages show is checked by
# readme.test.sh, and their links in the tree by links.test.sh.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
if ! command -v doxygen >/dev/null; then
    echo "skipped: this needs doxygen"
    exit 77
fi
if [[ $(doxygen --version) < 1.9.4 ]]; then
    echo "skipped: this needs doxygen 1.9.4"
    exit 77
fi
fail() { echo "$*"; exit 1; }
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }; }

quiet cmake -G Ninja -S "$source" -B "$work/build" -DMUSTER_TRANSLATE=OFF -DMUSTER_BUILD_TESTS=OFF \
    -DMUSTER_BUILD_EXAMPLES=OFF -DCMAKE_CXX_COMPILER="$cxx"
site=$work/build/docs/html

# A comment that refers to something that does not exist is a failure.
mkdir -p "$work/wrong"
printf '%s\n' '/// Doubles, unlike @ref absent.' 'int twice(int number);' >"$work/wrong/wrong.hpp"
{
    cat "$work/build/docs/Doxyfile"
    echo "INPUT = $work/wrong/wrong.hpp"
    echo "OUTPUT_DIRECTORY = $work/wrong"
    echo "USE_MDFILE_AS_MAINPAGE ="
} >"$work/wrong/Doxyfile"
! (cd "$source" && doxygen "$work/wrong/Doxyfile") >"$work/log" 2>&1 ||
    fail "self-test: a wrong comment passes"
grep -q "absent" "$work/log" || { cat "$work/log"; fail "self-test: the warning is another one"; }

quiet cmake --build "$work/build" --target muster_docs
pages=0
while IFS= read -r page; do
    name=${page%.md}
    name=page_${name//[^A-Za-z0-9]/_}
    [[ -f $site/$name.html ]] || fail "the site has no page of include/muster/$page"
    pages=$((pages + 1))
done < <(cd "$source/include/muster" && find . -mindepth 2 -name '*.md' | sed 's#^\./##' | sort)
((pages > 20)) || fail "fewer pages than expected: $pages"
for each in classmuster_1_1state structmuster_1_1decision structmuster_1_1pod; do
    [[ -f $site/$each.html ]] || fail "the site does not have $each"
done
! find "$site" -name '*detail_1_1*' | grep . || fail "the site has what is in namespaces detail"

broken=$(cd "$site" && grep -ohE 'href="[^"#:]+' -- *.html | sort -u | sed 's/^href="//' | sed '/^https*$/d' |
    while IFS= read -r target; do
        [[ -e $target ]] || echo "a link leads to $target, which the site does not have"
    done)
[[ ! $broken ]] || fail "$broken"
echo "$pages pages, $(find "$site" -name 'classmuster*' -o -name 'structmuster*' | wc -l) pages of types, no warning"
