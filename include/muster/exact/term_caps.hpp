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

/// Caps from pod affinity: what required pod terms imply for every node by itself, as limits of a
/// fit problem (see `certificate::cap`). Anti-affinity excludes more as more pods are placed, and
/// the lowest count of a spread term's domains has an upper bound. Of affinity only the label key
/// is used. Everything else is treated as if there were no terms, so what does not fit within the
/// caps does not fit.
template<class Traits>
class term_caps {
    static constexpr std::size_t width = Traits::width;

public:
    /// Computes the caps of a gang of which no member is placed yet. All arguments must outlive
    /// their use. Returns false if there are none. O(classes · nodes · terms).
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
        for (std::size_t sorted_class = sorted.classes.size(); sorted_class-- > 0;)
            first_of_[shape_of(sorted_class)] = sorted_class;
        for (std::size_t at = 0; at < first_of_.size(); ++at) {
            keep_off(at);
            keep_apart(at);
            even_out(at);
        }
        return !said_.empty();
    }

    /// Applies the caps to the problem. The first problem must be that of the gang on all nodes,
    /// because its room determines how even a spread can become.
    void apply(fit_problem<width>& problem) {
        if (!settled_)
            settle(problem);
        const std::size_t classes = members_->classes.size();
        for (std::size_t row = 0; row < problem.rows.size(); ++row)
            for (std::size_t at = 0; at < classes; ++at) {
                std::int64_t& most = problem.most[row * classes + at];
                most = std::min(most, most_[at * nodes_ + problem.rows[row].node.value()]);
            }
        for (const pair& excluded : pairs_) {
            const topology_domains& label = cluster_->topologies()[excluded.label];
            bool everywhere = true;
            for (std::size_t row = 0; row < problem.rows.size() && everywhere; ++row)
                everywhere = problem.most_of(row)[excluded.one] == 0 ||
                             problem.most_of(row)[excluded.other] == 0 ||
                             label.find(problem.rows[row].node, 0);
            if (everywhere)
                problem.apart[excluded.one * classes + excluded.other] =
                    problem.apart[excluded.other * classes + excluded.one] = 1;
        }
    }

    /// The caps for the certificate, after they were applied.
    [[nodiscard]] const std::vector<certificate::cap>& said() const noexcept { return said_; }

private:
    using rule = certificate::cap::rule;
    static constexpr std::int64_t uncapped = std::numeric_limits<std::int64_t>::max();
    static constexpr std::size_t nobody = ~std::size_t{0};

    /// Two classes that exclude each other on nodes with that label key.
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
        for (std::size_t sorted_class = 0; sorted_class < sorted_->classes.size(); ++sorted_class)
            if (shape_of(sorted_class) == at && !speaks_of(term, sorted_class))
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
            for (std::size_t sorted_class = 0; sorted_class < sorted_->classes.size() && all;
                 ++sorted_class)
                all = shape_of(sorted_class) != at || counts_->kept_off(sorted_class, node, now_);
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
                const known_term& avoided = terms->anti_affinity[term];
                if (!speaks_of_all(avoided, other))
                    continue;
                said_.push_back({rule::apart, at, other, term, 0});
                if (other != at) {
                    pairs_.push_back({at, other, avoided.topology});
                    continue;
                }
                for (const node_index node : cluster_->node_order())
                    if (cluster_->topologies()[avoided.topology].find(node, 0))
                        most(at, node) = std::min<std::int64_t>(most(at, node), 1);
            }
    }

    void even_out(std::size_t at) {
        const known_terms* terms = terms_of(at);
        for (std::size_t term = 0; terms && term < terms->spread.size(); ++term) {
            const spread_counts& term_counts = counts_->spread_of(first_of_[at], term);
            if (!term_counts.term().required || !speaks_of_all(terms->spread[term], at) ||
                !(now_ || (term_counts.too_few_domains() && !term_counts.term().honor_taints)))
                continue;
            said_.push_back({rule::spread, at, 0, term, 0});
            settled_ = false;
        }
    }

    /// Computes how even the spreads can become with the room of the problem, and the caps from
    /// that.
    void settle(const fit_problem<width>& problem) {
        settled_ = true;
        for (certificate::cap& spread_cap : said_) {
            if (spread_cap.by != rule::spread)
                continue;
            const std::size_t at = spread_cap.member_class;
            const spread_counts& term_counts = counts_->spread_of(first_of_[at], spread_cap.term);
            if (now_)
                spread_cap.fewest =
                    most_fewest(problem, term_counts, terms_of(at)->spread[spread_cap.term]);
            const std::int64_t top = std::int64_t{term_counts.term().max_skew} + spread_cap.fewest;
            for (const node_index node : cluster_->node_order())
                if (term_counts.counts(node))
                    most(at, node) = std::min(
                        most(at, node),
                        std::max<std::int64_t>(0, top - (now_ ? term_counts.at(node) : 0)));
        }
    }

    [[nodiscard]] std::int64_t most_fewest(const fit_problem<width>& problem,
                                           const spread_counts& term_counts,
                                           const known_term& term) {
        std::int64_t more = 0;
        spoken_of_.assign(members_->classes.size(), 0);
        for (std::size_t sorted_class = 0; sorted_class < sorted_->classes.size(); ++sorted_class)
            if (speaks_of(term, sorted_class)) {
                more += static_cast<std::int64_t>(sorted_->classes[sorted_class].pods.size());
                spoken_of_[shape_of(sorted_class)] = 1;
            }
        room_.assign(term_counts.domains().size(), 0);
        for (std::size_t row = 0; row < problem.rows.size(); ++row) {
            const node_index node = problem.rows[row].node;
            if (term_counts.counts(node))
                for (std::size_t at = 0; at < spoken_of_.size(); ++at)
                    if (spoken_of_[at])
                        room_[term_counts.domains().find(node, 0)->value()] +=
                            problem.most_of(row)[at];
        }
        return term_counts.most_fewest(room_, more);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const gang_members<width>* members_ = nullptr;
    const affinity_members<width>* sorted_ = nullptr;
    const affinity_counts<Traits>* counts_ = nullptr;
    bool now_ = true;
    /// True once the caps of the spread terms are computed.
    bool settled_ = true;
    std::size_t nodes_ = 0;
    /// By class: its first class in `affinity_members`.
    detail::sequence<std::size_t> first_of_;
    /// By class and node: the cap.
    detail::sequence<std::int64_t> most_;
    sequence<pair> pairs_;
    std::vector<certificate::cap> said_;
    /// Scratch: whether the term selects a class, by class, and the room by domain.
    detail::sequence<char> spoken_of_;
    detail::sequence<std::int64_t> room_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
