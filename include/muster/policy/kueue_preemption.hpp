// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Kueue's preemption. The preemptor's queue says which gangs may be evicted: `within_queue`,
/// `within_cohort` and `borrow_within_cohort`. Victims in another queue must share an ancestor
/// queue with the preemptor's queue; see `reclaim_rule::kueue`. Victims are ordered by queue (other
/// queues first), then by priority.
///
/// Kueue itself compares only the kinds that are short. It also lets a borrowing gang evict pods of
/// a queue that then uses less than its deserved amount, so two queues could evict each other
/// forever. Tests show that this rule does not do that, but there is no proof.
struct kueue_preemption {
    static constexpr bool none = false;
    static constexpr bool timeless = true;

    [[nodiscard]] std::optional<victim_terms>
    operator()(const gang_view& preemptor, const gang_view& victim, std::int64_t) const noexcept {
        if (!preemptor.queue || !victim.queue || !victim.preemptible)
            return std::nullopt;
        const bool own = victim.queue == preemptor.queue;
        const bool preemptor_may_borrow = !own && preemptor.borrow_within_cohort &&
                                          victim.priority < preemptor.priority &&
                                          victim.priority <= *preemptor.borrow_within_cohort;
        if ((!allows(own ? preemptor.within_queue : preemptor.within_cohort, preemptor, victim) &&
             !preemptor_may_borrow) ||
            (!own && (!victim.queue_preemptible || victim.queues_in_common == 0)))
            return std::nullopt;
        victim_terms terms{own ? 1 : 0, victim.priority};
        if (!own)
            terms.reclaim =
                preemptor_may_borrow ? reclaim_rule::kueue_borrowing : reclaim_rule::kueue;
        return terms;
    }
    [[nodiscard]] friend bool operator==(kueue_preemption, kueue_preemption) = default;

private:
    [[nodiscard]] static bool allows(preemption_scope scope, const gang_view& preemptor,
                                     const gang_view& victim) noexcept {
        switch (scope) {
        case preemption_scope::never:
            return false;
        case preemption_scope::any:
            return true;
        case preemption_scope::lower_or_newer_equal:
            return victim.priority < preemptor.priority ||
                   (victim.priority == preemptor.priority && victim.created > preemptor.created);
        case preemption_scope::lower_priority:
            break;
        }
        return victim.priority < preemptor.priority;
    }
};

} // namespace v0_1
} // namespace muster
