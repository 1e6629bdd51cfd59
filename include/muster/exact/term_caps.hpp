// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/problem/affinity_counts.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// What required terms between pods come to on every node by itself, so that a fit problem can hold
/// it: see `certificate::cap`. Anti-affinity only ever keeps more away as more is placed, and the
/// emptiest domain of a spread term has a most that it can come to; of affinity only the label is
/// left. All else is as if there were no such terms, so what does not fit within the caps does not
/// fit.
template<class Traits>
class term_caps {
    static constexpr std::size_t width = Traits::width;

public:
    /// The caps of a gang of which no member is placed yet; all arguments must outlive their use.
    /// False when there are none. O(classes · nodes · terms).
    [[nodiscard]] bool know(const cluster_state<Traits>& cluster,
                            const gang_members<width>& members,
                            const affinity_members<width>& sorted,
                            const affinity_counts<Traits>& counts, certificate_scope scope) {
        cluster_ = &cluster;
        members_ = &members;
        sorted_ = &sorted;
        counts_ = &counts;
        now_ = scope == certificate_scope::free_now;
        nodes_ = cluster.accounts().nodes();
        said_.clear();
        pairs_.clear();
        settled_ = true;
        most_.assign(members.classes.size() * nodes_, uncapped);
        first_of_.assign(members.classes.size(), nobody);
        for (std::size_t each = sorted.classes.size(); each-- > 0;)
            first_of_[shape_of(each)] = each;
        for (std::size_t at = 0; at < first_of_.size(); ++at) {
            keep_off(at);
            keep_apart(at);
            even_out(at);
        }
        return !said_.empty();
    }

    /// Holds the problem to the caps. The first must be of the gang on all nodes: how much room
    /// there is says how even a spread can become.
    void apply(fit_problem<width>& problem) {
        if (!settled_)
            settle(problem);
        const std::size_t classes = members_->classes.size();
        for (std::size_t row = 0; row < problem.rows.size(); ++row)
            for (std::size_t at = 0; at < classes; ++at) {
                std::int64_t& most = problem.most[row * classes + at];
                most = std::min(most, most_[at * nodes_ + problem.rows[row].node.value()]);
            }
        for (const pair& each : pairs_) {
            const topology_domains& label = cluster_->topologies()[each.label];
            bool everywhere = true;
            for (std::size_t row = 0; row < problem.rows.size() && everywhere; ++row)
                everywhere = problem.most_of(row)[each.one] == 0 ||
                             problem.most_of(row)[each.other] == 0 ||
                             label.find(problem.rows[row].node, 0);
            if (everywhere)
                problem.apart[each.one * classes + each.other] =
                    problem.apart[each.other * classes + each.one] = 1;
        }
    }

    /// For the certificate, once they are applied.
    [[nodiscard]] const std::vector<certificate::cap>& said() const noexcept { return said_; }

private:
    using rule = certificate::cap::rule;
    static constexpr std::int64_t uncapped = std::numeric_limits<std::int64_t>::max();
    static constexpr std::size_t nobody = ~std::size_t{0};

    /// Two classes that do not share a node with that label.
    struct pair {
        std::size_t one = 0;
        std::size_t other = 0;
        topology_index label;
    };

    [[nodiscard]] std::size_t shape_of(std::size_t of_sorted) const noexcept {
        return static_cast<std::size_t>(sorted_->classes[of_sorted].shape -
                                        members_->classes.data());
    }
    [[nodiscard]] const known_terms* terms_of(std::size_t at) const noexcept {
        return sorted_->classes[first_of_[at]].terms;
    }
    [[nodiscard]] bool speaks_of(const known_term& term, std::size_t of_sorted) const noexcept {
        return cluster_->population().matches(term.pods, sorted_->classes[of_sorted].identity);
    }
    [[nodiscard]] bool speaks_of_all(const known_term& term, std::size_t at) const noexcept {
        for (std::size_t each = 0; each < sorted_->classes.size(); ++each)
            if (shape_of(each) == at && !speaks_of(term, each))
                return false;
        return true;
    }
    [[nodiscard]] std::int64_t& most(std::size_t at, node_index node) noexcept {
        return most_[at * nodes_ + node.value()];
    }

    void keep_off(std::size_t at) {
        bool any = false;
        for (const node_index node : cluster_->node_order()) {
            bool all = (*cluster_)[node].present;
            for (std::size_t each = 0; each < sorted_->classes.size() && all; ++each)
                all = shape_of(each) != at || counts_->kept_off(each, node, now_);
            if (!all)
                continue;
            most(at, node) = 0;
            any = true;
        }
        if (any)
            said_.push_back({rule::kept_off, at, 0, 0, 0});
    }

    void keep_apart(std::size_t at) {
        const known_terms* terms = terms_of(at);
        for (std::size_t term = 0; terms && term < terms->anti_affinity.size(); ++term)
            for (std::size_t other = 0; other < first_of_.size(); ++other) {
                const known_term& by = terms->anti_affinity[term];
                if (!speaks_of_all(by, other))
                    continue;
                said_.push_back({rule::apart, at, other, term, 0});
                if (other != at) {
                    pairs_.push_back({at, other, by.topology});
                    continue;
                }
                for (const node_index node : cluster_->node_order())
                    if (cluster_->topologies()[by.topology].find(node, 0))
                        most(at, node) = std::min<std::int64_t>(most(at, node), 1);
            }
    }

    void even_out(std::size_t at) {
        const known_terms* terms = terms_of(at);
        for (std::size_t term = 0; terms && term < terms->spread.size(); ++term) {
            const spread_counts& by = counts_->spread_of(first_of_[at], term);
            if (!by.term().required || !speaks_of_all(terms->spread[term], at) ||
                !(now_ || (by.too_few_domains() && !by.term().honor_taints)))
                continue;
            said_.push_back({rule::spread, at, 0, term, 0});
            settled_ = false;
        }
    }

    /// Says how even the spreads can become, with the room that the problem knows.
    void settle(const fit_problem<width>& problem) {
        settled_ = true;
        for (certificate::cap& each : said_) {
            if (each.by != rule::spread)
                continue;
            const std::size_t at = each.member_class;
            const spread_counts& by = counts_->spread_of(first_of_[at], each.term);
            if (now_)
                each.fewest = most_fewest(problem, by, terms_of(at)->spread[each.term]);
            const std::int64_t top = std::int64_t{by.term().max_skew} + each.fewest;
            for (const node_index node : cluster_->node_order())
                if (by.counts(node))
                    most(at, node) = std::min(
                        most(at, node), std::max<std::int64_t>(0, top - (now_ ? by.at(node) : 0)));
        }
    }

    [[nodiscard]] std::int64_t most_fewest(const fit_problem<width>& problem,
                                           const spread_counts& by, const known_term& term) {
        std::int64_t more = 0;
        spoken_of_.assign(members_->classes.size(), 0);
        for (std::size_t each = 0; each < sorted_->classes.size(); ++each)
            if (speaks_of(term, each)) {
                more += static_cast<std::int64_t>(sorted_->classes[each].pods.size());
                spoken_of_[shape_of(each)] = 1;
            }
        room_.assign(by.domains().size(), 0);
        for (std::size_t row = 0; row < problem.rows.size(); ++row) {
            const node_index node = problem.rows[row].node;
            if (by.counts(node))
                for (std::size_t at = 0; at < spoken_of_.size(); ++at)
                    if (spoken_of_[at])
                        room_[by.domains().find(node, 0)->value()] += problem.most_of(row)[at];
        }
        return by.most_fewest(room_, more);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const gang_members<width>* members_ = nullptr;
    const affinity_members<width>* sorted_ = nullptr;
    const affinity_counts<Traits>* counts_ = nullptr;
    bool now_ = true;
    /// How even spreads can become is said.
    bool settled_ = true;
    std::size_t nodes_ = 0;
    /// By class: the first of those that terms tell apart.
    detail::sequence<std::size_t> first_of_;
    /// By class and node.
    detail::sequence<std::int64_t> most_;
    sequence<pair> pairs_;
    std::vector<certificate::cap> said_;
    /// Scratch: by class, and by domain.
    detail::sequence<char> spoken_of_;
    detail::sequence<std::int64_t> room_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
