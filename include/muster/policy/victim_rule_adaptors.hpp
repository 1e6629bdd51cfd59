// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns the terms of the first of these rules that returns any.
template<victim_rule... Rules>
struct first_of {
    static constexpr bool none = (Rules::none && ...);
    static constexpr bool timeless = (Rules::timeless && ...);
    std::tuple<Rules...> rules{};

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& preemptor,
                                                         const gang_view& victim,
                                                         std::int64_t now) const noexcept {
        std::optional<victim_terms> terms;
        std::apply([&](const Rules&... rule) { ((terms = rule(preemptor, victim, now)) || ...); },
                   rules);
        return terms;
    }
    [[nodiscard]] std::optional<std::int64_t> next_change(const gang_view& victim,
                                                          std::int64_t now) const noexcept {
        std::optional<std::int64_t> first;
        const auto sooner = [&]<class Rule>(const Rule& rule) {
            if constexpr (!Rule::timeless)
                if (const auto next = rule.next_change(victim, now);
                    next && (!first || *next < *first))
                    first = next;
        };
        std::apply([&](const Rules&... rule) { (sooner(rule), ...); }, rules);
        return first;
    }
    [[nodiscard]] friend bool operator==(const first_of&, const first_of&) = default;
};

/// Adapts a rule: a gang that has not run for its minimum run time loses only surplus members. The
/// minimum run time is set by its queues or, if they set none, is `least`.
template<victim_rule Rule>
struct after_min_runtime {
    static constexpr bool none = Rule::none;
    static constexpr bool timeless = false;
    Rule rule{};
    /// Default minimum run time, in the caller's unit.
    std::int64_t least = 0;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& preemptor,
                                                         const gang_view& victim,
                                                         std::int64_t now) const noexcept {
        auto terms = rule(preemptor, victim, now);
        if (terms && still_young(victim, now)) {
            if (terms->only_whole)
                return std::nullopt;
            terms->only_surplus = true;
        }
        return terms;
    }
    [[nodiscard]] std::optional<std::int64_t> next_change(const gang_view& victim,
                                                          std::int64_t now) const noexcept {
        std::optional<std::int64_t> later;
        if constexpr (!Rule::timeless)
            later = rule.next_change(victim, now);
        if (!still_young(victim, now))
            return later;
        const std::int64_t grown = *victim.since + victim.min_runtime.value_or(least);
        return later ? std::min(*later, grown) : grown;
    }
    [[nodiscard]] friend bool operator==(const after_min_runtime&,
                                         const after_min_runtime&) = default;

private:
    [[nodiscard]] bool still_young(const gang_view& victim, std::int64_t now) const noexcept {
        const std::int64_t runs = victim.min_runtime.value_or(least);
        std::int64_t grown = 0;
        return victim.since && runs > 0 && !__builtin_add_overflow(*victim.since, runs, &grown) &&
               now < grown;
    }
};

/// Adapts a rule: victims are evicted strictly in their order, within a level the newest first.
template<victim_rule Rule>
struct newest_first : Rule {
    static constexpr bool in_order = true;

    [[nodiscard]] friend bool operator==(const newest_first&, const newest_first&) = default;
};

/// Adapts a victim or consolidation rule: it also makes room for surplus of gangs that meet their
/// minima, one member per gang and cycle, as KAI does.
template<victim_rule Rule>
struct for_surplus_too : Rule {
    static constexpr bool surplus_too = true;

    [[nodiscard]] friend bool operator==(const for_surplus_too&, const for_surplus_too&) = default;
};

/// Adapts a rule: a gang is evicted whole or not at all.
template<victim_rule Rule>
struct whole_gangs {
    static constexpr bool none = Rule::none;
    static constexpr bool timeless = Rule::timeless;
    Rule rule{};

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& preemptor,
                                                         const gang_view& victim,
                                                         std::int64_t now) const noexcept {
        auto terms = rule(preemptor, victim, now);
        if (terms && terms->only_surplus)
            return std::nullopt;
        if (terms)
            terms->only_whole = true;
        return terms;
    }
    [[nodiscard]] std::optional<std::int64_t> next_change(const gang_view& victim,
                                                          std::int64_t now) const noexcept {
        return rule.next_change(victim, now);
    }
    [[nodiscard]] friend bool operator==(const whole_gangs&, const whole_gangs&) = default;
};

} // namespace v0_1
} // namespace muster
