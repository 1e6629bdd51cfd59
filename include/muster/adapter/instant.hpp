// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Spans of time are nanoseconds.
inline constexpr std::int64_t millisecond = 1'000'000;
inline constexpr std::int64_t second = 1'000 * millisecond;
inline constexpr std::int64_t minute = 60 * second;

/// A time that never comes.
inline constexpr std::int64_t never_comes = std::numeric_limits<std::int64_t>::max();

/// When it is. All waiting, all deadlines and leadership go by `steady`, which nobody can set;
/// `wall` is what decisions compare creation times and declared durations with.
struct instant {
    /// Since some moment in the past; never goes back.
    std::int64_t steady = 0;
    /// In the unit of the times that objects carry; may jump.
    std::int64_t wall = 0;

    [[nodiscard]] friend bool operator==(const instant&, const instant&) = default;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
