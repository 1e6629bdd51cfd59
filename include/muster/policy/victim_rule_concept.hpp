// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/vocabulary/preemption_scope.hpp>

namespace muster {
inline namespace v0_1 {

/// One side of an eviction, as rules see it. Times are in the caller's unit.
struct gang_view {
    std::optional<queue_index> queue;
    std::int64_t queue_priority = 0;
    /// Pods of the queue, and of the gang, may be evicted at all.
    bool queue_preemptible = true;
    bool preemptible = true;
    std::int64_t priority = 0;
    std::int64_t created = 0;
    /// Whose room the queue lets it take.
    preemption_scope within_queue = preemption_scope::never;
    preemption_scope within_cohort = preemption_scope::never;
    std::optional<std::int64_t> borrow_within_cohort;
    /// When the first of its members that stand started to run; absent = unknown.
    std::optional<std::int64_t> since;
    /// For a victim: how long the gang must run before more than its surplus may be evicted for the
    /// other side, by the settings of its queues; absent = no such limit.
    std::optional<std::int64_t> min_runtime;
    /// Likewise: how many queues stand above its own that stand above the other side's, too.
    std::int64_t queues_in_common = 0;

    /// A lower bound: no gang in the queue is easier to evict than this one.
    [[nodiscard]] static constexpr gang_view least_of(std::optional<queue_index> queue,
                                                      std::int64_t queue_priority,
                                                      bool queue_preemptible) noexcept {
        gang_view least;
        least.queue = queue;
        least.queue_priority = queue_priority;
        least.queue_preemptible = queue_preemptible;
        least.priority = std::numeric_limits<std::int64_t>::min();
        least.created = std::numeric_limits<std::int64_t>::max();
        least.queues_in_common = std::numeric_limits<std::int64_t>::max();
        return least;
    }
};

/// Which pods of a gang may be evicted, and in which order among gangs.
struct victim_terms {
    /// Gangs of lower levels are taken first: by `outer`, then by `inner`.
    std::int64_t outer = 0;
    std::int64_t inner = 0;
    /// Only what its queue uses beyond what it deserves, for a gang whose queue stays within what
    /// that deserves; so for the queues above, up to where both meet.
    bool only_borrowed = false;
    /// With `only_borrowed`: looked at are the queues right below where both meet, and the gang's
    /// own; and what is taken last may leave a queue with less than it keeps.
    bool lenient = false;
    /// With `lenient`: looked at are the two queues themselves, and it is enough that the gang's
    /// own stays within what it deserves of some kind that the gang asks for.
    bool of_leaves = false;
    /// With `of_leaves`: so many levels of queues above both are looked at besides, but for the
    /// uppermost queue. It is enough that one of those above the gang's own stays within what it
    /// deserves of some kind, and those above the other give only what they use beyond what they
    /// deserve, too. Where one of them is above both, and neither queue deserves any kind that the
    /// gang asks for, nothing is taken.
    std::int64_t levels = 0;
    /// With `only_borrowed`: a queue keeps its fair share, or what it deserves where that is more,
    /// and the gang's own stays within its fair share. Known to rules that are `by_fair_share`.
    /// With `lenient`, too: a queue gives what it uses beyond what it deserves to one that stays
    /// within what it deserves; and right below where both meet the gang's queue may use more than
    /// its fair share, as long as the other is left with more of its own.
    bool by_fair_share = false;
    /// With `lenient`: the gang's own queue need not stay within what it deserves, while the other
    /// keeps all that it deserves.
    bool preemptor_may_borrow = false;
    /// Only members beyond its minima.
    bool only_surplus = false;
    /// All of it or nothing.
    bool only_whole = false;

    [[nodiscard]] friend constexpr bool operator==(const victim_terms&,
                                                   const victim_terms&) = default;
};

/// The rule's terms may look at fair shares, and it says so: they are reckoned for it. One that is
/// a choice between several says it of itself: `rule.by_fair_share()`.
template<class Rule>
inline constexpr bool reclaims_by_fair_share = requires {
    requires Rule::by_fair_share;
};
template<class Rule>
inline constexpr bool may_reclaim_by_fair_share = reclaims_by_fair_share<Rule> ||
                                                  requires(const Rule rule) {
    { rule.by_fair_share() } -> std::same_as<bool>;
};
template<class Rule>
[[nodiscard]] constexpr bool goes_by_fair_shares(const Rule& rule) noexcept {
    if constexpr (reclaims_by_fair_share<Rule>)
        return true;
    else if constexpr (may_reclaim_by_fair_share<Rule>)
        return rule.by_fair_share();
    else
        return false;
}

/// The rule evicts no pods, so it need not be evaluated. A rule that is a choice between several
/// has `rule.spares_all()`. If pods have terms, the eviction pass runs all the same: a gang that
/// starts may let others fit, and the pass finds these.
template<class Rule>
[[nodiscard]] constexpr bool spares_everybody(const Rule& rule) noexcept {
    if constexpr (Rule::none)
        return true;
    else if constexpr (requires {
                           { rule.spares_all() } -> std::same_as<bool>;
                       })
        return rule.spares_all();
    else
        return false;
}

/// The rule evicts victims strictly in their order, as many as needed, even if fewer of the later
/// ones would suffice. A rule that is a choice between several has `rule.in_order()`.
template<class Rule>
[[nodiscard]] constexpr bool takes_in_order(const Rule& rule) noexcept {
    if constexpr (requires { requires Rule::in_order; })
        return true;
    else if constexpr (requires {
                           { rule.in_order() } -> std::same_as<bool>;
                       })
        return rule.in_order();
    else
        return false;
}

/// The rule uses neither `now`, `since` nor `min_runtime`, so time alone never changes its terms. A
/// rule that is a choice between several has `rule.is_timeless()`.
template<class Rule>
[[nodiscard]] constexpr bool ignores_time(const Rule& rule) noexcept {
    if constexpr (requires {
                      { rule.is_timeless() } -> std::same_as<bool>;
                  })
        return rule.is_timeless();
    else
        return Rule::timeless;
}

/// A gang that has its minima, and members beyond them that wait, may have room made for one of
/// these, too, as for its minima, and the rule says so. One that is a choice between several says
/// it of itself: `rule.for_surplus()`.
template<class Rule>
[[nodiscard]] constexpr bool serves_surplus(const Rule& rule) noexcept {
    if constexpr (requires { requires Rule::surplus_too; })
        return true;
    else if constexpr (requires {
                           { rule.for_surplus() } -> std::same_as<bool>;
                       })
        return rule.for_surplus();
    else
        return false;
}

/// Returns the terms on which members of a victim may be evicted for a waiting gang; nullopt = not
/// at all. Preconditions: a rule that spares `gang_view::least_of` a queue spares all gangs of it;
/// one that spares a gang spares those of the same queue that have a higher priority and otherwise
/// are alike, or that are older.
///  - `none`: true for a rule that evicts no pods, so that it is never evaluated.
///  - `timeless`: true if the rule does not use `now`, `since` and `min_runtime`. Otherwise
///    `rule.next_change(victim, now)` returns the next time at which it may allow more of the
///    victim, if time alone decides.
template<class Rule>
concept victim_rule = std::copyable<Rule> && std::equality_comparable<Rule> &&
    requires(const Rule rule, const gang_view& side, std::int64_t now) {
    { rule(side, side, now) }
    noexcept->std::same_as<std::optional<victim_terms>>;
    { Rule::none } -> std::convertible_to<bool>;
    { Rule::timeless } -> std::convertible_to<bool>;
    requires Rule::timeless || requires {
        { rule.next_change(side, now) }
        noexcept->std::same_as<std::optional<std::int64_t>>;
    };
};

} // namespace v0_1
} // namespace muster
