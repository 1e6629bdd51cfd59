#!/usr/bin/env bash
# The example of a live dry run prints the plan of a cluster that `muster up` serves.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
build=${MUSTER_BUILD:-$source/build/release}
if [[ ! -x $build/examples/example_11_live_dry_run || ! -x $build/muster ]]; then
    echo "skipped: the example or muster is not built"
    exit 77
fi
cd "$source/examples/data"
"$build/muster" up --plain --only-server --kubeconfig "$work/kubeconfig" -f deadlock-gangs.yaml \
    -f gpu-node-0.yaml >"$work/up" 2>"$work/err" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for ((waited = 0; waited < 300; ++waited)); do
    ! grep -q '^serving' "$work/up" || break
    sleep 0.1
done
"$build/examples/example_11_live_dry_run" "$(grep -oE 'http://[0-9.:]+' "$work/up")" >"$work/out"
diff -u - "$work/out" <<'END'
red starts
  red-0 on gpu-0
  red-1 on gpu-0
  red-2 on gpu-0
blue waits
END
echo fine
