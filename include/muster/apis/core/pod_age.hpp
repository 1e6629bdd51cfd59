// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// When a pod is as old as its T9k queue lets pods get (maxDuration): its birth and `longest`
/// later, in nanoseconds. Nothing for pods as important as the system's own, which may get any age,
/// and where int64 has no such time.
[[nodiscard]] constexpr std::optional<std::int64_t>
end_of_pod(std::int64_t created, std::int64_t longest, std::int64_t priority) noexcept {
    constexpr std::int64_t system_cluster_critical = 2'000'000'000;
    if (priority >= system_cluster_critical ||
        created > std::numeric_limits<std::int64_t>::max() - longest)
        return std::nullopt;
    return created + longest;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
