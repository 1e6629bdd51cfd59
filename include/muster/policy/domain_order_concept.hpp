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
    /// Nodes in it.
    std::size_t nodes = 0;
    /// The weighted sum of what is free on them, by the cluster's weights; no node counts below
    /// zero.
    int128 free = 0;
};

/// A strict weak order of domains of one level, the first to be tried first. Domains that it holds
/// equal are in the order of their labels' values.
template<class Order>
concept domain_order = std::copyable<Order> && requires(const Order before, domain_rank lhs) {
    { before(lhs, lhs) }
    noexcept->std::same_as<bool>;
};

/// Any order of domains, as a value.
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
