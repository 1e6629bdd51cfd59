// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/policy/domain_order_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Tries domains with fewer free resources first, so that domains with much free room remain for
/// large gangs.
struct most_packed {
    [[nodiscard]] constexpr bool operator()(const domain_rank& lhs,
                                            const domain_rank& rhs) const noexcept {
        return lhs.free < rhs.free;
    }
};

/// Tries domains with fewer nodes first, then those with fewer free resources, so that large
/// domains remain for gangs that need one.
struct smallest_first {
    [[nodiscard]] constexpr bool operator()(const domain_rank& lhs,
                                            const domain_rank& rhs) const noexcept {
        return lhs.nodes != rhs.nodes ? lhs.nodes < rhs.nodes : lhs.free < rhs.free;
    }
};

/// Tries domains in the order of the values of their labels.
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
