#!/usr/bin/env bash
# Holds README.md and the pages include/muster/*/README.md and examples/muster/*/README.md to what they show.
#   readme.test.sh [TREE]     judges another tree's pages (the headers stay this tree's)
#
# In every page:
#  - a ```cpp block is a whole file and compiles; one with `int main(` also runs, must end well, and
#    if a ```text block is the next one, it is what the program prints, byte for byte;
#  - links to files of the repository lead somewhere.
# In README.md besides:
#  - at most 120 words stand before the first block, a program of at most 25 lines; the ```sh block
#    after it is run as it stands (in a folder with the program, and `include` as in the tree), and
#    the ```text block after that is its output;
#  - a later ```sh block that begins with `muster` and stands before a ```text block is run in the
#    tree, when the program is built, and prints that text; exit code 3 (something waits) is fine;
#  - each `kubectl get` that is piped into `muster` names every storage and device kind that the scheduler
#    reads (`content::storage` in kube/dialect.hpp);
#  - every command of the other ```sh blocks exists (see `check_command`); they are not run, as they
#    need a cluster, install something or take long;
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
tree=${1:-$source}
pages=$tree/README.md
for page in "$tree"/include/muster/*/README.md "$tree"/examples/muster/*/README.md; do
    [[ -f $page ]] && pages+=" $page"
done
faults=0
fault() {
    echo "$*"
    faults=$((faults + 1))
}

# split PAGE INTO: writes every block of the page as INTO/<number>.<language>, counted from 1.
split() {
    rm -rf "$2"
    mkdir -p "$2"
    awk -v into="$2" '
        /^```/ && !open {
            open = 1
            file = into "/" ++number "." substr($0, 4)
            printf "" >file
            next
        }
        /^```/ { open = 0; close(file); next }
        open { print >file }' "$1"
}

compare() { # compare WHO EXPECTED ACTUAL
    cmp -s "$2" "$3" && return
    fault "$1: prints something else than the page shows"
    diff -u "$2" "$3" || true
}

# The first program is g++'s, as its command says. clang++ needs half the time for the others.
page_cxx=$cxx
[[ ${CXX-} ]] || ! command -v clang++ >/dev/null || page_cxx=clang++

# try_program WHO SOURCE EXPECTED: compiles, and runs what can be run; prints what is wrong. What did
# not change since a run that was right is not built again.
try_program() {
    local who=$1 from=$2 expected=$3 key
    [[ -f $expected ]] || expected=
    key=$(cat "$from" ${expected:+"$expected"} | cksum | tr ' ' '.')
    local program=$work/programs/$key
    if fresh "$program.right" "$program.d"; then
        return
    fi
    mkdir -p "$work/programs"
    cp "$from" "$program.cpp"
    local flags=(-std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror
        -I "$source/include" -I "$source/examples" -I "$source/tests" -MMD -MF "$program.d")
    local runs=1
    grep -q 'int main(' "$from" || { runs=0; flags+=(-fsyntax-only); }
    if ! "$page_cxx" "${flags[@]}" "$program.cpp" -o "$program" 2>&1; then
        echo "$who: does not compile"
        return
    fi
    if ((runs)); then
        "$program" >"$program.out" || { echo "$who: the program ends with $?"; return; }
        if [[ $expected ]] && ! cmp -s "$expected" "$program.out"; then
            echo "$who: prints something else than the page shows"
            diff -u "$expected" "$program.out" || true
            return
        fi
    fi
    touch "$program.right"
}

# Programs take long to compile: as many at once as there are processors.
programs=0
begin_program() { # begin_program WHO SOURCE EXPECTED
    take_turn
    programs=$((programs + 1))
    try_program "$@" >"$work/said.$programs" &
}
end_programs() {
    local number
    wait
    for ((number = 1; number <= programs; ++number)); do
        [[ ! -s $work/said.$number ]] || fault "$(<"$work/said.$number")"
    done
}

check_page() {
    local page=$1 name=${1#"$tree/"} blocks number from link target
    blocks=$work/blocks/${name//\//_}
    split "$page" "$blocks"
    for from in "$blocks"/*.cpp; do
        [[ -f $from ]] || continue
        number=$(basename "$from" .cpp)
        [[ $name == README.md && $number == 1 ]] && continue
        begin_program "$name, block $number" "$from" "$blocks/$((number + 1)).text"
    done
    while IFS= read -r link; do
        target=$(dirname "$page")/${link%%#*}
        [[ -e $target ]] || fault "$name: links to $link, which is not there"
    done < <(sed '/^```/,/^```/d' "$page" | grep -oE '\]\([^)#:]+\)' | sed 's/^](//; s/)$//')
}

# check_front: the program that README.md begins with.
check_front() {
    local blocks=$work/blocks/README.md words lines status=0
    words=$(sed '/^```/,$d' "$tree/README.md" | wc -w)
    ((words <= 120)) || fault "README.md: $words words before the first block, more than 120"
    if [[ ! -f $blocks/1.cpp || ! -f $blocks/2.sh || ! -f $blocks/3.text ]]; then
        fault "README.md: does not begin with a program, its command and its output"
        return
    fi
    lines=$(wc -l <"$blocks/1.cpp")
    ((lines <= 25)) || fault "README.md: the program has $lines lines, more than 25"
    [[ $(cat "$blocks/2.sh") == "g++ -std=c++20 -I include "* && $(wc -l <"$blocks/2.sh") == 1 ]] ||
        fault "README.md: the second block is not the one line that builds and runs the program"
    local place=$work/hello
    rm -rf "$place"
    mkdir -p "$place"
    cp "$blocks/1.cpp" "$place/hello.cpp"
    ln -s "$source/include" "$place/include"
    (cd "$place" && bash "$blocks/2.sh") >"$place/actual" 2>&1 || status=$?
    ((status == 0)) || fault "README.md: the first program ends with $status"
    compare "README.md, the first program" "$blocks/3.text" "$place/actual"
}

# check_command WORDS...: does what the command names exist?
check_command() {
    local word
    case $1 in
        kubectl)
            # tour.test.sh runs those that apply something.
            [[ $2 == get && $3 =~ ^[a-z.,]+$ ]] || [[ $2 == apply && $3 == -[fk] && -e $source/$4 ]] ||
                fault "README.md: kubectl: $*"
            ;;
        export) ;;
        muster)
            # Quotes are part of the match: a name in running text is not a command.
            grep -q "^    {\"$2\"," "$source/examples/muster/commands/commands.hpp" ||
                fault "README.md: muster has no command $2"
            if [[ ${3-} == -* ]]; then
                grep -q "\"$3[,\"]" "$source"/examples/muster/{commands,options}/*.cpp ||
                    fault "README.md: muster has no option $3"
            fi
            ;;
        bash) [[ -f $source/$2 ]] || fault "README.md: there is no $2" ;;
        ./*) [[ -x $source/$1 ]] || fault "README.md: there is no program $1" ;;
        cmake)
            for word in "${@:2}"; do
                [[ $word == -DMUSTER_* ]] || continue
                word=${word#-D}
                grep -q "^option(${word%%=*} " "$source/CMakeLists.txt" ||
                    fault "README.md: CMake has no option ${word%%=*}"
            done
            ;;
        g++)
            word=$(sed -n 's/.*pkg-config --cflags \([a-z-]*\)).*/\1/p' <<<"$*")
            [[ "$*" == *" -I single "* ]] || [[ -f $source/cmake/$word.pc.in ]] || fault "README.md: pkg-config knows no '$word'"
            ;;
        vcpkg)
            [[ $2 == install && $4 == --overlay-ports=* && -f $source/${4#*=}/$3/portfile.cmake ]] ||
                fault "README.md: vcpkg: $*"
            ;;
        conan) [[ $2 == create && -f $source/$3/conanfile.py ]] || fault "README.md: conan: $*" ;;
        *) fault "README.md: this test does not know the command '$1'" ;;
    esac
}

check_commands() {
    local block line part
    for block in "$work"/blocks/README.md/*.sh; do
        [[ $(basename "$block") == 2.sh ]] && continue
        while IFS= read -r line; do
            while IFS= read -r part; do
                # shellcheck disable=SC2086
                check_command $part
            done < <(sed 's/ *| */\n/g; s/ && /\n/g' <<<"$line")
        done <"$block"
    done
    while IFS= read -r line; do
        check_command muster "$line"
    done < <(sed -n 's/^| `muster \([a-z]*\)[^`]*` .*/\1/p' "$tree/README.md")
}

# storage_kinds: the storage and device kinds that the scheduler reads and every server has, as
# `kubectl get` names them. A server has DeviceTaintRules only if its administrator enables them.
storage_kinds() {
    tr -d ' \n' <"$source/include/muster/kube/dialect.hpp" |
        grep -oE '"([a-z0-9.]+/)?v1","[A-Za-z]+","[a-z]+",content::storage' |
        sed 's/^"[^"]*","[^"]*","//; s/".*//; s/^persistentvolumeclaims$/pvc/; s/^persistentvolumes$/pv/; /^devicetaintrules$/d'
}

check_kinds() {
    local line kind count=0 kinds
    kinds=$(storage_kinds)
    (($(wc -w <<<"$kinds") >= 10)) || fault "kube/dialect.hpp: fewer storage kinds than expected: $kinds"
    while IFS= read -r line; do
        count=$((count + 1))
        for kind in $kinds; do
            [[ ,${line#kubectl get }, == *[,\ ]"$kind"[,\ ]* ]] ||
                fault "README.md: kubectl get lacks $kind: $line"
        done
    done < <(grep -hE '^kubectl get .*\| muster' "$work"/blocks/README.md/*.sh)
    ((count > 0)) || fault "README.md: no kubectl get is piped into muster"
}

# check_outputs: what the program prints of the tree's own files.
check_outputs() {
    local from number status path=${MUSTER_BUILD:-$source/build/release}
    [[ -x $path/muster ]] || { echo "outputs: not compared: there is no $path/muster"; return; }
    for from in "$work"/blocks/README.md/*.sh; do
        number=$(basename "$from" .sh)
        [[ $(<"$from") == "muster "* && -f $work/blocks/README.md/$((number + 1)).text ]] || continue
        status=0
        (cd "$source" && PATH=$path:$PATH bash "$from") >"$work/actual" 2>&1 || status=$?
        ((status == 0 || status == 3)) || fault "README.md, block $number: ends with $status"
        compare "README.md, block $number" "$work/blocks/README.md/$((number + 1)).text" \
            "$work/actual"
    done
}

for page in $pages; do
    check_page "$page"
done
end_programs
check_front
check_commands
check_kinds
check_outputs
((faults == 0)) || { echo "$faults faults"; exit 1; }
echo "$(wc -w <<<"$pages") pages are as they say"
