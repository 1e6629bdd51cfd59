// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/codec/metadata_text.hpp>
#include <muster/codec/node_shares.hpp>
#include <muster/codec/request_reader.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Adds a device that a register lists. If the id is already listed, the device becomes unhealthy,
/// with a warning: it is unknown which entry is right. O(devices).
inline void add_registered(node_shares& to, shared_device device, const metadata_text& at) {
    if (shared_device* const listed = to.find(device.id)) {
        at.warning("device " + in_quotes(device.id) +
                   " is listed twice, and gets no pods (expected each id once)");
        listed->healthy = false;
        return;
    }
    to.devices.push_back(std::move(device));
}

/// What a container of a standing pod holds of one device.
struct held_share {
    std::string device;
    /// An amount, or a part of the device's memory.
    share_memory memory = memory_amount{0};
    std::int64_t cores = 0;
    /// Position of the container; init containers come first.
    std::size_t container = 0;
    /// Bus ids of its virtual functions.
    std::vector<std::string> functions = {};
};

/// What a standing pod holds of the devices of its node.
struct pod_shares {
    /// `namespace/name` of the pod.
    std::string pod;
    /// The node that the annotations name; empty = none.
    std::string node;
    std::string group;
    std::vector<held_share> shares;
    /// Why the devices of the pod are unknown; empty = they are known.
    std::string unread;
};

/// The requests of a container, and its position: init containers come first.
struct container_share {
    std::size_t container = 0;
    share_request request;
};

/// What a pod requests of shared devices.
struct pod_share_requests {
    std::vector<container_share> requests;
    /// Number of containers of the pod, including init containers.
    std::size_t containers = 0;
    /// Requests that are not modelled or malformed. If there are any, the pod waits.
    std::vector<std::string> unsupported;

    [[nodiscard]] bool empty() const noexcept { return requests.empty() && unsupported.empty(); }
};

/// What is written into a pod to hand its devices over to the node's agent.
struct share_marks {
    /// By key.
    std::map<std::string, std::string> annotations;
    std::map<std::string, std::string> labels;
};

/// A device that was chosen for a container.
struct chosen_share {
    std::size_t container = 0;
    std::string device;
    /// In the device's unit.
    std::int64_t memory = 0;
    std::int64_t cores = 0;
};

namespace detail {

/// Returns the limit of a resource, or its request if it has no limit; nullopt if it has neither.
[[nodiscard]] inline std::optional<named_amount> find_amount(const container_resources& of,
                                                             std::string_view resource) {
    const std::string name(resource);
    for (const named_amounts* list : {&of.amounts.limits, &of.amounts.requests})
        if (const auto found = list->find(name); found != list->end())
            return found->second;
    return std::nullopt;
}

/// Returns the amount if it is a whole number of at most `most`, else nullopt.
[[nodiscard]] inline std::optional<std::int64_t> whole_amount(const named_amount& amount,
                                                              std::int64_t most) {
    if (amount.milli < 0 || amount.milli % 1000 != 0 || amount.milli / 1000 > most)
        return std::nullopt;
    return static_cast<std::int64_t>(amount.milli / 1000);
}

/// Reads a resource of a container. Returns nullopt if the container does not name it. An amount
/// that is no whole number from 0 to `most` is added to `unsupported`, and nullopt is returned.
[[nodiscard]] inline std::optional<std::int64_t>
read_share_amount(const container_resources& of, std::string_view resource, std::int64_t most,
                  std::vector<std::string>& unsupported) {
    const auto amount = find_amount(of, resource);
    if (!amount)
        return std::nullopt;
    const auto whole = whole_amount(*amount, most);
    if (!whole)
        unsupported.push_back(std::string(resource) + " of container " + in_quotes(of.name) +
                              " (expected a whole number from 0 to " + std::to_string(most) + ")");
    return whole;
}

} // namespace detail

/// Adds what a pod holds to the devices of its node. Returns the ids that are not devices of the
/// node. Init containers run one after the other, so each amount counts as the maximum of each init
/// container's amount and the sum of the containers' amounts. `init_containers`: number of the
/// pod's init containers. O(shares × devices).
inline std::vector<std::string> add_pod_shares(node_shares& to, const pod_shares& pod,
                                               std::size_t init_containers = 0) {
    std::vector<std::string> unknown;
    if (!pod.unread.empty() && to.blocked.empty())
        to.blocked = pod.unread;
    struct holding {
        std::map<std::size_t, share_amounts> init;
        share_amounts running;
    };
    std::map<std::string, holding> holdings;
    for (const held_share& share : pod.shares) {
        shared_device* const device = to.find(share.device);
        if (device == nullptr) {
            if (std::find(unknown.begin(), unknown.end(), share.device) == unknown.end())
                unknown.push_back(share.device);
            continue;
        }
        holding& held = holdings[share.device];
        share_amounts& sum =
            share.container < init_containers ? held.init[share.container] : held.running;
        sum.slots = saturating_add(sum.slots, 1);
        sum.memory = saturating_add(sum.memory, units_of(share.memory, device->memory));
        sum.cores = saturating_add(sum.cores, share.cores);
        for (virtual_function& each : device->functions)
            each.in_use = each.in_use || std::find(share.functions.begin(), share.functions.end(),
                                                   each.bus_id) != share.functions.end();
    }
    for (const auto& [id, held] : holdings) {
        share_amounts most = held.running;
        for (const auto& [container, each] : held.init)
            most = {std::max(most.slots, each.slots), std::max(most.memory, each.memory),
                    std::max(most.cores, each.cores)};
        shared_device& device = *to.find(id);
        device.used.slots = saturating_add(device.used.slots, most.slots);
        device.used.memory = saturating_add(device.used.memory, most.memory);
        device.used.cores = saturating_add(device.used.cores, most.cores);
        if (!pod.group.empty())
            device.sharers.push_back({std::nullopt, pod.group});
    }
    return unknown;
}

/// Returns the devices of one pod's requests, for the functions that write its marks. `devices` and
/// `chosen`: see allocate_shares(). `first`: position of the pod's first request in `chosen`.
/// O(shares).
[[nodiscard]] inline std::vector<chosen_share>
chosen_shares(const pod_share_requests& of, const std::vector<shared_device>& devices,
              const std::vector<std::vector<std::size_t>>& chosen, std::size_t first) {
    std::vector<chosen_share> shares;
    for (std::size_t at = 0; at < of.requests.size(); ++at) {
        const container_share& each = of.requests[at];
        for (const std::size_t index : chosen[first + at])
            shares.push_back({each.container, devices[index].id,
                              units_of(each.request.memory, devices[index].memory),
                              each.request.cores});
    }
    return shares;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
