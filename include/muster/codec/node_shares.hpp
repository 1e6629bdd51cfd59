// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <muster/codec/object_metadata.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The devices of a node that one system shares.
struct node_shares {
    std::string node;
    std::vector<shared_device> devices;
    /// Why no device of the node can be given to a pod; empty = they can.
    std::string blocked;

    /// Returns the device, or nullptr. O(devices).
    [[nodiscard]] shared_device* find(std::string_view id) {
        const auto found = std::find_if(devices.begin(), devices.end(),
                                        [&](const shared_device& each) { return each.id == id; });
        return found == devices.end() ? nullptr : &*found;
    }
};

/// scheduling.koordinator.sh/v1alpha1 Device: the GPUs of the node with the object's name.
struct koordinator_device_object {
    object_metadata metadata;
    /// The id of a device is its minor number; memory is in bytes.
    node_shares shares;
    /// The devices' UUIDs by minor number.
    std::map<std::string, std::string> uuids;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
