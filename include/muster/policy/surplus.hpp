// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/policy/surplus_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// A gang that starts or runs gets all surplus members that fit before other gangs have a turn.
struct surplus_at_once {
    static constexpr bool own_turn = false;

    [[nodiscard]] constexpr surplus_request per_turn() const noexcept { return {}; }
    [[nodiscard]] friend constexpr bool operator==(surplus_at_once,
                                                   surplus_at_once) noexcept = default;
};

/// Surplus is placed in separate turns of `most` members each. With an order such as
/// `minima_first`, gangs below their minima precede it. KAI and Volcano do this with one member at
/// a time.
struct surplus_in_turn {
    static constexpr bool own_turn = true;

    std::int64_t most = 1;
    /// The subgroup that has least for what it needs goes first.
    bool level = false;

    [[nodiscard]] constexpr surplus_request per_turn() const noexcept { return {most, level}; }
    [[nodiscard]] friend constexpr bool operator==(surplus_in_turn,
                                                   surplus_in_turn) noexcept = default;
};

static_assert(surplus_rule<surplus_at_once> && surplus_rule<surplus_in_turn>);
static_assert(!surplus_rule<int>);

} // namespace v0_1
} // namespace muster
