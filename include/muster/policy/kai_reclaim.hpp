// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// KAI's reclaim between queues. A gang reclaims from another queue while its own queue stays
/// within its deserved amount and the other queue uses more than its deserved amount. Gang
/// priorities do not matter for whether a gang is a victim. With `FairShares`, the fair shares of
/// the queues count as well. Victims are ordered by the priority of their gang. See
/// `reclaim_rule::kai` and `reclaim_rule::kai_fair_share`.
template<bool FairShares>
struct kai_reclaim {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    static constexpr bool by_fair_share = FairShares;

    [[nodiscard]] std::optional<victim_terms>
    operator()(const gang_view& preemptor, const gang_view& victim, std::int64_t) const noexcept {
        if (!preemptor.queue || !victim.queue || victim.queue == preemptor.queue ||
            !victim.queue_preemptible || !victim.preemptible)
            return std::nullopt;
        victim_terms terms{0, victim.priority};
        terms.reclaim = FairShares ? reclaim_rule::kai_fair_share : reclaim_rule::kai;
        return terms;
    }
    [[nodiscard]] friend bool operator==(kai_reclaim, kai_reclaim) = default;
};

} // namespace v0_1
} // namespace muster
