// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// The rule of KAI between queues, which ignores the priorities of gangs: a gang reclaims from
/// another queue while the queue of the gang stays within what it deserves and the other queue uses
/// more than it deserves. With `FairShares`, the fair shares of the queues count as well. The order
/// of victims: priority of the gang. See `reclaim_rule::kai`.
template<bool FairShares>
struct kai_reclaim {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    static constexpr bool by_fair_share = FairShares;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!by.queue || !of.queue || of.queue == by.queue || !of.queue_preemptible ||
            !of.preemptible)
            return std::nullopt;
        victim_terms terms{0, of.priority};
        terms.reclaim = FairShares ? reclaim_rule::kai_fair_share : reclaim_rule::kai;
        return terms;
    }
    [[nodiscard]] friend bool operator==(kai_reclaim, kai_reclaim) = default;
};

} // namespace v0_1
} // namespace muster
