// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

#include <muster/base/any_value.hpp>
#include <muster/base/checked.hpp>

namespace muster {
inline namespace v0_1 {

/// The input of an order of domains, computed for each gang with a topology constraint.
struct domain_rank {
    /// Number of nodes in the domain.
    std::size_t nodes = 0;
    /// Weighted sum of the free resources of its nodes, by the cluster's weights. A negative free
    /// amount of a node counts as 0.
    int128 free = 0;
};

/// A strict weak order of domains of one level: the first domain is tried first. Ties are broken by
/// the values of the domains' labels.
template<class Order>
concept domain_order = std::copyable<Order> && requires(const Order before, domain_rank lhs) {
    { before(lhs, lhs) }
    noexcept->std::same_as<bool>;
};

/// Holds any order of domains (type erasure).
class any_domain_order {
public:
    template<class Order>
        requires(!std::same_as<Order, any_domain_order> && domain_order<Order>)
    any_domain_order(const Order& order) : value_(order), call_(&call<Order>) {}

    [[nodiscard]] bool operator()(const domain_rank& lhs, const domain_rank& rhs) const noexcept {
        return call_(value_, lhs, rhs);
    }

    [[nodiscard]] friend bool operator==(const any_domain_order& lhs, const any_domain_order& rhs) {
        return lhs.value_ == rhs.value_;
    }

private:
    template<class Order>
    static bool call(const detail::any_value& value, const domain_rank& lhs,
                     const domain_rank& rhs) noexcept {
        return value.as<Order>()(lhs, rhs);
    }

    detail::any_value value_;
    bool (*call_)(const detail::any_value&, const domain_rank&, const domain_rank&) noexcept;
};

} // namespace v0_1
} // namespace muster
