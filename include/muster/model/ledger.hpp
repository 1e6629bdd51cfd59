// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/model/constraints.hpp>
#include <muster/model/queue_accounts.hpp>
#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {

template<std::size_t Width>
class plan;
template<class Traits>
class state;
template<class Traits>
class state_store;
template<class Traits>
class state_accounts;
template<class Traits>
class state_queues;

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
    /// The tree of queues: ceilings, guarantees and use.
    [[nodiscard]] const queue_accounts<Width>& queues() const noexcept { return queues_; }
    [[nodiscard]] const limits<Width>& quota(queue_index queue) const noexcept {
        return queues_.quota(queue);
    }
    /// Of the queue and those below it.
    [[nodiscard]] const resources<Width>& used(queue_index queue) const noexcept {
        return queues_.used(queue);
    }
    /// The queue may take that much more as far as its ceilings and those above it go.
    /// O(depth × width).
    [[nodiscard]] bool admits(queue_index queue, const resources<Width>& amount) const noexcept {
        return queues_.admits(queue, amount);
    }
    /// What the queue may still take as far as all those ceilings go. O(depth × width).
    [[nodiscard]] limits<Width> headroom(queue_index queue,
                                         occupancy counted = occupancy::present) const noexcept {
        return queues_.headroom(queue, counted);
    }

    /// The largest allocatable amount of the kind on any node, as the exponent of the least power
    /// of two that is not below it; nothing when no node has any. O(1).
    [[nodiscard]] std::optional<int> largest(std::size_t column) const noexcept {
        if (sizes_[column] == 0)
            return std::nullopt;
        return std::bit_width(sizes_[column]) - 1;
    }

    /// Calls `use(node)` for the nodes that `take_changed` would hand over.
    template<class Use>
    void for_each_changed(const Use& use) const {
        for (std::size_t at = 0; at < changes_; ++at)
            use(changed_[at]);
    }

    /// Hands over the nodes whose amounts or properties changed since the last time, each once, and
    /// forgets them: `use(node, properties_too)`. For the one that keeps an index.
    template<class Use>
    void take_changed(const Use& use) {
        for (std::size_t at = 0; at < changes_; ++at) {
            const node_index node = changed_[at];
            const change what = std::exchange(rows_[node.value()].changed, change::none);
            use(node, what == change::properties);
        }
        changes_ = 0;
    }

    /// The same nodes and quotas with every pod gone. O(nodes).
    [[nodiscard]] ledger emptied() const {
        ledger copy = *this;
        for (row& each : copy.rows_) {
            each.free = each.allocatable;
            each.ports.clear();
        }
        copy.queues_.empty();
        return copy;
    }

    [[nodiscard]] friend bool operator==(const ledger& lhs, const ledger& rhs) {
        return lhs.rows_ == rhs.rows_ && lhs.queues_ == rhs.queues_;
    }

private:
    friend class plan<Width>;
    template<class Traits>
    friend class state;
    template<class Traits>
    friend class state_store;
    template<class Traits>
    friend class state_accounts;
    template<class Traits>
    friend class state_queues;

    enum class change : std::uint8_t { none, amounts, properties };

    struct row {
        resources<Width> allocatable;
        resources<Width> free;
        /// Sorted, so that taking and giving back is the identity.
        std::vector<host_port> ports;
        /// What of it is in the list of changes.
        change changed = change::none;

        [[nodiscard]] friend bool operator==(const row& lhs, const row& rhs) {
            return lhs.allocatable == rhs.allocatable && lhs.free == rhs.free &&
                   lhs.ports == rhs.ports;
        }
    };
    void note(node_index node, change what) noexcept {
        row& at = rows_[node.value()];
        if (at.changed == change::none)
            changed_[changes_++] = node;
        at.changed = std::max(at.changed, what);
    }

    /// A row more, with its place in the list of changes, so that giving back never allocates.
    void add_row() {
        rows_.push_back({});
        changed_.resize(rows_.size());
    }

    /// The last row goes; nothing stands on that node.
    void drop_row() noexcept {
        const node_index last{rows_.size() - 1};
        if (rows_.back().changed != change::none)
            changes_ = static_cast<std::size_t>(
                std::remove(changed_.begin(),
                            changed_.begin() + static_cast<std::ptrdiff_t>(changes_), last) -
                changed_.begin());
        rows_.pop_back();
        changed_.pop_back();
    }

    void count_logs(const resources<Width>& allocatable, bool add) noexcept {
        for (std::size_t column = 0; column < Width; ++column) {
            if (allocatable[column] <= 0)
                continue;
            const auto below = static_cast<std::uint64_t>(allocatable[column] - 1);
            const auto log = static_cast<std::size_t>(std::bit_width(below));
            std::uint32_t& count = logs_[column][log];
            count += add ? 1U : ~std::uint32_t{0};
            const std::uint64_t bit = std::uint64_t{1} << log;
            sizes_[column] = count > 0 ? sizes_[column] | bit : sizes_[column] & ~bit;
        }
    }

    /// The node now has that much, of which what stands on it keeps its part.
    void resize(node_index node, const resources<Width>& allocatable,
                const resources<Width>& free) noexcept {
        row& at = rows_[node.value()];
        count_logs(at.allocatable, false);
        count_logs(allocatable, true);
        at.allocatable = allocatable;
        at.free = free;
    }

    /// False and nothing changed when a sum leaves int64.
    [[nodiscard]] bool take(node_index from, std::optional<queue_index> on,
                            const resources<Width>& amount, const std::vector<host_port>& claimed) {
        row& at = rows_[from.value()];
        resources<Width> free;
        resources<Width> in_use;
        if (!checked_subtract(at.free, amount, free) ||
            !checked_subtract(at.allocatable, free, in_use))
            return false;
        if (on && !queues_.take(*on, amount))
            return false;
        for (const host_port& one : claimed)
            at.ports.insert(std::ranges::lower_bound(at.ports, one), one);
        at.free = free;
        note(from, change::amounts);
        return true;
    }

    /// The inverse of a `take` that succeeded.
    void give(node_index back, std::optional<queue_index> on, const resources<Width>& amount,
              const std::vector<host_port>& claimed) noexcept {
        row& at = rows_[back.value()];
        for (std::size_t column = 0; column < Width; ++column)
            at.free[column] += amount[column];
        if (on)
            queues_.give(*on, amount);
        for (const host_port& one : claimed) {
            const auto where = std::ranges::lower_bound(at.ports, one);
            if (where != at.ports.end() && *where == one)
                at.ports.erase(where);
        }
        note(back, change::amounts);
    }

    queue_accounts<Width> queues_;
    /// Per kind: how many nodes have an allocatable of that size.
    std::array<std::array<std::uint32_t, 59>, Width> logs_{};
    /// Per kind: the sizes that occur, as bits.
    std::array<std::uint64_t, Width> sizes_{};
    /// The first `changes_` are the nodes that changed, each once; as long as there are rows.
    std::vector<node_index> changed_;
    std::size_t changes_ = 0;
    std::vector<row> rows_;
};

} // namespace muster::inline v0_1
