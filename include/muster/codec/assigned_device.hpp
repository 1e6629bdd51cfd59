// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A device that a placed pod gets, or a share of one.
struct assigned_device {
    /// For a ResourceClaim: the pod's entry, and the request of the claim. Empty for shared GPUs.
    std::string entry;
    std::string request;
    std::string driver;
    std::string pool;
    /// The name of the device in its pool, or the id of the GPU.
    std::string device;
    /// What of a shared GPU the pod gets, in the unit of its system.
    std::int64_t memory = 0;
    std::int64_t cores = 0;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
