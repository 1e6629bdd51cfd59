// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/cluster/ledger.hpp>
#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns how many pods of this request the queue and its ancestors still admit, at most `most`.
/// O(depth × width).
template<std::size_t Width>
[[nodiscard]] std::int64_t quota_room(const ledger<Width>& accounts,
                                      std::optional<queue_charge> queue,
                                      const resources<Width>& request, std::int64_t most) {
    if (!queue)
        return most;
    const auto& queues = accounts.queues();
    // Limits the result so that sums stay within int64, whatever the ceilings are.
    const resources<Width> claimed = queues.claimed(queues.root(*queue));
    const limits<Width> ceilings = queues.headroom(*queue);
    for (std::size_t column = 0; column < Width; ++column) {
        const kind_id kind{column};
        if (request[kind] == 0)
            continue;
        std::int64_t left = std::numeric_limits<std::int64_t>::max() - claimed[kind];
        if (const auto top = ceilings[kind])
            left = std::min(left, *top);
        // A product costs less than a quotient, and usually only one kind is short.
        std::int64_t total = 0;
        if (__builtin_mul_overflow(request[kind], most, &total) || total > left)
            most = left / request[kind];
    }
    return most;
}

} // namespace v0_1
} // namespace muster
