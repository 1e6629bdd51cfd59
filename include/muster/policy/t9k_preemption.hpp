// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// The rule of the T9k scheduler. Victims are gangs of preemptible queues of strictly lower queue
/// priority and, with `inside_queue`, gangs of strictly lower priority in the gang's own queue. The
/// order of victims: priority of the queue, then priority of the gang.
struct t9k_preemption {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    bool inside_queue = false;

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t) const noexcept {
        if (!by.queue || !of.queue || !of.queue_preemptible || !of.preemptible)
            return std::nullopt;
        const bool own = inside_queue && of.queue == by.queue && of.priority < by.priority;
        if (!own && of.queue_priority >= by.queue_priority)
            return std::nullopt;
        return victim_terms{of.queue_priority, of.priority};
    }
    [[nodiscard]] friend bool operator==(t9k_preemption, t9k_preemption) = default;
};

} // namespace v0_1
} // namespace muster
