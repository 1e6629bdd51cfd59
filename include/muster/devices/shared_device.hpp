// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster {
inline namespace v0_1 {

/// Amounts of one device.
struct share_amounts {
    /// Number of shares.
    std::int64_t slots = 0;
    /// In the unit of the device's system: bytes for Koordinator, thousandths of a GPU for
    /// openb, MiB for the others.
    std::int64_t memory = 0;
    /// Percent of the device's compute.
    std::int64_t cores = 0;

    friend bool operator==(const share_amounts&, const share_amounts&) = default;
};

/// A pod that holds a share of a device, as far as other pods need to know.
struct device_sharer {
    /// The pod's number in the requests of a question (`share_request::pod`); absent for a standing
    /// pod.
    std::optional<std::size_t> pod = {};
    /// The group that the pod belongs to; empty = none.
    std::string group = {};

    friend bool operator==(const device_sharer&, const device_sharer&) = default;
};

/// A device that several pods can share: a GPU of HAMi, Volcano, Koordinator, KAI or
/// openb.
/// Precondition: no amount is negative. `used` can exceed what the device has.
struct shared_device {
    /// Unique on the node.
    std::string id;
    std::string model;
    std::int64_t memory = 0;
    /// Percent; absent = the system does not count cores.
    std::optional<std::int64_t> cores = {};
    /// How many pods can share the device; absent = any number.
    std::optional<std::int64_t> slots = {};
    share_amounts used = {};
    /// Absent = unknown.
    std::optional<std::int64_t> numa = {};
    /// PCIe root within the NUMA node; empty = unknown.
    std::string pcie = {};
    /// How the device is divided, such as `hami-core`, `mig` or `mps`; empty = every request's
    /// modes accept it.
    std::string mode = {};
    /// False for a device that gets no new shares.
    bool healthy = true;
    /// The device is divided into partitions (MIG), which are not modelled, so it gets no shares.
    bool is_partitioned = false;
    /// Standing pods with a share of the device that name a group.
    std::vector<device_sharer> sharers = {};

    friend bool operator==(const shared_device&, const shared_device&) = default;
};

} // namespace v0_1
} // namespace muster
