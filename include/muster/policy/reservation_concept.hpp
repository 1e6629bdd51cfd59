// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace muster {
inline namespace v0_1 {

/// Decides which gangs that wait for room or quota get reservations.
/// - `planned()`: the number of gangs, first in the order of turns, whose starts are planned from
///   the declared durations of running gangs. Later gangs may not delay a planned start.
/// - `max_bypasses()`: the number of gangs that may start ahead of a waiting gang before room is
///   reserved for it; absent = no limit. Room is reserved for one gang at a time.
template<class Rule>
concept reservation_rule = std::copyable<Rule> && std::equality_comparable<Rule> &&
    requires(const Rule rule) {
    { rule.planned() }
    noexcept->std::same_as<std::size_t>;
    { rule.max_bypasses() }
    noexcept->std::same_as<std::optional<std::int64_t>>;
};

} // namespace v0_1
} // namespace muster
