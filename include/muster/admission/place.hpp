// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/admission/fit_problem.hpp>
#include <muster/admission/members.hpp>
#include <muster/index/flat_scan.hpp>
#include <muster/index/weights.hpp>
#include <muster/model/state.hpp>
#include <muster/plan/plan.hpp>

namespace muster::inline v0_1 {

/// Places one gang's members into a plan, pod by pod in the order of their turns, each on the best
/// node by the score. O(nodes × width) per pod.
template<class Traits, class Score>
class placer {
public:
    static constexpr std::size_t width = Traits::width;

    placer(const state<Traits>& known, const gang_members<width>& members, plan<width>& into,
           const placement_weights<width>& weights, const Score& score)
        : known_(&known),
          members_(&members),
          into_(&into),
          weights_(&weights),
          score_(&score),
          taken_(members.turns.size(), 0),
          exhausted_(members.classes.size(), 0),
          counts_(members.holding),
          first_(members.tree->size() + 1, members.turns.size()),
          used_(members.classes.size(), 0) {
        for (std::size_t at = members.turns.size(); at-- > 0;)
            first_[members.classes[members.turns[at]].role.value()] = at;
        for (std::size_t vertex = members.tree->size(); vertex-- > 0;)
            if (first_[vertex] == members.turns.size())
                first_[vertex] = first_[vertex + 1];
        cursor_ = first_;
    }

    /// Meets the gang's minima, role minima first; false and nothing placed when this order of
    /// taking them does not get there.
    [[nodiscard]] bool meet_minima() {
        const savepoint start = into_->mark();
        if (satisfy(0))
            return true;
        into_->rollback(start);
        return false;
    }

    /// Places what the search found: `counts` as `fit_search::counts` of `problem`, oldest first
    /// onto the first nodes. False and nothing placed when an account cannot hold the sum.
    [[nodiscard]] bool place_found(const fit_problem<width>& problem,
                                   const std::vector<std::int64_t>& counts) {
        const std::size_t classes = members_->classes.size();
        const savepoint start = into_->mark();
        for (std::size_t at = 0; at < classes; ++at) {
            for (std::size_t row = 0; row < problem.rows.size(); ++row) {
                for (std::int64_t left = counts[row * classes + at]; left > 0; --left) {
                    if (put(at, problem.rows[row].node))
                        continue;
                    into_->rollback(start);
                    return false;
                }
            }
        }
        for (std::size_t turn = 0; turn < taken_.size(); ++turn)
            taken_[turn] = 0;
        std::vector<std::size_t> left = used_;
        for (std::size_t turn = 0; turn < taken_.size(); ++turn) {
            if (left[members_->turns[turn]] == 0)
                continue;
            --left[members_->turns[turn]];
            taken_[turn] = 1;
        }
        cursor_ = first_;
        exhausted_.assign(classes, 0);
        return true;
    }

    /// Places what is left, best effort: further members of subgroups that are met, and whole
    /// subgroups that are not yet.
    void place_surplus() { surplus(0); }

private:
    [[nodiscard]] bool put(std::size_t of_class, node_index node) {
        const member_class<width>& from = members_->classes[of_class];
        const pod_index pod = from.pods[used_[of_class]];
        if (!into_->try_place(pod, node, from.request, *from.ports, members_->queue))
            return false;
        ++used_[of_class];
        ++counts_[from.role.value()];
        return true;
    }

    /// The next member of the role that fits anywhere; false when there is none.
    [[nodiscard]] bool place_next(std::size_t role) {
        for (std::size_t& turn = cursor_[role]; turn < first_[role + 1]; ++turn) {
            const std::size_t of_class = members_->turns[turn];
            if (taken_[turn] || exhausted_[of_class])
                continue;
            const member_class<width>& from = members_->classes[of_class];
            node_query<width> query;
            query.request = &from.request;
            query.where = &known_->constraint_sets()[from.where];
            if (members_->queue && (*known_)[*members_->queue].present)
                query.queue_nodes = &known_->constraint_sets()[(*known_)[*members_->queue].nodes];
            const std::optional<node_index> node =
                best_node(into_->accounts(), known_->node_order(), query, *weights_, *score_);
            if (node && put(of_class, *node)) {
                taken_[turn] = 1;
                ++turn;
                return true;
            }
            // Room and quota only shrink until a rollback, which forgets this.
            exhausted_[of_class] = 1;
        }
        return false;
    }

    [[nodiscard]] bool satisfy(std::size_t vertex) {
        const gang_tree& tree = *members_->tree;
        if (tree.is_leaf(vertex)) {
            while (counts_[vertex] < tree[vertex].min_member)
                if (!place_next(vertex))
                    return false;
            return true;
        }
        const auto all = static_cast<std::int64_t>(tree[vertex].children);
        const std::int64_t needed = tree[vertex].min_subgroups.value_or(all);
        std::int64_t met = 0;
        for (std::size_t child = vertex + 1; child < tree.size() && met < needed; ++child)
            if (tree[child].parent == vertex &&
                (needed == all ? satisfy(child) : try_satisfy(child)))
                ++met;
            else if (tree[child].parent == vertex && needed == all)
                return false;
        if (met < needed)
            return false;
        while (standing_at(vertex) < tree[vertex].min_member)
            if (!place_below(vertex))
                return false;
        return true;
    }

    /// As `satisfy`, but leaves no trace when it fails.
    [[nodiscard]] bool try_satisfy(std::size_t vertex) {
        const savepoint start = into_->mark();
        auto before = std::tuple(taken_, exhausted_, counts_, cursor_, used_);
        if (satisfy(vertex))
            return true;
        into_->rollback(start);
        std::tie(taken_, exhausted_, counts_, cursor_, used_) = std::move(before);
        return false;
    }

    [[nodiscard]] std::int64_t standing_at(std::size_t vertex) const {
        return stand(*members_->tree, counts_).counts[vertex];
    }

    /// One more member of the first leaf below that has one, where every vertex between is met.
    [[nodiscard]] bool place_below(std::size_t vertex) {
        const gang_tree& tree = *members_->tree;
        const tree_standing now = stand(tree, counts_);
        for (std::size_t leaf = vertex + 1; leaf < tree.size(); ++leaf) {
            if (!tree.is_leaf(leaf))
                continue;
            std::size_t above = leaf;
            while (above > vertex && now.met[above])
                above = tree[above].parent;
            if (above == vertex && place_next(leaf))
                return true;
        }
        return false;
    }

    void surplus(std::size_t vertex) {
        const gang_tree& tree = *members_->tree;
        if (tree.is_leaf(vertex)) {
            while (place_next(vertex)) {
            }
            return;
        }
        for (std::size_t child = vertex + 1; child < tree.size(); ++child) {
            if (tree[child].parent != vertex)
                continue;
            if (stand(tree, counts_).met[child] || try_satisfy(child))
                surplus(child);
        }
    }

    const state<Traits>* known_;
    const gang_members<width>* members_;
    plan<width>* into_;
    const placement_weights<width>* weights_;
    const Score* score_;
    /// Per turn.
    std::vector<char> taken_;
    /// Per class: none of it fits any more.
    std::vector<char> exhausted_;
    /// Per vertex (leaves only): members holding, old and new.
    std::vector<std::int64_t> counts_;
    /// Per vertex: the first turn of its role; the next vertex's is the end.
    std::vector<std::size_t> first_;
    std::vector<std::size_t> cursor_;
    /// Per class: members placed; they go oldest first.
    std::vector<std::size_t> used_;
};

} // namespace muster::inline v0_1
