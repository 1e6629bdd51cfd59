// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

namespace muster {
inline namespace v0_1 {

/// How many surplus members of a gang to place, and in which subgroups first.
struct surplus_request {
    static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

    /// Maximum number of members. A subgroup below its minima is placed with all its minima at
    /// once, even if that exceeds the maximum.
    std::int64_t most = all;
    /// Each member goes to the subgroup that meets the smallest part of its minimum; otherwise
    /// subgroups are served one after the other.
    bool level = false;

    [[nodiscard]] friend constexpr bool operator==(surplus_request,
                                                   surplus_request) noexcept = default;
};

/// Decides when members beyond a gang's minima are placed. If `own_turn` is false: right after the
/// minima. If it is true: in separate turns of the gang, ranked with `gang_rank::surplus`; each
/// turn places `per_turn()`. A rule chosen at run time has `rule.takes_turns()` instead of
/// `own_turn`. The rule never affects whether a gang starts.
template<class Rule>
concept surplus_rule = std::copyable<Rule> && requires(const Rule rule) {
    { rule.per_turn() }
    noexcept->std::same_as<surplus_request>;
    requires requires {
        { Rule::own_turn } -> std::convertible_to<bool>;
    } || requires {
        { rule.takes_turns() } -> std::same_as<bool>;
    };
};

/// True if surplus is placed in separate turns.
template<surplus_rule Rule>
[[nodiscard]] constexpr bool surplus_takes_turns(const Rule& rule) noexcept {
    if constexpr (requires { Rule::own_turn; })
        return Rule::own_turn;
    else
        return rule.takes_turns();
}

} // namespace v0_1
} // namespace muster
