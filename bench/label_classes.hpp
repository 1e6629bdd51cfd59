// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "workload.hpp"

namespace bench {

/// Gangs that select one label class of many, found in the one tree of all nodes, and in a tree
/// that holds that class alone, which is what a tree per class would cost them.
struct label_class_options {
    workload_options work;
    /// Gangs asked before any is timed, and timed.
    std::size_t settle = 1500;
    std::size_t gangs = 1500;
    /// The least time of each gang.
    std::size_t repeats = 3;
};

struct label_class_cost {
    std::size_t pods = 0;
    double gang_p50_ns = 0.0;
    double ns_per_pod = 0.0;
    double release_ns_per_pod = 0.0;
};

struct label_class_report {
    label_class_cost one_tree;
    label_class_cost own_tree;
};

/// Fails the program unless both place every gang alike.
[[nodiscard]] label_class_report measure_label_classes(const label_class_options& options);

} // namespace bench
