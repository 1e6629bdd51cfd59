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

/// The number of pods in each domain of one label key.
struct domain_counts {
    const topology_domains* domains = nullptr;
    /// The counts, by domain.
    detail::sequence<std::int64_t> of;

    /// Sets all counts to 0 and sets the domains; memory is reused.
    void reset(const topology_domains& counted_domains) {
        domains = &counted_domains;
        of.assign(counted_domains.size(), 0);
    }

    [[nodiscard]] std::int64_t at(node_index node) const noexcept {
        const auto domain = domains->find(node, 0);
        return domain ? of[domain->value()] : 0;
    }
    void add(node_index node, std::int64_t change) noexcept {
        if (const auto domain = domains->find(node, 0))
            of[domain->value()] += change;
    }
};

/// The counts for a spread term: only over the nodes that count for it, and with the lowest count
/// of all domains.
class spread_counts {
public:
    /// Sets all counts to 0; `counts(node)` says whether a node counts. Memory is reused. O(nodes).
    template<class Traits, class Counts>
    void reset(const cluster_state<Traits>& cluster, const topology_domains& counted_domains,
               const spread_term& term, const Counts& counts) {
        domains_ = &counted_domains;
        term_ = &term;
        nodes_.assign(cluster.accounts().nodes(), 0);
        of_.assign(counted_domains.size(), absent);
        present_ = 0;
        fewest_ = 0;
        for (const node_index node : cluster.node_order()) {
            const auto domain = counted_domains.find(node, 0);
            if (!domain || !counts(node))
                continue;
            nodes_[node.value()] = 1;
            present_ += of_[domain->value()] == absent ? 1 : 0;
            of_[domain->value()] = 0;
        }
        with_.assign(1, present_);
    }

    void add(node_index node, std::int64_t change) {
        if (!nodes_[node.value()])
            return;
        std::int64_t& count = of_[domains_->find(node, 0)->value()];
        --with_[static_cast<std::size_t>(count)];
        count += change;
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
    /// Returns the number of pods in the node's domain.
    [[nodiscard]] std::int64_t at(node_index node) const noexcept {
        const auto domain = domains_->find(node, 0);
        return domain ? std::max<std::int64_t>(0, of_[domain->value()]) : 0;
    }
    /// Returns true if `more` pods in the node's domain would exceed the maximum skew.
    [[nodiscard]] bool too_many(node_index node, std::int64_t more) const noexcept {
        const bool few = present_ < term_->min_domains;
        const std::int64_t fewest = few ? 0 : static_cast<std::int64_t>(fewest_);
        return at(node) + more - fewest > term_->max_skew;
    }
    [[nodiscard]] const topology_domains& domains() const noexcept { return *domains_; }
    /// Returns true if pods on the node count.
    [[nodiscard]] bool counts(node_index node) const noexcept { return nodes_[node.value()] != 0; }
    /// Returns true if there are fewer domains than `min_domains`; the lowest count is then taken
    /// as 0.
    [[nodiscard]] bool too_few_domains() const noexcept { return present_ < term_->min_domains; }
    /// Returns an upper bound on the lowest count of all domains once `more` pods in all are
    /// placed, of which each domain takes at most `room`. O(domains).
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
    /// By domain; `absent` for a domain without a node that counts.
    detail::sequence<std::int64_t> of_;
    /// `with_[n]` is the number of domains with n pods.
    detail::sequence<std::int64_t> with_;
    std::int64_t present_ = 0;
    /// The lowest count of all domains; 0 if there is no domain.
    std::size_t fewest_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
