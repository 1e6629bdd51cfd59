// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/model/constraints.hpp>
#include <muster/model/ledger.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {

/// A pod and the node where it is to stand.
struct placement {
    pod_index pod;
    node_index node;

    [[nodiscard]] friend constexpr bool operator==(placement, placement) = default;
};

/// A point of a plan to return to.
struct savepoint {
    std::size_t entries = 0;
    std::size_t placements = 0;
};

/// The journal of tentative placements, and the only way to make any: each is taken from the ledger
/// at once and written down, `rollback` undoes them newest first, and what is not kept by `commit`
/// is undone when the plan goes away. A gang is mark, place..., rollback or commit, so that no half
/// of it can stay.
template<std::size_t Width>
class plan {
public:
    explicit plan(ledger<Width>& accounts) : accounts_(&accounts) {}
    plan(plan&&) = delete;
    plan& operator=(plan&&) = delete;
    ~plan() { rollback({}); }

    [[nodiscard]] const ledger<Width>& accounts() const noexcept { return *accounts_; }

    /// Goes on with these accounts; nothing is open.
    void stand_on(ledger<Width>& accounts) noexcept {
        MUSTER_ASSERT(journal_.empty(), "what was placed is committed or undone");
        accounts_ = &accounts;
    }

    [[nodiscard]] savepoint mark() const noexcept { return {journal_.size(), placements_.size()}; }

    /// True and placed when all these pods, each with that request, fit what is free on the node,
    /// their ports are free there, and the queue and those above admit them; false and nothing
    /// changed otherwise. `ports` must outlive the plan. O(depth × width + pods + ports).
    [[nodiscard]] bool try_place(std::span<const pod_index> pods, node_index node,
                                 const resources<Width>& request,
                                 const std::vector<host_port>& ports,
                                 std::optional<queue_index> queue) {
        const auto count = static_cast<std::int64_t>(pods.size());
        resources<Width> amount;
        bool within = true;
        for (std::size_t column = 0; column < Width; ++column)
            within &= !__builtin_mul_overflow(request[column], count, &amount[column]);
        if (!within || !fits(amount, accounts_->free(node)) ||
            (!ports.empty() &&
             (conflicts(ports, accounts_->ports(node)) || (count > 1 && conflicts(ports, ports)))))
            return false;
        if (queue && !accounts_->admits(*queue, amount))
            return false;
        const savepoint before = mark();
        journal_.push_back({placements_.size(), node, amount, &ports, queue});
        for (const pod_index pod : pods)
            placements_.push_back({pod, node});
        if (accounts_->take(node, queue, amount, ports))
            return true;
        journal_.pop_back();
        placements_.resize(before.placements);
        return false;
    }

    /// The same for one pod.
    [[nodiscard]] bool try_place(pod_index pod, node_index node, const resources<Width>& request,
                                 const std::vector<host_port>& ports,
                                 std::optional<queue_index> queue) {
        return try_place(std::span<const pod_index>(&pod, 1), node, request, ports, queue);
    }

    /// A temporary would not outlive the plan.
    bool try_place(std::span<const pod_index>, node_index, const resources<Width>&,
                   std::vector<host_port>&&, std::optional<queue_index>) = delete;
    bool try_place(pod_index, node_index, const resources<Width>&, std::vector<host_port>&&,
                   std::optional<queue_index>) = delete;

    /// Undoes everything since `to`. O(nodes undone).
    void rollback(savepoint to) noexcept {
        MUSTER_ASSERT(to.entries <= journal_.size(),
                      "a savepoint of this plan, not undone already");
        while (journal_.size() > to.entries) {
            const entry& last = journal_.back();
            accounts_->give(last.node, last.queue, last.amount, *last.ports);
            placements_.resize(last.first);
            journal_.pop_back();
        }
    }

    /// The placements that stand, in the order in which they were made.
    [[nodiscard]] const std::vector<placement>& placements() const noexcept { return placements_; }
    [[nodiscard]] placement operator[](std::size_t at) const noexcept { return placements_[at]; }
    [[nodiscard]] std::size_t size() const noexcept { return placements_.size(); }

    /// Keeps what stands: the ledger stays as it is, the journal is empty again.
    void commit() noexcept {
        journal_.clear();
        placements_.clear();
    }

private:
    /// Equal pods on one node.
    struct entry {
        std::size_t first = 0;
        node_index node;
        resources<Width> amount;
        const std::vector<host_port>* ports;
        std::optional<queue_index> queue;
    };

    ledger<Width>* accounts_;
    std::vector<entry> journal_;
    std::vector<placement> placements_;
};

} // namespace muster::inline v0_1
