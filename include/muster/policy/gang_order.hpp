// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/policy/gang_order_concept.hpp>

namespace muster::inline v0_1 {

/// The higher priority first, then the older.
struct priority_then_age {
    static constexpr bool timeless = true;

    [[nodiscard]] constexpr bool operator()(gang_rank lhs, gang_rank rhs,
                                            std::int64_t) const noexcept {
        if (lhs.priority != rhs.priority)
            return lhs.priority > rhs.priority;
        return lhs.created < rhs.created;
    }
};

static_assert(gang_order<priority_then_age>);
static_assert(!gang_order<int>);

} // namespace muster::inline v0_1
