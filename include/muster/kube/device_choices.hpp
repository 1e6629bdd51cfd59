// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <muster/codec/device_catalog.hpp>
#include <muster/codec/device_objects.hpp>
#include <muster/codec/node_devices.hpp>
#include <muster/codec/objects.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// A claim that must be allocated on the node of its pod.
struct unallocated_on {
    const codec::resource_claim_object* claim = nullptr;
    const codec::node_object* node = nullptr;
};

/// The devices that were chosen for a claim.
struct device_choice {
    std::string node;
    claim_allocation devices;
};

struct device_choices {
    std::map<codec::object_key, device_choice> of;
    /// Nodes without devices for all of their claims, and why. None of their claims is in `of`.
    std::map<std::string, std::string> lacking;
};

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

} // namespace detail

/// Chooses devices for claims: on each node for all of its claims together, beside the devices that
/// are allocated and those of `kept`. A device that several nodes can use is given to one of them;
/// nodes that would then lack devices come first. Deterministic. O(nodes²) allocations if nodes
/// share devices, else O(nodes).
[[nodiscard]] inline device_choices
choose_devices(const codec::device_catalog& catalog,
               const std::map<codec::object_key, device_choice>& kept,
               const std::vector<unallocated_on>& wanted) {
    std::map<std::string, std::vector<const codec::resource_claim_object*>> by_node;
    std::map<std::string, node<1>> views;
    for (const unallocated_on& each : wanted) {
        const std::string& name = each.node->metadata.key.name;
        by_node[name].push_back(each.claim);
        views[name].name = name;
        views[name].labels = each.node->metadata.labels;
    }
    const std::vector<codec::pooled_device> devices = codec::devices_of(catalog.slices);
    codec::node_devices start(catalog, devices, {});
    for (const auto& [key, each] : kept)
        start.take(each.devices);
    std::vector<std::string> order;
    for (const auto& [name, claims] : by_node)
        order.push_back(name);
    for (std::size_t tries = 0;; ++tries) {
        device_choices made;
        codec::node_devices left = start;
        for (const std::string& name : order) {
            std::vector<device_claim> asks;
            for (const auto* const claim : by_node[name])
                asks.push_back(claim->spec.asks);
            const device_allocation found = left.allocate(views[name], asks);
            if (found.outcome != device_outcome::allocated) {
                made.lacking.emplace(name, detail::why_lacking(found));
                continue;
            }
            for (std::size_t at = 0; at < asks.size(); ++at) {
                left.take(found.claims[at]);
                made.of.emplace(by_node[name][at]->metadata.key,
                                device_choice{name, found.claims[at]});
            }
        }
        if (made.lacking.empty() || tries >= order.size())
            return made;
        const auto before = order;
        std::stable_partition(order.begin(), order.end(),
                              [&](const std::string& name) { return made.lacking.contains(name); });
        if (order == before)
            return made;
    }
}

} // namespace kube
} // namespace v0_1
} // namespace muster
