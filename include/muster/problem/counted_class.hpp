// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/problem/members.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Computes what the gang requests for its minima: exactly, if `needs` has the number of each
/// class, otherwise an upper bound. Returns false if the sum exceeds int64. O(classes × width).
template<std::size_t Width>
[[nodiscard]] bool need_of(const gang_members<Width>& members,
                           const detail::sequence<std::int64_t>* needs, resources<Width>& amount) {
    amount = {};
    for (std::size_t at = 0; at < members.classes.size(); ++at)
        for (std::size_t column = 0; column < Width; ++column) {
            std::int64_t part = 0;
            const std::int64_t count = needs ? (*needs)[at] : members.classes[at].waiting();
            if (__builtin_mul_overflow(members.classes[at].request[column], count, &part) ||
                !checked_add(amount[column], part, amount[column]))
                return false;
        }
    return true;
}

/// Returns the class whose room alone decides whether the gang fits the nodes, if there is one.
template<class Traits>
[[nodiscard]] std::optional<std::size_t>
counted_class(const cluster_state<Traits>& cluster, gang_index which,
              const gang_members<Traits::width>& members,
              const detail::sequence<std::int64_t>* needs) {
    if (!needs || !cluster[which].together.empty() ||
        detail::affinity_effect_on(cluster, members) == detail::affinity_effect::required)
        return std::nullopt;
    std::optional<std::size_t> only;
    for (std::size_t at = 0; at < needs->size(); ++at) {
        if ((*needs)[at] == 0)
            continue;
        if (only || !members.classes[at].claims->empty())
            return std::nullopt;
        only = at;
    }
    return only;
}

} // namespace v0_1
} // namespace muster
