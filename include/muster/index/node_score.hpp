// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/index/offered_node.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns the score of a node for a pod that fits it. A score is called with all of `offered`, or
/// with (weights, allocatable, free, request), or with (weights, free, request).
template<std::size_t Width, class Score>
[[nodiscard]] std::int64_t node_score(const Score& score,
                                      const offered_node<Width>& offered) noexcept {
    if constexpr (requires { score(offered); })
        return score(offered);
    else if constexpr (requires {
                           score(offered.weights, offered.capacity, offered.free, offered.request);
                       })
        return score(offered.weights, offered.capacity, offered.free, offered.request);
    else
        return score(offered.weights, offered.free, offered.request);
}

} // namespace v0_1
} // namespace muster
