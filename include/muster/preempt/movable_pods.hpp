// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_query.hpp>
#include <muster/index/weights.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/consolidation_concept.hpp>
#include <muster/preempt/candidates.hpp>
#include <muster/preempt/disruption_room.hpp>
#include <muster/preempt/victims.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/problem/topology_requirement.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {

/// A pod that may be moved, and its node.
struct movable_pod {
    pod_index pod;
    node_index node;
    /// The number of its gang among the gangs with movable pods.
    std::size_t of = 0;
    std::int64_t queue_level = 0;
    std::int64_t gang_level = 0;
};

/// The pods that a rule allows to move for one gang, in the order in which they are moved, and the
/// nodes that they may move to. At any time no more pods of a gang are on the move than
/// `max_disrupted` and budgets allow, and gangs that must keep their minima do. Gangs below their
/// minima and gangs in queues above a ceiling do not move. Pods that required pod terms keep where
/// they are, or off other nodes, do not move. Members that must share a domain stay in their
/// domain.
template<class Traits>
class movable_pods {
public:
    static constexpr std::size_t width = Traits::width;

    /// Finds the pods that may move. O(candidates + admitted gangs · log + their members).
    template<consolidation_rule Rule>
    void begin(const cluster_state<Traits>& cluster, gang_index starting, const Rule& rule,
               std::int64_t now, eviction_candidates<Traits>& among) {
        cluster_ = &cluster;
        pods_.clear();
        gangs_.clear();
        list_.begin(cluster, starting, rule, now, among);
        list_.sort();
        budgets_.begin(cluster);
        for (std::size_t at = 0; at < list_.size(); ++at) {
            gangs_.emplace_back();
            victim& owner = gangs_.back();
            // The replacement of a moved member could not start if the gang is below its minima or
            // its queue is above its quota.
            if (!list_.look(at, owner) || owner.most == 0 || owner.terms.only_whole ||
                cluster[owner.gang].spec.fault != gang_fault::none ||
                !reaches_minima(cluster[owner.gang].spec.tree, owner.holding) ||
                over_quota(owner.gang)) {
                gangs_.pop_back();
                continue;
            }
            for (std::size_t pod = 0; pod < owner.pods.size(); ++pod)
                if ((!owner.terms.only_surplus || owner.spare[pod]) && may_move(owner.pods[pod]))
                    pods_.push_back({owner.pods[pod], *cluster[owner.pods[pod]].node,
                                     gangs_.size() - 1, owner.terms.queue_level,
                                     owner.terms.gang_level});
        }
        taken_.assign(pods_.size(), 0);
    }

    /// The movable pods, the least valuable first: by level, newest gangs first, then newest pods.
    [[nodiscard]] const detail::sequence<movable_pod>& all() const noexcept { return pods_; }
    [[nodiscard]] bool taken(std::size_t at) const noexcept { return taken_[at] != 0; }
    /// The next time at which a time-dependent rule may admit more.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept {
        return list_.next_change();
    }

    /// Marks the pod as moving. Returns false and does nothing if its gang or a budget does not
    /// allow it.
    [[nodiscard]] bool take(std::size_t at) {
        victim& owner = gangs_[pods_[at].of];
        const std::size_t role = (*cluster_)[pods_[at].pod].role.value();
        --owner.holding[role];
        budgets_.take(pods_[at].pod);
        if (static_cast<std::int64_t>(owner.count) >= owner.most || !budgets_.kept() ||
            (owner.terms.only_surplus &&
             !reaches_minima((*cluster_)[owner.gang].spec.tree, owner.holding))) {
            ++owner.holding[role];
            budgets_.put_back(pods_[at].pod);
            return false;
        }
        ++owner.count;
        taken_[at] = 1;
        return true;
    }
    void put_back(std::size_t at) {
        victim& owner = gangs_[pods_[at].of];
        ++owner.holding[(*cluster_)[pods_[at].pod].role.value()];
        budgets_.put_back(pods_[at].pod);
        --owner.count;
        taken_[at] = 0;
    }

    /// Removes the pod from its node in the plan. Its charge to the quota does not change. O(width
    /// + claims).
    void vacate(std::size_t at, plan<width>& in) const {
        const movable_pod& moved = pods_[at];
        in.vacate(moved.pod, moved.node, cluster_->request(moved.pod),
                  cluster_->where(moved.pod).value.claims, std::nullopt);
    }
    /// Places the pod on the node in the plan, if there is room. O(width + claims).
    [[nodiscard]] bool put(std::size_t at, node_index node, plan<width>& in) const {
        const movable_pod& moved = pods_[at];
        return in.try_place(moved.pod, node, cluster_->request(moved.pod),
                            cluster_->where(moved.pod).value.claims, std::nullopt);
    }

    /// Returns true if the pod's constraints allow the node, and it is not the pod's own.
    [[nodiscard]] bool suits(std::size_t at, node_index node) const {
        const movable_pod& moved = pods_[at];
        return node != moved.node && eligible(query_of(at), node) && in_domain(moved, node);
    }
    [[nodiscard]] node_query<width> query_of(std::size_t at) const {
        const auto& record = (*cluster_)[pods_[at].pod];
        return detail::query_for(*cluster_, record.shape,
                                 detail::queue_nodes_of(*cluster_, (*cluster_)[record.gang].queue));
    }

    /// Returns the node with the least free of those that suit and have room and for which
    /// `use(node)` is true. If several tie, the first by key. O(nodes × width).
    template<class Use>
    [[nodiscard]] std::optional<node_index>
    tightest(std::size_t at, const placement_weights<width>& weights, const Use& use) const {
        const movable_pod& moved = pods_[at];
        const auto query = query_of(at);
        const auto& accounts = cluster_->accounts();
        std::optional<node_index> best;
        std::int64_t least = 0;
        for (const node_index node : cluster_->node_order()) {
            const resources<width>& free = accounts.free(node);
            if (node == moved.node || !fits(*query.request, free) || !eligible(query, node))
                continue;
            const std::int64_t left = weights.key(free);
            if ((best && left >= least) || !in_domain(moved, node) ||
                !accounts.admits(node, query.where->value.claims) || !use(node))
                continue;
            best = node;
            least = left;
        }
        return best;
    }

private:
    [[nodiscard]] bool may_move(pod_index pod) const {
        const constraints& where = cluster_->where(pod).value;
        return !where.held() && !where.tied_to_node && !detail::terms_bear_on(*cluster_, pod);
    }
    [[nodiscard]] bool over_quota(gang_index which) const {
        const auto& queues = cluster_->accounts().queues();
        for (auto at = (*cluster_)[which].queue; at; at = queues.parent(*at)) {
            const auto claimed = queues.claimed(*at);
            for (std::size_t column = 0; column < width; ++column)
                if (const auto top = queues.quota(*at)[kind_id{column}];
                    top && claimed[column] > *top)
                    return true;
        }
        return false;
    }
    [[nodiscard]] bool in_domain(const movable_pod& moved, node_index node) const {
        const auto& record = (*cluster_)[moved.pod];
        const auto& group = (*cluster_)[record.gang];
        return detail::all_of(group.together, [&](const vertex_topology& constraint) {
            return !constraint.required ||
                   !is_below(group.spec.tree, record.role.value(), constraint.vertex.value()) ||
                   cluster_->topologies()[constraint.within].shared_levels(moved.node, node) >
                       *constraint.required;
        });
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    victim_list<Traits> list_;
    disruption_room<Traits> budgets_;
    std::vector<victim> gangs_;
    detail::sequence<movable_pod> pods_;
    detail::sequence<char> taken_;
};

} // namespace v0_1
} // namespace muster
