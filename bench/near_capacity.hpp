// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace bench {

/// What a cycle does with gangs at the edge of what fits, for one number of roles and of nodes.
/// Every answer is checked by code that shares nothing with what gave it; a wrong one ends the run.
struct near_capacity_report {
    std::size_t roles = 0;
    std::size_t nodes = 0;
    std::size_t asked = 0;
    /// Started, or refused with a proof; and those of them within a millisecond.
    std::size_t decided = 0;
    std::size_t decided_in_a_millisecond = 0;
    /// Members of the largest gang that starts, on average.
    std::size_t members = 0;
    /// Of one cycle.
    double p50_ns = 0.0;
    double p99_ns = 0.0;
    /// Of the same cycles per member asked for.
    double per_member_ns = 0.0;
};

/// Two or three roles that compete for every node, in 16, 64 and 256 nodes.
[[nodiscard]] std::vector<near_capacity_report> measure_near_capacity(bool quick);

} // namespace bench
