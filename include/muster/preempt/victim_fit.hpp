// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <muster/admission/admit.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/place.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/index/node_query.hpp>
#include <muster/plan/plan.hpp>
#include <muster/preempt/victims.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/problem/quota_tally.hpp>

namespace muster {
inline namespace v0_1 {

/// The plan evicts a pod that is on a node. O(width + claims).
template<class Traits>
void vacate_pod(const cluster_state<Traits>& cluster, pod_index pod, plan<Traits::width>& in) {
    const auto& record = cluster[pod];
    in.vacate(pod, *record.node, cluster.request(pod), cluster.where(pod).value.claims,
              cluster[record.gang].charged_to());
}

/// A pod that may be taken: of which victim, which of its pods.
struct victim_pod {
    pod_index pod;
    std::int64_t queue_level = 0;
    std::int64_t gang_level = 0;
    std::size_t rank = 0;
    std::size_t of = 0;
    std::size_t at = 0;
    /// Of those that make room together.
    bool last = false;
};

// Two ways to tell whether a gang fits once certain pods are gone. Pods are taken and put back in
// any order.

/// For gangs that are short of room for one class of members: the room is counted, and a pod more
/// or less changes the count of its node alone.
template<class Traits>
class counted_fit {
public:
    static constexpr std::size_t width = Traits::width;

    /// `room` is there for pods of the query now, and `need` is needed.
    void begin(const cluster_state<Traits>& cluster, const node_query<width>& query,
               std::int64_t need, std::int64_t room) {
        cluster_ = &cluster;
        quotas_.clear();
        query_ = query;
        need_ = need;
        room_ = most_room_ = room;
        nodes_.resize(cluster.accounts().nodes());
        ++round_;
    }

    /// False if there is too little room, or the quotas leave too little, even once all members of
    /// these gangs are gone. Takes the number of members from `steps` then. Precondition: no pod is
    /// taken. O(members × depth × width).
    [[nodiscard]] bool may_suffice(const victim_list<Traits>& gangs, std::int64_t& steps) {
        std::int64_t members = 0;
        without_ = quotas_;
        touched_.clear();
        for (std::size_t at = 0; at < gangs.size(); ++at)
            for (const pod_index member : (*cluster_)[gangs.gang(at)].members)
                if (const auto& record = (*cluster_)[member]; record.charged()) {
                    ++members;
                    without_.take(member);
                    node_room& on = nodes_[record.node->value()];
                    if (on.round != round_) {
                        see(*record.node);
                        touched_.push_back(*record.node);
                    }
                    on.free += cluster_->request(member);
                }
        std::int64_t most = room_;
        for (std::size_t at = 0; at < touched_.size() && most < need_; ++at)
            if (const node_room& on = nodes_[touched_[at].value()]; on.counts)
                most += fit_count(*query_.request, on.free, need_) - on.room;
        ++round_;
        if (most >= need_ && without_.fits())
            return true;
        steps -= members;
        return false;
    }

    /// The ceilings of these quotas must admit the gang as well.
    void mind(const quota_tally<Traits>& quotas) { quotas_ = quotas; }

    void take(pod_index pod) {
        shift(pod, 1);
        quotas_.take(pod);
    }
    void put_back(pod_index pod) {
        shift(pod, -1);
        quotas_.put_back(pod);
    }
    [[nodiscard]] bool fits() const noexcept { return room_ >= need_ && quotas_.fits(); }
    /// Puts pods one behind the other that make room together: node by node as many as one member
    /// more needs, first where that hits the lowest level, then where it takes the fewest, then the
    /// least valuable. Pods that make no room are left out. O(pods · log pods).
    void by_nodes(detail::sequence<victim_pod>& pods) {
        const auto& labels = cluster_->node_labels();
        const auto label = [&](const victim_pod& of) { return labels[*(*cluster_)[of.pod].node]; };
        detail::sort_short(pods, [&](const victim_pod& lhs, const victim_pod& rhs) {
            return std::tuple(label(lhs), lhs.rank, lhs.at) <
                   std::tuple(label(rhs), rhs.rank, rhs.at);
        });
        struct group {
            std::tuple<std::int64_t, std::int64_t, std::size_t, std::size_t> key;
            std::size_t first = 0;
            std::size_t count = 0;
        };
        detail::sequence<group> groups;
        for (std::size_t from = 0; from < pods.size();) {
            const node_index node = *(*cluster_)[pods[from].pod].node;
            resources<width> free = cluster_->accounts().free(node);
            std::int64_t room = fit_count(*query_.request, free, need_);
            group next{{}, from, 0};
            const bool counts = eligible(query_, node);
            std::size_t at = from;
            for (; at < pods.size() && *(*cluster_)[pods[at].pod].node == node; ++at) {
                ++next.count;
                auto& [queue_level, gang_level, count, rank] = next.key;
                queue_level = next.count == 1 && at == from
                                  ? pods[at].queue_level
                                  : std::max(queue_level, pods[at].queue_level);
                gang_level = next.count == 1 && at == from
                                 ? pods[at].gang_level
                                 : std::max(gang_level, pods[at].gang_level);
                count = std::max(count, next.count);
                rank = std::max(rank, pods[at].rank);
                free += cluster_->request(pods[at].pod);
                const std::int64_t now = fit_count(*query_.request, free, need_);
                if (!counts || now == room)
                    continue;
                room = now;
                groups.push_back(next);
                next.first = at + 1;
                next.count = 0;
            }
            from = at;
        }
        detail::stable_sort(groups, {}, &group::key);
        detail::sequence<victim_pod> ordered;
        for (const group& each : groups) {
            ordered.insert(ordered.end(), pods.begin() + static_cast<std::ptrdiff_t>(each.first),
                           pods.begin() + static_cast<std::ptrdiff_t>(each.first + each.count));
            ordered.back().last = true;
        }
        pods = std::move(ordered);
    }

    /// The most that there was.
    [[nodiscard]] std::int64_t most_room() const noexcept { return most_room_; }
    /// Tells at once: it need not be asked sparingly.
    static constexpr bool cheap = true;
    /// A pod that goes only makes room.
    [[nodiscard]] static constexpr bool monotone() noexcept { return true; }
    [[nodiscard]] static constexpr bool is_wanted(pod_index) noexcept { return false; }

private:
    struct node_room {
        std::uint64_t round = 0;
        bool counts = false;
        /// Pods of the query that fit what is free, at most as many as are needed.
        std::int64_t room = 0;
        resources<width> free;
    };

    void see(node_index node) {
        node_room& at = nodes_[node.value()];
        at = {round_, eligible(query_, node), 0, cluster_->accounts().free(node)};
        at.room = at.counts ? fit_count(*query_.request, at.free, need_) : 0;
    }
    void shift(pod_index pod, std::int64_t by) {
        const auto& record = (*cluster_)[pod];
        const node_index node = *record.node;
        node_room& at = nodes_[node.value()];
        if (at.round != round_)
            see(node);
        at.free += cluster_->request(pod) * by;
        if (at.counts) {
            room_ -= at.room;
            at.room = fit_count(*query_.request, at.free, need_);
            room_ += at.room;
        }
        most_room_ = std::max(most_room_, room_);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    node_query<width> query_;
    std::int64_t need_ = 0;
    std::int64_t room_ = 0;
    std::int64_t most_room_ = 0;
    /// Counts nothing unless `mind` was called.
    quota_tally<Traits> quotas_;
    detail::sequence<node_room> nodes_;
    std::uint64_t round_ = 0;
    /// Scratch of `may_suffice`.
    quota_tally<Traits> without_;
    detail::sequence<node_index> touched_;
};

/// For all gangs: they are placed, and that is undone again.
template<class Traits>
class tried_fit {
public:
    static constexpr std::size_t width = Traits::width;
    static constexpr bool cheap = false;

    tried_fit(const cluster_state<Traits>& cluster, plan<width>& into, node_finder<Traits>& finder,
              placer<Traits>& placing, admission<Traits>& deciding, std::int64_t& steps)
        : cluster_(&cluster),
          into_(&into),
          finder_(&finder),
          placing_(&placing),
          deciding_(&deciding),
          steps_(&steps),
          start_(into.mark()),
          with_pod_affinity_(detail::affinity_effect_on(cluster, deciding.members()) ==
                             detail::affinity_effect::required) {}

    /// False if the gang may lose by a pod that goes: a pod to which its members have affinity, or
    /// one that counts where they must spread.
    [[nodiscard]] bool monotone() const noexcept { return !with_pod_affinity_; }
    /// Some member has affinity to that pod.
    [[nodiscard]] bool is_wanted(pod_index pod) const {
        if (!with_pod_affinity_)
            return false;
        const pod_population& population = cluster_->population();
        const auto& record = (*cluster_)[pod];
        const auto who = population.identity_of(record.labels, (*cluster_)[record.gang].tenant);
        return detail::any_of(deciding_->members().classes, [&](const auto& each) {
            const known_terms* terms = population.terms(each.where);
            return terms && detail::any_of(terms->affinity, [&](const known_term& term) {
                       return population.matches(term.pods, who);
                   });
        });
    }

    void take(pod_index pod) {
        gone_.push_back({pod, into_->mark()});
        vacate(pod);
    }
    void put_back(pod_index pod) {
        auto at = gone_.end();
        while ((--at)->pod != pod) {
        }
        rebuild_ = rebuild_ || at + 1 != gone_.end();
        if (!rebuild_)
            into_->rollback(at->before);
        gone_.erase(at);
    }
    [[nodiscard]] bool fits() {
        if (rebuild_) {
            into_->rollback(start_);
            for (one& each : gone_) {
                each.before = into_->mark();
                vacate(each.pod);
            }
            rebuild_ = false;
        }
        const savepoint here = into_->mark();
        const answer found = deciding_->try_minima(*cluster_, *into_, *finder_, *placing_, *steps_);
        into_->rollback(here);
        sure_ = sure_ && (found == answer::admitted || found == answer::waiting);
        return found == answer::admitted;
    }
    /// No answer was left open.
    [[nodiscard]] bool sure() const noexcept { return sure_; }

private:
    struct one {
        pod_index pod;
        savepoint before;
    };

    void vacate(pod_index pod) { vacate_pod(*cluster_, pod, *into_); }

    const cluster_state<Traits>* cluster_;
    plan<width>* into_;
    node_finder<Traits>* finder_;
    placer<Traits>* placing_;
    admission<Traits>* deciding_;
    std::int64_t* steps_;
    savepoint start_;
    /// Terms between pods may keep the gang's members off nodes.
    bool with_pod_affinity_ = false;
    detail::sequence<one> gone_;
    /// The plan does not show what was put back since.
    bool rebuild_ = false;
    bool sure_ = true;
};

} // namespace v0_1
} // namespace muster
