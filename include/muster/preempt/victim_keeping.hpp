// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/preempt/victim_selection.hpp>
#include <muster/preempt/victims.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {

/// Improves the choice of surplus pods to evict from contested gangs. A gang is contested if its
/// surplus pods cannot all go together: with three pods and a minimum of one, any two may go; if it
/// may lose one pod at a time, any one. The victim search takes surplus in a fixed order, which may
/// spare the very pods whose room is needed.
template<class Traits>
class victim_keeping : protected victim_selection<Traits> {
    using selection = victim_selection<Traits>;

protected:
    using selection::cluster_;
    using selection::keeps_minima;
    using selection::put_back_pod;
    using selection::steps_;
    using selection::take_pod;
    using selection::victims_;

    static constexpr std::size_t few = 12;

    /// Precondition: the gang fits once the taken pods are gone. If these include a whole gang,
    /// tries to evict surplus pods instead. If that fails, tries to keep part of each contested
    /// gang that was taken whole. Does not change gangs of a higher level than the taken ones and,
    /// with `spare_wanted`, gangs with pods to which the starting gang has required affinity.
    template<class Fit>
    void keep_more(Fit& fit, bool spare_wanted) {
        level highest = lowest;
        bool breaks = false;
        for (const victim& gang : victims_) {
            if (gang.count > 0)
                highest = {std::max(highest.first, gang.terms.queue_level),
                           std::max(highest.second, gang.terms.gang_level)};
            breaks = breaks || (gang.broken() && gang.as_a_whole);
        }
        if (!breaks)
            return;
        limited_.clear();
        bool contested = false;
        bool broken = false;
        for (std::size_t which = 0; which < victims_.size(); ++which) {
            const victim& gang = victims_[which];
            if (!gang.any_spare || gang.terms.queue_level > highest.first ||
                gang.terms.gang_level > highest.second || (spare_wanted && any_wanted(gang, fit)))
                continue;
            limited_.push_back(which);
            contested = contested || gang.contested;
            broken = broken || (gang.contested && gang.broken());
        }
        if (!contested)
            return;
        const auto by_surplus = [&] {
            take_surplus(fit);
            return fit.fits() && choose(fit, false);
        };
        const auto by_parts = [&] {
            candidates_.clear();
            for (const std::size_t which : limited_)
                if (victims_[which].contested && victims_[which].broken())
                    add_candidates(which);
            return choose(fit, true);
        };
        if (!rearrange(fit, by_surplus) && broken)
            rearrange(fit, by_parts);
    }

    /// Precondition: no pod is taken. Takes every pod that may go, as surplus or with its whole
    /// gang, then puts back as many as possible. True if the gang fits with what is still taken.
    template<class Fit>
    [[nodiscard]] bool take_all_and_keep(Fit& fit) {
        if (detail::none_of(victims_, &victim::contested))
            return false;
        return rearrange(fit, [&] {
            candidates_.clear();
            for (std::size_t which = 0; which < victims_.size(); ++which) {
                victim& gang = victims_[which];
                for (std::size_t at = 0; at < gang.pods.size(); ++at)
                    set_taken(gang, at, gang.as_a_whole || gang.spare[at], fit);
                add_candidates(which);
            }
            return fit.fits() && choose(fit, true);
        });
    }

private:
    using level = std::pair<std::int64_t, std::int64_t>;

    static constexpr level lowest{std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::min()};

    struct taken_pod {
        std::size_t of = 0;
        std::size_t at = 0;
    };

    template<class Fit>
    [[nodiscard]] static bool any_wanted(const victim& gang, const Fit& fit) {
        return detail::any_of(gang.pods, [&](pod_index pod) { return fit.is_wanted(pod); });
    }

    /// Calls `alter` with half of the remaining steps. If it returns false, restores the set of
    /// taken pods.
    template<class Fit, class Change>
    bool rearrange(Fit& fit, const Change& alter) {
        std::int64_t pods = 0;
        for (const victim& gang : victims_)
            pods += static_cast<std::int64_t>(gang.pods.size());
        const std::int64_t reserve = *steps_ / 2;
        if (reserve <= 4 * pods)
            return false;
        *steps_ -= reserve;
        before_.clear();
        for (const victim& gang : victims_)
            before_.insert(before_.end(), gang.taken.begin(), gang.taken.end());
        const bool changed = alter();
        if (!changed)
            restore(fit);
        *steps_ += reserve;
        return changed;
    }
    template<class Fit>
    void restore(Fit& fit) {
        std::size_t first = 0;
        for (victim& gang : victims_) {
            for (std::size_t at = 0; at < gang.pods.size(); ++at)
                set_taken(gang, at, before_[first + at] != 0, fit);
            first += gang.pods.size();
        }
    }
    template<class Fit>
    void set_taken(victim& gang, std::size_t at, bool taken, Fit& fit) {
        if (taken && !gang.taken[at])
            take_pod(gang, at, fit);
        else if (!taken && gang.taken[at])
            put_back_pod(gang, at, fit);
    }

    /// Takes all surplus pods of the gangs in `limited_`, which leaves contested gangs below their
    /// minima, and puts back all other pods. The taken pods become the candidates.
    template<class Fit>
    void take_surplus(Fit& fit) {
        candidates_.clear();
        for (std::size_t which = 0; which < victims_.size(); ++which) {
            victim& gang = victims_[which];
            const bool limited = std::binary_search(limited_.begin(), limited_.end(), which);
            for (std::size_t at = 0; at < gang.pods.size(); ++at)
                set_taken(gang, at, limited && gang.spare[at], fit);
            add_candidates(which);
        }
    }
    void add_candidates(std::size_t which) {
        const victim& gang = victims_[which];
        for (std::size_t at = 0; at < gang.pods.size(); ++at)
            if (gang.taken[at])
                candidates_.push_back({which, at});
    }

    /// Puts candidates back, the most valuable first, until the pods that stay taken may go. True
    /// if the gang then fits. With up to `few` candidates the search is exhaustive. With more it
    /// tries two orders; the second one clears the nodes with the fewest candidates.
    template<class Fit>
    [[nodiscard]] bool choose(Fit& fit, bool may_break) {
        const auto value = [this](const taken_pod& pod) {
            return std::pair(victims_[pod.of].rank, pod.at);
        };
        detail::sort_short(candidates_, [&](const taken_pod& lhs, const taken_pod& rhs) {
            return value(lhs) > value(rhs);
        });
        if (candidates_.size() <= few)
            return descend(0, fit, may_break);
        if (keep_in_order(fit, may_break))
            return true;
        for (const taken_pod& pod : candidates_)
            set_taken(victims_[pod.of], pod.at, true, fit);
        candidates_on_.assign(cluster_->accounts().nodes(), 0);
        for (const taken_pod& pod : candidates_)
            ++candidates_on_[node_of(pod)];
        detail::sort_short(candidates_, [&](const taken_pod& lhs, const taken_pod& rhs) {
            return std::tuple(victims_[lhs.of].rank, candidates_on_[node_of(lhs)], lhs.at) >
                   std::tuple(victims_[rhs.of].rank, candidates_on_[node_of(rhs)], rhs.at);
        });
        return keep_in_order(fit, may_break);
    }
    [[nodiscard]] std::size_t node_of(const taken_pod& pod) const {
        return (*cluster_)[victims_[pod.of].pods[pod.at]].node->value();
    }

    /// Puts candidates back gang by gang: first those that meet the minima, then each one that
    /// still leaves enough room.
    template<class Fit>
    [[nodiscard]] bool keep_in_order(Fit& fit, bool may_break) {
        for (std::size_t first = 0, end = 0; first < candidates_.size(); first = end) {
            const std::size_t which = candidates_[first].of;
            while (end < candidates_.size() && candidates_[end].of == which)
                ++end;
            victim& gang = victims_[which];
            const auto pods = std::span(candidates_).subspan(first, end - first);
            kept_.clear();
            if (!keeps_minima(gang) && !keep_vertex(gang, 0, pods, fit) &&
                !(may_break && gang.as_a_whole))
                return false;
            if (gang.broken()) {
                keep_whole(gang, pods, fit);
                continue;
            }
            for (const taken_pod& pod : pods)
                if (gang.taken[pod.at])
                    static_cast<void>(keep_pod(gang, pod.at, fit));
        }
        return is_allowed(may_break) && fit.fits();
    }

    /// Puts back a gang that was taken whole, if its room is not needed.
    template<class Fit>
    void keep_whole(victim& gang, std::span<const taken_pod> pods, Fit& fit) {
        for (const taken_pod& pod : pods)
            put_back_pod(gang, pod.at, fit);
        if (*steps_ > 0 && fit.fits())
            return;
        for (const taken_pod& pod : pods)
            take_pod(gang, pod.at, fit);
    }

    template<class Fit>
    [[nodiscard]] bool descend(std::size_t from, Fit& fit, bool may_break) {
        if (*steps_ <= 0)
            return false;
        if (from == candidates_.size())
            return is_allowed(may_break) && (fit.monotone() || fit.fits());
        victim& gang = victims_[candidates_[from].of];
        const std::size_t at = candidates_[from].at;
        put_back_pod(gang, at, fit);
        if (can_be_allowed(from + 1, gang, may_break) && (!fit.monotone() || fit.fits()) &&
            descend(from + 1, fit, may_break))
            return true;
        take_pod(gang, at, fit);
        return can_be_allowed(from + 1, gang, may_break) && descend(from + 1, fit, may_break);
    }
    /// True if the gang `owner` can still meet its minima with the candidates from `from` on, or
    /// may go as a whole.
    [[nodiscard]] bool can_be_allowed(std::size_t from, const victim& owner, bool may_break) {
        if (may_break && owner.as_a_whole && owner.broken())
            return true;
        left_ = owner.holding;
        auto count = static_cast<std::int64_t>(owner.count);
        for (; from < candidates_.size() && &victims_[candidates_[from].of] == &owner; ++from) {
            ++left_[role_of(owner, candidates_[from].at)];
            --count;
        }
        // A gang below its minima may stay as it is.
        return count == 0 || (count <= owner.most &&
                              reaches_minima((*cluster_)[owner.gang].spec.tree, left_, status_));
    }
    [[nodiscard]] bool is_allowed(bool may_break) const {
        std::size_t broken = 0;
        const bool allowed = this->may_go(broken);
        return allowed && (may_break || broken == 0 || breaks_nothing());
    }
    /// True if each gang that loses all its members has minima of zero.
    [[nodiscard]] bool breaks_nothing() const {
        return detail::all_of(victims_, [this](const victim& gang) {
            return !gang.broken() || gang.count == 0 || keeps_minima(gang);
        });
    }

    /// Puts back members until the vertex meets its minima, each only if the starting gang still
    /// fits. Returns false and puts back none if the minima are not met. Children are tried in
    /// order.
    template<class Fit>
    [[nodiscard]] bool keep_vertex(victim& owner, std::size_t vertex,
                                   std::span<const taken_pod> pods, Fit& fit) {
        const gang_tree& tree = (*cluster_)[owner.gang].spec.tree;
        if (evaluate(tree, owner.holding, status_).met[vertex])
            return true;
        const std::size_t mark = kept_.size();
        const auto needed =
            tree[vertex].min_subgroups.value_or(static_cast<std::int64_t>(tree[vertex].children));
        for (std::size_t child = vertex + 1; child < tree.size(); ++child)
            if (tree[child].parent == vertex && status_.children_met[vertex] < needed &&
                !status_.met[child]) {
                static_cast<void>(keep_vertex(owner, child, pods, fit));
                evaluate(tree, owner.holding, status_);
            }
        for (const auto& [which, at] : pods) {
            if (status_.met[vertex])
                break;
            if (!owner.taken[at] || !counts_at(tree, role_of(owner, at), vertex) ||
                !keep_pod(owner, at, fit))
                continue;
            kept_.push_back(at);
            evaluate(tree, owner.holding, status_);
        }
        if (status_.met[vertex])
            return true;
        for (; kept_.size() > mark; kept_.pop_back())
            take_pod(owner, kept_.back(), fit);
        return false;
    }
    /// Returns true if one more member of the role counts towards the vertex.
    [[nodiscard]] bool counts_at(const gang_tree& tree, std::size_t role,
                                 std::size_t vertex) const {
        for (; role != vertex && role > 0; role = tree[role].parent)
            if (!status_.met[role])
                return false;
        return role == vertex;
    }
    template<class Fit>
    [[nodiscard]] bool keep_pod(victim& gang, std::size_t at, Fit& fit) {
        put_back_pod(gang, at, fit);
        if (*steps_ > 0 && fit.fits())
            return true;
        take_pod(gang, at, fit);
        return false;
    }
    [[nodiscard]] std::size_t role_of(const victim& gang, std::size_t at) const {
        return (*cluster_)[gang.pods[at]].role.value();
    }

    /// Positions of the gangs that may lose surplus pods, ascending.
    detail::sequence<std::size_t> limited_;
    std::vector<taken_pod> candidates_;
    detail::sequence<char> before_;
    /// Per node: the number of candidates on it.
    detail::sequence<std::size_t> candidates_on_;
    detail::sequence<std::size_t> kept_;
    detail::sequence<std::int64_t> left_;
    subtree_status status_;
};

} // namespace v0_1
} // namespace muster
