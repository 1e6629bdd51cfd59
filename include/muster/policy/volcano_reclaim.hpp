// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// The rule of Volcano's capacity plugin: a gang reclaims while its queue stays within what it
/// deserves of some kind, from queues that use more than they deserve. The order of victims: the
/// queues with the most ancestors in common first, then priority of the gang. See
/// `reclaim_rule::volcano`. That two queues never evict each other for ever is tested, not proven;
/// `after_min_runtime` bounds how often they could.
struct volcano_reclaim {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    /// Levels of queues above both that are compared as well (Volcano: ancestorReclaimLevel).
    std::int64_t ancestor_levels = 0;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!by.queue || !of.queue || of.queue == by.queue || !of.queue_preemptible ||
            !of.preemptible)
            return std::nullopt;
        victim_terms terms{-of.queues_in_common, of.priority};
        terms.reclaim = reclaim_rule::volcano;
        terms.ancestor_levels = ancestor_levels;
        return terms;
    }
    [[nodiscard]] friend bool operator==(volcano_reclaim, volcano_reclaim) = default;
};

} // namespace v0_1
} // namespace muster
