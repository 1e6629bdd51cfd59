#!/usr/bin/env bash
# Sees to the packages, configures a preset and builds targets of it. Everything is said on stderr,
# and little of it unless something fails.
#   cmake/build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift

quiet() {
    local log=build/$preset.log
    "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}

./cmake/packages.sh build
mkdir -p build
started=$SECONDS
quiet cmake --preset "$preset"
build=(cmake --build --preset "$preset" --parallel "$(nproc)" ${1+--target "$@"})
if [[ -t 2 ]]; then
    "${build[@]}" >&2
else
    echo "building ${*:-everything} (build/$preset) ..." >&2
    quiet "${build[@]}"
fi
echo "built ${*:-everything} in $((SECONDS - started)) s" >&2
