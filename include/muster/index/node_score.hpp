// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/index/offered_node.hpp>

namespace muster {
inline namespace v0_1 {

/// What a score says of a node for a pod that fits it. A score takes all of `offered`, or of it the
/// weights, what the node has, what is free, and the request, or the same without what it has.
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
