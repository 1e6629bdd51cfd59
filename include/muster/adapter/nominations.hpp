// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <muster/adapter/cluster_view.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/base/id.hpp>
#include <muster/model/state.hpp>
#include <muster/model/traits.hpp>

namespace muster::inline v0_1 {
namespace adapter {

/// Publishes the nodes of nominated pods (`status.nominatedNodeName`), and remembers what was
/// published.
template<class Traits>
class nominations {
public:
    using pod_key = typename Traits::pod_key;
    using node_key = typename Traits::node_key;

    /// Appends an order for each pod whose nomination differs from the published one. O(1) without
    /// nominations, else O(members of the nominated gangs · log pods).
    void give(cluster_view<Traits>& view, std::vector<nominate_order<Traits>>& into) {
        state<Traits>& known = view.known();
        std::map<pod_key, node_key, key_less<Traits>> coming;
        for (const gang_index gang : known.gangs_with_nominations())
            for (const pod_index member : known[gang].members)
                if (const auto& record = known[member]; record.awaited() && !record.promised)
                    coming.emplace(record.key, known[*record.node].key);
        for (auto& [pod, node] : told_)
            if (!coming.contains(pod))
                drop(view, pod, node, coming, into);
        for (const auto& [pod, node] : coming)
            if (const auto at = told_.find(pod); at == told_.end() || !(at->second == node))
                if (const auto* const facts = view.find_pod(pod))
                    into.push_back({pod, facts->uid, node});
        told_ = std::move(coming);
    }

    /// Forgets what was published.
    void forget_all() { told_.clear(); }

private:
    /// Handles a pod that is no longer nominated. If it is about to be bound, its published
    /// nomination stays: the bind ends it. If it waits, the nomination is removed.
    static void drop(const cluster_view<Traits>& view, const pod_key& pod, const node_key& node,
                     std::map<pod_key, node_key, key_less<Traits>>& kept,
                     std::vector<nominate_order<Traits>>& into) {
        const auto* const facts = view.find_pod(pod);
        const auto found = view.known().find_pod(pod);
        if (facts == nullptr || facts->on || facts->carried || !found)
            return;
        if (view.known()[found->index].assumed)
            kept.emplace(pod, node);
        else
            into.push_back({pod, facts->uid, std::nullopt});
    }

    std::map<pod_key, node_key, key_less<Traits>> told_;
};

} // namespace adapter
} // namespace muster::inline v0_1
