// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/device_partition.hpp>
#include <muster/devices/gpu_instance.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/share_rules.hpp>
#include <muster/devices/share_search.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {

enum class share_outcome : std::uint8_t {
    /// Every request has its devices.
    allocated,
    /// No choice of devices serves all requests.
    none,
    /// The steps ended before the answer was known, or the question is too large.
    undecided,
};

/// The answer for a list of requests.
struct share_allocation {
    share_outcome outcome = share_outcome::none;
    /// For each request the indices of its devices, in the order in which they were chosen, and
    /// then those of its partners; empty unless `allocated`.
    std::vector<std::vector<std::size_t>> devices = {};
    /// For each device in `devices`, the position of its virtual function, or `no_function`.
    std::vector<std::vector<std::size_t>> functions = {};
    /// For each of `devices` the position of the share's instance, if the device is partitioned;
    /// empty if no device is.
    std::vector<std::vector<std::size_t>> instances = {};
    /// Unless `allocated`: the first request that finds no devices after the first choice for the
    /// requests before it, or the request at which the steps ended.
    std::size_t failed_request = 0;
    std::int64_t steps = 0;

    /// Returns the position of the instance of a share; a position that no device has if its device
    /// is not partitioned. `share`: its position in `devices[request]`. O(1).
    [[nodiscard]] std::size_t instance_of(std::size_t request, std::size_t share) const noexcept {
        return instances.empty() ? detail::no_instance : instances[request][share];
    }
};

namespace detail {

/// Returns true if the request needs all memory of each device.
[[nodiscard]] inline bool needs_all_memory(const share_request& request) noexcept {
    const auto* const part = std::get_if<memory_part>(&request.memory);
    return std::holds_alternative<whole_memory>(request.memory) ||
           (part && part->parts >= part->of);
}
/// Returns true if the request can be served by a device without free memory.
[[nodiscard]] inline bool needs_no_memory(const share_request& request) noexcept {
    const auto* const amount = std::get_if<memory_amount>(&request.memory);
    const auto* const part = std::get_if<memory_part>(&request.memory);
    return (amount && amount->units == 0) || (part && part->parts == 0);
}

/// Returns true only if the order of the requests cannot change whether they fit. The rules about
/// cores depend on the order only if some requests have cores and others have none. Partitions need
/// unused devices, so they depend on the order only if other requests can share these devices. On
/// partitioned devices a share can use more than it requests, so the order matters.
/// O(devices + requests).
[[nodiscard]] inline bool is_free_of_order(std::span<const shared_device> devices,
                                           std::span<const share_request> requests,
                                           const share_rules& rules) noexcept {
    if (std::any_of(devices.begin(), devices.end(),
                    [](const shared_device& each) { return each.is_partitioned; }))
        return false;
    bool with_cores = false;
    bool without_cores = false;
    bool with_partitions = false;
    bool without_memory = false;
    for (const share_request& each : requests) {
        if (each.needs_idle || each.apart_from_group || (each.partition && !needs_all_memory(each)))
            return false;
        with_partitions = with_partitions || each.partition;
        without_memory = without_memory || needs_no_memory(each);
        with_cores = with_cores || each.cores > 0;
        without_cores = without_cores || each.cores == 0;
    }
    if (with_partitions && without_memory)
        return false;
    const bool has_rule = rules.full_cores_need_idle || rules.full_cores_refuse_zero;
    return !has_rule || !with_cores || !without_cores;
}

/// Returns the most shares that one request can get: one of each device, or one for each instance
/// if they are repeated, of which no device uses more than `most_slices`. O(devices).
[[nodiscard]] inline std::int64_t most_shares_of_request(std::span<const shared_device> devices,
                                                         const share_rules& rules) noexcept {
    std::int64_t most = 0;
    for (const shared_device& each : devices) {
        const auto instances =
            std::min(static_cast<std::int64_t>(each.instances.size()), most_slices);
        most += each.is_partitioned && rules.repeats_instances
                    ? std::max<std::int64_t>(instances, 1)
                    : 1;
    }
    return most;
}

/// Returns the positions of the requests, sorted by the memory and cores that each needs of all its
/// devices together, largest first. Ties keep their order. O(devices + n log n) for n requests.
[[nodiscard]] inline std::vector<std::size_t>
largest_first(std::span<const share_request> requests, std::span<const shared_device> devices) {
    std::int64_t most_memory = 1;
    for (const shared_device& device : devices)
        most_memory = std::max(most_memory, device.memory);
    // A request for more devices than the node has fails anyway.
    const auto most = static_cast<std::int64_t>(devices.size()) + 1;
    const auto size = [&](const share_request& of) -> int128 {
        if (!is_well_formed(of))
            return 0;
        const int128 memory = int128{units_of(of.memory, most_memory)} * 1000 / most_memory;
        return (memory + int128{of.cores} * 10) * std::min(of.count, most);
    };
    std::vector<std::size_t> order(requests.size());
    for (std::size_t at = 0; at < order.size(); ++at)
        order[at] = at;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t lhs, std::size_t rhs) {
        return size(requests[lhs]) > size(requests[rhs]);
    });
    return order;
}

} // namespace detail

/// Maximum number of requests of one question, and of the shares of all its requests together.
/// These limits bound the depth of the search.
inline constexpr std::size_t most_share_requests = 1024;
inline constexpr std::int64_t most_shares = 2048;

/// Chooses devices of one node for all requests, or for none. The requests can belong to several
/// pods. They are served in this order, as if the pods came one after the other.
///
/// The first attempt gives each request the first devices of its order, as the system of the
/// requests does. If a request then finds no devices, other choices are tried; large requests are
/// served first if the order of the requests cannot change the answer. `none` is exact. Of devices
/// that are equal for all requests, one is tried; states of the devices that failed are remembered.
/// One step is the choice of one device, or one scan of all devices for a request; a scan of a
/// table of partitions costs a step for each 1024 pairs of partitions. A device never
/// gets more than it has; a device that is used beyond its capacity gets no shares. On a
/// partitioned device each share gets an instance, at first the first one that is free; no two
/// shares overlap. There the amounts of the request must be free, and the amounts of its instance
/// are charged. `partitions`: those of the node, for requests that use them. The answer is
/// `undecided` if the steps end, or if there are more than `most_share_requests` requests or more
/// than `most_shares` shares. Precondition: no amount of a device is negative.
[[nodiscard]] inline share_allocation allocate_shares(std::span<const shared_device> devices,
                                                      std::span<const share_request> requests,
                                                      const share_rules& rules,
                                                      std::int64_t max_steps,
                                                      const partition_table& partitions = {}) {
    share_allocation answer;
    std::int64_t shares = 0;
    for (const share_request& request : requests)
        shares = saturating_add(shares, request.takes_all || !request.partners.empty()
                                            ? static_cast<std::int64_t>(devices.size())
                                            : std::max<std::int64_t>(request.count, 0));
    // A request for more shares than the devices can give fails without recursion.
    const auto most_useful = saturating_multiply(detail::most_shares_of_request(devices, rules),
                                                 static_cast<std::int64_t>(requests.size()));
    if (requests.size() > most_share_requests || std::min(shares, most_useful) > most_shares) {
        answer.outcome = share_outcome::undecided;
        return answer;
    }
    const auto run = [&](std::span<const share_request> of, bool first_only) {
        detail::share_search search(devices, of, rules, partitions, max_steps - answer.steps,
                                    first_only);
        const bool found = search.run();
        answer.steps += search.steps();
        if (first_only)
            answer.failed_request = search.furthest();
        if (found) {
            answer.outcome = share_outcome::allocated;
            // Each moves one member of the search. NOLINTBEGIN(bugprone-use-after-move)
            answer.devices = std::move(search).chosen();
            answer.functions = std::move(search).functions();
            answer.instances = std::move(search).instances();
            // NOLINTEND(bugprone-use-after-move)
        } else {
            answer.outcome = search.has_ended() ? share_outcome::undecided : share_outcome::none;
        }
        return found;
    };
    if (run(requests, true) || answer.steps >= max_steps)
        return answer;
    if (!detail::is_free_of_order(devices, requests, rules)) {
        run(requests, false);
        return answer;
    }
    const std::vector<std::size_t> order = detail::largest_first(requests, devices);
    std::vector<share_request> sorted;
    for (const std::size_t at : order)
        sorted.push_back(requests[at]);
    if (run(sorted, false)) {
        for (auto* const lists : {&answer.devices, &answer.functions}) {
            auto in_order = std::move(*lists);
            lists->assign(requests.size(), {});
            for (std::size_t at = 0; at < order.size(); ++at)
                (*lists)[order[at]] = std::move(in_order[at]);
        }
    }
    return answer;
}

/// Returns the devices with the shares of an allocation added to their use and their sharers.
/// Precondition: the allocation is of these devices and requests. O(shares).
[[nodiscard]] inline std::vector<shared_device> with_shares(std::vector<shared_device> devices,
                                                            std::span<const share_request> requests,
                                                            const share_allocation& allocation) {
    for (std::size_t at = 0; at < allocation.devices.size(); ++at)
        for (std::size_t share = 0; share < allocation.devices[at].size(); ++share) {
            shared_device& device = devices[allocation.devices[at][share]];
            const share_request& part = part_for(requests[at], device);
            detail::add_share(device, device.used, part, allocation.instance_of(at, share));
            if (!part.group.empty())
                device.sharers.push_back({part.pod, part.group});
            if (const std::size_t function = allocation.functions[at][share];
                function != no_function)
                device.functions[function].in_use = true;
        }
    return devices;
}

} // namespace v0_1
} // namespace muster
