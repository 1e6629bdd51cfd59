// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/model/constraints.hpp>
#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {

template<std::size_t Width>
class plan;
template<class Traits>
class state;
template<class Traits>
class state_store;

/// Who holds what: free amounts and claimed ports per node, use and quota per queue. Everybody may
/// read it; only the state (observed events) and the plan (tentative placements) write it.
/// Free may be negative, when a node shrank under its pods.
template<std::size_t Width>
class ledger {
public:
    [[nodiscard]] std::size_t nodes() const noexcept { return rows_.size(); }
    [[nodiscard]] const resources<Width>& free(node_index node) const noexcept {
        return rows_[node.value()].free;
    }
    [[nodiscard]] const resources<Width>& allocatable(node_index node) const noexcept {
        return rows_[node.value()].allocatable;
    }
    [[nodiscard]] const std::vector<host_port>& ports(node_index node) const noexcept {
        return rows_[node.value()].ports;
    }
    [[nodiscard]] const limits<Width>& quota(queue_index queue) const noexcept {
        return queues_[queue.value()].quota;
    }
    [[nodiscard]] const resources<Width>& used(queue_index queue) const noexcept {
        return queues_[queue.value()].used;
    }

    /// The same nodes and quotas with every pod gone. O(nodes).
    [[nodiscard]] ledger emptied() const {
        ledger copy = *this;
        for (row& each : copy.rows_) {
            each.free = each.allocatable;
            each.ports.clear();
        }
        for (account& each : copy.queues_)
            each.used = {};
        return copy;
    }

    [[nodiscard]] friend bool operator==(const ledger&, const ledger&) = default;

private:
    friend class plan<Width>;
    template<class Traits>
    friend class state;
    template<class Traits>
    friend class state_store;

    struct row {
        resources<Width> allocatable;
        resources<Width> free;
        /// Sorted, so that taking and giving back is the identity.
        std::vector<host_port> ports;

        [[nodiscard]] friend bool operator==(const row&, const row&) = default;
    };
    struct account {
        limits<Width> quota;
        resources<Width> used;

        [[nodiscard]] friend bool operator==(const account&, const account&) = default;
    };

    /// False and nothing changed when a sum leaves int64.
    [[nodiscard]] bool take(node_index from, std::optional<queue_index> on,
                            const resources<Width>& amount, const std::vector<host_port>& claimed) {
        row& at = rows_[from.value()];
        resources<Width> free;
        resources<Width> in_use;
        if (!checked_subtract(at.free, amount, free) ||
            !checked_subtract(at.allocatable, free, in_use))
            return false;
        if (on) {
            account& to = queues_[on->value()];
            resources<Width> used;
            if (!checked_add(to.used, amount, used))
                return false;
            to.used = used;
        }
        for (const host_port& one : claimed)
            at.ports.insert(std::ranges::lower_bound(at.ports, one), one);
        at.free = free;
        return true;
    }

    /// The inverse of a `take` that succeeded.
    void give(node_index back, std::optional<queue_index> on, const resources<Width>& amount,
              const std::vector<host_port>& claimed) noexcept {
        row& at = rows_[back.value()];
        for (std::size_t column = 0; column < Width; ++column)
            at.free[column] += amount[column];
        if (on)
            for (std::size_t column = 0; column < Width; ++column)
                queues_[on->value()].used[column] -= amount[column];
        for (const host_port& one : claimed) {
            const auto where = std::ranges::lower_bound(at.ports, one);
            if (where != at.ports.end() && *where == one)
                at.ports.erase(where);
        }
    }

    std::vector<row> rows_;
    std::vector<account> queues_;
};

} // namespace muster::inline v0_1
