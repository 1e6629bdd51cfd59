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

/// From gangs of strictly lower priority: of the gang's own queue, or with `any_queue` of all.
struct priority_preemption {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    bool any_queue = false;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!of.preemptible || of.priority >= by.priority ||
            (of.queue != by.queue && (!any_queue || !of.queue_preemptible)))
            return std::nullopt;
        return victim_terms{0, of.priority};
    }
    [[nodiscard]] friend bool operator==(priority_preemption, priority_preemption) = default;
};

/// What another queue uses beyond what it deserves, for a gang whose queue stays within what it
/// deserves itself. Victims by the priority of their queue, then by their own.
struct reclaim_above_deserved {
    static constexpr bool none = false;
    static constexpr bool timeless = true;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!by.queue || !of.queue || of.queue == by.queue || !of.queue_preemptible ||
            !of.preemptible)
            return std::nullopt;
        victim_terms terms{of.queue_priority, of.priority};
        terms.reclaim = reclaim_rule::above_deserved;
        return terms;
    }
    [[nodiscard]] friend bool operator==(reclaim_above_deserved, reclaim_above_deserved) = default;
};

/// Evicts no pods, but nominates gangs to the room of terminating pods.
struct await_terminating {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view&, const gang_view&,
                                                         std::int64_t) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend bool operator==(await_terminating, await_terminating) = default;
};

/// Evicts no pods, but tries gangs with pod affinity a second time: a gang that started in the same
/// cycle may satisfy their terms.
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
