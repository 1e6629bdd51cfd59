# Sourced by the script tests after `set -euo pipefail`. Sets
#   source   the tree under test
#   work     a folder of this test's own that outlives the run, so that the next one is quick
#   cxx      the compiler
source=${MUSTER_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
name=$(basename "$0" .test.sh)
work=${MUSTER_BUILD:-$source/build/scripts}/$name
cxx=${CXX:-g++}
mkdir -p "$work"
export LC_ALL=C

# fresh FILE DEPFILE: is FILE newer than this script and than everything that DEPFILE (of the
# compiler's -MMD) names?
fresh() {
    [[ -f $1 && -f $2 && $1 -nt $0 ]] || return 1
    local words input
    mapfile -t words < <(sed -e 's/^[^:]*://' -e 's/ \\$//' "$2" | tr -s ' ' '\n')
    for input in "${words[@]}"; do
        [[ -z $input || $1 -nt $input ]] || return 1
    done
}

# take_turn: waits until fewer jobs run in the background than there are processors.
take_turn() {
    while (($(jobs -rp | wc -l) >= $(nproc))); do
        wait -n || true
    done
}
