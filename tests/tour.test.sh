#!/usr/bin/env bash
# The tour of README.md, as it stands there: every line of its `sh` blocks is run, and what the lines
# that begin with `kubectl get` print comes to be what its `text` blocks show, but for ages.
# Skipped where there is no kubectl: none in PATH, and none built by tests/live/run.
set -euo pipefail
. "$(dirname "$0")/script_tools.sh"
muster=${MUSTER_BUILD:-$source/build/release}/muster
skip() {
    echo "skipped: $*"
    exit 77
}
[[ -x $muster ]] || skip "there is no $muster"
"$muster" up --help 2>/dev/null | grep -q -- --only-server || skip "this muster has no command up"
"$muster" controller --help >/dev/null 2>&1 || skip "this muster has no command controller"
said=$("$muster" controller --server http://127.0.0.1:1 --timeout 1 --dry-run 2>&1) || true
[[ $said != *"built without"* ]] || skip "$said"
PATH=$PATH:$(dirname "$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/muster-live/*/kubectl 2>/dev/null | head -1)")
command -v kubectl >/dev/null || skip "there is no kubectl"

# The tour is told in a folder of its own, which sees the tree's examples.
place=$work/place
rm -rf "$place"
mkdir -p "$place/bin"
ln -s "$source/examples" "$place/examples"
ln -s "$muster" "$place/bin/muster"
cd "$place"
PATH=$place/bin:$PATH
awk '/^## / { tour = /Five minutes/ } tour' "$source/README.md" >tour.md
[[ -s tour.md ]] || { echo "README.md has no tour"; exit 1; }

server=
trap '[[ -z $server ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true' EXIT
# Ages are the last column.
ageless() { awk '{ $NF = ""; $1 = $1; print }'; }
failures=0
gets=()
# shows TEXT: all that was asked for since the last text prints it, within half a minute.
shows() {
    local each seen
    for _ in $(seq 60); do
        seen=
        for each in "${gets[@]}"; do
            seen+=$(eval "$each" 2>&1 || true)$'\n'
        done
        [[ $(ageless <<<"${seen%$'\n'}") != $(ageless <<<"$1") ]] || { gets=(); return 0; }
        sleep 0.5
    done
    echo "FAILED: ${gets[*]} prints"$'\n'"$seen"
    gets=()
    failures=$((failures + 1))
}
runs() {
    case $1 in
        *" &")
            # Started so that it can be ended by its own number.
            # shellcheck disable=SC2086
            ${1% &} >up.log 2>&1 &
            server=$!
            for _ in $(seq 100); do
                ! grep -q "^serving" up.log || break
                sleep 0.1
            done
            ;;
        "kubectl get"*) gets+=("$1") ;;
        export*) eval "$1" ;;
        *) bash -c "$1" >/dev/null || { echo "FAILED: $1"; failures=$((failures + 1)); } ;;
    esac
}
kind=
shown=
count=0
while IFS= read -r line; do
    case $line in
        '```') [[ $kind != text ]] || { shows "${shown%$'\n'}"; count=$((count + 1)); }
            kind= shown= ;;
        '```'*) kind=${line#\`\`\`} ;;
        *)
            [[ $kind != sh ]] || runs "$line"
            [[ $kind != text ]] || shown+=$line$'\n'
            ;;
    esac
done <tour.md
((count >= 2)) || { echo "FAILED: the tour shows $count outputs"; failures=1; }
((failures == 0)) || { cat up.log; exit 1; }
# It ends when told to, with all that it started.
kill "$server"
wait "$server" || { echo "FAILED: muster up ends with $?"; exit 1; }
server=
echo "fine"
