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
#include <muster/vocabulary/tree_standing.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

/// Members of the gang stand, and with all that hold it does not reach its minima. O(members).
template<class Traits>
[[nodiscard]] bool stands_short(const cluster_state<Traits>& known, gang_index which,
                                stake_scratch& scratch) {
    const auto& group = known[which];
    if (!group.present || group.spec.fault != gang_fault::none)
        return false;
    const bool stands = detail::any_of(group.members, [&](pod_index member) {
        return known[member].charged_as() == tenure::lasting && known[member].charged();
    });
    return stands && stake_of(known, which, scratch) != stake::minima;
}

/// Evicts what is left of gangs that have been below their minima for too long, unless a budget
/// keeps a pod of theirs.
template<class Traits>
class stale_pass {
public:
    stale_pass(cluster_state<Traits>& known, std::int64_t now, const any_staleness_rule& rule,
               stake_scratch& scratch)
        : known_(&known), now_(now), rule_(&rule), scratch_(&scratch) {}

    /// Notes which gangs are below their minima, before any gang is asked. `all`: looks at all
    /// gangs, else at those that changed.
    void look(bool all) {
        if (all) {
            for (const gang_index which : known_->gang_order())
                look(which);
            return;
        }
        std::vector<gang_index> changed;
        known_->for_each_changed_gang([&](gang_index which) { changed.push_back(which); });
        for (const gang_index which : changed)
            look(which);
    }

    /// After all gangs were asked: calls `evicted(gang, pods)` for gangs whose time is over.
    template<class Use>
    void run(const Use& evicted) {
        std::optional<std::int64_t> next;
        for (const gang_index which : known_->short_gangs()) {
            if (!stands_short(*known_, which, *scratch_)) {
                known_->found_whole(which);
                continue;
            }
            const auto& group = (*known_)[which];
            const auto grace = (*rule_)(group.spec.grace);
            if (!grace)
                continue;
            const std::int64_t end = saturate(static_cast<int128>(*group.short_since) + *grace);
            if (now_ < end) {
                next = next ? std::min(*next, end) : end;
                continue;
            }
            // It is looked at again when something happens that may give a budget room.
            if (!budgets_allow(which))
                continue;
            known_->found_whole(which);
            evicted(which, evict(which));
        }
        known_->stale_seen(next);
    }

private:
    void look(gang_index which) {
        if (stands_short(*known_, which, *scratch_))
            known_->found_short(which, now_);
        else
            known_->found_whole(which);
    }

    [[nodiscard]] bool budgets_allow(gang_index which) {
        budgets_.begin(*known_);
        for (const pod_index member : (*known_)[which].members)
            if ((*known_)[member].charged())
                budgets_.take(member);
        return budgets_.kept();
    }

    [[nodiscard]] std::vector<pod_index> evict(gang_index which) {
        std::vector<pod_index> gone;
        const std::vector<pod_index> members = (*known_)[which].members;
        for (const pod_index member : members)
            if (known_->evict(member) == event_result::applied)
                gone.push_back(member);
        return gone;
    }

    cluster_state<Traits>* known_;
    std::int64_t now_;
    const any_staleness_rule* rule_;
    stake_scratch* scratch_;
    disruption_room<Traits> budgets_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
