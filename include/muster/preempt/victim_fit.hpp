// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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
#include <muster/problem/reused_list.hpp>

namespace muster {
inline namespace v0_1 {

/// Evicts a pod from its node in the plan. O(width + claims).
template<class Traits>
void vacate_pod(const cluster_state<Traits>& cluster, pod_index pod, plan<Traits::width>& in) {
    const auto& record = cluster[pod];
    in.vacate(pod, *record.node, cluster.request(pod), cluster.where(pod).value.claims,
              cluster[record.gang].charged_to());
}

/// A pod that may be evicted: pod number `at` of the victim with number `of`.
struct victim_pod {
    pod_index pod;
    std::int64_t queue_level = 0;
    std::int64_t gang_level = 0;
    std::size_t rank = 0;
    std::size_t of = 0;
    std::size_t at = 0;
    /// The last one of the pods that make room together.
    bool last = false;
};

// There are two ways to decide whether a gang fits once certain pods are gone. Pods are taken and
// put back in any order.

/// For gangs that are short of room for one class of members only: counts the room. Taking a pod or
/// putting it back changes only the count of its node.
template<class Traits>
class counted_fit {
public:
    static constexpr std::size_t width = Traits::width;

    /// There is room for `room` pods of the query now, and `need` are needed.
    void begin(const cluster_state<Traits>& cluster, const node_query<width>& query,
               std::int64_t need, std::int64_t room) {
        cluster_ = &cluster;
        quotas_.clear();
        query_ = query;
        need_ = need;
        room_ = most_room_ = room;
        hopeless_ = false;
        nodes_.resize(cluster.accounts().nodes());
        ++round_;
    }

    /// Returns whether the gang could fit, by room and quotas, with all charged members of these
    /// gangs gone. Sets `members` to their number, whatever the answer. Members that are leaving
    /// already count, although the plan may count their room as free. Precondition: no pod is
    /// taken. O(members × width + gangs × depth × width).
    [[nodiscard]] bool may_suffice(const victim_list<Traits>& gangs, std::int64_t& members) {
        members = 0;
        return suffices_without(gangs, [&](const auto& gang, const auto& use) {
            for (const pod_index member : gang.members)
                if ((*cluster_)[member].charged()) {
                    ++members;
                    use(member);
                }
        });
    }
    /// Like `may_suffice`, without members that are leaving already, and without gangs of which
    /// `victim_list::look` finds no pod. So the answer is false more often.
    [[nodiscard]] bool may_suffice_open(const victim_list<Traits>& gangs) {
        return suffices_without(gangs, [&](const auto& gang, const auto& use) {
            const auto is_closed = [&](pod_index member) {
                const auto& pod = (*cluster_)[member];
                return pod.assumed || pod.migration_target;
            };
            if (detail::any_of(gang.members, is_closed))
                return;
            for (const pod_index member : gang.members)
                if (victim_list<Traits>::is_allocated((*cluster_)[member]))
                    use(member);
        });
    }
    /// Counts for `most_room` the room without these gangs. Precondition: the last call was
    /// `may_suffice_open`, and returned false.
    void count_open() noexcept { most_room_ = std::max(most_room_, room_without_); }
    /// From here on `take` and `put_back` do nothing, and `fits` returns false. Precondition: the
    /// gang does not fit even with all pods gone.
    void give_up() noexcept { hopeless_ = true; }
    /// Counts the room without all pods of these victims for `most_room`. Precondition: no pod is
    /// taken. O(pods × width).
    void count_without(const detail::reused_list<victim>& victims) {
        touched_.clear();
        for (const victim& gone : victims)
            for (const pod_index pod : gone.pods)
                free_on(*(*cluster_)[pod].node) += cluster_->request(pod);
        most_room_ =
            std::max(most_room_, room_of_touched(std::numeric_limits<std::int64_t>::max()));
        ++round_;
    }

    /// Also requires that the ceilings of these quotas admit the gang.
    void mind(const quota_tally<Traits>& quotas) { quotas_ = quotas; }

    void take(pod_index pod) {
        if (hopeless_)
            return;
        shift(pod, 1);
        quotas_.take(pod);
    }
    void put_back(pod_index pod) {
        if (hopeless_)
            return;
        shift(pod, -1);
        quotas_.put_back(pod);
    }
    [[nodiscard]] bool fits() const noexcept {
        return !hopeless_ && room_ >= need_ && quotas_.fits();
    }
    /// Orders the pods so that those that make room together are adjacent: node by node, as many as
    /// one more member needs. These groups are ordered by the highest level that they have, then by
    /// the number of pods, then by value, the least first. Removes pods that make no room. O(pods ·
    /// log pods).
    void by_nodes(detail::sequence<victim_pod>& pods) {
        const auto& labels = cluster_->node_labels();
        const auto label = [&](const victim_pod& listed) {
            return labels[*(*cluster_)[listed.pod].node];
        };
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
        for (const group& ready : groups) {
            ordered.insert(ordered.end(), pods.begin() + static_cast<std::ptrdiff_t>(ready.first),
                           pods.begin() + static_cast<std::ptrdiff_t>(ready.first + ready.count));
            ordered.back().last = true;
        }
        pods = std::move(ordered);
    }

    /// The most room that there was since `begin`.
    [[nodiscard]] std::int64_t most_room() const noexcept { return most_room_; }
    /// `fits` is cheap: it may be called after every pod.
    static constexpr bool cheap = true;
    /// Evicting a pod never makes the gang fit worse.
    [[nodiscard]] static constexpr bool monotone() noexcept { return true; }
    [[nodiscard]] static constexpr bool is_wanted(pod_index) noexcept { return false; }

private:
    struct node_room {
        std::uint64_t round = 0;
        bool counts = false;
        /// The number of pods of the query that fit the free amounts, at most as many as are
        /// needed.
        std::int64_t room = 0;
        resources<width> free;
    };

    void see(node_index node) {
        node_room& at = nodes_[node.value()];
        at = {round_, eligible(query_, node), 0, cluster_->accounts().free(node)};
        at.room = at.counts ? fit_count(*query_.request, at.free, need_) : 0;
    }
    /// Returns false if the gang does not fit once all pods are gone that `each(gang, use)` uses.
    template<class Each>
    [[nodiscard]] bool suffices_without(const victim_list<Traits>& gangs, const Each& each) {
        without_ = quotas_;
        touched_.clear();
        for (std::size_t at = 0; at < gangs.size(); ++at) {
            const auto& gang = (*cluster_)[gangs.gang(at)];
            resources<width> gone;
            each(gang, [&](pod_index member) {
                const resources<width>& request = cluster_->request(member);
                if (gang.queue)
                    gone += request;
                free_on(*(*cluster_)[member].node) += request;
            });
            without_.take(gang.queue, gone);
        }
        const bool within = without_.fits();
        room_without_ = room_of_touched(within ? need_ : std::numeric_limits<std::int64_t>::max());
        ++round_;
        return within && room_without_ >= need_;
    }

    /// The free amounts of the node, which becomes one of `touched_`.
    [[nodiscard]] resources<width>& free_on(node_index node) {
        node_room& at = nodes_[node.value()];
        if (at.round != round_) {
            see(node);
            touched_.push_back(node);
        }
        return at.free;
    }
    /// The room with the free amounts of `touched_`, counted until it is `enough`.
    [[nodiscard]] std::int64_t room_of_touched(std::int64_t enough) const {
        std::int64_t room = room_;
        for (std::size_t at = 0; at < touched_.size() && room < enough; ++at)
            if (const node_room& on = nodes_[touched_[at].value()]; on.counts)
                room += fit_count(*query_.request, on.free, need_) - on.room;
        return room;
    }
    void shift(pod_index pod, std::int64_t sign) {
        const auto& record = (*cluster_)[pod];
        const node_index node = *record.node;
        node_room& at = nodes_[node.value()];
        if (at.round != round_)
            see(node);
        at.free += cluster_->request(pod) * sign;
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
    bool hopeless_ = false;
    /// Counts nothing unless `mind` was called.
    quota_tally<Traits> quotas_;
    detail::sequence<node_room> nodes_;
    std::uint64_t round_ = 0;
    /// Scratch of the functions that count all pods at once.
    quota_tally<Traits> without_;
    std::int64_t room_without_ = 0;
    detail::sequence<node_index> touched_;
};

/// For all gangs: places the gang in the plan and undoes that, or counts with the same result.
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

    /// From here on the room and the quotas are counted, and the plan stays as it is. Precondition:
    /// no pod is taken, and the count decides whether the gang fits, so that no attempt to place it
    /// would use steps (see `counted_class`).
    void count_by(counted_fit<Traits>& counted) noexcept { counted_ = &counted; }
    /// As in `counted_fit`, if it counts.
    [[nodiscard]] bool may_suffice_open(const victim_list<Traits>& gangs) {
        return !counted_ || counted_->may_suffice_open(gangs);
    }
    void give_up() noexcept { counted_->give_up(); }

    /// Returns false if evicting a pod can make the gang fit worse: a pod to which its members have
    /// affinity, or one that counts for a spread term.
    [[nodiscard]] bool monotone() const noexcept { return !with_pod_affinity_; }
    /// Returns true if a member has required affinity to the pod.
    [[nodiscard]] bool is_wanted(pod_index pod) const {
        if (!with_pod_affinity_)
            return false;
        const pod_population& population = cluster_->population();
        const auto& record = (*cluster_)[pod];
        const auto identity =
            population.identity_of(record.labels, (*cluster_)[record.gang].tenant);
        return detail::any_of(deciding_->members().classes, [&](const auto& member_shape) {
            const known_terms* terms = population.terms(member_shape.where);
            return terms && detail::any_of(terms->affinity, [&](const known_term& term) {
                       return population.matches(term.pods, identity);
                   });
        });
    }

    void take(pod_index pod) {
        if (counted_)
            return counted_->take(pod);
        gone_.push_back({pod, into_->mark()});
        vacate(pod);
    }
    void put_back(pod_index pod) {
        if (counted_)
            return counted_->put_back(pod);
        auto at = gone_.end();
        while ((--at)->pod != pod) {
        }
        rebuild_ = rebuild_ || at + 1 != gone_.end();
        if (!rebuild_)
            into_->rollback(at->before);
        gone_.erase(at);
    }
    [[nodiscard]] bool fits() {
        if (counted_) {
            const bool fits = counted_->fits();
            // An attempt to place the gang would leave no negative number of steps.
            if (!fits)
                *steps_ = std::max<std::int64_t>(*steps_, 0);
            return fits;
        }
        if (rebuild_) {
            into_->rollback(start_);
            for (one& removed : gone_) {
                removed.before = into_->mark();
                vacate(removed.pod);
            }
            rebuild_ = false;
        }
        const savepoint here = into_->mark();
        const answer found = deciding_->try_minima(*cluster_, *into_, *finder_, *placing_, *steps_);
        into_->rollback(here);
        sure_ = sure_ && (found == answer::admitted || found == answer::waiting);
        return found == answer::admitted;
    }
    /// Returns true if every answer so far was definite.
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
    /// Null if the gang is placed.
    counted_fit<Traits>* counted_ = nullptr;
    savepoint start_;
    /// Required pod terms may exclude the gang's members from nodes.
    bool with_pod_affinity_ = false;
    detail::sequence<one> gone_;
    /// The plan must be rebuilt: a pod other than the last taken one was put back.
    bool rebuild_ = false;
    bool sure_ = true;
};

} // namespace v0_1
} // namespace muster
