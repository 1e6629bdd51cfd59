// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <muster/codec/device_catalog.hpp>
#include <muster/codec/node_devices.hpp>
#include <muster/codec/objects.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/vocabulary/node.hpp>

namespace cli {

/// Judges claims that must be allocated for placed pods: the devices of each node must satisfy all
/// of them at once. Plans by counts of devices are judged by searching for the devices.
class claim_check {
public:
    using placements = std::map<muster::codec::object_key, std::string>;

    /// The arguments outlive it. `gone`: pods whose claims end.
    claim_check(const muster::codec::manifests& objects, const placements& placed,
                const std::set<muster::codec::object_key>& gone)
        : objects_(&objects), placed_(&placed), catalog_(objects.devices) {
        std::erase_if(catalog_.claims, [&](const auto& each) {
            const auto& users = each.second->reserved_for;
            return !users.empty() && std::ranges::all_of(users, [&](const auto& user) {
                return user.resource == "pods" && gone.contains({each.first.name_space, user.name});
            });
        });
    }

    /// Returns the nodes whose devices do not satisfy the claims of the pods placed there.
    [[nodiscard]] std::vector<std::string> run() const {
        std::map<std::string, std::vector<muster::device_claim>> asked;
        for (const auto& pod : objects_->pods)
            if (const auto to = placed_->find(pod.metadata.key); to != placed_->end())
                for (const auto& each : pod.claims)
                    if (const auto* const spec = unallocated(pod, each))
                        asked[to->second].push_back(spec->asks);
        std::vector<std::string> short_of;
        if (asked.empty())
            return short_of;
        const auto devices = muster::codec::devices_of(catalog_.slices);
        const auto nodes = nodes_of(asked);
        const muster::codec::node_devices by_node(catalog_, devices, nodes);
        for (const auto& each : nodes)
            if (by_node.allocate(each, asked[each.name]).outcome !=
                muster::device_outcome::allocated)
                short_of.push_back(each.name);
        return short_of;
    }

private:
    /// Returns nullptr if nothing is to be allocated.
    [[nodiscard]] const muster::codec::claim_spec*
    unallocated(const muster::codec::pod_object& pod, const muster::codec::pod_claim& of) const {
        const std::string& home = pod.metadata.key.name_space;
        if (of.needs_none)
            return nullptr;
        if (of.claim.empty()) {
            const auto made_from = catalog_.templates.find({home, of.from_template});
            return made_from == catalog_.templates.end() ? nullptr : &made_from->second->spec;
        }
        const auto claim = catalog_.claims.find({home, of.claim});
        return claim == catalog_.claims.end() || claim->second->allocation ? nullptr
                                                                           : &claim->second->spec;
    }

    template<class Asked>
    [[nodiscard]] std::vector<muster::node<1>> nodes_of(const Asked& asked) const {
        std::vector<muster::node<1>> made;
        for (const auto& each : objects_->nodes)
            if (asked.contains(each.metadata.key.name)) {
                auto& view = made.emplace_back();
                view.name = each.metadata.key.name;
                view.labels = each.metadata.labels;
            }
        return made;
    }

    const muster::codec::manifests* objects_;
    const placements* placed_;
    muster::codec::device_catalog catalog_;
};

} // namespace cli
