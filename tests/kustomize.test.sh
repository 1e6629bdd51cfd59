#!/usr/bin/env bash
# Every overlay of examples/kustomize renders, uses existing options, and grants exactly the rights that
# its dialect needs.
# Skipped without a kubectl in PATH or built by tests/live/run.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
muster=${MUSTER_BUILD:-$source/build/release}/muster
PATH=$PATH:$(dirname "$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/muster-live/*/kubectl 2>/dev/null | head -1)")
command -v kubectl >/dev/null || { echo "skipped: there is no kubectl"; exit 77; }
overlays=$source/examples/kustomize
deploy=$source/examples/deploy
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
objects() { grep -c '^kind: ' "$@" | awk -F: '{ all += $NF } END { print all }'; }

count=0
for folder in "$overlays"/*/; do
    name=$(basename "$folder")
    [[ $name != components ]] || continue
    count=$((count + 1))
    made=$work/$name.yaml
    kubectl kustomize "$folder" >"$made" 2>"$work/err" || { fail "$name: $(cat "$work/err")"; continue; }
    mapfile -t arguments < <(sed -nE '/- args:$/,/image:/ s/^ +- "?([^"]*)"?$/\1/p' "$made" | sed '1,/^schedule$/d' |
        sed '/^controller$/,$d')
    [[ ${#arguments[@]} -ge 6 ]] || fail "$name: these are the scheduler's options: ${arguments[*]}"
    grep -qE -- '--(profile|preempt)$' < <(printf '%s\n' "${arguments[@]}") || fail "$name: no rule of preemption"
    if [[ -x $muster ]] && "$muster" schedule --help >/dev/null 2>&1; then
        said=$("$muster" schedule "${arguments[@]}" --server http://127.0.0.1:1 --timeout 1 --dry-run 2>&1) || true
        [[ $said != *"Run with --help"* && $said != *expected* ]] || fail "$name: ${arguments[*]}: $said"
    fi
    ! grep -A3 '^roleRef:' "$made" | grep -q muster-scheduler-gates || fail "$name: patch pods is bound"
    bound=no
    ! grep -A3 '^roleRef:' "$made" | grep -q muster-scheduler-dialects || bound=yes
    if [[ $name == t9k ]]; then
        [[ $bound == no ]] || fail "$name: other dialects are readable"
        grep -q 'name: muster-controller$' "$made" || fail "$name: no controller"
        # The files that README.md applies one by one.
        [[ $(objects "$made") == $(objects "$deploy"/*.yaml "$deploy"/crds/*.yaml) ]] ||
            fail "$name: $(objects "$made") objects, and other files in examples/deploy"
    else
        dialect=$([[ $name == kubernetes ]] && echo workload || echo "$name")
        # An API whose gangs are marks of pods has no objects to be read.
        facts=$(grep -lF ".dialect = \"$dialect\"" "$source"/include/muster/apis/*/facts.hpp) || fail "$name: no API"
        reads=no
        ! grep -q '\.collections = ' "$facts" || reads=yes
        [[ $bound == "$reads" ]] ||
            fail "$name: objects of the dialect are to be readable: $reads, and are: $bound"
        grep -qx -- "$dialect" < <(printf '%s\n' "${arguments[@]}") || fail "$name: not its dialect: ${arguments[*]}"
        ! grep -qE 'muster-controller|CustomResourceDefinition' "$made" || fail "$name: more than a scheduler"
    fi
done
dialects=$(sed -nE 's/.*\.dialect = "([a-z0-9-]+)".*/\1/p' "$source"/include/muster/apis/*/facts.hpp)
[[ $(wc -l <<<"$dialects") -ge 6 && $(wc -l <<<"$dialects") == "$count" ]] ||
    fail "$count overlays for these dialects: $dialects"
((failures == 0)) && echo fine
exit $((failures > 0))
