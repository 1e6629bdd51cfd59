// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/affinity_scores.hpp>
#include <muster/greedy/placed_members.hpp>
#include <muster/index/any_score.hpp>
#include <muster/index/node_query.hpp>
#include <muster/index/weights.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/affinity_counts.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/topology_requirement.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Confines the marked classes to the nodes of one domain. Confines nothing if `within` is null.
struct confinement {
    const topology_domains* within = nullptr;
    domain_index domain;
    detail::sequence<char> classes;

    [[nodiscard]] bool admits(std::size_t of_class, node_index node) const noexcept {
        return !within || !classes[of_class] || within->contains(domain, node);
    }
};

/// The board of a `tree_walk` for a gang with required pod affinity. Places one member at a time on
/// the best node that no affinity, anti-affinity or spread term excludes, given the members placed
/// before. The result is what kube-scheduler would accept pod by pod. Tests every node for every
/// pod.
template<class Traits>
class affinity_board {
public:
    static constexpr std::size_t width = Traits::width;
    static constexpr bool room_may_come = true;

    /// A node that can take a member, with its rating.
    struct ranked {
        node_index node;
        /// The rank of its key among the nodes that can take the member.
        std::size_t place = 0;
        /// The sum of node preference and preferred terms. Compared before the placement score.
        std::int64_t preference_score = 0;
        std::int64_t score = 0;

        [[nodiscard]] bool better_than(const ranked& other) const noexcept {
            return preference_score != other.preference_score
                       ? preference_score > other.preference_score
                       : score > other.score;
        }
        /// A strict order: better nodes first, ties by key.
        [[nodiscard]] bool comes_before(const ranked& other) const noexcept {
            return better_than(other) || (!other.better_than(*this) && place < other.place);
        }
    };
    /// A required topology constraint: the members of a vertex must share a domain of a level.
    struct bond {
        std::size_t vertex = 0;
        const topology_domains* within = nullptr;
        std::size_t level = 0;
        /// The domain of the members that have a node, and their number (all that had a node at the
        /// start count as 1).
        std::optional<domain_index> domain;
        std::int64_t members = 0;
        /// Members already occupy nodes of different domains, so no member can be added.
        bool broken = false;
    };

    affinity_board() = default;
    affinity_board(const cluster_state<Traits>& cluster, const gang_members<width>& members,
                   plan<width>& into, const any_score<width>& score) {
        begin(cluster, members, into, score);
    }
    affinity_board(const affinity_board&) = delete;
    affinity_board& operator=(const affinity_board&) = delete;

    /// Starts with a gang of which no member is placed; memory is reused. All arguments must
    /// outlive the board's use. `into` must be a plan on the state's own accounts. Pods that the
    /// plan evicted count as gone. So do terminating pods if the plan counts released room as free.
    void begin(const cluster_state<Traits>& cluster, const gang_members<width>& members,
               plan<width>& into, const any_score<width>& score) {
        cluster_ = &cluster;
        tree_ = members.tree;
        score_ = &score;
        weights_ = weigh(cluster.accounts(), cluster.pods_kind());
        sorter_.sort(cluster, members, sorted_);
        counts_.reset(cluster, sorted_,
                      {into.assumes_released(), into.evictions(), into.placements()});
        placed_.begin(members, sorted_.turns, sorted_.classes, into);
        stuck_at_.assign(sorted_.classes.size(), ~std::uint64_t{0});
        bonds_.clear();
        unconfine();
        looks_ = 0;
        for (const topology_requirement& requirement : members.topology)
            if (requirement.required)
                note_domain_binding(requirement);
    }

    [[nodiscard]] const affinity_members<width>& members() const noexcept { return sorted_; }
    [[nodiscard]] const affinity_counts<Traits>& counts() const noexcept { return counts_; }
    [[nodiscard]] const sequence<bond>& bonds() const noexcept { return bonds_; }
    [[nodiscard]] placed_members<width>& placed() noexcept { return placed_; }
    [[nodiscard]] const placed_members<width>& placed() const noexcept { return placed_; }
    /// The number of node tests so far.
    [[nodiscard]] std::int64_t looks() const noexcept { return looks_; }

    /// Restricts further placements to the domain, until `unconfine`.
    void confine(const confinement& to) {
        confined_ = to;
        ++changes_;
    }
    void unconfine() noexcept {
        confined_.within = nullptr;
        ++changes_;
    }

    /// Returns true if the node can take a member of the class now. Quotas are not checked.
    [[nodiscard]] bool can_take(std::size_t of_class, node_index node) const {
        const affinity_class<width>& from = sorted_.classes[of_class];
        return fits(*from.query.request, accounts().free(node)) && eligible(from.query, node) &&
               confined_.admits(of_class, node) && accounts().admits(node, *from.shape->claims) &&
               counts_.violation_on(of_class, node).kind == affinity_violation::none &&
               (bonds_.empty() || !is_bound_to_other_domain(from.role.value(), node));
    }

    /// Lists the nodes that can take a member of the class now, in the order of their keys. O(nodes
    /// · terms).
    void list(std::size_t of_class, sequence<ranked>& into) {
        nodes_.clear();
        into.clear();
        looks_ += static_cast<std::int64_t>(cluster_->node_order().size());
        for (const node_index node : cluster_->node_order())
            if (can_take(of_class, node))
                nodes_.push_back(node);
        if (nodes_.empty())
            return;
        const affinity_class<width>& from = sorted_.classes[of_class];
        const bool prefers = counts_.has_preferences(of_class);
        if (prefers)
            scores_.score(counts_, of_class, nodes_);
        node_scores(accounts(), nodes_, from.query, weights_, *score_, rates_);
        for (std::size_t at = 0; at < nodes_.size(); ++at) {
            const node_index node = nodes_[at];
            into.push_back(
                {node, at, from.query.where->preference[node.value()] + (prefers ? scores_[at] : 0),
                 rates_[at]});
        }
    }

    /// Places the next member of the class on the node, which must be able to take it. Returns
    /// false and changes nothing if the quota does not admit it.
    [[nodiscard]] bool put(std::size_t of_class, node_index node) {
        const affinity_class<width>& from = sorted_.classes[of_class];
        if (!placed_.put(of_class, from.pods, node, 1, *from.query.request, *from.shape->claims))
            return false;
        counts_.place(of_class, node, 1);
        for (bond& vertex_bond : bonds_)
            if (is_below(*tree_, from.role.value(), vertex_bond.vertex) &&
                ++vertex_bond.members == 1)
                vertex_bond.domain = vertex_bond.within->find(node, vertex_bond.level);
        ++changes_;
        return true;
    }

    // ---- for the walk --------------------------------------------------------------------------

    [[nodiscard]] std::size_t mark() const noexcept { return placed_.steps().size(); }
    void undo_to(std::size_t mark) {
        while (this->mark() > mark) {
            const auto last = placed_.undo();
            counts_.place(last.which, last.node, -1);
            for (bond& vertex_bond : bonds_)
                vertex_bond.members -=
                    is_below(*tree_, sorted_.classes[last.which].role.value(), vertex_bond.vertex)
                        ? 1
                        : 0;
            ++changes_;
        }
    }

    /// Places the next member of the class on its best node. Always one member, whatever number is
    /// wanted.
    [[nodiscard]] std::int64_t place(std::size_t of_class, std::int64_t, bool) {
        if (stuck_at_[of_class] == changes_)
            return 0;
        list(of_class, ranks_);
        const auto best = std::max_element(
            ranks_.begin(), ranks_.end(),
            [](const ranked& lhs, const ranked& rhs) { return rhs.better_than(lhs); });
        if (best != ranks_.end() && put(of_class, best->node))
            return 1;
        stuck_at_[of_class] = changes_;
        return 0;
    }

    /// Nothing to choose: `can_take` confines members to the domain of the members already placed.
    template<class Attempt>
    [[nodiscard]] auto in_domains(std::size_t, bool, const Attempt& attempt) {
        return attempt();
    }
    [[nodiscard]] static constexpr bool search_for(std::size_t) noexcept { return false; }
    [[nodiscard]] static constexpr bool widen() noexcept { return false; }

    /// Returns how many members of the confined classes the domain can take, if each class had the
    /// domain to itself. O(nodes of the domain).
    [[nodiscard]] std::int64_t room_in(const confinement& where) {
        const auto& nodes = (*where.within)[where.domain].nodes;
        std::int64_t sum = 0;
        for (std::size_t at = 0; at < sorted_.classes.size(); ++at) {
            if (!where.classes[at])
                continue;
            const affinity_class<width>& from = sorted_.classes[at];
            const auto all = static_cast<std::int64_t>(from.pods.size());
            std::int64_t left = all;
            looks_ += static_cast<std::int64_t>(nodes.size());
            for (const node_index node : nodes)
                if (left > 0 && eligible(from.query, node))
                    left -= fit_count(*from.query.request, accounts().free(node), left);
            sum += all - left;
        }
        return sum;
    }

private:
    [[nodiscard]] const ledger<width>& accounts() const noexcept {
        return placed_.into().accounts();
    }

    void note_domain_binding(const topology_requirement& requirement) {
        bond made;
        made.vertex = requirement.vertex;
        made.within = &cluster_->topologies()[requirement.within];
        made.level = *requirement.required;
        made.broken = requirement.held && requirement.shared <= made.level;
        if (requirement.held && !made.broken)
            made.domain = made.within->find(requirement.witness, made.level);
        made.members = requirement.held ? 1 : 0;
        bonds_.push_back(made);
    }

    [[nodiscard]] bool is_bound_to_other_domain(std::size_t role, node_index node) const noexcept {
        for (const bond& vertex_bond : bonds_) {
            if (!is_below(*tree_, role, vertex_bond.vertex))
                continue;
            const auto domain = vertex_bond.within->find(node, vertex_bond.level);
            if (vertex_bond.broken || !domain ||
                (vertex_bond.members > 0 && vertex_bond.domain != domain))
                return true;
        }
        return false;
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const gang_tree* tree_ = nullptr;
    const any_score<width>* score_ = nullptr;
    placement_weights<width> weights_;
    identity_sorter<width> sorter_;
    affinity_members<width> sorted_;
    affinity_counts<Traits> counts_;
    affinity_scores scores_;
    sequence<bond> bonds_;
    confinement confined_;
    placed_members<width> placed_;
    std::vector<node_index> nodes_;
    sequence<std::int64_t> rates_;
    sequence<ranked> ranks_;
    /// Changes with every placement, undo and confinement.
    std::uint64_t changes_ = 0;
    /// Per class: the value of `changes_` when no node could take a member.
    detail::sequence<std::uint64_t> stuck_at_;
    std::int64_t looks_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
