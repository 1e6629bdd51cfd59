// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/share_allocator.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/share_rules.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A system that lets pods share GPUs. A node has at most one.
enum class share_system : std::uint8_t { hami, volcano, koordinator, kai };

[[nodiscard]] constexpr const share_rules& rules_of(share_system system) noexcept {
    switch (system) {
    case share_system::hami:
        return hami_rules;
    case share_system::volcano:
        return volcano_vgpu_rules;
    case share_system::koordinator:
        return koordinator_rules;
    case share_system::kai:
        break;
    }
    return kai_rules;
}

/// What a standing pod holds of a device.
struct held_device_share {
    /// Position of the device on its node.
    std::size_t at = 0;
    share_amounts amounts;
    /// The group of the pod; empty = none.
    std::string group;
};

/// What a pod demands of shared GPUs.
struct share_demand {
    /// What the pod requests on nodes of each system. On a node of another system, or of none, it
    /// requests no shares.
    std::map<share_system, std::vector<share_request>> asks;
    /// The only system whose nodes can take the pod; absent = any node.
    std::optional<share_system> only;
    /// What the pod holds on its node.
    std::vector<held_device_share> held;

    [[nodiscard]] bool empty() const noexcept { return asks.empty() && held.empty() && !only; }
};

/// The shared GPUs of a node. `used` leaves out what pods with demands hold.
struct share_stock {
    /// Absent = the node has none.
    std::optional<share_system> system;
    std::vector<shared_device> devices;
};

/// Returns the requests of a pod on the node, numbered `pod`. O(requests).
[[nodiscard]] inline std::vector<share_request>
requests_on(const share_stock& on, const share_demand& of, std::size_t pod) {
    std::vector<share_request> made;
    if (!on.system)
        return made;
    if (const auto asked = of.asks.find(*on.system); asked != of.asks.end())
        made = asked->second;
    for (share_request& each : made)
        each.pod = pod;
    return made;
}

/// Returns the devices, with what the pods hold of them added to their use. O(devices + held).
[[nodiscard]] inline std::vector<shared_device>
with_held(const share_stock& on, std::span<const share_demand* const> pods) {
    std::vector<shared_device> devices = on.devices;
    for (const share_demand* const pod : pods)
        for (const held_device_share& each : pod->held) {
            if (each.at >= devices.size())
                continue;
            shared_device& device = devices[each.at];
            device.used.slots = saturating_add(device.used.slots, each.amounts.slots);
            device.used.memory = saturating_add(device.used.memory, each.amounts.memory);
            device.used.cores = saturating_add(device.used.cores, each.amounts.cores);
            if (!each.group.empty())
                device.sharers.push_back({std::nullopt, each.group});
        }
    return devices;
}

/// Allocates the shares of all these pods on one node, in addition to what they hold. The requests
/// of the answer are those of the pods, in their order. O(devices + requests) and one
/// allocate_shares(). Precondition: each pod suits the node (see suits()).
[[nodiscard]] inline share_allocation allocate_on(const share_stock& on,
                                                  std::span<const share_demand* const> pods,
                                                  std::int64_t max_steps) {
    std::vector<share_request> requests;
    for (std::size_t at = 0; at < pods.size(); ++at)
        for (share_request& each : requests_on(on, *pods[at], at))
            requests.push_back(std::move(each));
    if (requests.empty())
        return {share_outcome::allocated, {}, 0, 0};
    return allocate_shares(with_held(on, pods), requests, rules_of(*on.system), max_steps);
}

/// True if the pod accepts the node's system. Free devices are not checked. O(1).
[[nodiscard]] inline bool suits(const share_stock& on, const share_demand& of) noexcept {
    return !of.only || of.only == on.system;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
