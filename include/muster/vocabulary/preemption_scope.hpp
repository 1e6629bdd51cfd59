// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace muster {
inline namespace v0_1 {

/// Which gangs the gangs of a queue may preempt, if the policy leaves that to queues
/// (`kueue_preemption`).
enum class preemption_scope : std::uint8_t {
    never,
    /// Gangs of strictly lower priority.
    lower_priority,
    /// Gangs of lower priority, and newer gangs of equal priority.
    lower_or_newer_equal,
    any,
};

} // namespace v0_1
} // namespace muster
