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
#include <muster/index/flat_scan.hpp>
#include <muster/index/node_score.hpp>
#include <muster/index/weights.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/affinity_counts.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/problem/closeness.hpp>
#include <muster/problem/members.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Nodes of one domain only, for the classes that are marked.
struct confinement {
    const topology_domains* within = nullptr;
    domain_index domain;
    std::vector<char> classes;

    [[nodiscard]] bool admits(std::size_t of_class, node_index node) const noexcept {
        return !within || !classes[of_class] || within->contains(domain, node);
    }
};

/// One gang's members as they are placed into a plan one by one and taken back, each on a node that
/// no term between pods keeps it off, those placed before it included: what kube-scheduler would
/// accept of one pod after the other.
template<class Traits, class Score>
class affinity_board {
public:
    static constexpr std::size_t width = Traits::width;

    /// A node that can take a member, and how good it is.
    struct ranked {
        node_index node;
        /// Among those that can, by key.
        std::size_t place = 0;
        /// Its own preference and the wishes of terms; it comes before the placement score.
        std::int64_t liking = 0;
        std::int64_t score = 0;

        [[nodiscard]] bool better_than(const ranked& other) const noexcept {
            return liking != other.liking ? liking > other.liking : score > other.score;
        }
        /// A strict order.
        [[nodiscard]] bool comes_before(const ranked& other) const noexcept {
            return better_than(other) || (!other.better_than(*this) && place < other.place);
        }
    };
    /// A vertex of the tree whose members must stand in one domain.
    struct bond {
        std::size_t vertex = 0;
        const topology_domains* within = nullptr;
        std::size_t level = 0;
        /// Of those that stand: in which domain, and how many.
        std::optional<domain_index> domain;
        std::int64_t members = 0;
        /// Members hold apart already.
        bool broken = false;
    };

    affinity_board() = default;
    affinity_board(const cluster_state<Traits>& known, const gang_members<width>& members,
                   plan<width>& into, const Score& score) {
        begin(known, members, into, score);
    }
    affinity_board(const affinity_board&) = delete;
    affinity_board& operator=(const affinity_board&) = delete;

    /// Starts with a gang of which no member is placed. Keeps the memory. All arguments must
    /// outlive its use; `into` is a plan on the state's own accounts. Pods that the plan vacated
    /// are gone, and so are leaving pods if the plan looks ahead.
    void begin(const cluster_state<Traits>& known, const gang_members<width>& members,
               plan<width>& into, const Score& score) {
        known_ = &known;
        tree_ = members.tree;
        queue_ = members.queue;
        into_ = &into;
        score_ = &score;
        weights_ = weigh(known.accounts(), known.pods_kind());
        sorter_.sort(known, members, sorted_);
        counts_.reset(known, sorted_, {into.looks_ahead(), into.evictions(), into.placements()});
        held_ = members.holding;
        used_.assign(sorted_.classes.size(), 0);
        taken_.assign(sorted_.turns.size(), 0);
        placed_.clear();
        bonds_.clear();
        unconfine();
        looks_ = 0;
        for (const closeness& each : members.together)
            if (each.required)
                know_bond(each);
    }

    [[nodiscard]] const affinity_members<width>& members() const noexcept { return sorted_; }
    [[nodiscard]] const affinity_counts<Traits>& counts() const noexcept { return counts_; }
    [[nodiscard]] const sequence<bond>& bonds() const noexcept { return bonds_; }
    /// Per vertex (leaves only): members that hold, those placed among them.
    [[nodiscard]] const std::vector<std::int64_t>& held() const noexcept { return held_; }
    [[nodiscard]] bool taken(std::size_t turn) const noexcept { return taken_[turn] != 0; }
    /// How many members are placed.
    [[nodiscard]] std::size_t size() const noexcept { return placed_.size(); }
    /// Moves with every placement, every one taken back, and every confinement.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
    /// Nodes looked at so far.
    [[nodiscard]] std::int64_t looks() const noexcept { return looks_; }

    /// From here on nodes must also lie there.
    void confine(const confinement& to) {
        confined_ = to;
        ++changes_;
    }
    void unconfine() noexcept {
        confined_.within = nullptr;
        ++changes_;
    }

    /// The node can take a member of the class now, as far as quotas do not tell.
    [[nodiscard]] bool can_take(std::size_t of_class, node_index node) const {
        const affinity_class<width>& from = sorted_.classes[of_class];
        return fits(*from.query.request, into_->accounts().free(node)) &&
               eligible(from.query, node) && confined_.admits(of_class, node) &&
               into_->accounts().claims(node).admits(*from.shape->claims) &&
               counts_.hindrance(of_class, node).kind == pod_obstacle::none &&
               (bonds_.empty() || !is_bound_elsewhere(from.role, node));
    }

    /// The nodes that can take a member of the class now, in the order of their keys.
    /// O(nodes · terms).
    void list(std::size_t of_class, sequence<ranked>& into) {
        nodes_.clear();
        into.clear();
        looks_ += static_cast<std::int64_t>(known_->node_order().size());
        for (const node_index node : known_->node_order())
            if (can_take(of_class, node))
                nodes_.push_back(node);
        if (nodes_.empty())
            return;
        const affinity_class<width>& from = sorted_.classes[of_class];
        const bool wishes = counts_.has_wishes(of_class);
        if (wishes)
            scores_.score(counts_, of_class, nodes_);
        node_scores(into_->accounts(), nodes_, from.query, weights_, *score_, rates_);
        for (std::size_t at = 0; at < nodes_.size(); ++at) {
            const node_index node = nodes_[at];
            into.push_back({node, at,
                            from.query.where->preference[node.value()] + (wishes ? scores_[at] : 0),
                            rates_[at]});
        }
    }

    /// The member whose turn it is onto that node, which can take it; false and nothing changed
    /// when the quota does not admit it.
    [[nodiscard]] bool put(std::size_t turn, node_index node) {
        const std::size_t of_class = sorted_.turns[turn];
        const affinity_class<width>& from = sorted_.classes[of_class];
        const savepoint before = into_->mark();
        if (!into_->try_place(from.pods[used_[of_class]], node, *from.query.request,
                              *from.shape->claims, queue_))
            return false;
        ++used_[of_class];
        ++held_[from.role];
        taken_[turn] = 1;
        counts_.place(of_class, node, 1);
        for (bond& each : bonds_)
            if (is_below(*tree_, from.role, each.vertex) && ++each.members == 1)
                each.domain = each.within->find(node, each.level);
        placed_.push_back({turn, node, before});
        ++changes_;
        return true;
    }

    /// Takes back, newest first, until `size` are placed.
    void undo_to(std::size_t size) {
        while (placed_.size() > size) {
            const step last = placed_.back();
            placed_.pop_back();
            const std::size_t of_class = sorted_.turns[last.turn];
            into_->rollback(last.before);
            --used_[of_class];
            --held_[sorted_.classes[of_class].role];
            taken_[last.turn] = 0;
            counts_.place(of_class, last.node, -1);
            for (bond& each : bonds_)
                each.members -=
                    is_below(*tree_, sorted_.classes[of_class].role, each.vertex) ? 1 : 0;
            ++changes_;
        }
    }

    /// Calls `use(class, node)` for every member placed, in order.
    template<class Use>
    void for_each_placed(const Use& use) const {
        for (const step& each : placed_)
            use(sorted_.turns[each.turn], each.node);
    }

    /// How many of the classes' members the domain takes, each class for itself. O(nodes of it).
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
                    left -= fit_count(*from.query.request, into_->accounts().free(node), left);
            sum += all - left;
        }
        return sum;
    }

private:
    struct step {
        std::size_t turn = 0;
        node_index node;
        savepoint before;
    };

    void know_bond(const closeness& of) {
        bond made;
        made.vertex = of.vertex;
        made.within = &known_->topologies()[of.within];
        made.level = *of.required;
        made.broken = of.held && of.shared <= made.level;
        if (of.held && !made.broken)
            made.domain = made.within->find(of.witness, made.level);
        made.members = of.held ? 1 : 0;
        bonds_.push_back(made);
    }

    [[nodiscard]] bool is_bound_elsewhere(std::size_t role, node_index node) const noexcept {
        for (const bond& each : bonds_) {
            if (!is_below(*tree_, role, each.vertex))
                continue;
            const auto domain = each.within->find(node, each.level);
            if (each.broken || !domain || (each.members > 0 && each.domain != domain))
                return true;
        }
        return false;
    }

    const cluster_state<Traits>* known_ = nullptr;
    const gang_tree* tree_ = nullptr;
    std::optional<queue_charge> queue_;
    plan<width>* into_ = nullptr;
    const Score* score_ = nullptr;
    placement_weights<width> weights_;
    identity_sorter<width> sorter_;
    affinity_members<width> sorted_;
    affinity_counts<Traits> counts_;
    affinity_scores scores_;
    sequence<bond> bonds_;
    confinement confined_;
    std::vector<std::int64_t> held_;
    /// Per class: members placed.
    std::vector<std::size_t> used_;
    /// Per turn.
    std::vector<char> taken_;
    sequence<step> placed_;
    std::vector<node_index> nodes_;
    sequence<std::int64_t> rates_;
    std::uint64_t changes_ = 0;
    std::int64_t looks_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
