// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/policy/domain_order_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// The fullest domain that still takes the gang: large holes stay for large gangs.
struct most_packed {
    [[nodiscard]] constexpr bool operator()(const domain_rank& lhs,
                                            const domain_rank& rhs) const noexcept {
        return lhs.free < rhs.free;
    }
};

/// The domain with the fewest nodes, then the fullest: large domains stay for gangs that need one.
struct smallest_first {
    [[nodiscard]] constexpr bool operator()(const domain_rank& lhs,
                                            const domain_rank& rhs) const noexcept {
        return lhs.nodes != rhs.nodes ? lhs.nodes < rhs.nodes : lhs.free < rhs.free;
    }
};

/// In the order of the labels' values.
struct as_labelled {
    [[nodiscard]] constexpr bool operator()(const domain_rank&, const domain_rank&) const noexcept {
        return false;
    }
};

static_assert(domain_order<most_packed> && domain_order<smallest_first> &&
              domain_order<as_labelled>);
static_assert(!domain_order<int>);

} // namespace v0_1
} // namespace muster
