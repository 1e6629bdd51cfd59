#!/usr/bin/env bash
# The section Install of README.md, with the page's first program as hello.cpp: each ```cmake block, in a project
# of its own, and each ```sh block, in a copy of the tree, gives a program that prints what the page shows.
# What vcpkg and Conan do is checked by vcpkg.test.sh and conan.test.sh.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
# g++ is what the sh blocks name; clang++ needs half the time for the others.
cmake_cxx=$cxx
[[ ${CXX-} ]] || ! command -v clang++ >/dev/null || cmake_cxx=clang++
fail() { echo "$*"; exit 1; }
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }; }

# The page's blocks: first the program and its output, then those of the section.
rm -rf "$work/blocks" "$work/tree" "$work/home"
mkdir -p "$work/blocks" "$work/tree" "$work/home"
awk -v into="$work/blocks" '
    /^## / { section = $0 }
    /^```/ && !open {
        open = 1
        language = substr($0, 4)
        file = ""
        if (section == "" && !seen[language]++)
            file = into "/first." language
        if (section == "## Install")
            file = sprintf("%s/%02d.%s", into, ++number, language)
        next
    }
    /^```/ { open = 0; next }
    open && file { print >file }' "$source/README.md"
[[ -s $work/blocks/first.cpp && -s $work/blocks/first.text ]] ||
    fail "README.md does not begin with a program and its output"

right() { # right WHO PROGRAM
    "$2" >"$work/actual" || fail "$1: the program ends with $?"
    diff -u "$work/blocks/first.text" "$work/actual" || fail "$1: prints something else than the page shows"
    echo "$1: right"
}

cp -a "$source"/{include,cmake,CMakeLists.txt,LICENSE} "$work/tree"
cp "$work/blocks/first.cpp" "$work/tree/hello.cpp"
repository=$work/repository
if command -v git >/dev/null; then
    rm -rf "$repository"
    git init -q -b main "$repository"
    cp -a "$source"/{include,cmake,CMakeLists.txt} "$repository"
    git -C "$repository" add -A
    git -C "$repository" -c user.name=install -c user.email=install@localhost commit -qm "The tree"
fi

run_sh() { # run_sh BLOCK
    rm -f "$work/tree/hello"
    (
        cd "$work/tree"
        export HOME=$work/home PKG_CONFIG_PATH=$work/home/.local/share/pkgconfig
        quiet bash -euo pipefail "$1"
    ) || fail "$(basename "$1"): fails"
    ! grep -q -- '-o hello' "$1" || right "$(basename "$1")" "$work/tree/hello"
}

run_cmake() { # run_cmake BLOCK
    local name project
    name=$(basename "$1")
    project=$work/project_${name%.cmake}
    mkdir -p "$project"
    ln -sfn "$work/tree" "$project/muster"
    cp "$work/blocks/first.cpp" "$project/hello.cpp"
    {
        echo 'cmake_minimum_required(VERSION 3.25)'
        echo 'project(hello LANGUAGES CXX)'
        echo 'set(MUSTER_CORE_KINDS 4)'
        echo 'add_executable(your_program hello.cpp)'
        cat "$1"
    } >"$project/CMakeLists.txt"
    quiet cmake -G Ninja -S "$project" -B "$project/build" -DCMAKE_CXX_COMPILER="$cmake_cxx" \
        -DCMAKE_PREFIX_PATH="$work/home/.local" -DMUSTER_REPOSITORY="file://$repository"
    quiet cmake --build "$project/build" --target your_program
    right "$name" "$project/build/your_program"
}

count=0
for block in "$work"/blocks/[0-9]*; do
    case $(basename "$block"):$(head -n 1 "$block") in
        *.sh:vcpkg\ * | *.sh:conan\ *) continue ;;
        *.cmake:*FetchContent*)
            command -v git >/dev/null || { echo "$(basename "$block"): skipped: git is not installed"; continue; }
            run_cmake "$block"
            ;;
        *.cmake:*) run_cmake "$block" ;;
        *.sh:*) run_sh "$block" ;;
        *) fail "$(basename "$block"): this test does not know such a block" ;;
    esac
    count=$((count + 1))
done
((count >= 6)) || fail "the section Install has fewer blocks than expected: $count"
echo "$count blocks of the section Install are right"
