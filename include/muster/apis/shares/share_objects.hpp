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

#include <muster/apis/core/request_reader.hpp>
#include <muster/apis/shares/node_shares.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/gpu_instance.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Warns of a part of a node's register that cannot be read, which may hide devices.
inline void note_unread(node_shares& to, const std::string& message, const metadata_text& at) {
    at.warning(message);
    if (to.unread.empty())
        to.unread = at.text_of(message);
}

namespace detail {

/// True if a text, cut at the `:` that ends each entry of a register, has no entry. O(entries).
[[nodiscard]] inline bool has_no_entry(const std::vector<std::string_view>& parts) {
    return parts.size() == 1 || std::all_of(parts.begin(), parts.end(), [](std::string_view each) {
               return without_blanks(each).empty();
           });
}

} // namespace detail

/// Makes a device that a register lists twice get no pods and supply nothing: it is unknown which
/// entry is right.
inline void close_listed_twice(shared_device& device) {
    device.healthy = false;
    device.slots = 0;
}

/// Adds a device that a register lists. A device that is already listed gets no pods, with a
/// warning; the register may hide another device. O(devices).
inline void add_registered(node_shares& to, shared_device device, const metadata_text& at) {
    if (shared_device* const listed = to.find(device.id)) {
        note_unread(to,
                    "device " + in_quotes(device.id) +
                        " is listed twice, and gets no pods (expected each id once)",
                    at);
        close_listed_twice(*listed);
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
    /// The name of the instance of a partitioned device; empty = not named.
    std::string instance = {};
};

/// An instance of a partitioned device that a standing pod holds.
struct held_instance {
    std::string device;
    std::uint64_t slices = 0;
};

/// What a standing pod holds of the devices of its node.
struct pod_shares {
    /// `namespace/name` of the pod.
    std::string pod;
    /// The node that the annotations name; empty = none.
    std::string node;
    std::string group;
    std::vector<held_share> shares;
    /// The instances of the shares that do not name one; those of a device are in the order of its
    /// shares.
    std::vector<held_instance> instances = {};
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
    /// In the device's unit. For an instance: what it has.
    std::int64_t memory = 0;
    std::int64_t cores = 0;
    /// Absent if the device is not partitioned.
    std::optional<gpu_instance> instance = {};
    /// For an instance: the memory that the container requests.
    std::int64_t asked_memory = 0;
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

namespace detail {

/// Returns the slices of the next instance that a pod holds of a device, and drops it from
/// `instances`; 0 if there is none.
[[nodiscard]] inline std::uint64_t take_instance(std::vector<held_instance>& instances,
                                                 std::string_view device) {
    const auto found =
        std::find_if(instances.begin(), instances.end(),
                     [&](const held_instance& each) { return each.device == device; });
    if (found == instances.end())
        return 0;
    const std::uint64_t slices = found->slices;
    instances.erase(found);
    return slices;
}

/// Returns what a share uses. If its instance is unknown, its device becomes unhealthy.
[[nodiscard]] inline share_amounts held_amounts(const held_share& of, shared_device& device,
                                                std::vector<held_instance>& instances) {
    share_amounts made{1, units_of(of.memory, device.memory), of.cores};
    made.slices = instances.empty() ? 0 : take_instance(instances, device.id);
    if (device.is_partitioned && made.slices == 0)
        for (const gpu_instance& each : device.instances)
            if (each.name == of.instance) {
                made.memory = each.memory;
                made.slices = each.slices;
                break;
            }
    if (device.is_partitioned != (made.slices != 0))
        device.healthy = false;
    return made;
}

/// Adds instances that no share names. A device that is not partitioned becomes unhealthy if the
/// pod holds an instance of it. If the device of an instance is unknown, all partitioned devices
/// become unhealthy.
inline void add_instances(const std::vector<held_instance>& instances, node_shares& to) {
    for (const held_instance& each : instances) {
        shared_device* const device = to.find(each.device);
        if (device != nullptr && device->is_partitioned)
            device->used.slices |= each.slices;
        else if (device != nullptr)
            device->healthy = false;
        else
            for (shared_device& other : to.devices)
                other.healthy = other.healthy && !other.is_partitioned;
    }
}

} // namespace detail

/// Adds what a pod holds to the devices of its node. Returns the ids that are not devices of the
/// node. A partitioned device becomes unhealthy if it is unknown which instance the pod holds. Init
/// containers run one after the other, so each amount counts as the maximum of each init
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
        std::uint64_t slices = 0;
    };
    std::vector<held_instance> instances = pod.instances;
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
        const share_amounts used = detail::held_amounts(share, *device, instances);
        sum.slots = saturating_add(sum.slots, used.slots);
        sum.memory = saturating_add(sum.memory, used.memory);
        sum.cores = saturating_add(sum.cores, used.cores);
        held.slices |= used.slices;
        for (virtual_function& each : device->functions)
            each.in_use = each.in_use || std::find(share.functions.begin(), share.functions.end(),
                                                   each.bus_id) != share.functions.end();
    }
    detail::add_instances(instances, to);
    for (const auto& [id, held] : holdings) {
        share_amounts most = held.running;
        for (const auto& [container, each] : held.init)
            most = {std::max(most.slots, each.slots), std::max(most.memory, each.memory),
                    std::max(most.cores, each.cores)};
        shared_device& device = *to.find(id);
        device.used.slots = saturating_add(device.used.slots, most.slots);
        device.used.memory = saturating_add(device.used.memory, most.memory);
        device.used.cores = saturating_add(device.used.cores, most.cores);
        device.used.slices |= held.slices;
        if (!pod.group.empty())
            device.sharers.push_back({std::nullopt, pod.group});
    }
    return unknown;
}

/// Returns the devices of one pod's requests, for the functions that write its marks. `devices`,
/// `chosen` and `instances`: see allocate_shares(); `instances` is empty if no device is
/// partitioned. `first`: position of the pod's first request in `chosen`. O(shares).
[[nodiscard]] inline std::vector<chosen_share>
chosen_shares(const pod_share_requests& of, const std::vector<shared_device>& devices,
              const std::vector<std::vector<std::size_t>>& chosen, std::size_t first,
              const std::vector<std::vector<std::size_t>>& instances = {}) {
    std::vector<chosen_share> shares;
    for (std::size_t at = 0; at < of.requests.size(); ++at) {
        const container_share& each = of.requests[at];
        for (std::size_t number = 0; number < chosen[first + at].size(); ++number) {
            const shared_device& device = devices[chosen[first + at][number]];
            const std::size_t instance =
                instances.empty() ? device.instances.size() : instances[first + at][number];
            const share_amounts used = amounts_of(device, each.request, instance);
            chosen_share& made = shares.emplace_back();
            made.container = each.container;
            made.device = device.id;
            made.memory = used.memory;
            made.cores = used.cores;
            if (instance < device.instances.size()) {
                made.instance = device.instances[instance];
                made.asked_memory = units_of(each.request.memory, device.memory);
            }
        }
    }
    return shares;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
