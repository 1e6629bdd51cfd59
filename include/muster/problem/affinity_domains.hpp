// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// How many pods are in each domain of one label key.
struct domain_counts {
    const topology_domains* domains = nullptr;
    /// By domain.
    detail::sequence<std::int64_t> of;

    /// Sets all counts to 0. Keeps the memory.
    void reset(const topology_domains& by) {
        domains = &by;
        of.assign(by.size(), 0);
    }

    [[nodiscard]] std::int64_t at(node_index node) const noexcept {
        const auto domain = domains->find(node, 0);
        return domain ? of[domain->value()] : 0;
    }
    void add(node_index node, std::int64_t by) noexcept {
        if (const auto domain = domains->find(node, 0))
            of[domain->value()] += by;
    }
};

/// The same for spread: over the nodes that count, and with the fewest of all domains.
class spread_counts {
public:
    /// Sets all counts to 0; `counts(node)` says which nodes count. Keeps the memory. O(nodes).
    template<class Traits, class Counts>
    void reset(const cluster_state<Traits>& cluster, const topology_domains& by,
               const spread_term& term, const Counts& counts) {
        domains_ = &by;
        term_ = &term;
        nodes_.assign(cluster.accounts().nodes(), 0);
        of_.assign(by.size(), absent);
        present_ = 0;
        fewest_ = 0;
        for (const node_index node : cluster.node_order()) {
            const auto domain = by.find(node, 0);
            if (!domain || !counts(node))
                continue;
            nodes_[node.value()] = 1;
            present_ += of_[domain->value()] == absent ? 1 : 0;
            of_[domain->value()] = 0;
        }
        with_.assign(1, present_);
    }

    void add(node_index node, std::int64_t by) {
        if (!nodes_[node.value()])
            return;
        std::int64_t& count = of_[domains_->find(node, 0)->value()];
        --with_[static_cast<std::size_t>(count)];
        count += by;
        const auto at = static_cast<std::size_t>(count);
        if (with_.size() <= at)
            with_.resize(at + 1, 0);
        ++with_[at];
        fewest_ = std::min(fewest_, at);
        while (with_[fewest_] == 0)
            ++fewest_;
    }

    [[nodiscard]] const spread_term& term() const noexcept { return *term_; }
    [[nodiscard]] bool has_label(node_index node) const noexcept {
        return domains_->find(node, 0).has_value();
    }
    /// Pods in the node's domain.
    [[nodiscard]] std::int64_t at(node_index node) const noexcept {
        const auto domain = domains_->find(node, 0);
        return domain ? std::max<std::int64_t>(0, of_[domain->value()]) : 0;
    }
    /// The domain would be too far ahead with `more` pods.
    [[nodiscard]] bool too_many(node_index node, std::int64_t more) const noexcept {
        const bool few = present_ < term_->min_domains;
        const std::int64_t fewest = few ? 0 : static_cast<std::int64_t>(fewest_);
        return at(node) + more - fewest > term_->max_skew;
    }
    [[nodiscard]] const topology_domains& domains() const noexcept { return *domains_; }
    /// Members placed on the node count.
    [[nodiscard]] bool counts(node_index node) const noexcept { return nodes_[node.value()] != 0; }
    /// Fewer domains than the term asks for: the fewest counts as 0.
    [[nodiscard]] bool too_few_domains() const noexcept { return present_ < term_->min_domains; }
    /// The most that the emptiest domain can come to have when `more` pods come in all, of which
    /// each domain takes no more than `room` says. O(domains).
    [[nodiscard]] std::int64_t most_fewest(const detail::sequence<std::int64_t>& room,
                                           std::int64_t more) const noexcept {
        if (present_ == 0 || too_few_domains())
            return 0;
        int128 all = more;
        int128 least = std::numeric_limits<std::int64_t>::max();
        for (std::size_t domain = 0; domain < of_.size(); ++domain) {
            if (of_[domain] == absent)
                continue;
            all += of_[domain];
            least = std::min(least, static_cast<int128>(of_[domain]) + room[domain]);
        }
        return static_cast<std::int64_t>(std::min(least, all / present_));
    }

private:
    static constexpr std::int64_t absent = -1;

    const topology_domains* domains_ = nullptr;
    const spread_term* term_ = nullptr;
    detail::sequence<char> nodes_;
    /// By domain; of those without a node that counts, `absent`.
    detail::sequence<std::int64_t> of_;
    /// How many domains have so many pods.
    detail::sequence<std::int64_t> with_;
    std::int64_t present_ = 0;
    /// With no domain at all: 0.
    std::size_t fewest_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
