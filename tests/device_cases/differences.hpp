// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace share_cases {

inline const char links[] = "HAMi's topology-aware policy sorts by link scores, which are not read";
inline const char weights[] = "HAMi's device-scoring-weights are not read";
inline const char partitions[] = "partitions of a device (MIG) are not modelled";
inline const char other_gpus[] =
    "Koordinator does not try other GPUs if those of its first choice have no RDMA device at their "
    "PCIe roots";

/// Cases that differ, and why.
inline const std::map<std::string, std::string> differences = {
    {"hami fit-TestFit_TopologyBestCombination-1", links},
    {"hami fit-TestFit_TopologyNegativeScores-1", links},
    {"hami fit-TestFit_TopologyWorstSingleCard-1", links},
    {"hami fit-Test_Nvidia_GPU_Topology-1", links},
    {"hami node-nested-3b4da1bc", weights},
    {"hami node-nested-f174ea7d", weights},
    {"hami fit-TestFitInDevicesAllowsMultipleMigPlacementsOnSingleGPU-1", partitions},
    {"hami node-TestFitInDevicesAllowsMultipleMigPlacementsOnSingleGPU-1", partitions},
    {"hami fit-TestNumaBindSortPreservesAffinity-1",
     "HAMi finds devices of one NUMA node only where they follow one another in the list"},
    {"hami request-TestGenerateResourceRequests-12",
     "a negative percentage, which Kubernetes refuses, makes the pod wait"},
    {"volcano uuid-TestCheckGPUUUID-6", "a device without an id is never registered"},
    {"volcano node-random-203",
     "Volcano serves one container after the other, and its first choice leaves no room for the "
     "second one; another choice does"},
    {"koordinator pod-TestAutopilotAllocatorWithExclusivePolicyAndRequiredScope-9", other_gpus},
    {"koordinator pod-random-85", other_gpus},
};

} // namespace share_cases
