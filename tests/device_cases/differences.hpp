// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace share_cases {

inline const char other_gpus[] =
    "Koordinator does not try other GPUs if those of its first choice have no RDMA device at their "
    "PCIe roots";

/// Cases that differ, and why.
inline const std::map<std::string, std::string> differences = {
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
