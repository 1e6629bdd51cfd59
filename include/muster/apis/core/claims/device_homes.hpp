// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// True if the kubelet of the node can skip the operations that the device's slice lists.
template<std::size_t Width>
[[nodiscard]] bool can_skip(const node<Width>& on, const device_nodes& nodes) {
    return nodes.skips.empty() || on.labels.find(optional_operations_mark) != nullptr;
}
/// True if the device is published for a node with this name and these labels.
template<std::size_t Width>
[[nodiscard]] bool is_published_for(const node<Width>& from, const device_nodes& nodes) {
    if (nodes.all || (!nodes.name.empty() && nodes.name == from.name))
        return true;
    return nodes.selector && nodes.unsupported.empty() &&
           std::ranges::any_of(*nodes.selector,
                               [&](const node_term& term) { return term.matches(from); });
}
/// True if a node with this name and these labels can use the device.
template<std::size_t Width>
[[nodiscard]] bool reaches(const node<Width>& from, const device_nodes& nodes) {
    return is_published_for(from, nodes) && can_skip(from, nodes);
}

/// Where each device counts: on the node of the pod that holds it, else on one node that can use
/// it. A device that several nodes can use counts on that of them with the fewest so far, so that
/// counts are never too high.
class device_homes {
public:
    struct home {
        /// Empty: the device counts nowhere. It is in use, or no node can use it.
        std::string_view node;
        /// The pod that holds the device by its claim; its amounts count the device.
        const pod_object* holder = nullptr;
    };

    /// Devices in `set_aside` count nowhere. The other arguments must outlive this. O(nodes +
    /// claims · log pods + devices × nodes that can use each).
    device_homes(const device_catalog& catalog, const std::vector<pooled_device>& devices,
                 std::span<const node<1>> nodes, std::span<const pod_object* const> pods,
                 const std::set<device_id>& set_aside = {}) {
        std::map<std::string_view, std::int64_t> counts;
        for (const node<1>& each : nodes)
            counts.emplace(each.name, 0);
        find_holders(catalog, pods);
        for (const pooled_device& each : devices) {
            home made;
            if (const auto held = holders_.find(each.id); held != holders_.end()) {
                made.holder = held->second;
                if (made.holder)
                    made.node = made.holder->node;
            } else if (!set_aside.contains(each.id)) {
                made.node = choose(*each.nodes, nodes, counts);
            }
            if (const auto at = counts.find(made.node); at != counts.end())
                ++at->second;
            else
                made = {};
            homes_.push_back(made);
        }
    }

    [[nodiscard]] const home& of(std::size_t device) const { return homes_[device]; }

private:
    static std::string_view choose(const device_nodes& reached, std::span<const node<1>> nodes,
                                   const std::map<std::string_view, std::int64_t>& counts) {
        if (!reached.selector && !reached.all && reached.skips.empty())
            return reached.name;
        std::string_view best;
        for (const node<1>& each : nodes)
            if (reaches(each, reached) &&
                (best.empty() || counts.find(each.name)->second < counts.find(best)->second))
                best = each.name;
        return best;
    }

    /// Finds the pod that holds each allocated device; null if it is not one pod on a node, or if
    /// the pod's requests count the device.
    void find_holders(const device_catalog& catalog, std::span<const pod_object* const> pods) {
        std::map<object_key, const pod_object*> standing;
        for (const pod_object* const pod : pods)
            if (!pod->node.empty() && pod->phase != pod_phase::succeeded &&
                pod->phase != pod_phase::failed)
                standing.emplace(pod->metadata.key, pod);
        for (const auto& [key, claim] : catalog.claims) {
            if (!claim->allocation)
                continue;
            const pod_object* holder = nullptr;
            if (!claim->is_extended && claim->reserved_for.size() == 1 &&
                claim->reserved_for.front().resource == "pods") {
                const auto found =
                    standing.find({key.name_space, claim->reserved_for.front().name});
                if (found != standing.end() && is_reserved_for(*claim, *found->second, nullptr))
                    holder = found->second;
            }
            for (const allocated_device& each : claim->allocation->devices) {
                if (each.admin_access)
                    continue;
                const auto [at, is_new] =
                    holders_.emplace(each.id, each.is_share ? nullptr : holder);
                if (!is_new)
                    at->second = nullptr;
            }
        }
    }

    std::map<device_id, const pod_object*> holders_;
    std::vector<home> homes_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
