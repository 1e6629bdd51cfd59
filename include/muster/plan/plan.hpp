// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/ledger.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/node_claims.hpp>

namespace muster {
inline namespace v0_1 {

/// A pod and the node that it is assigned to.
struct placement {
    pod_index pod;
    node_index node;

    [[nodiscard]] friend constexpr bool operator==(placement, placement) = default;
};

/// A point of a plan to return to.
struct savepoint {
    std::size_t entries = 0;
    std::size_t placements = 0;
    std::size_t evictions = 0;
};

/// The journal of tentative placements and evictions, and the only way to make any: each changes
/// the ledger at once and is written down, `rollback` undoes them newest first, and what is not
/// kept by `commit` is undone when the plan goes away. A gang is mark, place..., rollback or
/// commit, so that no half of it can stay.
///
/// With `assume_released` and `vacate` the plan is made for the cluster as it will be once the
/// leaving and evicted pods have left; `commit_nominated` keeps what was placed there.
template<std::size_t Width>
class plan {
public:
    explicit plan(ledger<Width>& accounts) : accounts_(&accounts) {}
    plan(plan&&) = delete;
    plan& operator=(plan&&) = delete;
    ~plan() { rollback({}); }

    [[nodiscard]] const ledger<Width>& accounts() const noexcept { return *accounts_; }

    /// Goes on with these accounts; nothing is open.
    void attach_to(ledger<Width>& accounts) noexcept {
        MUSTER_ASSERT(journal_.empty(), "what was placed is committed or undone");
        accounts_ = &accounts;
    }

    [[nodiscard]] savepoint mark() const noexcept {
        return {journal_.size(), placements_.size(), evictions_.size()};
    }

    /// True and placed when all these pods, each with that request, fit what is free on the node,
    /// their claims are free there, and the queue and those above admit them; false and nothing
    /// changed otherwise. `claims` must outlive the plan. O(depth × width + pods + claims).
    [[nodiscard]] bool try_place(std::span<const pod_index> pods, node_index node,
                                 const resources<Width>& request, const node_claims& claims,
                                 std::optional<queue_charge> queue) {
        const auto count = static_cast<std::int64_t>(pods.size());
        resources<Width> amount;
        if (!checked_multiply(request, count, amount) || !fits(amount, accounts_->free(node)) ||
            accounts_->room_beside(node, claims, count) < count)
            return false;
        if (queue && !accounts_->admits(*queue, amount))
            return false;
        const savepoint before = mark();
        if (!claims.empty() && assumes_released())
            accounts_->reserve_claims(node, claims.size() * pods.size() + vacated_claims_);
        journal_.push_back({step::placed, placements_.size(), node, amount, &claims, queue});
        for (const pod_index pod : pods)
            placements_.push_back({pod, node});
        if (accounts_->take(node, queue, amount, claims, allocation::allocated, pods.size()))
            return true;
        journal_.pop_back();
        placements_.resize(before.placements);
        return false;
    }

    /// The same for one pod.
    [[nodiscard]] bool try_place(pod_index pod, node_index node, const resources<Width>& request,
                                 const node_claims& claims, std::optional<queue_charge> queue) {
        return try_place(std::span<const pod_index>(&pod, 1), node, request, claims, queue);
    }

    /// A temporary would not outlive the plan.
    bool try_place(std::span<const pod_index>, node_index, const resources<Width>&, node_claims&&,
                   std::optional<queue_charge>) = delete;
    bool try_place(pod_index, node_index, const resources<Width>&, node_claims&&,
                   std::optional<queue_charge>) = delete;

    /// From here on, what terminating pods hold counts as free, and as unused by their queues.
    /// Precondition: nothing is placed yet. A no-op if no pod is terminating, unless `others_come`.
    /// O(nodes with such pods).
    void assume_released(bool others_come = false) {
        MUSTER_ASSERT(journal_.empty(), "before anything is placed");
        const auto departures = accounts_->departures();
        if (departures.empty() && !others_come)
            return;
        for (const node_index node : departures) {
            count_claims(node, accounts_->leaving_claims(node).size());
            journal_.push_back({step::room_awaited, 0, node, {}, nullptr, std::nullopt});
            journal_.back().amount = accounts_->assume_released(node);
        }
        journal_.push_back({step::quota_awaited, 0, {}, {}, nullptr, std::nullopt});
        accounts_->queues_.assume_released(true);
    }

    /// Vacates a pod that is on that node and charged with the rest. `claims` must outlive the
    /// plan. O(width + claims).
    void vacate(pod_index pod, node_index node, const resources<Width>& request,
                const node_claims& claims, std::optional<queue_charge> queue) {
        if (!claims.empty())
            count_claims(node, claims.size());
        journal_.push_back({step::vacated, evictions_.size(), node, request, &claims, queue});
        evictions_.push_back(pod);
        accounts_->give(node, queue, request, claims);
    }

    void vacate(pod_index, node_index, const resources<Width>&, node_claims&&,
                std::optional<queue_charge>) = delete;

    /// So much of the node is not there for whatever is placed from here on. What was placed beside
    /// it is only ever undone. O(width).
    void keep(node_index node, const resources<Width>& amount) {
        journal_.push_back({step::kept, placements_.size(), node, amount, nullptr, std::nullopt});
        const bool taken = accounts_->take(node, std::nullopt, amount, {});
        MUSTER_ASSERT(taken, "amounts that gangs ask for can be subtracted");
        static_cast<void>(taken);
    }

    /// Undoes everything since `to`. O(entries undone).
    void rollback(savepoint to) noexcept {
        MUSTER_ASSERT(to.entries <= journal_.size(),
                      "a savepoint of this plan, not undone already");
        while (journal_.size() > to.entries) {
            const entry& last = journal_.back();
            switch (last.what) {
            case step::placed:
                accounts_->give(last.node, last.queue, last.amount, *last.claims,
                                allocation::allocated, placements_.size() - last.first);
                placements_.resize(last.first);
                break;
            case step::kept:
                accounts_->give(last.node, std::nullopt, last.amount, {});
                break;
            case step::vacated:
                retake(last, allocation::allocated);
                evictions_.resize(last.first);
                break;
            case step::room_awaited:
            case step::quota_awaited:
                undo_look(last);
                break;
            }
            journal_.pop_back();
        }
        if (journal_.empty())
            vacated_claims_ = 0;
    }

    /// Whether the placements count what terminating pods hold as free.
    [[nodiscard]] bool assumes_released() const noexcept {
        return !journal_.empty() && journal_.front().what != step::placed &&
               journal_.front().what != step::kept;
    }

    /// The placements of the plan, in the order in which they were made.
    [[nodiscard]] const std::vector<placement>& placements() const noexcept { return placements_; }
    [[nodiscard]] placement operator[](std::size_t at) const noexcept { return placements_[at]; }
    [[nodiscard]] std::size_t size() const noexcept { return placements_.size(); }
    /// The pods that go, in the order of their evictions.
    [[nodiscard]] const std::vector<pod_index>& evictions() const noexcept { return evictions_; }

    /// Commits: the ledger stays as it is, the journal is empty again.
    void commit() noexcept {
        MUSTER_ASSERT(!assumes_released(),
                      "placements in room that is still occupied are nominated");
        forget_journal();
    }

    /// Keeps the placements for the time when the leaving pods have left: until then these take
    /// their room as before, and the placed pods take it afterwards. O(entries).
    void commit_nominated() noexcept {
        MUSTER_ASSERT(
            detail::none_of(journal_, [](const entry& each) { return each.what == step::kept; }),
            "placements made next to kept room are only rolled back");
        std::size_t first = 0;
        for (; first < journal_.size() && undo_look(journal_[first]); ++first) {
        }
        while (journal_.size() > first) {
            const entry& last = journal_.back();
            if (last.what == step::placed) {
                accounts_->postpone(last.node, last.queue, last.amount,
                                    placements_.size() - last.first);
                placements_.resize(last.first);
            } else {
                retake(last, allocation::releasing);
            }
            journal_.pop_back();
        }
        forget_journal();
    }

private:
    enum class step : std::uint8_t { placed, vacated, kept, room_awaited, quota_awaited };
    /// Equal pods placed on one node, a pod that goes, or what was looked ahead to.
    struct entry {
        step what = step::placed;
        /// Where its pods begin among the placements or evictions.
        std::size_t first = 0;
        node_index node;
        resources<Width> amount;
        const node_claims* claims;
        std::optional<queue_charge> queue;
    };

    bool undo_look(const entry& of) noexcept {
        if (of.what == step::room_awaited)
            accounts_->await_again(of.node, of.amount);
        else if (of.what == step::quota_awaited)
            accounts_->queues_.assume_released(false);
        else
            return false;
        return true;
    }
    void retake(const entry& of, allocation when) noexcept {
        const bool taken = accounts_->take(of.node, of.queue, of.amount, *of.claims, when);
        MUSTER_ASSERT(taken, "what was charged a moment ago can be charged again");
        static_cast<void>(taken);
    }
    /// So many more claims may be made on the node again when this is undone or committed.
    void count_claims(node_index node, std::size_t more) {
        vacated_claims_ += more;
        if (more > 0)
            accounts_->reserve_claims(node, vacated_claims_);
    }
    void forget_journal() noexcept {
        journal_.clear();
        placements_.clear();
        evictions_.clear();
        vacated_claims_ = 0;
    }

    ledger<Width>* accounts_;
    detail::sequence<entry> journal_;
    std::vector<placement> placements_;
    std::vector<pod_index> evictions_;
    std::size_t vacated_claims_ = 0;
};

} // namespace v0_1
} // namespace muster
