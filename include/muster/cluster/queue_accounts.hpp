// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// What counts against the ceilings: the pods that use the queue now, or nothing.
enum class occupancy : std::uint8_t { current, empty_cluster };

/// The account that a pod is charged to: a queue and, for non-preemptible pods, the part with the
/// ceiling for them.
struct queue_charge {
    queue_index queue;
    bool non_preemptible = false;

    explicit constexpr queue_charge(queue_index of, bool is_non_preemptible = false) noexcept
        : queue(of), non_preemptible(is_non_preemptible) {}
    constexpr operator queue_index() const noexcept { return queue; }

    [[nodiscard]] friend constexpr bool operator==(queue_charge, queue_charge) noexcept = default;
};

/// What the queues hold, which form a tree of any depth (many trees, strictly: a queue without a
/// parent is a root). A queue claims of its parent what it uses or what is guaranteed to it,
/// whichever is more, so that a guarantee is room that its siblings cannot take even while the
/// guarantee is unused:
///
///     claimed(q) = what q's own pods hold + Σ over its children c of max(claimed(c), guarantee(c))
///
/// Every queue's claim stays under its own ceiling; what a queue takes within its guarantee claims
/// nothing more above, so that no ceiling above limits it. A queue may have a lower ceiling for
/// non-preemptible pods, its own and those below it, of which nothing is guaranteed. All sums are
/// kept as pods and queues come and go and depend on nothing but what is there: giving back undoes
/// taking exactly.
template<std::size_t Width>
class queue_accounts {
public:
    /// What still may be taken of a kind, and the queue whose ceiling says so.
    struct ceiling {
        queue_index at;
        std::int64_t left = 0;
        /// It is the one for non-preemptible pods.
        bool non_preemptible = false;
    };

    [[nodiscard]] std::size_t size() const noexcept { return accounts_.size(); }
    [[nodiscard]] const limits<Width>& quota(queue_index queue) const noexcept {
        return accounts_[queue.value()].quota;
    }
    /// What pods of the queue and of those below it hold.
    [[nodiscard]] const resources<Width>& used(queue_index queue) const noexcept {
        return accounts_[queue.value()].used;
    }
    /// What pods of the queue itself hold.
    [[nodiscard]] const resources<Width>& own(queue_index queue) const noexcept {
        return accounts_[queue.value()].own;
    }
    /// The ceiling on what non-preemptible pods hold, and what they do, of the queue and of those
    /// below it.
    [[nodiscard]] const limits<Width>& non_preemptible_quota(queue_index queue) const noexcept {
        return accounts_[queue.value()].non_preemptible_quota;
    }
    [[nodiscard]] const resources<Width>& non_preemptible(queue_index queue) const noexcept {
        return accounts_[queue.value()].non_preemptible;
    }
    /// What counts against its quota: what it uses, and what queues below it could still take
    /// within their guarantees.
    [[nodiscard]] const resources<Width>& claimed(queue_index queue) const noexcept {
        return accounts_[queue.value()].claimed;
    }
    [[nodiscard]] const resources<Width>& guarantee(queue_index queue) const noexcept {
        return accounts_[queue.value()].guarantee;
    }
    [[nodiscard]] std::optional<queue_index> parent(queue_index queue) const noexcept {
        return accounts_[queue.value()].parent;
    }
    /// The queue above it that has none above. O(depth).
    [[nodiscard]] queue_index root(queue_index queue) const noexcept {
        while (const auto above = parent(queue))
            queue = *above;
        return queue;
    }
    /// The queue is `above` or is anywhere below it. O(depth).
    [[nodiscard]] bool within(queue_index queue, queue_index above) const noexcept {
        for (std::optional<queue_index> at = queue; at; at = parent(*at))
            if (*at == above)
                return true;
        return false;
    }
    /// It or a queue above it has a ceiling. O(depth).
    [[nodiscard]] bool limited(queue_index queue) const noexcept {
        for (std::optional<queue_index> at = queue; at; at = parent(*at))
            if (quota(*at).any() || non_preemptible_quota(*at).any())
                return true;
        return false;
    }

    /// No ceiling, its own or one above it, is in the way of the queue's taking that much more. A
    /// kind of which nothing is asked is not checked. O(depth × width).
    [[nodiscard]] bool admits(queue_charge to, const resources<Width>& amount) const noexcept {
        if (to.non_preemptible)
            for (std::optional<queue_index> at = to.queue; at; at = parent(*at))
                if (!non_preemptible_quota(*at).admits(non_preemptible(*at), amount))
                    return false;
        queue_index queue = to.queue;
        resources<Width> rest = amount;
        for (;;) {
            const account& of = accounts_[queue.value()];
            if (!of.quota.admits(of.claimed, rest))
                return false;
            if (!of.parent)
                return true;
            bool any = false;
            for (std::size_t column = 0; column < Width; ++column) {
                rest[column] -= std::min(rest[column], of.unclaimed(of.claimed, column));
                any = any || rest[column] != 0;
            }
            if (!any)
                return true;
            queue = *of.parent;
        }
    }

    /// Every ceiling for the kind, the queue's own first and the root's last, with what it lets the
    /// queue take, never below 0. O(depth).
    template<class Use>
    void each_ceiling(queue_charge of_whom, kind_id kind, occupancy counted, const Use& use) const {
        // What the queues passed may still take without claiming more above.
        std::int64_t kept = 0;
        for (std::optional<queue_index> at = of_whom.queue; at; at = parent(*at)) {
            const account& of = accounts_[at->value()];
            const resources<Width>& claimed =
                counted == occupancy::current ? of.claimed : of.reserved;
            if (const auto top = of.quota[kind])
                use(ceiling{*at,
                            saturating_add(kept, std::max<std::int64_t>(0, *top - claimed[kind]))});
            kept = saturating_add(kept, of.unclaimed(claimed, kind.value()));
            const auto top =
                of_whom.non_preemptible ? of.non_preemptible_quota[kind] : std::nullopt;
            if (!top)
                continue;
            const std::int64_t held = counted == occupancy::current ? of.non_preemptible[kind] : 0;
            use(ceiling{*at, std::max<std::int64_t>(0, *top - held), true});
        }
    }

    /// The ceiling that lets the queue take least of the kind, the lowest when several do; nothing
    /// when none does. What is left is never below 0. O(depth).
    [[nodiscard]] std::optional<ceiling>
    tightest_ceiling(queue_charge of_whom, kind_id kind,
                     occupancy counted = occupancy::current) const noexcept {
        std::optional<ceiling> found;
        each_ceiling(of_whom, kind, counted, [&](const ceiling& one) noexcept {
            if (!found || one.left < found->left)
                found = one;
        });
        return found;
    }

    /// What the queue may still take as far as all ceilings go: `admits(queue, amount)` is to be
    /// within these limits. A gang's pods are all in one queue, so this is all that a decision
    /// about it needs of the tree. O(depth × width).
    [[nodiscard]] limits<Width> headroom(queue_charge queue,
                                         occupancy counted = occupancy::current) const noexcept {
        limits<Width> left;
        resources<Width> kept;
        const auto lower = [&](kind_id kind, std::int64_t most) noexcept {
            const auto before = left[kind];
            left.set(kind, before ? std::min(*before, most) : most);
        };
        for (std::optional<queue_index> at = queue.queue; at; at = parent(*at)) {
            const account& of = accounts_[at->value()];
            const bool current = counted == occupancy::current;
            const resources<Width>& claimed = current ? of.claimed : of.reserved;
            for (std::size_t column = 0; column < Width; ++column) {
                const kind_id kind{column};
                if (const auto top = of.quota[kind])
                    lower(kind, saturating_add(kept[kind],
                                               std::max<std::int64_t>(0, *top - claimed[kind])));
                if (of.guarantees)
                    kept[kind] = saturating_add(kept[kind], of.unclaimed(claimed, column));
                if (!queue.non_preemptible)
                    continue;
                if (const auto top = of.non_preemptible_quota[kind])
                    lower(kind, std::max<std::int64_t>(
                                    0, *top - (current ? of.non_preemptible[kind] : 0)));
            }
        }
        return left;
    }

    [[nodiscard]] friend bool operator==(const queue_accounts&, const queue_accounts&) = default;

    // ---- for the state and the ledger ----------------------------------------------------------

    void add() { accounts_.push_back({}); }
    /// The last queue goes; nothing is in it or below it.
    void drop_last() noexcept { accounts_.pop_back(); }
    void set_quota(queue_index queue, const limits<Width>& quota,
                   const limits<Width>& non_preemptible_quota = {}) noexcept {
        accounts_[queue.value()].quota = quota;
        accounts_[queue.value()].non_preemptible_quota = non_preemptible_quota;
    }

    /// The queue is now below that parent, with all that it holds, and has that guarantee; false
    /// and nothing changed when a sum would leave int64. The parent is not below the queue. O(depth
    /// × width).
    [[nodiscard]] bool settle(queue_index queue, std::optional<queue_index> parent,
                              const resources<Width>& guarantee) noexcept {
        MUSTER_ASSERT(!parent || !within(*parent, queue), "a tree has no circles");
        account& of = accounts_[queue.value()];
        const auto before_parent = of.parent;
        const auto before_guarantee = of.guarantee;
        detach(of);
        of.parent = parent;
        of.guarantee = guarantee;
        of.guarantees = !(guarantee == resources<Width>{});
        if (attach(of))
            return true;
        of.parent = before_parent;
        of.guarantee = before_guarantee;
        of.guarantees = !(before_guarantee == resources<Width>{});
        const bool restored = attach(of);
        MUSTER_ASSERT(restored, "what was added up a moment ago can be added up again");
        static_cast<void>(restored);
        return false;
    }

    /// Pods of the queue hold that much more; false and nothing changed when a sum would leave
    /// int64. O(depth × width).
    [[nodiscard]] bool take(queue_charge queue, const resources<Width>& amount) noexcept {
        if (!can_add(queue, amount))
            return false;
        charge(queue, amount);
        return true;
    }
    /// The inverse of a `take` that succeeded.
    void give(queue_charge queue, const resources<Width>& amount) noexcept {
        charge(queue, -amount);
    }

    /// The same queues with every pod gone. O(queues).
    void empty() noexcept {
        for (account& each : accounts_) {
            each.own = {};
            each.used = {};
            each.non_preemptible = {};
            each.claimed = each.reserved;
        }
    }

private:
    struct account {
        limits<Width> quota;
        limits<Width> non_preemptible_quota;
        resources<Width> guarantee;
        bool guarantees = false; ///< some of `guarantee` is above 0
        resources<Width> own;
        resources<Width> used;
        /// Of what is used, what non-preemptible pods hold.
        resources<Width> non_preemptible;
        resources<Width> claimed;
        /// What would be claimed without any pod.
        resources<Width> reserved;
        std::optional<queue_index> parent;

        /// What it claims of its parent.
        [[nodiscard]] resources<Width> passed_on(const resources<Width>& of) const noexcept {
            return greater(of, guarantee);
        }
        /// What its parent keeps for it and it does not claim itself.
        [[nodiscard]] std::int64_t unclaimed(const resources<Width>& of,
                                             std::size_t column) const noexcept {
            return std::max<std::int64_t>(0, guarantee[column] - of[column]);
        }
        [[nodiscard]] friend bool operator==(const account&, const account&) = default;
    };

    /// Adds to `sum`, and makes of `by` what that adds to the claim on the parent: the same without
    /// a guarantee, since no sum is below 0.
    static void raise(const account& of, resources<Width>& sum, resources<Width>& by) noexcept {
        if (!of.guarantees) {
            sum += by;
            return;
        }
        const resources<Width> before = of.passed_on(sum);
        sum += by;
        by = of.passed_on(sum) - before;
    }
    /// Adds what pods of the queue hold, or takes it away.
    void charge(queue_charge whom, const resources<Width>& use) noexcept {
        accounts_[whom.queue.value()].own += use;
        resources<Width> claim = use;
        for (std::optional<queue_index> at = whom.queue; at; at = parent(*at)) {
            account& of = accounts_[at->value()];
            raise(of, of.claimed, claim);
            of.used += use;
            if (whom.non_preemptible)
                of.non_preemptible += use;
        }
    }

    /// No claim leaves int64. Uses and reserves are never above claims.
    [[nodiscard]] bool can_add(queue_index to, resources<Width> claim) const noexcept {
        for (std::optional<queue_index> at = to; at; at = parent(*at)) {
            const account& of = accounts_[at->value()];
            resources<Width> sum = of.claimed;
            resources<Width> checked;
            if (!checked_add(sum, claim, checked))
                return false;
            raise(of, sum, claim);
        }
        return true;
    }
    void shift(queue_index from, resources<Width> claim, const resources<Width>& use,
               resources<Width> reserve, const resources<Width>& non_preemptible) noexcept {
        for (std::optional<queue_index> at = from; at; at = parent(*at)) {
            account& of = accounts_[at->value()];
            raise(of, of.claimed, claim);
            raise(of, of.reserved, reserve);
            of.used += use;
            of.non_preemptible += non_preemptible;
        }
    }
    void detach(const account& of) noexcept {
        if (of.parent)
            shift(*of.parent, -of.passed_on(of.claimed), -of.used, -of.passed_on(of.reserved),
                  -of.non_preemptible);
    }
    [[nodiscard]] bool attach(const account& of) noexcept {
        if (!of.parent)
            return true;
        if (!can_add(*of.parent, of.passed_on(of.claimed)))
            return false;
        shift(*of.parent, of.passed_on(of.claimed), of.used, of.passed_on(of.reserved),
              of.non_preemptible);
        return true;
    }

    detail::sequence<account> accounts_;
};

} // namespace v0_1
} // namespace muster
