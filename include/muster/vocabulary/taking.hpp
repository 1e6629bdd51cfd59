// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace muster {
inline namespace v0_1 {

/// Of which gangs a queue lets its own take room, where the policy leaves that to queues
/// (`as_queues_say`).
enum class taking : std::uint8_t {
    nobody,
    /// Of strictly lower priority.
    lower_priority,
    /// Likewise, and of the same priority and newer.
    lower_or_newer,
    anybody,
};

} // namespace v0_1
} // namespace muster
