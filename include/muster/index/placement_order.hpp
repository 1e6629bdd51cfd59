// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>

namespace muster {
inline namespace v0_1 {

/// An order of nodes that depends on nothing but their keys and what is free on them by the
/// cluster's weights, so that an index can keep it.
enum class placement_order : std::uint8_t {
    /// Least free first: a node that takes one pod is then the best for the next equal one.
    most_allocated,
    /// Most free first: a node that takes one pod gives way to others.
    least_allocated,
    by_key,
};

/// A score that is such an order, and says which. The index believes it: the order must rank nodes
/// as the score's own values do, ties by key.
template<class Score>
concept ordered_score = requires {
    { Score::order } -> std::convertible_to<placement_order>;
};

/// A score that is such an order or not by its value: `kept_order()` says which, or nothing. The
/// index believes it as it believes an `ordered_score`.
template<class Score>
concept maybe_ordered_score = requires(const Score score) {
    { score.kept_order() }
    noexcept->std::same_as<std::optional<placement_order>>;
};

/// The order that the score is, if it is one.
template<class Score>
[[nodiscard]] constexpr std::optional<placement_order> kept_order(const Score& score) noexcept {
    if constexpr (ordered_score<Score>)
        return Score::order;
    else if constexpr (maybe_ordered_score<Score>)
        return score.kept_order();
    else
        return std::nullopt;
}

/// A node that takes one pod is the best for the next equal one, for as long as it has room.
template<class Score>
[[nodiscard]] constexpr bool fills_nodes(const Score& score) noexcept {
    const auto order = kept_order(score);
    return order && *order != placement_order::least_allocated;
}

/// Equal pods that go to one node.
struct node_run {
    node_index node;
    std::int64_t count = 0;
};

} // namespace v0_1
} // namespace muster
