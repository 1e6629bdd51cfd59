// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cluster.hpp"

namespace bench {

/// Our own account of what is free, to know the utilisation, to check every placement, and to set
/// A and A2 up in the middle of a run.
template<std::size_t Width>
class books {
public:
    explicit books(std::vector<node_spec<Width>> nodes) : nodes_(std::move(nodes)) {
        for (const node_spec<Width>& node : nodes_) {
            free_.push_back(node.allocatable);
            cpu_total_ += node.allocatable[cpu];
        }
    }

    [[nodiscard]] const std::vector<node_spec<Width>>& nodes() const noexcept { return nodes_; }
    [[nodiscard]] const std::vector<amounts<Width>>& free() const noexcept { return free_; }
    /// The share of all processors that is taken.
    [[nodiscard]] double utilisation() const noexcept {
        return static_cast<double>(cpu_used_) / static_cast<double>(cpu_total_);
    }

    /// Fails the program unless the gang may stand so.
    void start(const gang_spec<Width>& gang, const std::vector<placed>& members) {
        std::vector<std::int64_t> count(gang.roles.size(), 0);
        for (const placed& one : members) {
            ++count[one.role];
            if (gang.pool != no_pool && nodes_[one.node].pool != gang.pool)
                fail("a member stands in a pool that its gang does not select");
            move(one, gang, -1);
            for (const std::int64_t left : free_[one.node])
                if (left < 0)
                    fail("a node is over-committed");
        }
        for (std::size_t role = 0; role < count.size(); ++role)
            if (count[role] < gang.roles[role].minimum || count[role] > gang.roles[role].desired)
                fail("a gang starts with too few or too many members");
    }

    void release(const gang_spec<Width>& gang, const std::vector<placed>& members) {
        for (const placed& one : members)
            move(one, gang, 1);
    }

private:
    void move(const placed& one, const gang_spec<Width>& gang, std::int64_t sign) {
        const amounts<Width>& request = gang.roles[one.role].request;
        for (std::size_t column = 0; column < Width; ++column)
            free_[one.node][column] += sign * request[column];
        cpu_used_ -= sign * request[cpu];
    }

    std::vector<node_spec<Width>> nodes_;
    std::vector<amounts<Width>> free_;
    std::int64_t cpu_total_ = 0;
    std::int64_t cpu_used_ = 0;
};

} // namespace bench
