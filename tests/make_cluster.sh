#!/usr/bin/env bash
# Prints a cluster as one JSON List on stdout: nodes, PodGroups and their pods, the same every time.
#   make_cluster.sh NODES GANGS [PODS_PER_GANG] [GPUS_PER_NODE]
set -euo pipefail
exec awk -v nodes="${1:?NODES}" -v gangs="${2:?GANGS}" -v pods="${3:-3}" -v gpus="${4:-8}" '
    BEGIN {
        printf "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":["
        for (at = 0; at < nodes; at++)
            printf "%s{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%05d\",\"labels\":{\"kubernetes.io/hostname\":\"node-%05d\",\"zone\":\"z%d\"}},\"status\":{\"allocatable\":{\"cpu\":\"%d\",\"memory\":\"%dGi\",\"nvidia.com/gpu\":\"%d\",\"pods\":\"110\"}}}", at ? "," : "", at, at, at % 3, 32 + 32 * (at % 3), 128 + 128 * (at % 3), gpus
        for (at = 0; at < gangs; at++) {
            printf ",{\"apiVersion\":\"scheduler.tensorstack.dev/v1beta1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"gang-%05d\",\"namespace\":\"team-%d\",\"creationTimestamp\":\"2026-01-01T%02d:%02d:00Z\"},\"spec\":{\"minMember\":%d,\"priority\":%d,\"queue\":\"default\"}}", at, at % 7, int(at / 60) % 24, at % 60, pods, at % 11
            for (pod = 0; pod < pods; pod++)
                printf ",{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"gang-%05d-%d\",\"namespace\":\"team-%d\",\"labels\":{\"scheduler.tensorstack.dev/group-name\":\"gang-%05d\"},\"creationTimestamp\":\"2026-01-01T%02d:%02d:00Z\"},\"spec\":{\"schedulerName\":\"t9k-scheduler\",\"containers\":[{\"name\":\"main\",\"image\":\"train\",\"resources\":{\"requests\":{\"cpu\":\"%d\",\"memory\":\"%dGi\",\"nvidia.com/gpu\":\"%d\"}}}]}}", at, pod, at % 7, at, int(at / 60) % 24, at % 60, 4 + at % 5, 8 + at % 9, 1 + at % 8
        }
        print "]}"
    }'
