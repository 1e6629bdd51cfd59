// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <muster/devices/device_attributes.hpp>
#include <muster/devices/device_capacity.hpp>
#include <muster/devices/device_taint.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {

/// The name of a device, unique in a cluster.
struct device_id {
    std::string driver;
    std::string pool;
    std::string device;

    friend auto operator<=>(const device_id&, const device_id&) = default;
    friend bool operator==(const device_id&, const device_id&) = default;
};

/// Amounts that the devices of a pool share, such as the memory slices of a GPU.
struct counter_set {
    std::string name;
    std::map<std::string, quantity> counters;
};

/// What a device consumes of a counter set while it is allocated.
struct counter_consumption {
    std::string counter_set;
    std::map<std::string, quantity> counters;
    /// Devices that consume from one counter set at a time must have a group in common, or all have
    /// none.
    std::vector<std::string> compatibility_groups;
};

/// A device, as its driver publishes it.
struct device {
    std::string name;
    /// What selectors and constraints read; its capacities are those below, by qualified name.
    device_attributes attributes;
    /// Why selectors cannot read the device, for example an attribute without a value; empty if
    /// they can. Every selector fails on an unreadable device.
    std::string unreadable;
    std::vector<device_capacity> capacities;
    std::vector<counter_consumption> consumes;
    std::vector<device_taint> taints;
    /// Conditions that must hold before a pod with the device is bound.
    std::vector<std::string> binding_conditions;
    /// If one of them holds, a pod with the device is not bound.
    std::vector<std::string> binding_failure_conditions;
    /// An allocation of the device is of the node that it was allocated for, even if others can use
    /// the device.
    bool binds_to_node = false;
};

/// A ResourceSlice: a part of a pool of devices.
struct device_slice {
    std::string name;
    std::string driver;
    std::string pool;
    /// Only the slices of the newest generation of a pool count.
    std::int64_t generation = 0;
    /// How many slices the generation has.
    std::int64_t slice_count = 0;
    std::vector<device> devices;
    /// A slice with counter sets has no devices.
    std::vector<counter_set> counter_sets;
};

} // namespace v0_1
} // namespace muster
