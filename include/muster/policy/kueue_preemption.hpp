// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// The rule of Kueue, whose queues say which gangs their own may preempt: `within_queue`,
/// `within_cohort` and `borrow_within_cohort` of the gang's queue. From another queue below a
/// common one: see `reclaim_rule::kueue`. The order of victims: gangs of other queues first, then
/// priority.
///
/// Kueue itself compares only the kinds that are short, and lets a borrowing gang take what leaves
/// the other queue with less than it deserves; then two queues could evict each other for ever.
/// That this rule never does is tested, not proven.
struct kueue_preemption {
    static constexpr bool none = false;
    static constexpr bool timeless = true;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!by.queue || !of.queue || !of.preemptible)
            return std::nullopt;
        const bool own = of.queue == by.queue;
        const bool preemptor_may_borrow = !own && by.borrow_within_cohort &&
                                          of.priority < by.priority &&
                                          of.priority <= *by.borrow_within_cohort;
        if ((!allows(own ? by.within_queue : by.within_cohort, by, of) && !preemptor_may_borrow) ||
            (!own && (!of.queue_preemptible || of.queues_in_common == 0)))
            return std::nullopt;
        victim_terms terms{own ? 1 : 0, of.priority};
        if (!own)
            terms.reclaim =
                preemptor_may_borrow ? reclaim_rule::kueue_borrowing : reclaim_rule::kueue;
        return terms;
    }
    [[nodiscard]] friend bool operator==(kueue_preemption, kueue_preemption) = default;

private:
    [[nodiscard]] static bool allows(preemption_scope scope, const gang_view& by,
                                     const gang_view& of) noexcept {
        switch (scope) {
        case preemption_scope::never:
            return false;
        case preemption_scope::any:
            return true;
        case preemption_scope::lower_or_newer_equal:
            return of.priority < by.priority ||
                   (of.priority == by.priority && of.created > by.created);
        case preemption_scope::lower_priority:
            break;
        }
        return of.priority < by.priority;
    }
};

} // namespace v0_1
} // namespace muster
