// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace muster::inline v0_1 {

/// Says which of the gangs that wait for room or quota have some kept for them.
///  - `planned()`: for how many gangs, the first ones of a cycle in the order of turns, a start is
///    planned from the declared durations of what runs. Nobody behind may delay a planned start.
///  - `patience()`: after how many gangs have started that stood behind it, a gang has room kept
///    for it, whenever that will be free; absent = never. One gang at a time.
template<class Rule>
concept reservation_rule = std::copyable<Rule> && std::equality_comparable<Rule> &&
    requires(const Rule rule) {
    { rule.planned() }
    noexcept->std::same_as<std::size_t>;
    { rule.patience() }
    noexcept->std::same_as<std::optional<std::int64_t>>;
};

} // namespace muster::inline v0_1
