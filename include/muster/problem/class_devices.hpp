// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/ledger.hpp>
#include <muster/vocabulary/device_rule.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The device demands of the classes of a fit problem. Empty if no class demands devices, or if the
/// constraint is not in force; then devices limit nothing.
template<std::size_t Width>
class class_devices {
public:
    void clear() noexcept {
        accounts_ = nullptr;
        demands_.clear();
    }
    /// Sets the ledger that has the devices of the nodes and the demands held on them. It must
    /// outlive the problem.
    void look_at(const ledger<Width>& accounts) noexcept { accounts_ = &accounts; }
    /// Adds the demand of the next class.
    void add(device_demand demand) { demands_.push_back(demand); }
    /// Call after the last add(). Becomes empty if no class demands devices. O(classes).
    void settle() noexcept {
        if (none_of(demands_, [](device_demand one) { return one != device_demand::none; }))
            clear();
    }

    /// True if some class demands devices.
    [[nodiscard]] bool any() const noexcept { return accounts_ != nullptr; }

    /// Returns how many members of class `at` the node's devices can serve, at most `most`, in
    /// addition to the demands held there and to `counts` members of the other classes.
    /// `counts[at]` is not read; null = there are none. O(n log n) for n such demands; the device
    /// rule is called at most once.
    [[nodiscard]] std::int64_t room(node_index node, const std::int64_t* counts, std::size_t at,
                                    std::int64_t most) const {
        if (!any() || demands_[at] == device_demand::none || most <= 0)
            return most;
        const claimed_on_node& standing = accounts_->claims(node);
        const auto joins = [&](std::size_t other) {
            return counts && other != at && demands_[other] != device_demand::none &&
                   counts[other] > 0;
        };
        std::size_t first = 0;
        while (first < demands_.size() && !joins(first))
            ++first;
        if (first == demands_.size())
            return standing.device_room(demands_[at], most, accounts_->devices(node),
                                        accounts_->rule());
        std::vector<device_demand> held = standing.devices();
        for (std::size_t other = first; other < demands_.size(); ++other)
            if (joins(other))
                held.insert(held.end(), static_cast<std::size_t>(counts[other]), demands_[other]);
        std::sort(held.begin(), held.end());
        return accounts_->rule().room(accounts_->devices(node), held, demands_[at], most);
    }
    /// True if the node's devices can serve these counts together, in addition to the demands held
    /// there. The device rule is called at most once for each class.
    [[nodiscard]] bool suffice(node_index node, const std::int64_t* counts) const {
        for (std::size_t at = 0; at < demands_.size(); ++at)
            if (demands_[at] != device_demand::none && counts[at] > 0 &&
                room(node, counts, at, counts[at]) < counts[at])
                return false;
        return true;
    }
    /// True if both nodes have the same devices, and the same demands held on them.
    [[nodiscard]] bool alike(node_index lhs, node_index rhs) const {
        return !any() || (accounts_->devices(lhs) == accounts_->devices(rhs) &&
                          accounts_->claims(lhs).devices() == accounts_->claims(rhs).devices());
    }

private:
    const ledger<Width>* accounts_ = nullptr;
    detail::sequence<device_demand> demands_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
