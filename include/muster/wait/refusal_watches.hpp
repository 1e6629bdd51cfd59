// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/problem/members.hpp>
#include <muster/wait/refusal_watch.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The refusals that the search proved by one leaf, per gang. See `refusal_watch`.
template<class Traits>
class refusal_watches {
    static constexpr std::size_t width = Traits::width;

public:
    /// Stores a refusal of the gang, replacing an earlier one.
    void watch(const cluster_state<Traits>& cluster, gang_index gang,
               const gang_members<width>& members, std::span<const std::int64_t> weights,
               int128 slack) {
        if (of_.size() <= gang.value())
            of_.resize(gang.value() + 1, none);
        std::uint32_t& at = of_[gang.value()];
        if (at == none) {
            at = static_cast<std::uint32_t>(kept_.size());
            kept_.push_back({});
        }
        kept& refusal = kept_[at];
        refusal.gang = gang;
        refusal.generation = cluster[gang].generation;
        refusal.memo.watch(cluster, members, weights, slack);
        if (!refusal.memo.holds())
            return;
        if (refusal.place == none) {
            refusal.place = static_cast<std::uint32_t>(active_.size());
            active_.push_back({});
        }
        active_[refusal.place] = {at, refusal.memo.least_request()};
    }

    /// Forgets the gang's refusal. Call it when the gang is asked.
    void forget(gang_index gang) noexcept {
        if (gang.value() < of_.size() && of_[gang.value()] != none)
            kept_[of_[gang.value()]].memo.clear();
    }

    /// True if a refusal of the gang is stored and still holds.
    [[nodiscard]] bool holds(gang_index gang) const noexcept {
        return gang.value() < of_.size() && of_[gang.value()] != none &&
               kept_[of_[gang.value()]].memo.holds();
    }

    /// Forgets all refusals. Call it when it is unknown what the nodes released.
    void clear() noexcept {
        for (const active& watched : active_) {
            kept_[watched.at].memo.clear();
            kept_[watched.at].place = none;
        }
        active_.clear();
    }

    /// Handles a node whose free resources changed from `before`. nullptr: the node itself changed,
    /// so all that it carries may be new. O(1) if no free amount grew; otherwise O(width) for every
    /// stored refusal, and O(patterns of the node) for every refusal of which a member may fit the
    /// node.
    void changed(const cluster_state<Traits>& cluster, node_index node,
                 const resources<width>* before) {
        const resources<width>& now = cluster.accounts().free(node);
        if (active_.empty() || (before && dominates(*before, now)))
            return;
        std::size_t left = 0;
        const auto keep = [&](const active& watched) {
            if (&active_[left] != &watched) {
                active_[left] = watched;
                kept_[watched.at].place = static_cast<std::uint32_t>(left);
            }
            ++left;
        };
        for (const active& watched : active_) {
            if (!fits(watched.least, now)) {
                keep(watched);
                continue;
            }
            kept& refusal = kept_[watched.at];
            const auto& group = cluster[refusal.gang];
            // A gang that changed is asked anyway.
            if (group.dirty || group.generation != refusal.generation ||
                group.last.kind != answer::waiting)
                refusal.memo.clear();
            refusal.memo.changed(cluster, node, before);
            if (refusal.memo.holds())
                keep(watched);
            else
                refusal.place = none;
        }
        active_.resize(left);
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct kept {
        gang_index gang;
        std::uint32_t generation = 0;
        /// Index into `active_`; `none` if the refusal does not hold.
        std::uint32_t place = none;
        refusal_watch<Traits> memo;
    };
    /// A refusal that may still hold, and the least request of its members, per kind.
    struct active {
        std::uint32_t at = none;
        resources<width> least;
    };

    sequence<kept> kept_;
    /// Per gang: index into `kept_`.
    detail::sequence<std::uint32_t> of_;
    sequence<active> active_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
