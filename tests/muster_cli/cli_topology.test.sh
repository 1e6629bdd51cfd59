#!/usr/bin/env bash
# Groups whose annotations keep their members together, with the levels named on the command line.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

golden topology.wide 3 plan -f topology.yaml --topology block,rack -o wide
golden topology.explain 3 explain -f topology.yaml --topology block,rack
golden topology.whatif 0 whatif -f topology.yaml --topology block,rack --set group.tuning.topology=
# Without levels a rack is whatever carries its label: r1 lies in both blocks.
golden topology_by_label.wide 3 plan -f topology.yaml -o wide
golden topology_proofs.json 3 plan -f topology_proofs.yaml -o json
golden topology_proofs.wide 3 plan -f topology_proofs.yaml -o wide
run 1 plan -f topology.yaml --topology block,rack,block
grep -q 'there twice' "$work/err" || fail "a level that is there twice"
finish
