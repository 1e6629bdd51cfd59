// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A device, or a share of one, that a placed pod gets.
struct assigned_device {
    /// For a ResourceClaim: the pod's entry and the claim's request. Empty for shared GPUs, as are
    /// `driver` and `pool`.
    std::string entry;
    /// The extended resource that the device serves; it has no entry, and `request` is that of the
    /// one claim for all extended resources of the pod.
    std::string resource;
    std::string request;
    std::string driver;
    std::string pool;
    /// The name of the device in its pool, or the id of the GPU; for an instance (MIG)
    /// `id[instance]`, see instance_id().
    std::string device;
    /// For a shared GPU: memory in the unit of its system, and cores in percent. Otherwise 0.
    std::int64_t memory = 0;
    std::int64_t cores = 0;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
