// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cluster.hpp"
#include "trace.hpp"
#include "workload.hpp"

namespace bench {

/// Fills a cluster to the utilisation, then lets the oldest gang go whenever it is reached, and
/// for every gang that is refused, and times every gang that is asked.
struct churn_options {
    workload_options work;
    double utilisation = 0.8;
    std::size_t gangs = 3000;
    /// The same run so many times: the least time per gang, the middle one of the totals.
    std::size_t repeats = 3;
    /// Gangs that A and A2 are asked; 0 = they are left out.
    std::size_t naive_gangs = 0;
    std::size_t flat_gangs = 0;
    /// Gangs that A without plugin calls is asked.
    std::size_t inlined_gangs = 0;
};

struct churn_report {
    churn_options asked;
    placement_rule rule = placement_rule::best_fit;
    /// The mean of what was in use when gangs were asked.
    double utilisation = 0.0;
    std::size_t gangs = 0;
    std::size_t pods = 0;
    std::size_t refused = 0;
    std::size_t undecided = 0;
    /// All gangs asked, those refused among them.
    double total_ns = 0.0;
    double ns_per_pod = 0.0;
    /// Of gangs asked.
    double gang_p50_ns = 0.0;
    double gang_p99_ns = 0.0;
    double gang_longest_ns = 0.0;
    /// Of gangs of 7 to 10 pods that start.
    double usual_gang_p50_ns = 0.0;
    /// Of gangs refused; none of them was asked before.
    double refused_mean_ns = 0.0;
    double submit_ns_per_pod = 0.0;
    double release_ns_per_pod = 0.0;
    replay_report naive;
    replay_report flat;
    replay_report inlined;
};

/// Defined only where Muster is compiled for such a cluster and rule: that takes long.
template<std::size_t Width, placement_rule Rule = placement_rule::best_fit>
[[nodiscard]] churn_report run_churn(const churn_options& options);

/// All gangs of the shape, one after the other, onto the empty cluster.
[[nodiscard]] churn_report run_uniform(const uniform_shape& shape, std::size_t repeats);

} // namespace bench
