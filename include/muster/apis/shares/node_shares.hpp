// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/devices/device_partition.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/document/object_metadata.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The devices of a node that one system shares.
struct node_shares {
    std::string node;
    std::vector<shared_device> devices;
    /// Why no device of the node can be given to a pod; empty = they can.
    std::string blocked;
    /// What of the node's register cannot be read, or lists a device twice, so that the node may
    /// have other devices; empty = nothing.
    std::string unread = {};
    /// Of a Device object: the warnings about it, which are not reported live.
    std::vector<std::string> remarks = {};

    /// Returns the device, or nullptr. O(devices).
    [[nodiscard]] shared_device* find(std::string_view id) {
        const auto found = std::find_if(devices.begin(), devices.end(),
                                        [&](const shared_device& each) { return each.id == id; });
        return found == devices.end() ? nullptr : &*found;
    }
};

/// scheduling.koordinator.sh/v1alpha1 Device: the GPUs, RDMA and FPGA devices of the node with the
/// object's name.
struct koordinator_device_object {
    object_metadata metadata;
    /// Sorted by type, GPUs first, and by minor number. The id of a GPU is its minor number, and
    /// that of another device `type/minor`. The memory of a GPU is in bytes, and that of another
    /// device in the unit of its resource.
    node_shares shares;
    /// The devices' UUIDs by id.
    std::map<std::string, std::string> uuids;
    /// The object's own partitions of GPUs; absent = it has none.
    std::optional<partition_table> partitions;
    /// The object has partitions that cannot be read.
    bool has_unread_partitions = false;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
