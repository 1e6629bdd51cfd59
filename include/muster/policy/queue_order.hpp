// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/policy/queue_order_concept.hpp>

namespace muster::inline v0_1 {

/// The higher priority first, then the smaller dominant share.
struct priority_then_share {
    [[nodiscard]] constexpr bool operator()(queue_rank lhs, queue_rank rhs) const noexcept {
        if (lhs.priority != rhs.priority)
            return lhs.priority > rhs.priority;
        return lhs.dominant < rhs.dominant;
    }
};

static_assert(queue_order<priority_then_share>);
static_assert(!queue_order<int>);

} // namespace muster::inline v0_1
