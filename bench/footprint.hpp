// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace bench {

/// Bytes on the heap.
struct footprint_report {
    std::size_t nodes = 0;
    /// Of the index with its map from keys to nodes, as Muster tells.
    std::optional<double> index_per_node;
    /// What the first decision allocates on top of the nodes: the index, when nothing tells.
    std::optional<double> first_decision_per_node;
    /// The model without the index.
    std::optional<double> model_per_node;
    std::optional<double> model_per_pod;
    std::optional<double> model_per_gang;
};

template<std::size_t Width>
[[nodiscard]] footprint_report measure_footprint(std::size_t nodes);

} // namespace bench
