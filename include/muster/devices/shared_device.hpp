// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/devices/device_labels.hpp>
#include <muster/devices/gpu_instance.hpp>

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
    /// Slices of a partitioned device, one per bit.
    std::uint64_t slices = 0;

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

/// A part of a device that only one pod can have at a time (SR-IOV).
struct virtual_function {
    /// Unique within the device.
    std::string bus_id;
    std::int64_t minor = 0;
    /// The labels of its group.
    device_labels labels = {};
    bool in_use = false;

    friend bool operator==(const virtual_function&, const virtual_function&) = default;
};

/// A device that several pods can share: a GPU of HAMi, Volcano, Koordinator, KAI or openb, or an
/// RDMA or FPGA device of Koordinator.
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
    /// The device is divided into instances (MIG): each share uses one of `instances`.
    bool is_partitioned = false;
    /// In the order in which they are tried. Empty unless `is_partitioned`.
    std::vector<gpu_instance> instances = {};
    /// By index of a device of the node: the score of the link to it, larger is better. Devices
    /// beyond the end have 0.
    std::vector<std::int64_t> links = {};
    /// Standing pods with a share of the device that name a group.
    std::vector<device_sharer> sharers = {};
    /// The word of the node's system for devices other than GPUs, such as `rdma`; empty = a GPU.
    /// The `memory` of such a device is its only amount, whatever it counts.
    std::string type = {};
    device_labels labels = {};
    /// Sorted by bus id.
    std::vector<virtual_function> functions = {};

    friend bool operator==(const shared_device&, const shared_device&) = default;
};

} // namespace v0_1
} // namespace muster
