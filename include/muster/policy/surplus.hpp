// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/policy/surplus_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Places all surplus members that fit before other gangs have a turn.
struct surplus_at_once {
    static constexpr bool own_turn = false;

    [[nodiscard]] constexpr surplus_request per_turn() const noexcept { return {}; }
    [[nodiscard]] friend constexpr bool operator==(surplus_at_once,
                                                   surplus_at_once) noexcept = default;
};

/// Places surplus in separate turns of `most` members each. With an order such as `minima_first`,
/// gangs below their minima precede these turns. KAI and Volcano do this with one member per turn.
struct surplus_in_turn {
    static constexpr bool own_turn = true;

    std::int64_t most = 1;
    /// Each member goes to the subgroup that meets the smallest part of its minimum.
    bool level = false;

    [[nodiscard]] constexpr surplus_request per_turn() const noexcept { return {most, level}; }
    [[nodiscard]] friend constexpr bool operator==(surplus_in_turn,
                                                   surplus_in_turn) noexcept = default;
};

static_assert(surplus_rule<surplus_at_once> && surplus_rule<surplus_in_turn>);
static_assert(!surplus_rule<int>);

} // namespace v0_1
} // namespace muster
