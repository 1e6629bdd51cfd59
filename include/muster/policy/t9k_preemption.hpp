// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// The T9k scheduler's preemption. Victims are gangs of preemptible queues of strictly lower queue
/// priority. With `inside_queue`, gangs of strictly lower priority in the preemptor's own queue, if
/// it is preemptible, are victims as well. Victims are ordered by queue priority, then by gang
/// priority.
struct t9k_preemption {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    bool inside_queue = false;

    [[nodiscard]] std::optional<victim_terms>
    operator()(const gang_view& preemptor, const gang_view& victim, std::int64_t) const noexcept {
        if (!preemptor.queue || !victim.queue || !victim.queue_preemptible || !victim.preemptible)
            return std::nullopt;
        const bool own =
            inside_queue && victim.queue == preemptor.queue && victim.priority < preemptor.priority;
        if (!own && victim.queue_priority >= preemptor.queue_priority)
            return std::nullopt;
        return victim_terms{victim.queue_priority, victim.priority};
    }
    [[nodiscard]] friend bool operator==(t9k_preemption, t9k_preemption) = default;
};

} // namespace v0_1
} // namespace muster
