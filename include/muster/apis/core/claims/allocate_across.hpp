// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_homes.hpp>
#include <muster/apis/core/claims/device_sets.hpp>
#include <muster/apis/core/claims/node_devices.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A claim to allocate, and the nodes of its pods, which must all reach its devices.
struct claim_on_nodes {
    const device_claim* asks = nullptr;
    /// Not empty, without duplicates.
    std::vector<const node<1>*> nodes;
};

struct allocations_across {
    /// By claim; absent if it is not allocated.
    std::vector<std::optional<claim_allocation>> claims;
    /// Nodes without devices for all of their claims, and why. None of their claims has devices.
    std::map<std::string, std::string> lacking;
};

/// True if an allocation of the device can be used on all nodes that the device is published for,
/// false if it is of one node.
[[nodiscard]] inline bool is_of_all_its_nodes(const pooled_device& device) {
    return !device.of->binds_to_node &&
           (!device.nodes->selector || device.nodes->selector->size() == 1);
}

namespace detail {

[[nodiscard]] inline std::string why_lacking(const device_allocation& found) {
    switch (found.outcome) {
    case device_outcome::undecided:
        return "the search for devices took too many steps";
    case device_outcome::failed:
        return std::string(message(found.error)) + (found.text.empty() ? "" : ": ") + found.text;
    default:
        return "the devices that are free do not satisfy all claims";
    }
}

/// Returns the claim, limited to devices that all of its nodes can use together.
[[nodiscard]] inline device_claim among_reached(const claim_on_nodes& of,
                                                const std::vector<pooled_device>& devices) {
    device_claim made = *of.asks;
    made.among.emplace();
    for (const pooled_device& each : devices)
        if ((of.nodes.size() == 1 || is_of_all_its_nodes(each)) &&
            std::ranges::all_of(of.nodes,
                                [&](const node<1>* on) { return reaches(*on, *each.nodes); }))
            made.among->insert(each.id);
    return made;
}

[[nodiscard]] inline bool asks_all(const device_claim& of) {
    return std::ranges::any_of(of.requests, [](const device_request& request) {
        return std::ranges::any_of(request.alternatives, [](const device_alternative& one) {
            return one.mode == device_count_mode::all;
        });
    });
}
/// True if it is known which devices are all that the nodes of the claim reach.
[[nodiscard]] inline bool has_known_pools(const node_devices& free, const claim_on_nodes& of) {
    return !asks_all(*of.asks) || std::ranges::none_of(of.nodes, [&](const node<1>* on) {
        return free.has_unusable_pool(*on);
    });
}
/// True if all nodes of the claim reach the same devices for its requests for all devices, and can
/// use them together.
[[nodiscard]] inline bool takes_all_across(const node_devices& free,
                                           const std::vector<pooled_device>& devices,
                                           const claim_on_nodes& of) {
    for (const device_request& request : of.asks->requests)
        for (const device_alternative& one : request.alternatives) {
            const auto of_class = free.classes().find(one.class_name);
            if (one.mode != device_count_mode::all || of_class == free.classes().end())
                continue;
            for (const std::size_t at : select_devices(devices, of_class->second, &one).devices) {
                const auto is_reached = [&](const node<1>* on) {
                    return reaches(*on, *devices[at].nodes);
                };
                if (std::ranges::any_of(of.nodes, is_reached) &&
                    !(std::ranges::all_of(of.nodes, is_reached) &&
                      is_of_all_its_nodes(devices[at])))
                    return false;
            }
        }
    return true;
}

/// Takes the devices from claims with a node that lacks devices.
[[nodiscard]] inline allocations_across without_lacking(allocations_across made,
                                                        const std::vector<claim_on_nodes>& wanted) {
    for (std::size_t at = 0; at < wanted.size(); ++at)
        if (std::ranges::any_of(wanted[at].nodes,
                                [&](const node<1>* on) { return made.lacking.contains(on->name); }))
            made.claims[at].reset();
    return made;
}

} // namespace detail

/// Allocates devices to claims: first to those of several nodes, together or, if that fails, one by
/// one, and then on each node to all of its claims together, beside the devices that `free` has in
/// use. A device that several nodes can use is given to one claim; nodes that would then lack
/// devices come first. All nodes of a claim of several nodes that gets no devices lack them. If
/// some node lacks devices and some claim is of several nodes, all claims are tried in one
/// allocation. `devices`:
/// those of `free`. Deterministic. O(nodes²) allocations if nodes share devices, else O(nodes).
[[nodiscard]] inline allocations_across allocate_across(const node_devices& free,
                                                        const std::vector<pooled_device>& devices,
                                                        const std::vector<claim_on_nodes>& wanted) {
    std::map<std::string, std::vector<std::size_t>> by_node;
    std::vector<std::size_t> wide;
    for (std::size_t at = 0; at < wanted.size(); ++at)
        if (wanted[at].nodes.size() > 1)
            wide.push_back(at);
        else
            by_node[wanted[at].nodes.front()->name].push_back(at);
    const auto give = [&](allocations_across& to, const std::vector<std::size_t>& claims,
                          const device_allocation& found) {
        for (std::size_t at = 0; at < claims.size(); ++at)
            to.claims[claims[at]] = found.claims[at];
    };
    node_devices start = free;
    allocations_across first;
    first.claims.resize(wanted.size());
    const auto fail = [&](std::size_t claim, const std::string& why) {
        for (const node<1>* const on : wanted[claim].nodes)
            first.lacking.emplace(on->name, why);
    };
    std::vector<std::size_t> usable;
    std::vector<device_claim> among;
    for (const std::size_t at : wide)
        if (!detail::has_known_pools(free, wanted[at])) {
            fail(at, std::string(message(device_errc::unusable_pool)));
        } else if (!detail::takes_all_across(free, devices, wanted[at])) {
            fail(at, "a claim needs all devices, and the nodes of its pods do not reach the same");
        } else {
            usable.push_back(at);
            among.push_back(detail::among_reached(wanted[at], devices));
        }
    if (const device_allocation found = start.allocate(among);
        usable.empty() || found.outcome == device_outcome::allocated) {
        for (std::size_t at = 0; at < usable.size(); ++at) {
            first.claims[usable[at]] = found.claims[at];
            start.take(found.claims[at]);
        }
    } else {
        for (std::size_t at = 0; at < usable.size(); ++at) {
            const device_allocation one = start.allocate({among[at]});
            if (one.outcome != device_outcome::allocated) {
                fail(usable[at], detail::why_lacking(one));
                continue;
            }
            give(first, {usable[at]}, one);
            start.take(one.claims.front());
        }
    }
    std::vector<std::string> order;
    for (const auto& [name, claims] : by_node)
        order.push_back(name);
    allocations_across made;
    for (std::size_t tries = 0;; ++tries) {
        made = first;
        node_devices left = start;
        for (const std::string& name : order) {
            const std::vector<std::size_t>& claims = by_node[name];
            std::vector<device_claim> asks;
            for (const std::size_t at : claims)
                asks.push_back(*wanted[at].asks);
            const device_allocation found =
                left.allocate(*wanted[claims.front()].nodes.front(), asks);
            if (made.lacking.contains(name))
                continue;
            if (found.outcome != device_outcome::allocated) {
                made.lacking.emplace(name, detail::why_lacking(found));
                continue;
            }
            for (const claim_allocation& each : found.claims)
                left.take(each);
            give(made, claims, found);
        }
        if (made.lacking.empty() || tries >= order.size())
            break;
        const auto before = order;
        std::stable_partition(order.begin(), order.end(),
                              [&](const std::string& name) { return made.lacking.contains(name); });
        if (order == before)
            break;
    }
    const auto is_known = [&](const claim_on_nodes& each) {
        return detail::has_known_pools(free, each);
    };
    if (made.lacking.empty() || usable.size() < wide.size() || wide.empty() ||
        !std::ranges::all_of(wanted, is_known))
        return detail::without_lacking(std::move(made), wanted);
    std::vector<device_claim> asks;
    for (const claim_on_nodes& each : wanted)
        asks.push_back(detail::among_reached(each, devices));
    const device_allocation found = free.allocate(asks);
    if (found.outcome != device_outcome::allocated)
        return detail::without_lacking(std::move(made), wanted);
    made.lacking.clear();
    for (std::size_t at = 0; at < wanted.size(); ++at)
        made.claims[at] = found.claims[at];
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
