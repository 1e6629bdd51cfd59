// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace muster {
inline namespace v0_1 {

/// Steps for the exact search: what it lists, weighs, exchanges and branches counts, a step for a
/// nanosecond of work or a few. They are steps and never time, so that an answer does not depend on
/// the machine.
///
/// One small search has a bound of its own beside it: the one for a surplus subgroup (2^18 steps).
struct budget {
    /// For one gang, and again as many for the question whether it could ever start.
    std::int64_t per_gang = std::int64_t{1} << 21;
    /// For all gangs of one cycle, and for the check of quotas at its end. Gangs that the budget
    /// does not reach come first in the next cycle, the longest-waiting gang first.
    std::int64_t per_cycle = std::int64_t{1} << 27;
};

} // namespace v0_1
} // namespace muster
