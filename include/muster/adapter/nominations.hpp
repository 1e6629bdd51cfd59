// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <muster/adapter/backoff.hpp>
#include <muster/adapter/driver_context.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/base/id.hpp>
#include <muster/cluster/state.hpp>
#include <muster/vocabulary/traits.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Publishes the nodes of nominated pods (`status.nominatedNodeName`), and remembers what was
/// published.
template<class Traits>
class nominations {
public:
    using pod_key = typename Traits::pod_key;
    using node_key = typename Traits::node_key;

    explicit nominations(driver_context<Traits>& context)
        : at_(&context), tries_(context.how.retries) {}

    /// Appends an order for every pod of which the cluster was told otherwise; after a failed write
    /// none for a while. Without nominations O(1), else O(members of the nominated gangs · log).
    void give(std::vector<nominate_order<Traits>>& into) {
        next_ = never_comes;
        if (at_->now < not_before_) {
            next_ = not_before_;
            return;
        }
        state<Traits>& known = at_->view.known();
        std::map<pod_key, node_key, key_less<Traits>> coming;
        for (const gang_index gang : known.gangs_with_nominations())
            for (const pod_index member : known[gang].members)
                if (const auto& record = known[member];
                    record.awaited() && !record.migration_target)
                    coming.emplace(known.key(member), known.key(*record.node));
        for (auto& [pod, node] : told_)
            if (!coming.contains(pod))
                drop(pod, node, coming, into);
        for (const auto& [pod, node] : coming)
            if (const auto at = told_.find(pod); at == told_.end() || !(at->second == node))
                if (const auto* const facts = at_->view.find_pod(pod))
                    into.push_back({order(pod, node), pod, facts->uid, node});
        told_ = std::move(coming);
    }

    /// True when the order was given here. A write that may succeed later is made again.
    bool take(const order_result<Traits>& result) {
        const auto found = orders_.find(result.of);
        if (found == orders_.end())
            return false;
        const given_order given = std::move(found->second);
        orders_.erase(found);
        if (result.what == outcome::applied)
            tries_.reset();
        if (result.what != outcome::transient && result.what != outcome::unknown &&
            result.what != outcome::conflict)
            return true;
        const auto told = told_.find(given.pod);
        if (given.takes_back)
            told_.try_emplace(given.pod, given.node);
        else if (told != told_.end() && told->second == given.node)
            told_.erase(told);
        not_before_ = next_ = std::max(not_before_, at_->again(tries_, result));
        return true;
    }

    /// When orders are due that wait after a failure.
    [[nodiscard]] std::int64_t next() const noexcept { return next_; }

    /// What was told counts no more.
    void forget_all() {
        told_.clear();
        orders_.clear();
    }

private:
    struct given_order {
        pod_key pod{};
        node_key node{};
        bool takes_back = false;
    };

    /// A pod that is about to be bound keeps its nomination, which its bind ends. One that waits
    /// loses it.
    void drop(const pod_key& pod, const node_key& node,
              std::map<pod_key, node_key, key_less<Traits>>& kept,
              std::vector<nominate_order<Traits>>& into) {
        const auto* const facts = at_->view.find_pod(pod);
        const auto found = at_->known().find_pod(pod);
        if (facts == nullptr || facts->on || facts->carried || !found)
            return;
        if (at_->known()[found->index].assumed)
            kept.emplace(pod, node);
        else
            into.push_back({order(pod, node, true), pod, facts->uid, std::nullopt});
    }

    [[nodiscard]] ticket order(const pod_key& pod, const node_key& node, bool takes_back = false) {
        const ticket of = at_->new_ticket();
        orders_.emplace(of, given_order{pod, node, takes_back});
        return of;
    }

    driver_context<Traits>* at_;
    std::map<pod_key, node_key, key_less<Traits>> told_;
    std::map<ticket, given_order> orders_;
    backoff tries_;
    std::int64_t not_before_ = 0;
    std::int64_t next_ = never_comes;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
