// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/base/id.hpp>
#include <muster/index/weights.hpp>
#include <muster/model/ledger.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// What a score says of a node for a request that fits it. Scores that look at what the node has
/// take that before what is free of it.
template<std::size_t Width, class Score>
[[nodiscard]] std::int64_t node_score(const Score& score, const placement_weights<Width>& weights,
                                      const ledger<Width>& accounts, node_index node,
                                      const resources<Width>& request) noexcept {
    const resources<Width>& free = accounts.free(node);
    if constexpr (requires { score(weights, accounts.allocatable(node), free, request); })
        return score(weights, accounts.allocatable(node), free, request);
    else
        return score(weights, free, request);
}

} // namespace v0_1
} // namespace muster
