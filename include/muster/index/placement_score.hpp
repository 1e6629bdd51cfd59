// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <muster/index/offered_node.hpp>
#include <muster/index/weights.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// A score that also reads the allocatable amounts of the node.
template<class Score, std::size_t Width>
concept capacity_score = requires(const Score score, const placement_weights<Width>& weights,
                                  const resources<Width>& capacity, const resources<Width>& free,
                                  const resources<Width>& request) {
    { score(weights, capacity, free, request) }
    noexcept->std::same_as<std::int64_t>;
};

/// A score that also reads the pod and its gang.
template<class Score, std::size_t Width>
concept pod_score = requires(const Score score, const offered_node<Width>& offered) {
    { score(offered) }
    noexcept->std::same_as<std::int64_t>;
};

/// Rates a node for a request that fits it. The highest score wins; ties go to the node whose key
/// comes first. A score is a small value type. An `ordered_score` is served by the index, any other
/// by reading every node. A score with data members needs `==`: a cycle reuses its results for
/// scores that compare equal, and without `==` it rebuilds them in every call.
template<class Score, std::size_t Width>
concept placement_score = std::copyable<Score> &&
    (capacity_score<Score, Width> || pod_score<Score, Width> ||
     requires(const Score score, const placement_weights<Width>& weights,
              const resources<Width>& free, const resources<Width>& request) {
         { score(weights, free, request) }
         noexcept->std::same_as<std::int64_t>;
     });

} // namespace v0_1
} // namespace muster
