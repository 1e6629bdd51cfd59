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
    /// Its gang, among those of which something may be moved.
    std::size_t of = 0;
    std::int64_t queue_level = 0;
    std::int64_t gang_level = 0;
};

/// The pods that a rule allows to move for one gang, in which order they go, and where to. Of each
/// gang no more may be on the move than `max_disrupted` and budgets say, and what is to keep its
/// minima keeps them; gangs below their minima and queues above a ceiling stay. Pods that terms
/// between pods keep where they are, or off other nodes, do not move; members that must share a
/// domain stay in their domain.
template<class Traits>
class movable_pods {
public:
    static constexpr std::size_t width = Traits::width;

    /// O(candidates + admitted gangs · log + their members).
    template<consolidation_rule Rule>
    void begin(const cluster_state<Traits>& cluster, gang_index by, const Rule& rule,
               std::int64_t now, eviction_candidates<Traits>& among) {
        cluster_ = &cluster;
        pods_.clear();
        gangs_.clear();
        list_.begin(cluster, by, rule, now, among);
        budgets_.begin(cluster);
        for (std::size_t at = 0; at < list_.size(); ++at) {
            gangs_.emplace_back();
            victim& of = gangs_.back();
            // The replacement of a moved member could not start if the gang is below its minima or
            // its queue is above its quota.
            if (!list_.look(at, of) || of.most == 0 || of.terms.only_whole ||
                cluster[of.gang].spec.fault != gang_fault::none ||
                !reaches_minima(cluster[of.gang].spec.tree, of.holding) || over_quota(of.gang)) {
                gangs_.pop_back();
                continue;
            }
            for (std::size_t pod = 0; pod < of.pods.size(); ++pod)
                if ((!of.terms.only_surplus || of.spare[pod]) && may_move(of.pods[pod]))
                    pods_.push_back({of.pods[pod], *cluster[of.pods[pod]].node, gangs_.size() - 1,
                                     of.terms.queue_level, of.terms.gang_level});
        }
        taken_.assign(pods_.size(), 0);
    }

    /// The least valuable first: by level, newest gangs first, then newest pods.
    [[nodiscard]] const detail::sequence<movable_pod>& all() const noexcept { return pods_; }
    [[nodiscard]] bool taken(std::size_t at) const noexcept { return taken_[at] != 0; }
    /// When a rule of time may say more.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept {
        return list_.next_change();
    }

    /// The pod is to move; false when its gang cannot have that.
    [[nodiscard]] bool take(std::size_t at) {
        victim& of = gangs_[pods_[at].of];
        const std::size_t role = (*cluster_)[pods_[at].pod].role.value();
        --of.holding[role];
        budgets_.take(pods_[at].pod);
        if (static_cast<std::int64_t>(of.count) >= of.most || !budgets_.kept() ||
            (of.terms.only_surplus &&
             !reaches_minima((*cluster_)[of.gang].spec.tree, of.holding))) {
            ++of.holding[role];
            budgets_.put_back(pods_[at].pod);
            return false;
        }
        ++of.count;
        taken_[at] = 1;
        return true;
    }
    void put_back(std::size_t at) {
        victim& of = gangs_[pods_[at].of];
        ++of.holding[(*cluster_)[pods_[at].pod].role.value()];
        budgets_.put_back(pods_[at].pod);
        --of.count;
        taken_[at] = 0;
    }

    /// The pod leaves its node in the plan; its part of the quota goes with it. O(width + claims).
    void vacate(std::size_t at, plan<width>& in) const {
        const movable_pod& one = pods_[at];
        in.vacate(one.pod, one.node, cluster_->request(one.pod),
                  cluster_->where(one.pod).value.claims, std::nullopt);
    }
    /// Puts it on that node in the plan, if there is room. O(width + claims).
    [[nodiscard]] bool put(std::size_t at, node_index node, plan<width>& in) const {
        const movable_pod& one = pods_[at];
        return in.try_place(one.pod, node, cluster_->request(one.pod),
                            cluster_->where(one.pod).value.claims, std::nullopt);
    }

    /// Its constraints allow that node, which is not its own.
    [[nodiscard]] bool suits(std::size_t at, node_index node) const {
        const movable_pod& one = pods_[at];
        return node != one.node && eligible(query_of(at), node) && in_domain(one, node);
    }
    [[nodiscard]] node_query<width> query_of(std::size_t at) const {
        const auto& record = (*cluster_)[pods_[at].pod];
        return detail::query_for(*cluster_, record.shape,
                                 detail::queue_nodes_of(*cluster_, (*cluster_)[record.gang].queue));
    }

    /// The node of those that suit which has least left, of which `use(node)` has nothing against;
    /// the first of them in the order of keys. O(nodes × width).
    template<class Use>
    [[nodiscard]] std::optional<node_index>
    tightest(std::size_t at, const placement_weights<width>& weights, const Use& use) const {
        const movable_pod& one = pods_[at];
        const auto query = query_of(at);
        const auto& accounts = cluster_->accounts();
        std::optional<node_index> best;
        std::int64_t least = 0;
        for (const node_index node : cluster_->node_order()) {
            const resources<width>& free = accounts.free(node);
            if (node == one.node || !fits(*query.request, free) || !eligible(query, node))
                continue;
            const std::int64_t left = weights.key(free);
            if ((best && left >= least) || !in_domain(one, node) ||
                !accounts.claims(node).admits(query.where->value.claims) || !use(node))
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
    [[nodiscard]] bool in_domain(const movable_pod& one, node_index node) const {
        const auto& record = (*cluster_)[one.pod];
        const auto& group = (*cluster_)[record.gang];
        return detail::all_of(group.together, [&](const vertex_topology& each) {
            return !each.required ||
                   !is_below(group.spec.tree, record.role.value(), each.vertex.value()) ||
                   cluster_->topologies()[each.within].shared_levels(one.node, node) >
                       *each.required;
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
