// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/allocation.hpp>
#include <muster/cluster/queue_books.hpp>
#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/node_claims.hpp>

namespace muster {
inline namespace v0_1 {

template<std::size_t Width>
class plan;
template<class Traits>
class cluster_state;

/// What changed of a node: what is free on it; what it has, and with it perhaps what is free; or
/// what it is (it came or went, labels, taints, a cordon), and with it perhaps all that.
enum class node_change : std::uint8_t { none, amounts, size, properties };

/// The accounts of a state: free amounts and claims per node, use and quota per queue. Only
/// the state (observed events) and the plan (tentative placements) write it. Free amounts may be
/// negative, if a node shrank under its pods.
///
/// `present` is the free room now, with terminating pods. `future` is the free room once they have
/// left and the pods nominated to their room have started. The room for any other pod is the
/// smaller of the two.
template<std::size_t Width>
class ledger {
public:
    [[nodiscard]] std::size_t nodes() const noexcept { return rows_.size(); }
    /// Room for new pods: of each kind the smaller of `present` and `future`.
    [[nodiscard]] const resources<Width>& free(node_index node) const noexcept {
        return rows_[node.value()].free;
    }
    /// Free now: pods on their way out still take room, nominated ones do not yet.
    [[nodiscard]] resources<Width> present(node_index node) const noexcept {
        return room(node).now;
    }
    /// Free amounts once all terminating pods have left and all nominated pods have started.
    [[nodiscard]] resources<Width> future(node_index node) const noexcept {
        return room(node).later;
    }
    /// `future` less `present`.
    [[nodiscard]] const resources<Width>& gap(node_index node) const noexcept {
        return margins_[node.value()].gap;
    }
    /// The nodes that pods are about to leave, in no order that means anything.
    [[nodiscard]] std::span<const node_index> departures() const noexcept {
        return {leaving_.data(), departures_};
    }
    [[nodiscard]] const resources<Width>& allocatable(node_index node) const noexcept {
        return rows_[node.value()].allocatable;
    }
    /// Claimed on the node, now or later.
    [[nodiscard]] const claimed_on_node& claims(node_index node) const noexcept {
        return rows_[node.value()].claims;
    }
    /// Returns how many more pods with these claims the node can take, at most `most`. Amounts are
    /// not checked. O(ports of the pod × ports claimed there); the device rule is called at most
    /// once.
    [[nodiscard]] std::int64_t room_beside(node_index node, const node_claims& claims,
                                           std::int64_t most) const {
        const row& at = rows_[node.value()];
        return claims.empty() ? most : at.claims.room(claims, most, at.devices, rule_);
    }
    /// True if a pod with these claims can be added to the node. Amounts are not checked.
    [[nodiscard]] bool admits(node_index node, const node_claims& claims) const {
        return room_beside(node, claims, 1) > 0;
    }
    /// True if a pod with these claims, which is on the node, is compatible with the other pods
    /// there.
    [[nodiscard]] bool admits_others_beside(node_index node, const node_claims& claims) const {
        const row& at = rows_[node.value()];
        return at.claims.admits_others_beside(claims, at.devices, rule_);
    }
    [[nodiscard]] device_stock devices(node_index node) const noexcept {
        return rows_[node.value()].devices;
    }
    [[nodiscard]] const device_rule& rule() const noexcept { return rule_; }
    /// Those of them whose pods are on their way out.
    [[nodiscard]] const claimed_on_node& leaving_claims(node_index node) const noexcept {
        return margins_[node.value()].claims;
    }
    /// What all nodes have of the kind.
    [[nodiscard]] int128 total(kind_id kind) const noexcept { return totals_[kind.value()]; }
    /// The tree of queues: ceilings, guarantees and use.
    [[nodiscard]] const queue_books<Width>& queues() const noexcept { return queues_; }
    [[nodiscard]] const limits<Width>& quota(queue_index queue) const noexcept {
        return queues_.quota(queue);
    }
    /// Of the queue and those below it, of each kind the greater of now and later.
    [[nodiscard]] resources<Width> used(queue_index queue) const noexcept {
        return queues_.used(queue);
    }
    /// The queue may take that much more as far as its ceilings and those above it go.
    /// O(depth × width).
    [[nodiscard]] bool admits(queue_charge queue, const resources<Width>& amount) const noexcept {
        return queues_.admits(queue, amount);
    }
    /// What the queue may still take as far as all those ceilings go. O(depth × width).
    [[nodiscard]] limits<Width> headroom(queue_charge queue,
                                         occupancy counted = occupancy::current) const noexcept {
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

    /// Hands over the nodes that changed since the last time, each once with the most that changed
    /// of it, and forgets them: `use(node, node_change)`. For the one that keeps an index.
    template<class Use>
    void take_changed(const Use& use) {
        for (std::size_t at = 0; at < changes_; ++at) {
            const node_index node = changed_[at];
            use(node, std::exchange(rows_[node.value()].changed, node_change::none));
        }
        changes_ = 0;
    }

    /// The same nodes and quotas with every pod gone. O(nodes).
    [[nodiscard]] ledger emptied() const {
        ledger copy = *this;
        for (row& each : copy.rows_) {
            each.free = each.allocatable;
            each.claims.clear();
        }
        copy.queues_.empty();
        copy.margins_.assign(copy.rows_.size(), {});
        copy.departures_ = 0;
        return copy;
    }

    [[nodiscard]] friend bool operator==(const ledger& lhs, const ledger& rhs) {
        return lhs.rows_ == rhs.rows_ && lhs.queues_ == rhs.queues_ && lhs.margins_ == rhs.margins_;
    }

private:
    friend class plan<Width>;
    template<class Traits>
    friend class cluster_state;

    using change = node_change;

    struct row {
        resources<Width> allocatable;
        resources<Width> free;
        claimed_on_node claims;
        device_stock devices = device_stock::none;
        /// What of it is in the list of changes.
        change changed = change::none;

        [[nodiscard]] friend bool operator==(const row& lhs, const row& rhs) {
            return lhs.allocatable == rhs.allocatable && lhs.free == rhs.free &&
                   lhs.claims == rhs.claims && lhs.devices == rhs.devices;
        }
    };
    /// What differs on a node between now and later: mostly nothing.
    struct margin {
        /// Free later less free now.
        resources<Width> gap;
        /// Of pods on their way out.
        claimed_on_node claims;
        /// Terminating pods, and the place of the node among those with any.
        std::size_t leaving = 0;
        std::size_t place = 0;

        [[nodiscard]] friend bool operator==(const margin& lhs, const margin& rhs) {
            return lhs.gap == rhs.gap && lhs.claims == rhs.claims && lhs.leaving == rhs.leaving;
        }
    };
    using both = now_and_later<Width>;

    [[nodiscard]] both room(node_index node) const noexcept {
        return both::from_least(rows_[node.value()].free, margins_[node.value()].gap);
    }
    void set_room(node_index node, const both& to) noexcept {
        rows_[node.value()].free = to.least();
        margins_[node.value()].gap = to.gap();
        note(node, change::amounts);
    }

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
        margins_.resize(rows_.size());
        leaving_.resize(rows_.size());
    }

    /// The last row goes; no pod is on that node.
    void drop_row() noexcept {
        const node_index last{rows_.size() - 1};
        if (rows_.back().changed != change::none)
            changes_ = static_cast<std::size_t>(
                std::remove(changed_.begin(),
                            changed_.begin() + static_cast<std::ptrdiff_t>(changes_), last) -
                changed_.begin());
        rows_.pop_back();
        changed_.pop_back();
        margins_.pop_back();
        leaving_.pop_back();
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

    /// The node now has that much, of which the pods on it keep their part.
    void resize(node_index node, const resources<Width>& allocatable,
                const resources<Width>& free) noexcept {
        row& at = rows_[node.value()];
        count_logs(at.allocatable, false);
        count_logs(allocatable, true);
        for (std::size_t column = 0; column < Width; ++column)
            totals_[column] += int128{allocatable[column]} - at.allocatable[column];
        at.allocatable = allocatable;
        at.free = free;
    }

    /// Charges `pods` pods with equal claims; `amount` is the sum for all of them. Returns false,
    /// and changes nothing, if a sum overflows int64. Precondition: `pods` is 1 unless `when` is
    /// `allocated`.
    [[nodiscard]] bool take(node_index from, std::optional<queue_charge> on,
                            const resources<Width>& amount, const node_claims& claimed,
                            allocation when = allocation::allocated, std::size_t pods = 1) {
        row& at = rows_[from.value()];
        both left;
        resources<Width> in_use;
        if (when == allocation::allocated) {
            if (!checked_subtract(at.free, amount, left.now) ||
                !checked_subtract(at.allocatable, left.now, in_use))
                return false;
        } else {
            left = room(from);
            resources<Width>& of = when == allocation::releasing ? left.now : left.later;
            if (!checked_subtract(of, amount, of) || !checked_subtract(at.allocatable, of, in_use))
                return false;
        }
        if (on && !queues_.take(*on, amount, when))
            return false;
        if (!claimed.empty())
            at.claims.take(claimed, pods);
        if (when == allocation::allocated) {
            at.free = left.now;
            note(from, change::amounts);
            return true;
        }
        set_room(from, left);
        if (when == allocation::releasing)
            see_off(from, claimed);
        return true;
    }

    /// The inverse of a `take` that succeeded.
    void give(node_index back, std::optional<queue_charge> on, const resources<Width>& amount,
              const node_claims& claimed, allocation when = allocation::allocated,
              std::size_t pods = 1) noexcept {
        if (when == allocation::allocated) {
            row& at = rows_[back.value()];
            at.free += amount;
            note(back, change::amounts);
        } else {
            both left = room(back);
            (when == allocation::releasing ? left.now : left.later) += amount;
            set_room(back, left);
        }
        if (on)
            queues_.give(*on, amount, when);
        if (!claimed.empty())
            rows_[back.value()].claims.give(claimed, pods);
        if (when == allocation::releasing)
            see_gone(back, claimed);
    }

    /// What so many pods took for good counts only later from here on.
    void postpone(node_index node, std::optional<queue_charge> on, const resources<Width>& amount,
                  std::size_t pods) noexcept {
        both left = room(node);
        left.now += amount;
        set_room(node, left);
        if (on)
            queues_.postpone(*on, amount, pods);
    }

    /// Raises the free amounts to the future ones if these are larger, and treats the claims of
    /// terminating pods as free. Returns the added amounts. The inverse is `await_again`.
    resources<Width> assume_released(node_index node) noexcept {
        both left = room(node);
        const resources<Width> raise = excess(left.later, left.now);
        left.now += raise;
        set_room(node, left);
        rows_[node.value()].claims.give(margins_[node.value()].claims);
        return raise;
    }
    void await_again(node_index node, const resources<Width>& raise) noexcept {
        both left = room(node);
        left.now -= raise;
        set_room(node, left);
        rows_[node.value()].claims.take(margins_[node.value()].claims);
    }
    void set_devices(node_index node, device_stock devices) noexcept {
        rows_[node.value()].devices = devices;
        rows_[node.value()].claims.forget_state();
    }
    void set_rule(const device_rule& rule) noexcept {
        rule_ = rule;
        for (std::size_t at = 0; at < rows_.size(); ++at) {
            rows_[at].claims.forget_state();
            note(node_index{at}, change::amounts);
        }
    }
    /// So many claims more on the node will not allocate.
    void reserve_claims(node_index node, std::size_t more) {
        rows_[node.value()].claims.reserve(more);
        margins_[node.value()].claims.reserve(more);
    }

    void see_off(node_index from, const node_claims& claimed) {
        margin& at = margins_[from.value()];
        at.claims.take(claimed);
        if (at.leaving++ > 0)
            return;
        at.place = departures_;
        leaving_[departures_++] = from;
    }
    void see_gone(node_index from, const node_claims& claimed) noexcept {
        margin& at = margins_[from.value()];
        at.claims.give(claimed);
        if (--at.leaving > 0)
            return;
        const node_index last = leaving_[--departures_];
        leaving_[at.place] = last;
        margins_[last.value()].place = at.place;
    }

    device_rule rule_;
    queue_books<Width> queues_;
    /// Per kind: how many nodes have an allocatable of that size.
    std::array<std::array<std::uint32_t, 59>, Width> logs_{};
    /// Per kind: the sizes that occur, as bits.
    std::array<std::uint64_t, Width> sizes_{};
    std::array<int128, Width> totals_{};
    /// The first `changes_` are the nodes that changed, each once; as long as there are rows.
    std::vector<node_index> changed_;
    std::size_t changes_ = 0;
    detail::sequence<row> rows_;
    /// Per row.
    detail::sequence<margin> margins_;
    /// The first `departures_` are the nodes that pods are about to leave; as long as there are
    /// rows.
    std::vector<node_index> leaving_;
    std::size_t departures_ = 0;
};

} // namespace v0_1
} // namespace muster
