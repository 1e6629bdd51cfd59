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
    /// When the first of its running members started to run; absent = unknown.
    std::optional<std::int64_t> since;
    /// For a victim: how long the gang must run before more than its surplus may be evicted for the
    /// other side, by the settings of its queues; absent = no such limit.
    std::optional<std::int64_t> min_runtime;
    /// Likewise: how many queues are above both its own queue and the other side's.
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

/// When pods of one queue may go for a gang of another, by what both queues use and deserve. Queues
/// are compared right below the lowest queue above both ("the meeting queue"). A kind of which a
/// queue deserves nothing explicitly is not compared. "The last unit" is a pod, or the core of a
/// gang that goes whole, of those that go.
enum class reclaim_rule : std::uint8_t {
    /// The use of queues does not matter.
    none,
    /// After each eviction the victim's queues below the meeting queue use no less than they
    /// deserve, and the gang's stay within what they deserve.
    above_deserved,
    /// Before the last unit goes, the victim's queue uses more of some kind than it deserves, and
    /// the gang's queue stays within what it deserves. The last unit may leave the victim's queue
    /// with less than it deserves.
    kai,
    /// Like `kai`, where fair shares count as well. The gang's own queue stays within its fair
    /// share; the victim's queue keeps its fair share if that is more than it deserves; and the
    /// gang's queue may exceed its fair share as long as the victim's keeps a larger part of its
    /// own.
    kai_fair_share,
    /// The two queues of the gangs themselves, and `ancestor_levels` above them, are compared. The
    /// gang's queue stays within what it deserves of some kind that the gang asks for; the victim's
    /// uses more than it deserves of some kind and, before the last unit goes, of every kind of
    /// which that unit takes and the queue deserves any.
    volcano,
    /// Like `kai`.
    kueue,
    /// Like `kueue`, and the gang may also borrow, as long as the victim's queues below the meeting
    /// queue keep all that they deserve.
    kueue_borrowing,
};

/// Which pods of a gang may be evicted, and in which order among gangs.
struct victim_terms {
    /// Gangs of lower levels are taken first: by `queue_level`, then by `gang_level`.
    std::int64_t queue_level = 0;
    std::int64_t gang_level = 0;
    reclaim_rule reclaim = reclaim_rule::none;
    /// With `reclaim_rule::volcano`: levels of queues above both that are compared as well.
    std::int64_t ancestor_levels = 0;
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
/// has `rule.spares_all()`. If pods have terms, the preempt phase runs all the same: a gang that
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
