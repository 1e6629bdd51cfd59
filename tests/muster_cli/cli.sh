# Sourced by the tests of the command line after `set -euo pipefail`. Every test runs the program
# on inputs/ and compares what it prints with golden/; `--update` as first argument rewrites these.
# Sets `muster`, the program, and whatever script_tools.sh does; ends the test as skipped (77) when
# the program was not built.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../script_tools.sh"
muster=${MUSTER_BUILD:-$source/build/release}/muster
if [[ ! -x $muster ]]; then
    echo "skipped: there is no $muster"
    exit 77
fi
update=no
[[ ${1-} != --update ]] || update=yes
failures=0
# The paths in messages are those that are given here.
cd "$here/inputs"

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# run CODE ARGUMENTS...: stdout to $work/out, stderr to $work/err; the exit code must be CODE.
run() {
    local expected=$1 code=0
    shift
    "$muster" "$@" >"$work/out" 2>"$work/err" || code=$?
    ((code == expected)) || {
        fail "exit code $code instead of $expected: muster $*"
        cat "$work/err"
    }
}

# same GOLDEN ACTUAL
same() {
    if [[ $update = yes ]]; then
        cp "$2" "$here/golden/$1"
    else
        diff -u "$here/golden/$1" "$2" || fail "$1 differs"
    fi
}

# golden NAME CODE ARGUMENTS...: the exit code and stdout are as expected.
golden() {
    local name=$1
    shift
    run "$@"
    same "$name" "$work/out"
}

# complains NAME CODE ARGUMENTS...: nothing on stdout, and stderr is as expected.
complains() {
    local name=$1
    shift
    run "$@"
    [[ ! -s $work/out ]] || fail "stdout is not empty: muster ${*:2}"
    same "$name" "$work/err"
}

finish() {
    ((failures == 0)) || exit 1
    echo "fine"
}
