#!/usr/bin/env bash
# Shows what the command line does with the gangs of the T9k and ACK manuals. Every step prints a
# command and its output; a step that does not end as it should, and an output that differs from
# expected/demo.txt, fail the demo.
#   demo.sh BUILD_DIR [--update]      --update rewrites expected/demo.txt
set -euo pipefail
build=$(cd "${1:?BUILD_DIR}" && pwd)
cd "$(dirname "$0")"
export LC_ALL=C

chapter() { printf '\n== %s\n' "$1"; }

# step CODE TEXT ARGUMENTS...: says TEXT, runs muster with the arguments, which must end with CODE.
step() {
    local expected=$1 text=$2 code=0
    shift 2
    printf '\n# %s\n$ muster %s\n' "$text" "$*"
    "$build/muster" "$@" 2>&1 || code=$?
    if ((code != expected)); then
        printf 'demo.sh: exit code %d instead of %d\n' "$code" "$expected" | tee /dev/stderr
        exit 1
    fi
    printf '[exit code %d]\n' "$code"
}

demo() {
    local data=data
    echo 'Gangs of pods start whole or not at all. Exit code 3: something stays pending.'

    chapter 'Two pods and their PodGroup'
    local cpu="-f $data/cpu-node.yaml -f $data/queue-default.yaml"
    step 0 'minMember is 2 and both pods are there: they start together.' \
        plan -f $data/dance-podgroup.yaml -f $data/dance-pods.yaml $cpu -o wide

    chapter 'A PodGroup with roles: three members, a master and a worker among them'
    step 3 'One worker is missing: the master and the other worker wait for it.' \
        plan -f $data/role-test-podgroup.yaml -f $data/role-test-pods-one-missing.yaml $cpu -o wide
    step 3 'What is missing, in numbers.' \
        explain role-test -f $data/role-test-podgroup.yaml \
        -f $data/role-test-pods-one-missing.yaml $cpu
    step 0 'All three are there.' \
        plan -f $data/role-test-podgroup.yaml -f $data/role-test-pods.yaml $cpu -o wide

    chapter 'A TFJob of one parameter server and four workers with two GPUs each, on four GPUs'
    local one="-f $data/gpu-node-0.yaml" two="-f $data/gpu-node-0.yaml -f $data/gpu-node-1.yaml"
    step 3 'Without gangs two workers hold all GPUs and wait for the other two for ever.' \
        plan -f $data/tf-smoke-gpu-pods-without-gang.yaml $one -o pods
    step 3 'With min-available 5 nothing starts, and the GPUs stay free for others.' \
        plan -f $data/tf-smoke-gpu-pods.yaml $one -o pods
    step 3 'What is short, and by how much.' explain -f $data/tf-smoke-gpu-pods.yaml $one
    step 0 'Another node brings four GPUs more: all five start.' \
        plan -f $data/tf-smoke-gpu-pods.yaml $two -o pods

    chapter 'Two jobs of three pods each, on four GPUs'
    step 3 'Pod by pod both get two GPUs of the three that they need: neither ever runs.' \
        plan -f $data/deadlock-pods.yaml $one -o pods
    step 3 'As gangs the first one runs, the other waits its turn.' \
        plan -f $data/deadlock-gangs.yaml $one -o wide

    chapter 'Priority in one queue'
    step 3 'There is room for one of them: the higher priority goes before the older group.' \
        plan -f $data/priority.yaml $one
    step 3 'Why the other waits.' explain -f $data/priority.yaml $one
}

if [[ ${2-} == --update ]]; then
    mkdir -p expected
    demo >expected/demo.txt
    echo "wrote expected/demo.txt"
    exit
fi
actual=$(mktemp)
trap 'rm -f "$actual"' EXIT
demo | tee "$actual"
if ! diff -u expected/demo.txt "$actual" >&2; then
    echo "demo.sh: the output differs from expected/demo.txt" >&2
    exit 1
fi
