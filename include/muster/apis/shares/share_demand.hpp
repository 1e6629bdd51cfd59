// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/device_partition.hpp>
#include <muster/devices/gpu_instance.hpp>
#include <muster/devices/share_allocator.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/share_rules.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/vocabulary/gpu_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A system that lets pods share GPUs. A node has at most one.
enum class share_system : std::uint8_t { hami, volcano, koordinator, kai, openb };

[[nodiscard]] constexpr const share_rules& rules_of(share_system system) noexcept {
    switch (system) {
    case share_system::hami:
        return hami_rules;
    case share_system::volcano:
        return volcano_vgpu_rules;
    case share_system::koordinator:
        return koordinator_rules;
    case share_system::kai:
        return kai_rules;
    case share_system::openb:
        break;
    }
    return openb_rules;
}

/// What a standing pod holds of a device.
struct held_device_share {
    /// Position of the device on its node.
    std::size_t at = 0;
    share_amounts amounts;
    /// The group of the pod; empty = none.
    std::string group;
    /// Positions of the virtual functions of the device that the pod has.
    std::vector<std::size_t> functions = {};
};

/// What a pod demands of shared GPUs.
struct share_demand {
    /// What the pod requests on nodes of each system. On a node of another system, or of none, it
    /// requests no shares.
    std::map<share_system, std::vector<share_request>> asks;
    /// The only system whose nodes can take the pod; absent = any node.
    std::optional<share_system> only;
    /// Systems whose nodes cannot take the pod: it requests shares there in a way that is not
    /// modelled.
    std::set<share_system> refused;
    /// What the pod holds on its node.
    std::vector<held_device_share> held;
    /// `held` as scores read it, if the node is known; see held_gpu_part().
    gpu_part held_gpus = {};

    [[nodiscard]] bool empty() const noexcept {
        return asks.empty() && held.empty() && !only && refused.empty();
    }
};

/// The shared GPUs of a node. `used` leaves out what pods with demands hold.
struct share_stock {
    /// Absent = the node has none.
    std::optional<share_system> system;
    std::vector<shared_device> devices;
    partition_table partitions = {};
};

/// Returns the requests of a pod on the node, numbered `pod`. O(requests).
[[nodiscard]] inline std::vector<share_request>
requests_on(const share_stock& on, const share_demand& of, std::size_t pod) {
    std::vector<share_request> made;
    if (!on.system)
        return made;
    if (const auto asked = of.asks.find(*on.system); asked != of.asks.end())
        made = asked->second;
    for (share_request& each : made) {
        each.pod = pod;
        for (share_request& partner : each.partners)
            partner.pod = pod;
    }
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
            device.used.slices |= each.amounts.slices;
            if (!each.group.empty())
                device.sharers.push_back({std::nullopt, each.group});
            for (const std::size_t function : each.functions)
                if (function < device.functions.size())
                    device.functions[function].in_use = true;
        }
    return devices;
}

namespace detail {

/// Which requests are served first. Some refuse a device by what others use of it: one that needs
/// idle devices or a partition takes them before others share them, and one for 0 cores takes it
/// before its cores are used up. In this order the most requests fit, except on partitioned
/// devices.
[[nodiscard]] constexpr int turn_of(const share_request& request) noexcept {
    return request.needs_idle || request.partition ? 0 : request.cores == 0 ? 1 : 2;
}

/// Where orders can change whether requests fit. On partitioned devices a share uses what its
/// instance has, not what it requests.
enum class serving_order : std::uint8_t {
    /// As listed, by turn_of().
    by_turn,
    /// By turn_of(), then by memory, largest first: large instances have few places.
    by_memory,
    /// By the cores that a share must find free beyond those of its instance, largest first: the
    /// other shares leave the fewest cores to the last one. Then by memory.
    by_spare_cores,
};

/// Returns the orders to try on a node, the most promising first. O(devices + instances).
[[nodiscard]] inline std::vector<serving_order> orders_for(std::span<const shared_device> devices) {
    bool has_instances = false;
    bool has_cores = false;
    for (const shared_device& each : devices) {
        has_instances = has_instances || each.is_partitioned;
        for (const gpu_instance& instance : each.instances)
            has_cores = has_cores || (each.is_partitioned && instance.cores);
    }
    if (has_cores)
        return {serving_order::by_spare_cores, serving_order::by_memory};
    return {has_instances ? serving_order::by_memory : serving_order::by_turn};
}

/// Returns the cores of the request that the smallest instance for it does not use; all of them if
/// the instances have none. O(devices + instances).
[[nodiscard]] inline std::int64_t spare_cores(const share_request& of,
                                              std::span<const shared_device> devices) {
    const gpu_instance* smallest = nullptr;
    for (const shared_device& each : devices) {
        if (!each.is_partitioned || !of.filter.accepts(each))
            continue;
        const std::int64_t memory = units_of(of.memory, each.memory);
        for (const gpu_instance& instance : each.instances)
            if (instance.memory >= memory && (!smallest || instance.memory < smallest->memory))
                smallest = &instance;
    }
    return of.cores - (smallest ? smallest->cores.value_or(0) : 0);
}

/// Returns the positions of the requests in this order. O(n log n + n × instances).
[[nodiscard]] inline std::vector<std::size_t> positions_in(serving_order order,
                                                           std::span<const share_request> requests,
                                                           std::span<const shared_device> devices) {
    std::int64_t most_memory = 0;
    for (const shared_device& each : devices)
        most_memory = std::max(most_memory, each.memory);
    // Smaller keys come first.
    std::vector<std::array<std::int64_t, 5>> keys;
    keys.reserve(requests.size());
    for (const share_request& each : requests) {
        auto& key = keys.emplace_back(std::array<std::int64_t, 5>{turn_of(each)});
        if (order == serving_order::by_turn)
            continue;
        if (order == serving_order::by_spare_cores) {
            key[0] = std::min<std::int64_t>(key[0], 1);
            key[1] = -spare_cores(each, devices);
        }
        key[2] = -units_of(each.memory, most_memory);
        key[3] = -each.cores;
        key[4] = -each.count;
    }
    std::vector<std::size_t> positions(requests.size());
    std::iota(positions.begin(), positions.end(), std::size_t{0});
    std::stable_sort(positions.begin(), positions.end(),
                     [&](std::size_t lhs, std::size_t rhs) { return keys[lhs] < keys[rhs]; });
    return positions;
}

/// allocate_shares() with the requests in this order; the answer is in their own.
[[nodiscard]] inline share_allocation allocate_in(const std::vector<std::size_t>& order,
                                                  std::span<const share_request> requests,
                                                  std::span<const shared_device> devices,
                                                  const share_stock& on, std::int64_t max_steps) {
    std::vector<share_request> sorted;
    sorted.reserve(requests.size());
    for (const std::size_t at : order)
        sorted.push_back(requests[at]);
    share_allocation made =
        allocate_shares(devices, sorted, rules_of(*on.system), max_steps, on.partitions);
    if (made.outcome != share_outcome::allocated) {
        made.failed_request = order[made.failed_request];
        return made;
    }
    for (auto* const lists : {&made.devices, &made.functions, &made.instances}) {
        if (lists->empty())
            continue;
        auto in_order = std::move(*lists);
        lists->assign(requests.size(), {});
        for (std::size_t at = 0; at < order.size(); ++at)
            (*lists)[order[at]] = std::move(in_order[at]);
    }
    return made;
}

} // namespace detail

/// Allocates the shares of all these pods on one node, in addition to what they hold. The answer
/// does not depend on the order of the pods, except on partitioned devices if requests differ in
/// their filters only. There two orders of the requests are tried, if instances have their own
/// cores: `none` means that neither of them has an answer, and another order can have one. The
/// requests of the answer are those of the pods, in their order. O(devices × requests) and one or
/// two allocate_shares(), of `max_steps` together. Precondition: each pod suits the node (see
/// suits()).
[[nodiscard]] inline share_allocation allocate_on(const share_stock& on,
                                                  std::span<const share_demand* const> pods,
                                                  std::int64_t max_steps) {
    std::vector<share_request> requests;
    for (std::size_t at = 0; at < pods.size(); ++at)
        for (share_request& each : requests_on(on, *pods[at], at))
            requests.push_back(std::move(each));
    if (requests.empty())
        return {.outcome = share_outcome::allocated};
    const std::vector<shared_device> devices = with_held(on, pods);
    std::vector<std::vector<std::size_t>> orders;
    for (const detail::serving_order each : detail::orders_for(devices))
        if (auto order = detail::positions_in(each, requests, devices);
            orders.empty() || order != orders.back())
            orders.push_back(std::move(order));
    share_allocation made;
    bool is_decided = true;
    for (std::size_t at = 0; at < orders.size(); ++at) {
        const std::int64_t used = made.steps;
        const std::int64_t left = max_steps - used;
        made = detail::allocate_in(orders[at], requests, devices, on,
                                   at + 1 < orders.size() ? left / 2 : left);
        made.steps += used;
        if (made.outcome == share_outcome::allocated)
            return made;
        is_decided = is_decided && made.outcome == share_outcome::none;
    }
    made.outcome = is_decided ? share_outcome::none : share_outcome::undecided;
    return made;
}

/// Adds to a demand what a pod holds by an allocation. `at`: position of its request in the
/// allocation. O(shares).
inline void hold(share_demand& to, const share_stock& on, const share_request& request,
                 const share_allocation& made, std::size_t at) {
    for (std::size_t number = 0; number < made.devices[at].size(); ++number) {
        const std::size_t index = made.devices[at][number];
        const shared_device& device = on.devices[index];
        const share_request& part = part_for(request, device);
        held_device_share& held = to.held.emplace_back();
        held.at = index;
        held.amounts = amounts_of(device, part, made.instance_of(at, number));
        held.group = part.group;
        if (const std::size_t function = made.functions[at][number]; function != no_function)
            held.functions.push_back(function);
    }
}

/// True if the pod accepts the node's system. Free devices are not checked. O(1).
[[nodiscard]] inline bool suits(const share_stock& on, const share_demand& of) noexcept {
    return (!of.only || of.only == on.system) &&
           (!on.system || of.refused.find(*on.system) == of.refused.end());
}

} // namespace codec
} // namespace v0_1
} // namespace muster
