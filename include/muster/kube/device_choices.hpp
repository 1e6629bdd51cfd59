// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/allocate_across.hpp>
#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/node_devices.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// A claim that must be allocated on the node of its pod.
struct unallocated_on {
    const codec::resource_claim_object* claim = nullptr;
    const codec::node_object* node = nullptr;
    /// The nodes of other pods of the gang that share the claim, without `node`. All must reach its
    /// devices.
    std::vector<const codec::node_object*> others{};
    /// Further nodes, of pods of other gangs that share the claim. They can be left out.
    std::vector<const codec::node_object*> foreign{};
};

/// The devices that were chosen for a claim.
struct device_choice {
    std::string node;
    claim_allocation devices;
    /// The nodes of other pods that share the claim.
    std::set<std::string> others{};

    [[nodiscard]] bool is_for(const std::string& name) const {
        return name == node || others.contains(name);
    }
};

struct device_choices {
    std::map<codec::object_key, device_choice> of;
    /// Nodes without devices for all of their claims, and why. None of their claims is in `of`.
    std::map<std::string, std::string> lacking;
};

/// Chooses devices for claims, beside the devices that are allocated and those of `kept`. If some
/// node lacks devices and `may_leave_out` is set, nodes of other gangs are left out, whose pods
/// cannot start then: first those of claims that get no devices, then those of all claims. See
/// codec::allocate_across().
[[nodiscard]] inline device_choices
choose_devices(const codec::device_catalog& catalog,
               const std::map<codec::object_key, device_choice>& kept,
               const std::vector<unallocated_on>& wanted, bool may_leave_out = true) {
    std::map<std::string, node<1>> views;
    const auto view_of = [&](const codec::node_object& of) {
        node<1>& view = views[of.metadata.key.name];
        view.name = of.metadata.key.name;
        view.labels = of.metadata.labels;
        return &view;
    };
    const std::vector<codec::pooled_device> devices = codec::devices_of(catalog.slices);
    codec::node_devices free(catalog, devices, {});
    for (const auto& [key, each] : kept)
        free.take(each.devices);
    std::vector<bool> has_foreign;
    for (const unallocated_on& each : wanted)
        has_foreign.push_back(!each.foreign.empty());
    const auto nodes_of = [&](std::size_t at) {
        std::vector<const codec::node_object*> nodes = wanted[at].others;
        if (has_foreign[at])
            nodes.insert(nodes.end(), wanted[at].foreign.begin(), wanted[at].foreign.end());
        return nodes;
    };
    const auto choose = [&] {
        std::vector<codec::claim_on_nodes> claims;
        for (std::size_t at = 0; at < wanted.size(); ++at) {
            codec::claim_on_nodes& made = claims.emplace_back();
            made.asks = &wanted[at].claim->spec.asks;
            made.nodes.push_back(view_of(*wanted[at].node));
            for (const codec::node_object* const other : nodes_of(at))
                made.nodes.push_back(view_of(*other));
        }
        return codec::allocate_across(free, devices, claims);
    };
    const auto leave_out = [&](const auto& concerns) {
        bool any = false;
        for (std::size_t at = 0; at < wanted.size(); ++at)
            if (has_foreign[at] && concerns(at)) {
                has_foreign[at] = false;
                any = true;
            }
        return any;
    };
    codec::allocations_across found = choose();
    if (may_leave_out && !found.lacking.empty() &&
        leave_out([&](std::size_t at) { return !found.claims[at]; }))
        found = choose();
    if (may_leave_out && !found.lacking.empty() && leave_out([](std::size_t) { return true; }))
        found = choose();
    device_choices made;
    made.lacking = std::move(found.lacking);
    for (std::size_t at = 0; at < wanted.size(); ++at)
        if (found.claims[at]) {
            device_choice& to = made.of[wanted[at].claim->metadata.key];
            to = {wanted[at].node->metadata.key.name, *std::move(found.claims[at]), {}};
            for (const codec::node_object* const other : nodes_of(at))
                to.others.insert(other->metadata.key.name);
        }
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
