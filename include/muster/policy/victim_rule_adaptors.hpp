// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

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
