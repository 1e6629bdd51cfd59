// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bench {

/// What `near_capacity.hpp` has to give for one number of roles and of contended nodes:
///   std::vector<near_capacity_report> measure_near_capacity(bool quick);
struct near_capacity_report {
    std::size_t roles = 0;
    std::size_t nodes = 0;
    std::size_t asked = 0;
    /// Answered by a placement or a checked proof; and those of them within a millisecond.
    std::size_t decided = 0;
    std::size_t decided_in_a_millisecond = 0;
    double p50_ns = 0.0;
    double p99_ns = 0.0;
};

} // namespace bench
