// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/policy/avoid_scarce.hpp>
#include <muster/policy/binpack.hpp>
#include <muster/policy/gang_order.hpp>
#include <muster/policy/placement.hpp>
#include <muster/policy/power.hpp>
#include <muster/policy/queue_order.hpp>

namespace cli {

/// A policy and its name in options.
template<class Policy>
struct named {
    std::string_view name;
    Policy policy;
};
template<class Policy>
named(const char*, Policy) -> named<Policy>;

/// Stands for muster::fgd, which needs to know the pods.
struct least_fragmented {};

// The policies that options name, the defaults first. A new one needs a line here.

inline constexpr std::tuple scores{
    named{"best-fit", muster::best_fit{}},
    named{"worst-fit", muster::worst_fit{}},
    named{"first-fit", muster::first_fit{}},
    named{"most-allocated", muster::binpack{muster::binpack::strategy::most_allocated, {}}},
    named{"least-allocated", muster::binpack{muster::binpack::strategy::least_allocated, {}}},
    named{"avoid-scarce", muster::avoid_scarce{}},
    named{"fgd", least_fragmented{}},
    named{"power", muster::power{}}};

/// An hour of waiting counts as much as one point of priority. Times are in nanoseconds.
inline constexpr std::tuple gang_orders{named{"priority", muster::priority_then_age{}},
                                        named{"aging", muster::aging{3'600'000'000'000}},
                                        named{"shortest", muster::shortest_first<>{}}};

inline constexpr std::tuple queue_orders{named{"priority", muster::priority_then_share{}},
                                         named{"weighted", muster::weighted_share{}},
                                         named{"deserved", muster::deserved_first{}},
                                         named{"fair-share", muster::fair_share_first{}},
                                         named{"due", muster::priority_then_due{}},
                                         named{"borrowing", muster::borrowing_last{}},
                                         named{"next-group", muster::next_gang_first{}}};

/// One of the policies of such a table.
template<const auto& Table>
class choice {
public:
    [[nodiscard]] static std::vector<std::string> names() {
        std::vector<std::string> all;
        std::apply([&](const auto&... each) { (all.emplace_back(each.name), ...); }, Table);
        return all;
    }
    /// True if it is the policy of this name.
    [[nodiscard]] bool is(std::string_view name) const { return names()[at_] == name; }
    /// Precondition: it is one of the names.
    void choose(std::string_view name) {
        std::size_t at = 0;
        std::apply([&](const auto&... each) { ((each.name == name ? at_ = at++ : at++), ...); },
                   Table);
    }
    /// Returns what `use` makes of the policy.
    template<class Result, class Use>
    [[nodiscard]] Result with(const Use& use) const {
        std::optional<Result> made;
        std::size_t at = 0;
        std::apply(
            [&](const auto&... each) {
                ((at++ == at_ ? static_cast<void>(made.emplace(use(each.policy))) : void()), ...);
            },
            Table);
        return *made;
    }

private:
    std::size_t at_ = 0;
};

} // namespace cli
