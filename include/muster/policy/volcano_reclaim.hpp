// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Reclaim of Volcano's capacity plugin. A gang whose queue stays within its deserved amount of
/// some kind reclaims from queues that use more than their deserved amounts. Victims are ordered by
/// queue, those with the most ancestors in common with the preemptor's first, then by gang
/// priority. See `reclaim_rule::volcano`. Tests show that two queues do not evict each other
/// forever, but there is no proof; `after_min_runtime` bounds how often they could.
struct volcano_reclaim {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    /// Number of levels above both queues that are compared as well (Volcano:
    /// ancestorReclaimLevel).
    std::int64_t ancestor_levels = 0;

    [[nodiscard]] std::optional<victim_terms>
    operator()(const gang_view& preemptor, const gang_view& victim, std::int64_t) const noexcept {
        if (!preemptor.queue || !victim.queue || victim.queue == preemptor.queue ||
            !victim.queue_preemptible || !victim.preemptible)
            return std::nullopt;
        victim_terms terms{-victim.queues_in_common, victim.priority};
        terms.reclaim = reclaim_rule::volcano;
        terms.ancestor_levels = ancestor_levels;
        return terms;
    }
    [[nodiscard]] friend bool operator==(volcano_reclaim, volcano_reclaim) = default;
};

} // namespace v0_1
} // namespace muster
