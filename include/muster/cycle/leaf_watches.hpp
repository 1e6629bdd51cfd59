// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <muster/admission/leaf_watch.hpp>
#include <muster/admission/members.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/model/state.hpp>

namespace muster::inline v0_1 {
namespace detail {

/// The refusals that the search proved by a leaf, by gang.
template<class Traits>
class leaf_watches {
    static constexpr std::size_t width = Traits::width;

public:
    /// Keeps the gang's refusal, in place of one that was kept before.
    void watch(const state<Traits>& known, gang_index gang, const gang_members<width>& members,
               std::optional<constraint_index> queue_nodes,
               const std::vector<std::int64_t>& weights, int128 slack) {
        if (of_.size() <= gang.value())
            of_.resize(gang.value() + 1, none);
        std::uint32_t& at = of_[gang.value()];
        if (at == none) {
            at = static_cast<std::uint32_t>(kept_.size());
            kept_.push_back({});
        }
        kept& mine = kept_[at];
        mine.gang = gang;
        mine.generation = known[gang].generation;
        mine.memo.watch(known, members, queue_nodes, weights, slack);
        if (!mine.active && mine.memo.holds()) {
            mine.active = true;
            active_.push_back(at);
        }
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

    /// Nodes or queues changed in what they are: no term is what it was.
    void clear() noexcept {
        for (const std::uint32_t at : active_) {
            kept_[at].memo.clear();
            kept_[at].active = false;
        }
        active_.clear();
    }

    /// A node has so much free where `before` was free the last time. O(1) when it gave nothing
    /// back, else O(patterns of the node) for every refusal that is kept.
    void changed(const state<Traits>& known, node_index node, const resources<width>& before) {
        if (active_.empty() || dominates(before, known.accounts().free(node)))
            return;
        std::size_t left = 0;
        for (const std::uint32_t at : active_) {
            kept& each = kept_[at];
            const auto& group = known[each.gang];
            // Whoever something happened to is asked anyway.
            if (group.dirty || group.generation != each.generation ||
                group.last.kind != answer::waiting)
                each.memo.clear();
            each.memo.changed(known, node, before);
            each.active = each.memo.holds();
            if (each.active)
                active_[left++] = at;
        }
        active_.resize(left);
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct kept {
        gang_index gang;
        std::uint32_t generation = 0;
        bool active = false;
        leaf_watch<Traits> memo;
    };

    std::vector<kept> kept_;
    /// Per gang: its place in `kept_`.
    std::vector<std::uint32_t> of_;
    std::vector<std::uint32_t> active_;
};

} // namespace detail
} // namespace muster::inline v0_1
