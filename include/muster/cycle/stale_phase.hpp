// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/policy/any_rule.hpp>
#include <muster/preempt/disruption_room.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

/// True if the gang has members on nodes, but all members that hold room together do not reach its
/// minima. O(members).
template<class Traits>
[[nodiscard]] bool is_below_minima(const cluster_state<Traits>& cluster, gang_index which,
                                   hold_scratch& scratch) {
    const auto& group = cluster[which];
    if (!group.present || group.spec.fault != gang_fault::none)
        return false;
    const bool has_nodes = detail::any_of(group.members, [&](pod_index member) {
        return cluster[member].charged_as() == allocation::allocated && cluster[member].charged();
    });
    return has_nodes && hold_level_of(cluster, which, scratch) != hold_level::minima;
}

/// Evicts the remaining members of gangs that have been below their minima for too long, unless a
/// disruption budget protects one of these members.
template<class Traits>
class stale_phase {
public:
    stale_phase(cluster_state<Traits>& cluster, std::int64_t now, const any_staleness_rule& rule,
                hold_scratch& scratch)
        : cluster_(&cluster), now_(now), rule_(&rule), scratch_(&scratch) {}

    /// Records which gangs are below their minima. Call it before any gang is asked. Checks all
    /// gangs (`all`) or only those that changed.
    void look(bool all) {
        if (all) {
            for (const gang_index which : cluster_->gang_order())
                look(which);
            return;
        }
        std::vector<gang_index> changed;
        cluster_->for_each_changed_gang([&](gang_index which) { changed.push_back(which); });
        for (const gang_index which : changed)
            look(which);
    }

    /// Evicts gangs whose grace time is over, and calls `evicted(gang, pods)` for each. Call it
    /// after all gangs were asked.
    template<class Use>
    void run(const Use& evicted) {
        std::optional<std::int64_t> next;
        for (const gang_index which : cluster_->short_gangs()) {
            if (!is_below_minima(*cluster_, which, *scratch_)) {
                cluster_->found_whole(which);
                continue;
            }
            const auto& group = (*cluster_)[which];
            const auto grace = (*rule_)(group.spec.grace);
            if (!grace)
                continue;
            const std::int64_t end = saturate(static_cast<int128>(*group.short_since) + *grace);
            if (now_ < end) {
                next = next ? std::min(*next, end) : end;
                continue;
            }
            // The gang is checked again when an event may allow more disruptions.
            if (!budgets_allow(which))
                continue;
            cluster_->found_whole(which);
            evicted(which, evict(which));
        }
        cluster_->stale_seen(next);
    }

private:
    void look(gang_index which) {
        if (is_below_minima(*cluster_, which, *scratch_))
            cluster_->found_short(which, now_);
        else
            cluster_->found_whole(which);
    }

    [[nodiscard]] bool budgets_allow(gang_index which) {
        budgets_.begin(*cluster_);
        for (const pod_index member : (*cluster_)[which].members)
            if ((*cluster_)[member].charged())
                budgets_.take(member);
        return budgets_.kept();
    }

    [[nodiscard]] std::vector<pod_index> evict(gang_index which) {
        std::vector<pod_index> gone;
        const std::vector<pod_index> members = (*cluster_)[which].members;
        for (const pod_index member : members)
            if (cluster_->evict(member) == event_result::applied)
                gone.push_back(member);
        return gone;
    }

    cluster_state<Traits>* cluster_;
    std::int64_t now_;
    const any_staleness_rule* rule_;
    hold_scratch* scratch_;
    disruption_room<Traits> budgets_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
