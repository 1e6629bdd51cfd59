#!/usr/bin/env bash
# The Conan recipe cmake/conan, without any remote: `conan create` with the libraries of the system packages the
# core, and its test_package is built header-only and with muster::core and decides; the package of all
# components has their CMake files; options that do not go together are refused.
#   MUSTER_PIP=1     installs Conan from PyPI into this test's folder if it is not installed
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
conan=$(command -v conan || true)
if [[ ! $conan && ${MUSTER_PIP-} ]]; then
    conan=$work/venv/bin/conan
    [[ -x $conan ]] || { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q 'conan>=2,<3'; } >&2 ||
        { echo "skipped: Conan could not be installed from PyPI"; exit 77; }
fi
if [[ ! $conan || $("$conan" --version) != "Conan version 2."* ]]; then
    echo "skipped: this needs Conan 2"
    exit 77
fi
version=$(sed -nE 's/^#define MUSTER_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' \
    "$source/include/muster/base/version.hpp" | paste -sd.)
fail() { cat "$work/log"; echo "$*"; exit 1; }

export CONAN_HOME=$work/home
rm -rf "$CONAN_HOME" "$work/tree"
mkdir -p "$CONAN_HOME/profiles" "$work/tree"
cat >"$CONAN_HOME/profiles/default" <<PROFILE
[settings]
os=Linux
arch=$(uname -m | sed 's/aarch64/armv8/')
compiler=gcc
compiler.version=$(g++ -dumpversion)
compiler.libcxx=libstdc++11
compiler.cppstd=20
build_type=Debug
PROFILE
# A copy: nothing is to be written into the tree, and the package must not need it.
cp -a "$source"/{include,cmake,CMakeLists.txt,LICENSE} "$work/tree"
create() {
    "$conan" create "$work/tree/cmake/conan" --no-remote -o '&:system_libraries=True' "$@" >"$work/log" 2>&1
}

create || fail "conan create fails"
(($(grep -c "^muster $version: the gang starts" "$work/log") == 2)) ||
    fail "the two programs of test_package do not both say that the gang starts"
echo "core: packaged, and its test_package decides header-only and with muster::core"

create -tf= -o '&:with_translate=True' -o '&:with_kube=True' || fail "conan create with all components fails"
found=$(find "$CONAN_HOME/p" -path '*/p/share/cmake/muster/muster-kube-targets.cmake')
[[ $found && -f $(dirname "$found")/muster-translate-targets.cmake ]] ||
    fail "the package of all components does not have their CMake files"
echo "all components: packaged"

! create -tf= -o '&:with_kube=True' || fail "with_kube without with_translate is accepted"
grep -q 'with_kube needs with_translate' "$work/log" || fail "the refusal does not say why"
! create -tf= -s compiler.cppstd=17 || fail "C++17 is accepted"
echo "with_kube alone and C++17: refused"
