// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

namespace muster {
inline namespace v0_1 {

/// How much of a gang's surplus to place, and whose first.
struct surplus_request {
    static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

    /// Members at most; a subgroup that may stay away comes whole all the same.
    std::int64_t most = all;
    /// Every member goes to the subgroup that has least for what it needs; otherwise subgroups are
    /// served one after the other.
    bool level = false;

    [[nodiscard]] friend constexpr bool operator==(surplus_request,
                                                   surplus_request) noexcept = default;
};

/// When members beyond a gang's minima are placed: right behind the minima (`own_turn` is false),
/// or in turns of their own, in which the gang waits again, with `gang_rank::surplus`, and
/// `per_turn()` is placed. A rule that is a choice between both says it of itself:
/// `rule.takes_turns()`. Never decides whether a gang starts.
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

/// Surplus has turns of its own.
template<surplus_rule Rule>
[[nodiscard]] constexpr bool surplus_takes_turns(const Rule& rule) noexcept {
    if constexpr (requires { Rule::own_turn; })
        return Rule::own_turn;
    else
        return rule.takes_turns();
}

} // namespace v0_1
} // namespace muster
