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
#include <muster/wait/leaf_watch.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The refusals that the search proved by a leaf, by gang.
template<class Traits>
class leaf_watches {
    static constexpr std::size_t width = Traits::width;

public:
    /// Keeps the gang's refusal, in place of one that was kept before.
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
        kept& mine = kept_[at];
        mine.gang = gang;
        mine.generation = cluster[gang].generation;
        mine.memo.watch(cluster, members, weights, slack);
        if (!mine.memo.holds())
            return;
        if (mine.place == none) {
            mine.place = static_cast<std::uint32_t>(active_.size());
            active_.push_back({});
        }
        active_[mine.place] = {at, mine.memo.least_request()};
    }

    /// The gang is asked: what was kept of it serves no more.
    void forget(gang_index gang) noexcept {
        if (gang.value() < of_.size() && of_[gang.value()] != none)
            kept_[of_[gang.value()]].memo.clear();
    }

    /// The refusal kept of the gang still holds.
    [[nodiscard]] bool holds(gang_index gang) const noexcept {
        return gang.value() < of_.size() && of_[gang.value()] != none &&
               kept_[of_[gang.value()]].memo.holds();
    }

    /// It is not known what nodes gave back: no refusal is sure to hold.
    void clear() noexcept {
        for (const active& each : active_) {
            kept_[each.at].memo.clear();
            kept_[each.at].place = none;
        }
        active_.clear();
    }

    /// A node has other amounts free than `before`, or is not what it was (nullptr): all that it
    /// carries may then be new. O(1) when it gave nothing back, else O(width) for every refusal
    /// that is kept, and O(patterns of the node) where the node takes some member.
    void changed(const cluster_state<Traits>& cluster, node_index node,
                 const resources<width>* before) {
        const resources<width>& now = cluster.accounts().free(node);
        if (active_.empty() || (before && dominates(*before, now)))
            return;
        std::size_t left = 0;
        const auto keep = [&](const active& one) {
            if (&active_[left] != &one) {
                active_[left] = one;
                kept_[one.at].place = static_cast<std::uint32_t>(left);
            }
            ++left;
        };
        for (const active& one : active_) {
            if (!fits(one.least, now)) {
                keep(one);
                continue;
            }
            kept& each = kept_[one.at];
            const auto& group = cluster[each.gang];
            // A gang to which something happened is asked anyway.
            if (group.dirty || group.generation != each.generation ||
                group.last.kind != answer::waiting)
                each.memo.clear();
            each.memo.changed(cluster, node, before);
            if (each.memo.holds())
                keep(one);
            else
                each.place = none;
        }
        active_.resize(left);
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct kept {
        gang_index gang;
        std::uint32_t generation = 0;
        /// In `active_`.
        std::uint32_t place = none;
        leaf_watch<Traits> memo;
    };
    /// A refusal that may still hold, with no more of any kind than one of its members asks for.
    struct active {
        std::uint32_t at = none;
        resources<width> least;
    };

    sequence<kept> kept_;
    /// Per gang: its place in `kept_`.
    detail::sequence<std::uint32_t> of_;
    sequence<active> active_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
