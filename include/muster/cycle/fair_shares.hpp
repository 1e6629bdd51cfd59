// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/fair_share.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// The fair share of each queue. The roots of the queue tree divide the total of all nodes, and the
/// children of a queue divide the fair share of that queue, kind by kind (`divide_fairly`). The
/// demand of a queue is what the pods in its subtree hold and request, at most its quota. If a kind
/// is absent in `deserved`, the queue deserves all of what is divided.
template<class Traits>
class fair_shares {
public:
    static constexpr std::size_t width = Traits::width;

    /// Computes the shares from the current state. O(pods + queues · log queues × width).
    void compute(const cluster_state<Traits>& cluster) {
        const auto& queues = cluster.accounts().queues();
        count_ = queues.size();
        shares_.assign(count_, {});
        add_up(cluster);
        order_by_parents(cluster);
        for (std::size_t column = 0; column < width; ++column) {
            const int128 total = cluster.accounts().total(kind_id{column});
            for (std::size_t first = 0; first < family_.size();) {
                const auto parent = queues.parent(family_[first]);
                std::size_t last = first;
                while (last < family_.size() && queues.parent(family_[last]) == parent)
                    ++last;
                divide(cluster, column, first, last,
                       parent ? shares_[parent->value()][column] : saturate(total));
                first = last;
            }
        }
    }

    /// Returns the fair share of the queue; zero for a queue added after the last `compute`.
    [[nodiscard]] resources<width> operator[](queue_index queue) const noexcept {
        return queue.value() < shares_.size() ? shares_[queue.value()] : resources<width>{};
    }

    /// Returns the fair shares by queue index.
    [[nodiscard]] const detail::sequence<resources<width>>& all() const noexcept { return shares_; }

private:
    void add_up(const cluster_state<Traits>& cluster) {
        wanted_.assign(count_, {});
        const auto& queues = cluster.accounts().queues();
        for (std::size_t at = 0; at < count_; ++at)
            wanted_[at] = queues.used(queue_index{at});
        for (const gang_index which : cluster.gang_order()) {
            const auto& group = cluster[which];
            if (!group.queue || group.placeable == 0)
                continue;
            resources<width> more;
            for (const pod_index member : group.members)
                if (cluster[member].placeable())
                    more = saturating_add(more, cluster.request(member));
            for (std::optional<queue_index> at = group.queue; at; at = queues.parent(*at))
                wanted_[at->value()] = saturating_add(wanted_[at->value()], more);
        }
    }

    /// Sorts queues so that siblings are adjacent, in the order of keys, and parents precede their
    /// children.
    void order_by_parents(const cluster_state<Traits>& cluster) {
        const auto& queues = cluster.accounts().queues();
        depth_.assign(count_, 0);
        family_.clear();
        for (const queue_index which : cluster.queue_order()) {
            family_.push_back(which);
            for (auto at = queues.parent(which); at; at = queues.parent(*at))
                ++depth_[which.value()];
        }
        detail::stable_sort(family_, [&](queue_index lhs, queue_index rhs) {
            if (depth_[lhs.value()] != depth_[rhs.value()])
                return depth_[lhs.value()] < depth_[rhs.value()];
            return queues.parent(lhs) < queues.parent(rhs);
        });
    }

    void divide(const cluster_state<Traits>& cluster, std::size_t column, std::size_t first,
                std::size_t last, std::int64_t total) {
        const kind_id kind{column};
        claims_.clear();
        for (std::size_t at = first; at < last; ++at) {
            const auto& spec = cluster[family_[at]].spec;
            share_claim one;
            one.deserved = spec.deserved[kind].value_or(total);
            one.wanted =
                std::min(wanted_[family_[at].value()][column], spec.quota[kind].value_or(largest));
            one.weight = spec.weight;
            one.priority = spec.priority;
            claims_.push_back(one);
        }
        scratch_.resize(claims_.size());
        divide_fairly(total, claims_, scratch_);
        for (std::size_t at = first; at < last; ++at)
            shares_[family_[at].value()][column] = claims_[at - first].share;
    }

    static constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

    std::size_t count_ = 0;
    detail::sequence<resources<width>> shares_;
    detail::sequence<resources<width>> wanted_;
    detail::sequence<std::size_t> depth_;
    detail::sequence<queue_index> family_;
    detail::sequence<share_claim> claims_;
    detail::sequence<share_claim*> scratch_;
};

} // namespace v0_1
} // namespace muster
