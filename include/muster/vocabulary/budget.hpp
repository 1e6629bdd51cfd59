// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace muster {
inline namespace v0_1 {

/// Step limits of the exact search. A step is a few nanoseconds of work. Limits are steps and not
/// time, so that answers do not depend on the machine. (The search for a surplus subgroup has a
/// limit of its own: 2^18 steps.)
struct budget {
    /// For one gang, and once more to decide whether it could ever start.
    std::int64_t per_gang = std::int64_t{1} << 21;
    /// For all gangs of one cycle, and for the check of quotas at its end. Gangs that the budget
    /// does not reach come first in the next cycle, longest-waiting first.
    std::int64_t per_cycle = std::int64_t{1} << 27;
};

} // namespace v0_1
} // namespace muster
