#!/usr/bin/env bash
# Batch scripts of Slurm: planned, explained, changed and translated as other jobs are.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

for script in train parts array waits; do
    # Of the others some pods wait.
    code=3
    [[ $script != parts ]] || code=0
    golden "sbatch_$script.wide" "$code" plan -f sbatch/nodes.yaml -f "sbatch/$script.sbatch" -o wide
    same "sbatch_$script.stderr" "$work/err"
    run "$code" explain -f sbatch/nodes.yaml -f "sbatch/$script.sbatch" --tries 0
    same "sbatch_$script.explain" "$work/out"
done
golden sbatch_whatif.table 3 whatif -f sbatch/nodes.yaml -f sbatch/train.sbatch --add-nodes 2xgpu2

# A simulated job runs until its time limit.
golden sbatch_run.text 0 run -f sbatch/nodes.yaml -f sbatch/limit.sbatch
same sbatch_run.stderr "$work/err"

golden sbatch_train.volcano.yaml 0 translate -f sbatch/train.sbatch --to volcano
same sbatch_train.volcano.stderr "$work/err"
golden sbatch_parts.workload.yaml 0 translate -f sbatch/parts.sbatch --to workload-1.37
same sbatch_parts.workload.stderr "$work/err"

# By standard input, sbatch's own name for the job.
grep -v job-name sbatch/train.sbatch >"$work/unnamed"
"$muster" translate -f - --to kai-0.15 <"$work/unnamed" >"$work/out" 2>"$work/err" ||
    fail "a script from standard input is not translated"
grep -q '^  name: sbatch$' "$work/out" || fail "the job is not called sbatch"

complains sbatch_bad.stderr 2 plan -f sbatch/nodes.yaml -f sbatch/bad.sbatch
complains sbatch_bad_values.stderr 2 plan -f sbatch/nodes.yaml -f sbatch/bad_values.sbatch
finish
