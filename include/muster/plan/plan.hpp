// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
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
    std::size_t size = 0;
};

/// The journal of tentative placements, and the only way to make any: each placement is taken from
/// the ledger at once and written down, `rollback` undoes them newest first, and what is not kept
/// by `commit` is undone when the plan goes away. A gang is mark, place..., rollback or commit, so
/// that no half of it can stay.
template<std::size_t Width>
class plan {
public:
    explicit plan(ledger<Width>& accounts) : accounts_(&accounts) {}
    plan(const plan&) = delete;
    plan& operator=(const plan&) = delete;
    ~plan() { rollback({}); }

    [[nodiscard]] const ledger<Width>& accounts() const noexcept { return *accounts_; }

    [[nodiscard]] savepoint mark() const noexcept { return {journal_.size()}; }

    /// True and placed when the request fits what is free on the node, its ports are free there,
    /// and the queue's quota admits it; false and nothing changed otherwise. `ports` must outlive
    /// the plan. O(width + ports).
    [[nodiscard]] bool try_place(pod_index pod, node_index node, const resources<Width>& request,
                                 const std::vector<host_port>& ports,
                                 std::optional<queue_index> queue) {
        if (!fits(request, accounts_->free(node)) || conflicts(ports, accounts_->ports(node)))
            return false;
        if (queue && !accounts_->quota(*queue).admits(accounts_->used(*queue), request))
            return false;
        journal_.push_back({{pod, node}, request, &ports, queue});
        if (accounts_->take(node, queue, request, ports))
            return true;
        journal_.pop_back();
        return false;
    }

    /// Undoes everything since `to`. O(placements undone).
    void rollback(savepoint to) noexcept {
        MUSTER_ASSERT(to.size <= journal_.size(), "a savepoint of this plan, not undone already");
        while (journal_.size() > to.size) {
            const entry& last = journal_.back();
            accounts_->give(last.what.node, last.queue, last.request, *last.ports);
            journal_.pop_back();
        }
    }

    /// The i-th placement that stands.
    [[nodiscard]] placement operator[](std::size_t at) const noexcept { return journal_[at].what; }
    [[nodiscard]] std::size_t size() const noexcept { return journal_.size(); }

    /// Keeps what stands: the ledger stays as it is, the journal is empty again.
    void commit() noexcept { journal_.clear(); }

private:
    struct entry {
        placement what;
        resources<Width> request;
        const std::vector<host_port>* ports;
        std::optional<queue_index> queue;
    };

    ledger<Width>* accounts_;
    std::vector<entry> journal_;
};

} // namespace muster::inline v0_1
