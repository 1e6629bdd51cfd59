#!/usr/bin/env bash
# Uses Muster as others do: installed and found by CMake, with and without a component, as a
# subdirectory, fetched by CMake, and by pkg-config with a plain compiler line. Each builds two units
# and runs; where CMake is used, also with muster::core, without which a third unit does not link. An
# installed package also builds the example with the driver and the conformance suite.
set -euo pipefail
. "$(dirname "$0")/../script_tools.sh"
here=$(cd "$(dirname "$0")" && pwd)
prefix=$work/prefix

version=$(sed -nE 's/^#define MUSTER_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' \
    "$source/include/muster/base/version.hpp" | paste -sd.)

quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }; }

says() { # says NAME PROGRAM: does it run and print the version?
    local said
    said=$("$2") || { echo "$1: the program failed"; return 1; }
    [[ $said == "muster $version" ]] || { echo "$1: printed '$said'"; return 1; }
    echo "$1: $said"
}

configure() { # configure SOURCE BUILD OPTION...
    local from=$1 to=$2
    shift 2
    quiet cmake -G Ninja -S "$from" -B "$to" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_CXX_COMPILER="$cxx" "$@"
}

consumer() { # consumer NAME OPTION...
    local name=$1
    shift
    configure "$here/$name" "$work/$name" "$@"
    quiet cmake --build "$work/$name" --target consumer
    says "$name" "$work/$name/consumer"
}

by_core() { # by_core NAME: the same consumer with muster::core.
    quiet cmake --build "$work/$1" --target consumer_by_core
    says "$1, muster::core" "$work/$1/consumer_by_core"
}

# A new prefix, so that a header that is gone is not found here; files keep their times, so nothing
# is compiled again needlessly.
configure "$source" "$work/muster" -DMUSTER_BUILD_TESTS=OFF -DMUSTER_BUILD_EXAMPLES=OFF
rm -rf "$prefix"
quiet cmake --install "$work/muster" --prefix "$prefix"

# Every header belongs to a target and is installed with it, except the embedded API server, which is
# not installed.
headers_in() { (cd "$1/include" && find muster -name '*.hpp' | sort); }
diff <(headers_in "$source") <(headers_in "$prefix") || {
    echo "installed are other headers than there are"
    exit 1
}

# All headers of an installation without muster::translate compile.
core=$work/core_prefix
configure "$source" "$work/core" -DMUSTER_BUILD_TESTS=OFF -DMUSTER_BUILD_EXAMPLES=OFF \
    -DMUSTER_TRANSLATE=OFF
rm -rf "$core"
quiet cmake --install "$work/core" --prefix "$core"
headers_in "$core" | sed 's/.*/#include <&>/' >"$work/all_of_core.cpp"
(($(wc -l <"$work/all_of_core.cpp") > 100)) || { echo "too few headers of the core"; exit 1; }
quiet "$cxx" -std=c++20 -I "$core/include" -fsyntax-only -MD -MF "$work/all_of_core.d" \
    "$work/all_of_core.cpp"
if grep -E 'boost/json|/yaml\.h|curl/' "$work/all_of_core.d"; then
    echo "a header of the core needs what only the translation needs"
    exit 1
fi
echo "core alone: $(wc -l <"$work/all_of_core.cpp") headers compile"

# The example of a cluster of one's own needs the same headers and no others. It prints what it prints
# in the tree.
configure "$here/own_cluster" "$work/own_cluster" -DCMAKE_PREFIX_PATH="$core" \
    -DMUSTER_EXAMPLE="$source/examples/12_own_cluster.cpp"
quiet cmake --build "$work/own_cluster" --target own_cluster
(cd "$work/own_cluster" && ninja -t deps | grep -oE '[^ ]*/include/muster/.*' | xargs realpath) |
    sort -u >"$work/own_cluster.headers"
if grep -vF "$(realpath "$core")/" "$work/own_cluster.headers" ||
    ! grep -q '/muster/testing/cluster_conformance\.hpp$' "$work/own_cluster.headers"; then
    echo "own_cluster: is not built with the headers that are installed"
    exit 1
fi
"$work/own_cluster/own_cluster" >"$work/own_cluster.txt" ||
    { echo "own_cluster: the program ends with $?"; exit 1; }
diff -u "$source/examples/expected/12_own_cluster.txt" "$work/own_cluster.txt" ||
    { echo "own_cluster: prints something else than in the tree"; exit 1; }
echo "own_cluster: right"

# The core must do without what only the translation needs.
without=(-DCMAKE_DISABLE_FIND_PACKAGE_LibYAML=ON -DCMAKE_DISABLE_FIND_PACKAGE_boost_json=ON)
consumer find_package -DCMAKE_PREFIX_PATH="$prefix" "${without[@]}"
by_core find_package
consumer component -DCMAKE_PREFIX_PATH="$prefix"
by_core component
consumer add_subdirectory -DMUSTER_SOURCE="$source" "${without[@]}"
by_core add_subdirectory

# fetched: a repository with the files of the tree as they are, committed or not.
repository=$work/repository
commit() {
    git -C "$repository" -c user.name=consumers -c user.email=consumers@localhost commit -qm "The tree"
}
if command -v git >/dev/null; then
    mkdir -p "$repository"
    [[ -d $repository/.git ]] || git init -q -b main "$repository"
    find "$repository" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
    cp -a "$source"/{include,cmake,CMakeLists.txt} "$repository"
    git -C "$repository" add -A
    git -C "$repository" diff --cached --quiet 2>/dev/null || commit
    tag=$(git -C "$repository" rev-parse HEAD)
    consumer fetch_content -DMUSTER_REPOSITORY="file://$repository" -DMUSTER_TAG="$tag" "${without[@]}"
else
    echo "fetch_content: skipped: git is not installed"
fi

if configure "$here/component" "$work/refused" -DCMAKE_PREFIX_PATH="$prefix" "${without[@]}" \
    >/dev/null
then
    echo "the component translate was found without libyaml"
    exit 1
fi
grep -q 'the component translate needs Boost.JSON and libyaml' "$work/log"
echo "component: refused, with the reason, where libyaml is not there"

# The prefix is moved first: the installed files must not remember where they were.
moved=$work/moved
rm -rf "$moved"
mv "$prefix" "$moved"
export PKG_CONFIG_PATH=$moved/share/pkgconfig
[[ $(pkg-config --modversion muster) == "$version" ]]
read -r -a flags <<<"$(pkg-config --cflags --libs muster)"
"$cxx" -std=c++20 "$here/main.cpp" "$here/elsewhere.cpp" "${flags[@]}" -o "$work/by_pkg_config"
says pkg-config "$work/by_pkg_config"
pkg-config --cflags --libs muster-translate >/dev/null
pkg-config --cflags --libs muster-kube >/dev/null

if ldd "$work/by_pkg_config" | grep -i boost; then
    echo "the core needs a compiled part of Boost"
    exit 1
fi
