#!/usr/bin/env bash
# `muster schedule --default-spread` decides on a live cluster as `muster plan` does on files.
set -euo pipefail
. "$(dirname "$0")/cli.sh"
for command in up schedule; do
    if ! "$muster" $command --help >/dev/null 2>&1; then
        echo "skipped: this muster has no command $command"
        exit 77
    fi
done
sed 's/{name: main, /&image: i, /' default_spread.yaml >"$work/cluster.yaml"
server=
trap 'kill $server 2>/dev/null || true' EXIT
rm -f "$work/says" "$work/config"
mkfifo "$work/says"
"$muster" up --only-server --plain --pod-delay 0 --kubeconfig "$work/config" -f "$work/cluster.yaml" \
    >"$work/says" 2>"$work/err" &
server=$!
exec 4<"$work/says"
read -r line <&4 || { fail "muster up: $(cat "$work/err")"; finish; }
at=(--server "http://127.0.0.1:${line##*:}")

# decides OUTCOME [OPTION...]
decides() {
    local wanted=$1 said
    shift
    said=$("$muster" schedule "${at[@]}" --dry-run "$@" 2>&1) || [[ $? == 3 ]] || fail "schedule $*: $said"
    [[ $said == "$wanted"* ]] || fail "schedule $*: $said (expected $wanted)"
}
decides $'start\tdefault/web-1'
decides $'start\tdefault/web-1' --default-spread system
decides $'wait\tdefault/web-1' --default-spread spread_configuration.yml
finish
