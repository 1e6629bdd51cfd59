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

/// The preemptor or the victim, as input of a victim rule. Times are in the caller's unit.
struct gang_view {
    std::optional<queue_index> queue;
    std::int64_t queue_priority = 0;
    /// False if no pods of the queue, or of the gang, may be evicted.
    bool queue_preemptible = true;
    bool preemptible = true;
    std::int64_t priority = 0;
    std::int64_t created = 0;
    /// Which gangs the queue allows the gang to preempt (see `queue`).
    preemption_scope within_queue = preemption_scope::never;
    preemption_scope within_cohort = preemption_scope::never;
    std::optional<std::int64_t> borrow_within_cohort;
    /// Start of the first running member; absent = unknown.
    std::optional<std::int64_t> since;
    /// For a victim: minimum run time, as its queues set it, before more than its surplus may be
    /// evicted for the other gang; absent = not set.
    std::optional<std::int64_t> min_runtime;
    /// For a victim: number of queues above both its own queue and the preemptor's.
    std::int64_t queues_in_common = 0;

    /// Returns a lower bound: no gang in the queue is easier to evict than this one.
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

/// The condition under which pods of one queue may be evicted for a gang of another, by use and
/// deserved amounts of both queues. The meeting queue is the lowest queue above both; its children
/// on both sides are compared. Kinds that are absent in `queue::deserved` are not compared. A unit
/// is one pod, or the core of a gang that is evicted whole; the last unit is the one evicted last.
enum class reclaim_rule : std::uint8_t {
    /// No condition on the use of queues.
    none,
    /// After each eviction, the victim's queues below the meeting queue use at least their deserved
    /// amounts, and the gang's queues stay within theirs.
    above_deserved,
    /// Before the last unit is evicted, the victim's queue uses more of some kind than its deserved
    /// amount, and the gang's queue stays within its deserved amount. After the last unit, the
    /// victim's queue may use less than its deserved amount.
    kai,
    /// Like `kai`, with fair shares. The gang's own queue stays within its fair share. The victim's
    /// queue keeps its fair share if that is more than its deserved amount. Of the queues compared,
    /// the gang's may exceed its fair share as long as the victim's keeps a larger fraction of its
    /// own fair share.
    kai_fair_share,
    /// Compares the two gangs' own queues, and `ancestor_levels` levels of queues above them. The
    /// gang's queue stays within its deserved amount of some kind that the gang requests. Before
    /// the last unit is evicted, the victim's queue uses more than its deserved amount of some
    /// kind, and of every kind that this unit uses and of which the queue deserves more than 0.
    volcano,
    /// Like `kai`.
    kueue,
    /// Like `kueue`, and the gang may also borrow, as long as the victim's queues below the meeting
    /// queue keep their deserved amounts.
    kueue_borrowing,
};

/// Which pods of a gang may be evicted, and in which order among gangs.
struct victim_terms {
    /// Gangs of lower levels are evicted first: by `queue_level`, then by `gang_level`.
    std::int64_t queue_level = 0;
    std::int64_t gang_level = 0;
    reclaim_rule reclaim = reclaim_rule::none;
    /// For `reclaim_rule::volcano`: number of levels above both queues that are compared as well.
    std::int64_t ancestor_levels = 0;
    /// Only surplus members may be evicted.
    bool only_surplus = false;
    /// The gang is evicted whole or not at all.
    bool only_whole = false;

    [[nodiscard]] friend constexpr bool operator==(const victim_terms&,
                                                   const victim_terms&) = default;
};

/// True if the rule declares `by_fair_share`: its terms may use fair shares, which are then
/// computed. A rule chosen at run time has `rule.by_fair_share()` instead.
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

/// True if the rule evicts no pods, so it need not be evaluated. A rule chosen at run time has
/// `rule.spares_all()`. If pods have affinity terms, the preempt phase runs nevertheless, because a
/// gang that started may satisfy the terms of others.
template<class Rule>
[[nodiscard]] constexpr bool evicts_none(const Rule& rule) noexcept {
    if constexpr (Rule::none)
        return true;
    else if constexpr (requires {
                           { rule.spares_all() } -> std::same_as<bool>;
                       })
        return rule.spares_all();
    else
        return false;
}

/// True if the rule evicts victims strictly in their order, as many as needed, even if fewer of the
/// later ones would suffice. A rule chosen at run time has `rule.in_order()`.
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

/// True if the rule uses neither `now`, `since` nor `min_runtime`, so time alone never changes its
/// terms. A rule chosen at run time has `rule.is_timeless()`.
template<class Rule>
[[nodiscard]] constexpr bool ignores_time(const Rule& rule) noexcept {
    if constexpr (requires {
                      { rule.is_timeless() } -> std::same_as<bool>;
                  })
        return rule.is_timeless();
    else
        return Rule::timeless;
}

/// True if the rule declares `surplus_too`: it also makes room for one waiting surplus member of a
/// gang that meets its minima. A rule chosen at run time has `rule.for_surplus()` instead.
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
/// at all. Preconditions: a rule that spares `gang_view::least_of` a queue spares all gangs of that
/// queue. A rule that spares a gang also spares gangs of the same queue that differ only in a
/// higher priority or in an earlier creation time.
/// - `none`: true for a rule that evicts no pods, so that it is never evaluated.
/// - `timeless`: true if the rule does not use `now`, `since` and `min_runtime`. Otherwise
///   `rule.next_change(victim, now)` returns the next time at which time alone may let the rule
///   allow more evictions from the victim.
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
