#!/usr/bin/env bash
# The vcpkg registry cmake/vcpkg: its JSON files agree with each other and with version.hpp, and what the port
# installs is found and used by CMake. vcpkg itself is not run: vcpkg_stubs.cmake has the functions that the
# portfile calls, and Boost is the system's.
set -euo pipefail
. "$(dirname "$0")/../script_tools.sh"
here=$(cd "$(dirname "$0")" && pwd)
registry=$source/cmake/vcpkg
version=$(sed -nE 's/^#define MUSTER_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' \
    "$source/include/muster/base/version.hpp" | paste -sd.)

fail() { echo "$*"; exit 1; }
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }; }
check() { cmake -DREGISTRY="$1" -DVERSION="$version" -P "$here/check_json.cmake"; }

quiet check "$registry"
# wrong FILE SED: a registry with this fault is not accepted.
wrong() {
    rm -rf "$work/wrong"
    cp -r "$registry" "$work/wrong"
    sed -i "$2" "$work/wrong/$1"
    ! cmp -s "$registry/$1" "$work/wrong/$1" || fail "self-test: '$2' changes nothing in $1"
    ! check "$work/wrong" >"$work/log" 2>&1 || fail "self-test: '$2' in $1 passes"
}
wrong ports/muster/vcpkg.json 's/"version": "[^"]*"/"version": "99.0.0"/'
wrong ports/muster/vcpkg.json 's/"license"/"licence"/'
wrong ports/muster/vcpkg.json 's/"boost-json"/"Boost JSON"/'
wrong ports/muster/portfile.cmake '/kube MUSTER_KUBE/d'
wrong versions/baseline.json 's/"baseline": "[^"]*"/"baseline": "99.0.0"/'
wrong versions/m-/muster.json 's/"port-version": 0/"port-version": 1/'
wrong versions/m-/muster.json 's#ports/muster#port/muster#'
echo "JSON files: as they should be; 7 faults are found"

# install NAME FEATURES
install() {
    rm -rf "$work/$1"
    quiet cmake -DPORT=muster -DCURRENT_PORT_DIR="$registry/ports/muster" -DCURRENT_PACKAGES_DIR="$work/$1" \
        -DBUILD="$work/build_$1" -DFEATURES="$2" -P "$here/vcpkg_stubs.cmake"
    [[ -s $work/$1/share/muster/copyright && -s $work/$1/share/muster/usage ]] ||
        fail "$1: usage or copyright is not installed"
    [[ ! -e $work/$1/share/cmake && ! -e $work/$1/lib ]] || fail "$1: files where vcpkg takes none"
    ! grep -rlF "$work/$1" "$work/$1" || fail "$1: remembers where it was installed"
}
configure() { # configure CONSUMER PACKAGE
    quiet cmake -G Ninja -S "$source/tests/consumers/$1" -B "$work/use_$1" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$work/$2"
}
install core ""
configure find_package core
grep -q "muster_DIR:PATH=$work/core/share/muster" "$work/use_find_package/CMakeCache.txt" ||
    fail "another muster was found than the port's"
quiet cmake --build "$work/use_find_package" --target consumer
said=$("$work/use_find_package/consumer")
[[ $said == "muster $version" ]] || fail "the consumer printed '$said'"
echo "port: installed, found and used: $said"

install all "translate;kube"
configure component all
echo "port with all features: installed, its components found"
