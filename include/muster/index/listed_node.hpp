// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/base/id.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A candidate node of a predicate in list form.
struct listed_node {
    std::int32_t preference = 0;
    std::int64_t rank = 0;
    std::uint64_t label = 0;
    node_index node;

    /// Returns whether `lhs` comes after `rhs`: an order for heaps whose top is the best node.
    [[nodiscard]] static bool after(const listed_node& lhs, const listed_node& rhs) noexcept {
        return lhs.preference != rhs.preference ? lhs.preference < rhs.preference
               : lhs.rank != rhs.rank           ? lhs.rank > rhs.rank
                                                : lhs.label > rhs.label;
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
