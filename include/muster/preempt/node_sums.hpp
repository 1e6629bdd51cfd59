// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/ledger.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Sums over all nodes, for the time when all terminating pods have left and all nominated pods
/// have started. A node whose amounts did not change since it was last read costs a comparison.
template<std::size_t Width>
class node_sums {
public:
    using sum = std::array<int128, Width>;

    /// Reads all nodes. O(nodes × width).
    void read(const ledger<Width>& accounts) {
        for (std::size_t at = accounts.nodes(); at < rows_.size(); ++at)
            set(rows_[at], {}, {});
        rows_.resize(accounts.nodes());
        for (std::size_t at = 0; at < rows_.size(); ++at)
            read(accounts, node_index{at});
    }
    /// Reads one node. Precondition: `read` was called since it was added. O(width).
    void read(const ledger<Width>& accounts, node_index node) {
        row& known = rows_[node.value()];
        const resources<Width>& allocatable = accounts.allocatable(node);
        const resources<Width>& free = accounts.free(node);
        const resources<Width>& gap = accounts.gap(node);
        if (equal(known.free, free) && equal(known.gap, gap) &&
            equal(known.allocatable, allocatable))
            return;
        known.free = free;
        known.gap = gap;
        set(known, allocatable, accounts.future(node));
    }

    /// The sum of the free amounts; a negative one counts as 0.
    [[nodiscard]] const sum& free() const noexcept { return free_; }
    /// The sum of the amounts in use.
    [[nodiscard]] const sum& used() const noexcept { return used_; }

private:
    struct row {
        /// What the ledger said when the node was last read.
        resources<Width> free;
        resources<Width> gap;
        resources<Width> allocatable;
        /// What the sums contain of the node.
        resources<Width> later;
    };

    /// Unlike `==`, compiled to a few vector instructions.
    [[nodiscard]] static bool equal(const resources<Width>& lhs,
                                    const resources<Width>& rhs) noexcept {
        std::uint64_t difference = 0;
        for (std::size_t column = 0; column < Width; ++column)
            difference |=
                static_cast<std::uint64_t>(lhs[column]) ^ static_cast<std::uint64_t>(rhs[column]);
        return difference == 0;
    }

    void set(row& known, const resources<Width>& allocatable, const resources<Width>& later) {
        for (std::size_t column = 0; column < Width; ++column) {
            free_[column] += int128{std::max<std::int64_t>(0, later[column])} -
                             std::max<std::int64_t>(0, known.later[column]);
            used_[column] += (int128{allocatable[column]} - later[column]) -
                             (int128{known.allocatable[column]} - known.later[column]);
        }
        known.allocatable = allocatable;
        known.later = later;
    }

    sequence<row> rows_;
    sum free_{};
    sum used_{};
};

} // namespace detail
} // namespace v0_1
} // namespace muster
