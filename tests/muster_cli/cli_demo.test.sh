#!/usr/bin/env bash
# The demo runs, and every one of its steps ends and prints as it should.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
bash "$source/examples/demo.sh" "$(dirname "$muster")" >"$work/out" || fail "the demo"
finish
