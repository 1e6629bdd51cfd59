#!/usr/bin/env bash
# Sees to it that the Debian packages of the named groups are installed; instant when they are.
#   cmake/packages.sh GROUP...      groups: build, ci, bench
set -euo pipefail

declare -A groups=(
    # what ./tests/run and ./examples/run need
    [build]="g++ cmake ninja-build pkg-config libboost1.81-dev libboost-json1.81-dev doctest-dev
             libyaml-dev libcli11-dev libcurl4-openssl-dev libssl-dev"
    # what .ci/run needs on top
    [ci]="clang libclang-rt-14-dev clang-format clang-tidy doxygen git mmdebstrap
         python3-venv"
    # what ./bench/run needs on top
    [bench]="libbenchmark-dev"
)

wanted=()
for group in "$@"; do
    [[ -n ${groups[$group]-} ]] || { echo "packages.sh: no group '$group'" >&2; exit 1; }
    read -r -d '' -a names <<<"${groups[$group]}" || true
    wanted+=("${names[@]}")
done
[[ ${#wanted[@]} -gt 0 ]] || { sed -n '2,3s/^# \{0,1\}//p' "$0" >&2; exit 1; }

if ! command -v dpkg-query >/dev/null; then
    echo "packages.sh: not a Debian system; the equivalents of these are taken as installed:" \
         "${wanted[*]}" >&2
    exit 0
fi

installed=" $(dpkg-query --show --showformat='${db:Status-Status}:${Package} ' 2>/dev/null)"
missing=()
for package in "${wanted[@]}"; do
    [[ $installed == *" installed:$package "* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $(id -u) == 0 ]]; then
    as_root=()
elif sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
else
    cat >&2 <<EOF
These packages are missing, and only root can install them:
  ${missing[*]}
As root, run
  apt-get update && apt-get install --no-install-recommends ${missing[*]}
and then this again.
EOF
    exit 1
fi

# --no-remove: Debian's default Boost and 1.81 exclude each other, and which one a machine keeps is
# for its owner to say.
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null >&2
}
echo "installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt update && apt install --yes --no-install-recommends --no-remove "${missing[@]}"; } 2>"$log"
then
    cat "$log" >&2
    echo "packages.sh: apt-get failed; these packages are missing: ${missing[*]}" >&2
    exit 1
fi
