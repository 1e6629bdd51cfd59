// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/allocation.hpp>
#include <muster/cluster/queue_accounts.hpp>
#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// The accounts of the queues twice: as they are now, and as they will be once all terminating pods
/// have left and all nominated pods have started. A quota must hold in both, so both must admit a
/// pod. Without terminating and nominated pods there is only one account, at the cost of one.
template<std::size_t Width>
class queue_books {
public:
    using accounts = queue_accounts<Width>;
    using ceiling = typename accounts::ceiling;

    [[nodiscard]] const accounts& present() const noexcept { return now_; }
    [[nodiscard]] const accounts& future() const noexcept { return apart_ > 0 ? later_ : now_; }

    [[nodiscard]] std::size_t size() const noexcept { return now_.size(); }
    [[nodiscard]] const limits<Width>& quota(queue_index queue) const noexcept {
        return now_.quota(queue);
    }
    [[nodiscard]] std::optional<queue_index> parent(queue_index queue) const noexcept {
        return now_.parent(queue);
    }
    [[nodiscard]] queue_index root(queue_index queue) const noexcept { return now_.root(queue); }
    [[nodiscard]] bool within(queue_index queue, queue_index above) const noexcept {
        return now_.within(queue, above);
    }
    [[nodiscard]] bool limited(queue_index queue) const noexcept { return now_.limited(queue); }

    /// Of each kind the greater of now and later.
    [[nodiscard]] resources<Width> used(queue_index queue) const noexcept {
        return greater(&accounts::used, queue);
    }
    [[nodiscard]] resources<Width> own(queue_index queue) const noexcept {
        return greater(&accounts::own, queue);
    }
    [[nodiscard]] resources<Width> claimed(queue_index queue) const noexcept {
        return greater(&accounts::claimed, queue);
    }
    [[nodiscard]] bool admits(queue_charge queue, const resources<Width>& amount) const noexcept {
        return (ahead() || now_.admits(queue, amount)) &&
               (apart_ == 0 || later_.admits(queue, amount));
    }
    [[nodiscard]] std::optional<ceiling>
    tightest_ceiling(queue_charge queue, kind_id kind,
                     occupancy counted = occupancy::current) const noexcept {
        if (ahead())
            return later_.tightest_ceiling(queue, kind, counted);
        const auto now = now_.tightest_ceiling(queue, kind, counted);
        if (apart_ == 0 || !now)
            return now;
        const auto later = later_.tightest_ceiling(queue, kind, counted);
        return later->left < now->left ? later : now;
    }
    /// All of them, the queue's own first. O(depth).
    [[nodiscard]] detail::sequence<ceiling> ceilings(queue_charge queue, kind_id kind,
                                                     occupancy counted) const {
        const auto list = [&](const accounts& from) {
            detail::sequence<ceiling> all;
            from.each_ceiling(queue, kind, counted,
                              [&](const ceiling& one) { all.push_back(one); });
            return all;
        };
        if (ahead())
            return list(later_);
        detail::sequence<ceiling> all = list(now_);
        if (apart_ == 0)
            return all;
        const detail::sequence<ceiling> later = list(later_);
        for (std::size_t at = 0; at < all.size(); ++at)
            all[at].left = std::min(all[at].left, later[at].left);
        return all;
    }
    [[nodiscard]] limits<Width> headroom(queue_charge queue,
                                         occupancy counted = occupancy::current) const noexcept {
        if (ahead())
            return later_.headroom(queue, counted);
        limits<Width> left = now_.headroom(queue, counted);
        if (apart_ == 0)
            return left;
        const limits<Width> later = later_.headroom(queue, counted);
        for (std::size_t column = 0; column < Width; ++column)
            if (const auto top = later[kind_id{column}])
                left.set(kind_id{column}, std::min(*top, *left[kind_id{column}]));
        return left;
    }

    [[nodiscard]] friend bool operator==(const queue_books& lhs, const queue_books& rhs) {
        return lhs.now_ == rhs.now_ && lhs.apart_ == rhs.apart_ && lhs.future() == rhs.future();
    }

    // ---- for the state and the ledger ----------------------------------------------------------

    void add() {
        now_.add();
        later_.add();
    }
    void drop_last() noexcept {
        now_.drop_last();
        later_.drop_last();
    }
    void set_quota(queue_index queue, const limits<Width>& quota,
                   const limits<Width>& non_preemptible_quota) noexcept {
        now_.set_quota(queue, quota, non_preemptible_quota);
        later_.set_quota(queue, quota, non_preemptible_quota);
    }
    /// As `queue_accounts::settle`.
    [[nodiscard]] bool settle(queue_index queue, std::optional<queue_index> parent,
                              const resources<Width>& guarantee) noexcept {
        if (apart_ == 0)
            return now_.settle(queue, parent, guarantee);
        const auto before_parent = now_.parent(queue);
        const resources<Width> before = now_.guarantee(queue);
        if (!now_.settle(queue, parent, guarantee))
            return false;
        if (later_.settle(queue, parent, guarantee))
            return true;
        expect(now_.settle(queue, before_parent, before));
        return false;
    }
    void empty() noexcept {
        now_.empty();
        apart_ = 0;
    }

    /// Charges the amount in the accounts that `when` names. Returns false and changes nothing if a
    /// sum would overflow. O(depth × width), and O(queues) for the first terminating or nominated
    /// pod.
    [[nodiscard]] bool take(queue_charge queue, const resources<Width>& amount,
                            allocation when = allocation::allocated) noexcept {
        if (when == allocation::allocated) {
            if (!now_.take(queue, amount))
                return false;
            if (apart_ == 0 || later_.take(queue, amount))
                return true;
            now_.give(queue, amount);
            return false;
        }
        part();
        if ((when == allocation::releasing ? now_ : later_).take(queue, amount))
            return true;
        --apart_;
        return false;
    }
    /// The inverse of a `take` that succeeded.
    void give(queue_charge queue, const resources<Width>& amount,
              allocation when = allocation::allocated) noexcept {
        if (when != allocation::pipelined)
            now_.give(queue, amount);
        if (when != allocation::releasing && apart_ > 0)
            later_.give(queue, amount);
        if (when != allocation::allocated)
            --apart_;
    }
    /// What so many pods took for good counts only later from here on.
    void postpone(queue_charge queue, const resources<Width>& amount, std::size_t pods) noexcept {
        part();
        apart_ += pods - 1;
        now_.give(queue, amount);
    }
    /// Whether only later counts.
    void assume_released(bool on) noexcept { assumes_released_ = on; }

private:
    [[nodiscard]] bool ahead() const noexcept { return assumes_released_ && apart_ > 0; }

    template<class Of>
    [[nodiscard]] resources<Width> greater(Of of, queue_index queue) const noexcept {
        if (apart_ == 0)
            return (now_.*of)(queue);
        resources<Width> most = (later_.*of)(queue);
        if (!assumes_released_)
            most = muster::greater(most, (now_.*of)(queue));
        return most;
    }
    /// One pod more leaves or is nominated.
    void part() noexcept {
        // Of as many queues already, so that this needs no memory.
        if (apart_++ == 0)
            later_ = now_;
    }
    static void expect(bool restored) noexcept {
        MUSTER_ASSERT(restored, "what was added up a moment ago can be added up again");
        static_cast<void>(restored);
    }

    accounts now_;
    /// Means something while the two differ.
    accounts later_;
    /// Pods that leave or are nominated.
    std::size_t apart_ = 0;
    bool assumes_released_ = false;
};

} // namespace v0_1
} // namespace muster
