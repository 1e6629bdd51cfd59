// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/plan/plan.hpp>
#include <support/observed_gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

enum class naive_score : std::uint8_t { best_fit, worst_fit, first_fit };

/// Schedules as one would by hand: filter all nodes, score all that are left, take the best, pod
/// after pod. No index, no memo, no search.
template<class Traits>
class naive_scheduler {
    static constexpr std::size_t width = Traits::width;

public:
    /// `pods_kind` weighs nothing in the score.
    naive_scheduler(const state<Traits>& known, gang_index which, naive_score score)
        : view_(view_of(known, which, certificate_scope::free_now)),
          score_(score),
          counts_(view_.holding),
          placed_(view_.waiting.size(), false),
          chosen_(view_.tree->size()) {
        for (std::size_t kind = 0; kind < width; ++kind) {
            std::int64_t largest = 0;
            for (const auto& node : view_.nodes)
                largest = std::max(largest, node.spec->allocatable[kind]);
            if (largest == 0 || known.pods_kind() == kind_id{kind})
                continue;
            int shift = 57;
            for (int128 power = 1; power < largest; power *= 2)
                --shift;
            weights_[kind] = int128{1} << shift;
        }
    }

    /// The gang's minima in tree order, all or nothing, then what else fits: further members of
    /// subgroups that are met, and whole subgroups that can be. Nothing when the minima cannot be
    /// met in this order, which does not say that they cannot be met.
    [[nodiscard]] std::optional<std::vector<placement>> whole_gang() {
        if (!meet(0))
            return std::nullopt;
        do {
            extend(0);
        } while (widen());
        return made_;
    }

    /// Every waiting pod on its own, oldest first, as if there were no gangs.
    [[nodiscard]] std::vector<placement> pod_by_pod() {
        std::vector<std::size_t> order(placed_.size());
        for (std::size_t at = 0; at < order.size(); ++at)
            order[at] = at;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t lhs, std::size_t rhs) {
            return view_.waiting[lhs].spec->created < view_.waiting[rhs].spec->created;
        });
        for (const std::size_t at : order)
            static_cast<void>(place(at));
        return made_;
    }

private:
    [[nodiscard]] std::int64_t preference_score(const constraints& of,
                                                const node<width>& on) const {
        std::int64_t sum = 0;
        for (const preferred_node_term& one : of.preferred)
            sum += selects(one.term, on) ? one.weight : 0;
        for (const taint& one : on.taints)
            if (one.effect == taint_effect::prefer_no_schedule && !is_tolerated(one, of))
                sum -= 100;
        return sum;
    }

    [[nodiscard]] int128 points(const resources<width>& free) const {
        int128 key = 0;
        for (std::size_t kind = 0; kind < width; ++kind)
            key += free[kind] * weights_[kind];
        return score_ == naive_score::best_fit ? -key : score_ == naive_score::worst_fit ? key : 0;
    }

    [[nodiscard]] bool place(std::size_t at) {
        const muster::pod<width>& pod = *view_.waiting[at].spec;
        for (std::size_t kind = 0; kind < width; ++kind)
            if (view_.quota_left[kind] && pod.request[kind] > 0 &&
                pod.request[kind] > *view_.quota_left[kind])
                return false;
        std::optional<std::size_t> best;
        std::pair<std::int64_t, int128> best_rank;
        for (std::size_t node = 0; node < view_.nodes.size(); ++node) {
            const auto& target = view_.nodes[node];
            resources<width> rest = target.free;
            if (!view_.welcome(pod.where, *target.spec) ||
                clash(pod.where.claims.ports, target.ports) ||
                !serve(view_.devices, target.spec->devices, target.devices, pod.where.claims) ||
                !draw(pod.request, rest) || !is_chosen(view_.waiting[at].role, *target.spec))
                continue;
            const std::pair rank{preference_score(pod.where, *target.spec), points(target.free)};
            if (best && rank <= best_rank)
                continue;
            best = node;
            best_rank = rank;
        }
        if (!best)
            return false;
        move(at, *best, 1);
        made_.push_back({view_.waiting[at].pod, view_.nodes[*best].node});
        return true;
    }

    /// Takes (1) or gives back (-1) what the pod asks of the node and the quota.
    void move(std::size_t at, std::size_t node, std::int64_t sign) {
        const auto& member = view_.waiting[at];
        auto& target = view_.nodes[node];
        for (std::size_t kind = 0; kind < width; ++kind) {
            target.free[kind] -= sign * member.spec->request[kind];
            if (view_.quota_left[kind])
                *view_.quota_left[kind] -= sign * member.spec->request[kind];
        }
        if (sign > 0)
            target.put(member.spec->where.claims);
        else
            target.take_back(member.spec->where.claims);
        counts_[member.role] += sign;
        placed_[at] = sign > 0;
    }

    void undo_to(std::size_t size) {
        for (; made_.size() > size; made_.pop_back()) {
            const placement last = made_.back();
            std::size_t at = 0;
            while (view_.waiting[at].pod != last.pod)
                ++at;
            std::size_t node = 0;
            while (view_.nodes[node].node != last.node)
                ++node;
            move(at, node, -1);
        }
    }

    // ---- standing together ---------------------------------------------------------------------

    /// Where the members of a vertex go that are to stand together.
    struct choice {
        bool made = false;
        bool anywhere = false;
        std::size_t level = 0;
        standpoint where;
    };

    [[nodiscard]] bool is_chosen(std::size_t role, const node<width>& on) const {
        for (std::size_t vertex = 0; vertex < chosen_.size(); ++vertex) {
            const choice& one = chosen_[vertex];
            if (!one.made || one.anywhere || !lies_below(*view_.tree, role, vertex))
                continue;
            if (!one.where ||
                stands(on, (*view_.tree)[vertex].together->within, one.level) != one.where)
                return false;
        }
        return true;
    }

    /// The first vertex above, or itself, that must yet choose.
    [[nodiscard]] std::optional<std::size_t> undecided(std::size_t below) const {
        for (std::size_t vertex = 0; vertex < chosen_.size(); ++vertex)
            if ((*view_.tree)[vertex].together && !chosen_[vertex].made &&
                lies_below(*view_.tree, below, vertex))
                return vertex;
        return std::nullopt;
    }

    /// The fullest domain first; of the finest level that is preferred, then of the coarser ones
    /// down to what is required.
    [[nodiscard]] std::vector<choice> choices(std::size_t vertex) const {
        const topology_constraint& how = *(*view_.tree)[vertex].together;
        const std::size_t last = how.required.value_or(0);
        std::vector<choice> all;
        for (std::size_t level = std::max(last, how.preferred.value_or(last)) + 1;
             level-- > last;) {
            std::vector<std::pair<int128, standpoint>> domains;
            for (const standpoint& where : view_.standpoints(vertex, how.within, level)) {
                int128 sum = 0;
                for (const auto& target : view_.nodes)
                    for (std::size_t kind = 0;
                         kind < width && stands(*target.spec, how.within, level) == where; ++kind)
                        sum += std::max<std::int64_t>(0, target.free[kind]) * weights_[kind];
                domains.push_back({sum, where});
            }
            std::sort(domains.begin(), domains.end());
            for (const auto& [sum, where] : domains)
                all.push_back({true, false, level, where});
        }
        if (how.required)
            all.push_back({true, false, last, std::nullopt});
        else
            all.push_back({true, true, 0, std::nullopt});
        return all;
    }

    /// Tries one choice after the other until `attempt` succeeds. Where it placed nobody, nothing
    /// is chosen.
    template<class Attempt>
    [[nodiscard]] bool in_some_domain(std::size_t vertex, const Attempt& attempt) {
        const std::size_t before = made_.size();
        const auto chosen = chosen_;
        for (const choice& one : choices(vertex)) {
            chosen_[vertex] = one;
            if (attempt()) {
                if (made_.size() == before)
                    chosen_[vertex] = {};
                return true;
            }
            undo_to(before);
            chosen_ = chosen;
        }
        return false;
    }

    /// Gives up what was only preferred.
    [[nodiscard]] bool widen() {
        bool any = false;
        for (std::size_t vertex = 0; vertex < chosen_.size(); ++vertex) {
            choice& one = chosen_[vertex];
            const auto& how = (*view_.tree)[vertex].together;
            if (!one.made || one.anywhere || !one.where ||
                (how->required && one.level <= *how->required))
                continue;
            any = true;
            one.anywhere = !how->required;
            one.level = how->required.value_or(0);
            one.where->resize(one.level + 1);
        }
        return any;
    }

    /// The oldest member of the role that fits anywhere.
    [[nodiscard]] bool place_one_of(std::size_t role) {
        if (const auto open = undecided(role))
            return in_some_domain(*open, [&] { return place_one_of(role); });
        for (std::size_t at = 0; at < placed_.size(); ++at)
            if (!placed_[at] && view_.waiting[at].role == role && place(at))
                return true;
        return false;
    }

    [[nodiscard]] bool try_to_meet(std::size_t vertex) {
        const std::size_t before = made_.size();
        const auto chosen = chosen_;
        if (meet(vertex))
            return true;
        undo_to(before);
        chosen_ = chosen;
        return false;
    }

    [[nodiscard]] bool meet(std::size_t vertex) {
        if (const auto open = undecided(vertex))
            return in_some_domain(*open, [&] { return meet(vertex); });
        const gang_tree& tree = *view_.tree;
        std::int64_t met = 0;
        const std::int64_t needed =
            tree[vertex].min_subgroups.value_or(static_cast<std::int64_t>(tree[vertex].children));
        for (std::size_t child = vertex + 1; child < tree.size() && met < needed; ++child)
            if (tree[child].parent == vertex && try_to_meet(child))
                ++met;
        if (met < needed)
            return false;
        while (members_at(vertex) < tree[vertex].min_member)
            if (!place_one_below(vertex))
                return false;
        return true;
    }

    /// Members that count at the vertex: its own, and those below children that are met.
    [[nodiscard]] std::int64_t members_at(std::size_t vertex) const {
        const gang_tree& tree = *view_.tree;
        std::int64_t members = counts_[vertex];
        for (std::size_t child = vertex + 1; child < tree.size(); ++child)
            if (tree[child].parent == vertex)
                members += judge(tree, child, counts_).members;
        return members;
    }

    [[nodiscard]] bool place_one_below(std::size_t vertex) {
        const gang_tree& tree = *view_.tree;
        if (tree.is_leaf(vertex))
            return place_one_of(vertex);
        for (std::size_t child = vertex + 1; child < tree.size(); ++child)
            if (tree[child].parent == vertex && judge(tree, child, counts_).met &&
                place_one_below(child))
                return true;
        return false;
    }

    void extend(std::size_t vertex) {
        const gang_tree& tree = *view_.tree;
        while (tree.is_leaf(vertex) && place_one_of(vertex)) {
        }
        for (std::size_t child = vertex + 1; child < tree.size(); ++child)
            if (tree[child].parent == vertex &&
                (judge(tree, child, counts_).met || try_to_meet(child)))
                extend(child);
    }

    observed_gang<Traits> view_;
    naive_score score_;
    int128 weights_[width]{};
    std::vector<std::int64_t> counts_;
    std::vector<bool> placed_;
    /// Per vertex.
    std::vector<choice> chosen_;
    std::vector<placement> made_;
};

} // namespace testing
} // namespace v0_1
} // namespace muster
