// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bench {

/// Gangs in a cluster of blocks and racks, asked for at the same fill: what they are told to stand
/// in together.
enum class togetherness {
    anywhere,
    /// In one rack, or they do not start.
    rack,
    /// In one block, and if possible in one rack.
    block_or_rack,
};

struct topology_report {
    std::size_t asked = 0;
    std::size_t started = 0;
    std::size_t refused = 0;
    double per_start_ns = 0.0;
    double per_pod_ns = 0.0;
    double per_refusal_ns = 0.0;
};

/// 5,000 nodes in 50 racks of 5 blocks. Every gang is one of one role; those that ran longest leave
/// while more than the share of all is in use. The times of single gangs are the least of `runs`
/// equal runs.
[[nodiscard]] topology_report measure_topology(togetherness how, double in_use, std::size_t gangs,
                                               std::size_t runs);

} // namespace bench
