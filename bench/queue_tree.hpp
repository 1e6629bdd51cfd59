// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// Gangs that wait in the leaves of a tree of queues, three levels deep.
struct queue_tree_options {
    std::size_t nodes = 10000;
    std::size_t pending = 10000;
    /// Children of each queue, on each level: the leaves are the cube of it.
    std::size_t fan_out = 10;
    /// Cycles measured of each kind.
    std::size_t rounds = 31;
};

struct queue_tree_report {
    std::string order;
    std::size_t leaves = 0;
    std::size_t pods = 0;
    /// All that wait start in one cycle: in the tree, and with all of them in one queue.
    double all_start_ns = 0.0;
    double all_start_one_queue_ns = 0.0;
    /// As many wait that fit nowhere: the middle cycle after one more came, and after a gang left.
    double arrival_cycle_ns = 0.0;
    double released_cycle_ns = 0.0;
    /// The same with all of them in one queue.
    double arrival_cycle_one_queue_ns = 0.0;
    double released_cycle_one_queue_ns = 0.0;
};

/// One report for each order of queues that is built in.
[[nodiscard]] std::vector<queue_tree_report> run_queue_tree(const queue_tree_options& options);

} // namespace bench
