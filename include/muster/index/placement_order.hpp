// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>

namespace muster {
inline namespace v0_1 {

/// An order of nodes that depends only on their keys and on the weighted sum of their free amounts,
/// so that an index can maintain it.
enum class placement_order : std::uint8_t {
    /// Least free first: the node that takes one pod is then also the best for the next equal pod.
    most_allocated,
    /// Most free first: the node that takes one pod may no longer be the best.
    least_allocated,
    by_key,
};

/// A score whose type says which order it is. The index does not check it: the order must rank
/// nodes as the score's own values do, with ties broken by key.
template<class Score>
concept ordered_score = requires {
    { Score::order } -> std::convertible_to<placement_order>;
};

/// A score whose value says whether it is an order of nodes: `kept_order()` returns the order, or
/// nothing. The index does not check it.
template<class Score>
concept maybe_ordered_score = requires(const Score score) {
    { score.kept_order() }
    noexcept->std::same_as<std::optional<placement_order>>;
};

/// Returns the order of nodes that the score is, or nothing.
template<class Score>
[[nodiscard]] constexpr std::optional<placement_order> kept_order(const Score& score) noexcept {
    if constexpr (ordered_score<Score>)
        return Score::order;
    else if constexpr (maybe_ordered_score<Score>)
        return score.kept_order();
    else
        return std::nullopt;
}

/// Returns true if the node that takes one pod is the best for the next equal pod as long as it has
/// room.
template<class Score>
[[nodiscard]] constexpr bool fills_nodes(const Score& score) noexcept {
    const auto order = kept_order(score);
    return order && *order != placement_order::least_allocated;
}

/// A number of equal pods that are placed on one node.
struct node_run {
    node_index node;
    std::int64_t count = 0;
};

} // namespace v0_1
} // namespace muster
