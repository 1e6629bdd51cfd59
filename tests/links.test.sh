#!/usr/bin/env bash
# Checks the links in README.md and in all pages below include/, examples/, tests/ and .github/. Before it checks the tree, it proves on
# small wrong pages that it can fail.
#   links.test.sh [TREE]       checks only the pages of another tree
#
#  - The target of a relative link exists, and if the link has an #anchor, the target has that heading.
#  - If the text of a link to a source file (.hpp, .cpp, .sh, .yaml) has names in backticks, the file has
#    each of these names as a whole word, outside of comments and includes. Of `a::b<C>(d)` the name is b.
#    A file name in backticks is the name of the target.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"

# links PAGE: the links outside of code blocks, each as "TARGET TEXT". A link may span lines.
links() {
    awk '
        /^ *```/ { fenced = !fenced; next }
        !fenced { text = text " " $0 }
        END {
            while (match(text, /\[[^][]*\]\([^() ]+\)/)) {
                link = substr(text, RSTART + 1, RLENGTH - 2)
                text = substr(text, RSTART + RLENGTH)
                middle = index(link, "](")
                print substr(link, middle + 2), substr(link, 1, middle - 1)
            }
        }' "$1"
}

# anchors PAGE: the anchors that GitHub makes of the headings of a page.
anchors() {
    awk '
        /^ *```/ { fenced = !fenced; next }
        !fenced && /^#+ / {
            sub(/^#+ +/, "")
            while (match($0, /\]\([^()]*\)/))
                $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
            $0 = tolower($0)
            gsub(/[][!"#$%&\047()*+,.\/:;<=>?@\\^`{|}~]/, "")
            gsub(/ /, "-")
            print seen[$0]++ ? $0 "-" seen[$0] - 1 : $0
        }' "$1"
}

# has_name FILE NAME: does the source file have this word?
has_name() {
    case $1 in
        *.hpp | *.cpp) sed -e 's://.*$::' -e '/^ *# *include/d' "$1" ;;
        *) cat "$1" ;;
    esac | grep -wF -e "$2" >/dev/null
}

# check_text PAGE TARGET FILE TEXT: are the names in the text of a link to a source file right?
check_text() {
    local page=$1 target=$2 file=$3 rest=$4 name
    while [[ $rest == *\`*\`* ]]; do
        rest=${rest#*\`}
        name=${rest%%\`*}
        rest=${rest#*\`}
        if [[ $name =~ \.(hpp|cpp|sh|yaml)$ ]]; then
            [[ /$file == */"$name" ]] || echo "$page: '$name' links to $target"
            continue
        fi
        name=${name%%(*}
        name=${name%%<*}
        name=${name##*::}
        has_name "$file" "$name" || echo "$page: there is no '$name' in $target"
    done
}

# judge TREE: one line for each fault; a line "N links" on file descriptor 4.
judge() {
    local tree=$1 page folder target text path file anchor count=0
    local pages=()
    [[ ! -f $tree/README.md ]] || pages+=(README.md)
    while IFS= read -r page; do
        pages+=("${page#"$tree"/}")
    done < <(find "$tree/include" "$tree/examples" "$tree/tests" "$tree/.github" -name '*.md' 2>/dev/null | sort)
    for page in "${pages[@]}"; do
        folder=$(dirname "$tree/$page")
        while read -r target text; do
            [[ $target =~ ^[a-z]+: ]] && continue
            count=$((count + 1))
            path=${target%%#*}
            file=$folder/$path
            [[ $path ]] || file=$tree/$page
            if [[ $path == /* || ! -e $file ]]; then
                echo "$page: links to $target, which does not exist"
                continue
            fi
            if [[ $target == *#* ]]; then
                anchor=${target#*#}
                [[ -f $file && $file == *.md ]] && anchors "$file" | grep -xF -e "$anchor" >/dev/null ||
                    echo "$page: links to $target, which has no such heading"
            fi
            case $file in
                *.hpp | *.cpp | *.sh | *.yaml) check_text "$page" "$target" "$file" "$text" ;;
            esac
        done < <(links "$tree/$page")
    done
    echo "$count links of ${#pages[@]} pages" >&4
}

if [[ ${1-} ]]; then
    found=$(judge "$1" 4>/dev/null)
    [[ -z $found ]] || { echo "$found"; exit 1; }
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
small=$scratch/include/muster/a
mkdir -p "$small"
printf '%s\n' '#include <vector>' 'template<class T> class box { void put(int); }; // get' >"$small/box.hpp"
printf '%s\n' '# A page' '## One `box`, two' '```sh' '## No heading' '```' >"$small/OTHER.md"
cases=0

# finds EXPECTED LINE...: a page with these lines has this one fault; none if EXPECTED is empty.
finds() {
    local expected=$1 found
    cases=$((cases + 1))
    shift
    printf '%s\n' "$@" >"$small/README.md"
    found=$(judge "$scratch" 4>/dev/null)
    if [[ $found != *"$expected" || $(wc -l <<<"$found") != 1 || ( -z $expected && $found ) ]]; then
        echo "self-test: the page '$*' gave '$found', not '$expected'"
        exit 1
    fi
}

finds 'links to gone.hpp, which does not exist' 'See [this](gone.hpp).'
finds 'links to ../b/README.md, which does not exist' 'See [a link' 'on two lines](../b/README.md).'
finds 'links to /etc/passwd, which does not exist' '[x](/etc/passwd)'
finds 'links to OTHER.md#two, which has no such heading' '[x](OTHER.md#two)'
finds 'links to OTHER.md#no-heading, which has no such heading' '[x](OTHER.md#no-heading)'
finds 'links to #absent, which has no such heading' '# Here' '[x](#absent)'
finds 'links to box.hpp#put, which has no such heading' '[x](box.hpp#put)'
finds "there is no 'pull' in box.hpp" '[`box::put`](box.hpp) [`box::pull`](box.hpp)'
finds "there is no 'pull' in box.hpp" '[`put` and `pull<int>(a, b)`](box.hpp)'
finds "there is no 'pu' in box.hpp" '| a | [`pu`](box.hpp) |'
finds "there is no 'get' in box.hpp" '[`box::get`](box.hpp), which is in a comment'
finds "there is no 'vector' in box.hpp" '[`std::vector`](box.hpp), which is in an include'
finds "'crate.hpp' links to box.hpp" '[`crate.hpp`](box.hpp)'
finds '' '# Here' '[x](#here) [`box<int>::put()`](box.hpp) [`a/box.hpp`](box.hpp) [how to put](box.hpp)'
finds '' '[x](OTHER.md#one-box-two) [y](..) [`word`](OTHER.md) [z](https://example.org/#nowhere)'
finds '' '```cpp' 'auto f = [x](int) { return x; }; // [`gone`](gone.hpp)' '```' 'No link.'
echo "self-test: $cases small pages are judged as they should be"

exec 4>"$scratch/count"
found=$(judge "$source")
if [[ $found ]]; then
    echo "$found"
    echo "$(wc -l <<<"$found") faults"
    exit 1
fi
echo "$(<"$scratch/count") are right"
