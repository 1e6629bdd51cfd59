// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Evicts no pods.
struct no_eviction {
    static constexpr bool none = true;
    static constexpr bool timeless = true;
    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view&, const gang_view&,
                                                         std::int64_t) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend bool operator==(no_eviction, no_eviction) = default;
};

/// The T9k scheduler: from preemptible queues of strictly lower priority than the gang's own, and
/// with `inside_queue` from gangs of strictly lower priority in its own queue. Victims by the
/// priority of their queue, then by their own.
struct t9k_preemption {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    bool inside_queue = false;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!by.queue || !of.queue || !of.queue_preemptible || !of.preemptible)
            return std::nullopt;
        const bool own = inside_queue && of.queue == by.queue && of.priority < by.priority;
        if (!own && of.queue_priority >= by.queue_priority)
            return std::nullopt;
        return victim_terms{of.queue_priority, of.priority};
    }
    [[nodiscard]] friend bool operator==(t9k_preemption, t9k_preemption) = default;
};

/// From gangs of strictly lower priority: of the gang's own queue, or with `any_queue` of all.
struct priority_preemption {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    bool any_queue = false;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!of.preemptible || of.priority >= by.priority ||
            (of.queue != by.queue && (!any_queue || !of.queue_preemptible)))
            return std::nullopt;
        return victim_terms{0, of.priority};
    }
    [[nodiscard]] friend bool operator==(priority_preemption, priority_preemption) = default;
};

/// What another queue uses beyond what it deserves, for a gang whose queue stays within what it
/// deserves itself. Victims by the priority of their queue, then by their own.
struct reclaim_above_deserved {
    static constexpr bool none = false;
    static constexpr bool timeless = true;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!by.queue || !of.queue || of.queue == by.queue || !of.queue_preemptible ||
            !of.preemptible)
            return std::nullopt;
        victim_terms terms{of.queue_priority, of.priority};
        terms.only_borrowed = true;
        return terms;
    }
    [[nodiscard]] friend bool operator==(reclaim_above_deserved, reclaim_above_deserved) = default;
};

/// Reclaims as KAI does, regardless of priority: for a gang whose queue stays within its deserved
/// amount, from queues above theirs; with `FairShares` also for a gang whose queue stays within its
/// fair share, from queues above theirs. Victims by priority.
template<bool FairShares>
struct reclaim_what_is_due {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    static constexpr bool by_fair_share = FairShares;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!by.queue || !of.queue || of.queue == by.queue || !of.queue_preemptible ||
            !of.preemptible)
            return std::nullopt;
        victim_terms terms{0, of.priority};
        terms.only_borrowed = true;
        terms.lenient = true;
        terms.by_fair_share = FairShares;
        return terms;
    }
    [[nodiscard]] friend bool operator==(reclaim_what_is_due, reclaim_what_is_due) = default;
};

/// Reclaims as Volcano's capacity does: for a gang whose queue stays within what it deserves of
/// some kind, from queues that use more than they deserve of some kind, and of no kind less that
/// they deserve and lose. Victims from the nearest queues first, then by priority. That queues
/// never take turns for ever is tested, not proven: `after_min_runtime` bounds how often they
/// could.
struct reclaim_between_leaves {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    /// Of queues above both that are looked at besides (Volcano: ancestorReclaimLevel).
    std::int64_t levels = 0;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t now) const noexcept {
        auto terms = reclaim_what_is_due<false>{}(by, of, now);
        if (terms) {
            terms->of_leaves = true;
            terms->levels = levels;
            terms->outer = -of.queues_in_common;
        }
        return terms;
    }
    [[nodiscard]] friend bool operator==(reclaim_between_leaves, reclaim_between_leaves) = default;
};

/// Takes as the gang's own queue says: of other queues that stand below one with it, while these
/// use more of some kind than they deserve and its own stays within what it deserves, or those that
/// go may be had by one that borrows, too; then in its own queue by priority, and by age where it
/// says so (Kueue, which looks at the kinds that are short alone, and lets a borrower have what
/// leaves another with less than it deserves: these two could take turns for ever). Victims of
/// others first, then by their priority. That queues never take turns for ever is tested, not
/// proven.
struct as_queues_say {
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
        if ((!lets(own ? by.within_queue : by.within_cohort, by, of) && !preemptor_may_borrow) ||
            (!own && (!of.queue_preemptible || of.queues_in_common == 0)))
            return std::nullopt;
        victim_terms terms{own ? 1 : 0, of.priority};
        terms.only_borrowed = !own;
        terms.lenient = !own;
        terms.preemptor_may_borrow = preemptor_may_borrow;
        return terms;
    }
    [[nodiscard]] friend bool operator==(as_queues_say, as_queues_say) = default;

private:
    [[nodiscard]] static bool lets(preemption_scope said, const gang_view& by,
                                   const gang_view& of) noexcept {
        switch (said) {
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

/// Evicts no pods, but nominates gangs to the room of terminating pods.
struct await_terminating {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view&, const gang_view&,
                                                         std::int64_t) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend bool operator==(await_terminating, await_terminating) = default;
};

/// Evicts no pods, but tries gangs with pod affinity a second time: a gang that started in the same
/// cycle may satisfy their terms.
struct retry_affinity {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    [[nodiscard]] bool spares_all() const noexcept { return true; }
    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view&, const gang_view&,
                                                         std::int64_t) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend bool operator==(retry_affinity, retry_affinity) = default;
};

/// What the first of these rules says that says anything.
template<victim_rule... Rules>
struct first_of {
    static constexpr bool none = (Rules::none && ...);
    static constexpr bool timeless = (Rules::timeless && ...);
    std::tuple<Rules...> rules{};

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t now) const noexcept {
        std::optional<victim_terms> said;
        std::apply([&](const Rules&... each) { ((said = each(by, of, now)) || ...); }, rules);
        return said;
    }
    [[nodiscard]] std::optional<std::int64_t> next_change(const gang_view& of,
                                                          std::int64_t now) const noexcept {
        std::optional<std::int64_t> first;
        const auto sooner = [&]<class Rule>(const Rule& each) {
            if constexpr (!Rule::timeless)
                if (const auto one = each.next_change(of, now); one && (!first || *one < *first))
                    first = one;
        };
        std::apply([&](const Rules&... each) { (sooner(each), ...); }, rules);
        return first;
    }
    [[nodiscard]] friend bool operator==(const first_of&, const first_of&) = default;
};

/// The same rule, which leaves a gang that has not run for as long as its queues say, or else for
/// `least`, its minima.
template<victim_rule Rule>
struct after_min_runtime {
    static constexpr bool none = Rule::none;
    static constexpr bool timeless = false;
    Rule rule{};
    /// In the caller's unit.
    std::int64_t least = 0;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t now) const noexcept {
        auto terms = rule(by, of, now);
        if (terms && still_young(of, now)) {
            if (terms->only_whole)
                return std::nullopt;
            terms->only_surplus = true;
        }
        return terms;
    }
    [[nodiscard]] std::optional<std::int64_t> next_change(const gang_view& of,
                                                          std::int64_t now) const noexcept {
        std::optional<std::int64_t> later;
        if constexpr (!Rule::timeless)
            later = rule.next_change(of, now);
        if (!still_young(of, now))
            return later;
        const std::int64_t grown = *of.since + of.min_runtime.value_or(least);
        return later ? std::min(*later, grown) : grown;
    }
    [[nodiscard]] friend bool operator==(const after_min_runtime&,
                                         const after_min_runtime&) = default;

private:
    [[nodiscard]] bool still_young(const gang_view& of, std::int64_t now) const noexcept {
        const std::int64_t runs = of.min_runtime.value_or(least);
        std::int64_t grown = 0;
        return of.since && runs > 0 && !__builtin_add_overflow(*of.since, runs, &grown) &&
               now < grown;
    }
};

/// The same rule, whose victims go in their order: of one level the newest first.
template<victim_rule Rule>
struct newest_first : Rule {
    static constexpr bool in_order = true;

    [[nodiscard]] friend bool operator==(const newest_first&, const newest_first&) = default;
};

/// The same rule, or consolidation rule, which serves gangs that have their minima, too: a member
/// more for each in a cycle, as KAI does.
template<victim_rule Rule>
struct for_surplus_too : Rule {
    static constexpr bool surplus_too = true;

    [[nodiscard]] friend bool operator==(const for_surplus_too&, const for_surplus_too&) = default;
};

/// The same rule, which takes gangs whole or not at all.
template<victim_rule Rule>
struct whole_gangs {
    static constexpr bool none = Rule::none;
    static constexpr bool timeless = Rule::timeless;
    Rule rule{};

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t now) const noexcept {
        auto terms = rule(by, of, now);
        if (terms && terms->only_surplus)
            return std::nullopt;
        if (terms)
            terms->only_whole = true;
        return terms;
    }
    [[nodiscard]] std::optional<std::int64_t> next_change(const gang_view& of,
                                                          std::int64_t now) const noexcept {
        return rule.next_change(of, now);
    }
    [[nodiscard]] friend bool operator==(const whole_gangs&, const whole_gangs&) = default;
};

} // namespace v0_1
} // namespace muster
