// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Evicts no pods.
struct no_eviction {
    static constexpr bool none = true;
    static constexpr bool timeless = true;
    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view&, const gang_view&,
                                                         std::int64_t) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend bool operator==(no_eviction, no_eviction) = default;
};

/// Evicts pods of gangs of strictly lower priority in the preemptor's own queue and, with
/// `any_queue`, also in other queues that are preemptible.
struct priority_preemption {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    bool any_queue = false;

    [[nodiscard]] std::optional<victim_terms>
    operator()(const gang_view& preemptor, const gang_view& victim, std::int64_t) const noexcept {
        if (!victim.preemptible || victim.priority >= preemptor.priority ||
            (victim.queue != preemptor.queue && (!any_queue || !victim.queue_preemptible)))
            return std::nullopt;
        return victim_terms{0, victim.priority};
    }
    [[nodiscard]] friend bool operator==(priority_preemption, priority_preemption) = default;
};

/// Evicts pods of other queues that use more than their deserved amounts, for a gang whose own
/// queue stays within its deserved amount. Victims are ordered by queue priority, then by gang
/// priority. See `reclaim_rule::above_deserved`.
struct reclaim_above_deserved {
    static constexpr bool none = false;
    static constexpr bool timeless = true;

    [[nodiscard]] std::optional<victim_terms>
    operator()(const gang_view& preemptor, const gang_view& victim, std::int64_t) const noexcept {
        if (!preemptor.queue || !victim.queue || victim.queue == preemptor.queue ||
            !victim.queue_preemptible || !victim.preemptible)
            return std::nullopt;
        victim_terms terms{victim.queue_priority, victim.priority};
        terms.reclaim = reclaim_rule::above_deserved;
        return terms;
    }
    [[nodiscard]] friend bool operator==(reclaim_above_deserved, reclaim_above_deserved) = default;
};

/// Evicts no pods, but nominates gangs to nodes that terminating pods will leave.
struct await_terminating {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view&, const gang_view&,
                                                         std::int64_t) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend bool operator==(await_terminating, await_terminating) = default;
};

/// Evicts no pods, but tries gangs with pod affinity a second time, because a gang that started in
/// the same cycle may satisfy their terms.
struct retry_affinity {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    [[nodiscard]] bool spares_all() const noexcept { return true; }
    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view&, const gang_view&,
                                                         std::int64_t) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend bool operator==(retry_affinity, retry_affinity) = default;
};

} // namespace v0_1
} // namespace muster
