// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/place.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/index/weights.hpp>
#include <muster/plan/plan.hpp>
#include <muster/preempt/victim_fit.hpp>
#include <muster/problem/members.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Computes reservations for waiting gangs. `plan_start` plans when and where a gang will start,
/// from the declared durations of running gangs. `plan_room` finds where a gang would start if
/// other pods left. All placements are tentative; the result is the room to reserve.
template<class Traits>
class start_planner {
public:
    static constexpr std::size_t width = Traits::width;
    using reservation_type = reservation<width>;

    /// Starts a cycle, without plans.
    void begin() noexcept {
        planned_.clear();
        gathered_ = false;
    }

    /// Plans the earliest start of the gang that greedy placement finds and that delays no start
    /// planned before. Returns nullopt if pods without a declared duration are in the way. The
    /// reservation covers what the gang needs of the room that is free now, beyond what will come
    /// free until its start. O(pods · log pods) once per cycle, and one greedy placement for each
    /// of O(log times) times, or for every time if other starts were planned before.
    [[nodiscard]] std::optional<reservation_type>
    plan_start(cluster_state<Traits>& cluster, gang_index which, std::int64_t now,
               plan<width>& journal, node_finder<Traits>& finder, placer<Traits>& placing) {
        gather(cluster, now);
        open(cluster, which, journal, finder, placing);
        const auto found = planned_.empty() ? find_first(now) : find_next(now);
        std::optional<reservation_type> made;
        if (found)
            made = note_start(which, *found);
        close();
        if (made)
            settle_parts(*made);
        return made;
    }

    /// Finds room for the gang on the least allocated nodes, as if their pods had left. Returns
    /// nullopt if greedy placement finds no room even if all nodes are vacated. The reservation
    /// covers all that the gang needs on these nodes, even where pods occupy it now. O(pods + nodes
    /// · log nodes), and one greedy placement for each of O(log nodes) numbers of nodes.
    [[nodiscard]] std::optional<reservation_type> plan_room(cluster_state<Traits>& cluster,
                                                            gang_index which, plan<width>& journal,
                                                            node_finder<Traits>& finder,
                                                            placer<Traits>& placing) {
        order_nodes(cluster);
        open(cluster, which, journal, finder, placing);
        const std::size_t nodes = order_.size();
        const auto vacate_to = [&](std::size_t count) {
            for (std::size_t at = 0; at < count; ++at)
                for (std::size_t pod = first_of_[at]; pod < first_of_[at + 1]; ++pod)
                    vacate(placed_pods_[pod]);
        };
        std::optional<reservation_type> made;
        if (first_that_fits(0, nodes, vacate_to)) {
            made.emplace();
            made->owner = {which, cluster[which].generation};
            made->parts = placed_parts();
            keep_quota(*made);
        }
        close();
        return made;
    }

    /// True if no planned start is before `time`.
    [[nodiscard]] bool all_after(std::int64_t time) const noexcept {
        return detail::all_of(planned_,
                              [&](const planned& earlier) { return earlier.start >= time; });
    }
    [[nodiscard]] bool any() const noexcept { return !planned_.empty(); }

private:
    using part = typename reservation_type::part;

    struct departure {
        std::int64_t end = 0;
        pod_index pod;
    };
    struct planned {
        std::int64_t start = 0;
        std::int64_t end = 0;
        std::vector<part> parts;
        /// Per part: what is free on its node once the gang has started.
        sequence<resources<width>> rest;
    };

    void gather(const cluster_state<Traits>& cluster, std::int64_t now) {
        if (std::exchange(gathered_, true))
            return;
        departures_.clear();
        for (const gang_index gang : cluster.gang_order())
            for (const pod_index member : cluster[gang].members)
                if (const auto end = cluster.ends(member); end && stays(cluster, member))
                    // A pod that runs longer than declared may end at any time.
                    departures_.push_back({std::max(*end, now + 1), member});
        detail::stable_sort(departures_, {}, &departure::end);
        times_.clear();
        for (std::size_t at = 0; at < departures_.size(); ++at)
            if (at == 0 || departures_[at].end != departures_[at - 1].end)
                times_.push_back(at);
    }
    /// True if the pod holds room and is not leaving, so its end releases room.
    [[nodiscard]] static bool stays(const cluster_state<Traits>& cluster, pod_index which) {
        return cluster[which].charged() && cluster[which].charged_as() == allocation::allocated;
    }

    // ---- the tentative cluster -----------------------------------------------------------------

    void open(cluster_state<Traits>& cluster, gang_index which, plan<width>& journal,
              node_finder<Traits>& finder, placer<Traits>& placing) {
        cluster_ = &cluster;
        journal_ = &journal;
        finder_ = &finder;
        placing_ = &placing;
        sorter_.sort(cluster, which, members_);
        duration_ = cluster[which].spec.duration;
        for (std::size_t at = 0; at < cluster.reservations().size(); ++at)
            cluster.suspend_reservation(at);
        start_ = journal.mark();
        journal.assume_released();
    }
    void close() {
        journal_->rollback(start_);
        for (std::size_t at = 0; at < cluster_->reservations().size(); ++at)
            cluster_->resume_reservation(at);
    }

    void vacate(pod_index pod) { vacate_pod(*cluster_, pod, *journal_); }

    [[nodiscard]] bool fits_now() {
        placing_->begin(*cluster_, members_, *journal_, *finder_);
        return placing_->meet_minima();
    }

    /// Returns the smallest count in `from`..`to` for which the gang fits after `prepare(count)`;
    /// nullopt if there is none. Its placements are then in the plan. Precondition: if the gang
    /// fits for a count, it fits for all larger counts.
    template<class Prepare>
    [[nodiscard]] std::optional<std::size_t> first_that_fits(std::size_t from, std::size_t to,
                                                             const Prepare& prepare) {
        const savepoint clean = journal_->mark();
        const auto attempt = [&](std::size_t count) {
            journal_->rollback(clean);
            prepare(count);
            return fits_now();
        };
        std::size_t no = from;
        if (attempt(from))
            return from;
        std::size_t step = 1;
        std::size_t yes = to + 1;
        while (yes > to && no < to) {
            const std::size_t next = std::min(to, no + step);
            (attempt(next) ? yes : no) = next;
            step *= 2;
        }
        if (yes > to)
            return std::nullopt;
        while (yes - no > 1) {
            const std::size_t middle = no + (yes - no) / 2;
            (attempt(middle) ? yes : no) = middle;
        }
        static_cast<void>(attempt(yes));
        return yes;
    }

    // ---- by durations --------------------------------------------------------------------------

    [[nodiscard]] std::optional<std::int64_t> find_first(std::int64_t now) {
        const auto count =
            first_that_fits(0, times_.size(), [&](std::size_t times) { vacate_until(0, times); });
        if (!count)
            return std::nullopt;
        return *count == 0 ? now + 1 : departures_[times_[*count - 1]].end;
    }

    /// Finds the start if other starts were planned before. Gangs planned before start and end as
    /// well, so a later time may fit less and every time is tried.
    [[nodiscard]] std::optional<std::int64_t> find_next(std::int64_t now) {
        moments_.assign(1, now + 1);
        for (const std::size_t at : times_)
            moments_.push_back(departures_[at].end);
        for (const planned& earlier : planned_)
            if (earlier.end > now + 1 && earlier.end < never)
                moments_.push_back(earlier.end);
        detail::sort_short(moments_);
        moments_.erase(std::unique(moments_.begin(), moments_.end()), moments_.end());
        std::size_t gone = 0;
        for (const std::int64_t time : moments_) {
            std::size_t until = gone;
            while (until < times_.size() && departures_[times_[until]].end <= time)
                ++until;
            vacate_until(gone, until);
            gone = until;
            const savepoint before = journal_->mark();
            respect_plans(time);
            if (fits_now())
                return time;
            journal_->rollback(before);
        }
        return std::nullopt;
    }

    /// Vacates all pods that end at the times numbered [from, to).
    void vacate_until(std::size_t from, std::size_t to) {
        if (from == to)
            return;
        const std::size_t last = to < times_.size() ? times_[to] : departures_.size();
        for (std::size_t at = times_[from]; at < last; ++at)
            vacate(departures_[at].pod);
    }

    /// Reserves in the journal what gangs planned before need while a gang that starts at `time`
    /// runs.
    void respect_plans(std::int64_t time) {
        const std::int64_t end = end_of(time);
        for (const planned& earlier : planned_) {
            if (earlier.end <= time || end <= earlier.start)
                continue;
            for (std::size_t at = 0; at < earlier.parts.size(); ++at) {
                const part& planned_part = earlier.parts[at];
                resources<width> kept = planned_part.amount;
                if (earlier.start > time)
                    kept = excess(journal_->accounts().free(planned_part.node), earlier.rest[at]);
                journal_->keep(planned_part.node, kept);
            }
        }
    }

    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    [[nodiscard]] std::int64_t end_of(std::int64_t start) const noexcept {
        return duration_ ? saturate(static_cast<int128>(start) + *duration_) : never;
    }

    /// Returns what the placements of the plan use of each node, in the order of nodes.
    [[nodiscard]] std::vector<part> placed_parts() {
        std::vector<part> parts;
        for (const placement& placed : journal_->placements())
            parts.push_back({placed.node, cluster_->request(placed.pod)});
        detail::stable_sort(parts, {}, &part::node);
        std::size_t left = 0;
        for (std::size_t at = 0; at < parts.size(); ++at) {
            if (left > 0 && parts[left - 1].node == parts[at].node)
                parts[left - 1].amount += parts[at].amount;
            else
                parts[left++] = parts[at];
        }
        parts.resize(left);
        return parts;
    }

    [[nodiscard]] reservation_type note_start(gang_index which, std::int64_t start) {
        planned mine{start, end_of(start), placed_parts(), {}};
        for (const part& own_part : mine.parts)
            mine.rest.push_back(journal_->accounts().free(own_part.node));
        // Gangs that start later find less free on nodes where this gang still runs.
        for (planned& later : planned_) {
            if (later.start <= start || mine.end <= later.start)
                continue;
            for (std::size_t at = 0; at < later.parts.size(); ++at)
                for (const part& taken : mine.parts)
                    if (taken.node == later.parts[at].node)
                        later.rest[at] -= taken.amount;
        }
        reservation_type made;
        made.owner = {which, (*cluster_)[which].generation};
        made.start = start;
        keep_quota(made);
        planned_.push_back(std::move(mine));
        return made;
    }

    /// Sets what other gangs must not use now for the plan to hold. Call it when the tentative
    /// changes are undone.
    void settle_parts(reservation_type& made) {
        const planned& from = planned_.back();
        for (std::size_t at = 0; at < from.parts.size(); ++at) {
            const part kept{from.parts[at].node,
                            excess(cluster_->accounts().free(from.parts[at].node), from.rest[at])};
            if (kept.amount != resources<width>{})
                made.parts.push_back(kept);
        }
        if (made.queue)
            made.quota = excess(made.quota, cluster_->accounts().used(*made.queue));
    }

    /// Sets the quota to reserve. For a planned start: the use of the queue including the gang,
    /// from which `settle_parts` subtracts the current use. Otherwise: all that the gang requests.
    void keep_quota(reservation_type& made) {
        const auto queue = (*cluster_)[made.owner.index].queue;
        if (!queue || !cluster_->accounts().headroom(queue_charge(*queue)).any())
            return;
        made.queue = queue;
        if (made.start) {
            made.quota = cluster_->accounts().used(*queue);
            return;
        }
        for (const part& own_part : made.parts)
            made.quota += own_part.amount;
    }

    // ---- by nodes ------------------------------------------------------------------------------

    /// Sorts the nodes by allocated amount, the least first, and lists the pods on each.
    void order_nodes(const cluster_state<Traits>& cluster) {
        const auto weights = weigh(cluster.accounts(), cluster.pods_kind());
        order_ = cluster.node_order();
        std::erase_if(order_, [&](node_index node) { return !cluster[node].present; });
        detail::stable_sort(order_, {}, [&](node_index node) {
            return saturate(static_cast<int128>(weights.key(cluster.accounts().allocatable(node))) -
                            weights.key(cluster.accounts().free(node)));
        });
        rank_.assign(cluster.accounts().nodes(), order_.size());
        for (std::size_t at = 0; at < order_.size(); ++at)
            rank_[order_[at].value()] = at;
        placed_pods_.clear();
        for (const gang_index gang : cluster.gang_order())
            for (const pod_index member : cluster[gang].members)
                if (stays(cluster, member) && rank_[cluster[member].node->value()] < order_.size())
                    placed_pods_.push_back(member);
        detail::stable_sort(placed_pods_, {},
                            [&](pod_index pod) { return rank_[cluster[pod].node->value()]; });
        first_of_.assign(order_.size() + 1, placed_pods_.size());
        for (std::size_t at = placed_pods_.size(); at-- > 0;)
            first_of_[rank_[cluster[placed_pods_[at]].node->value()]] = at;
        for (std::size_t at = order_.size(); at-- > 0;)
            if (first_of_[at] == placed_pods_.size())
                first_of_[at] = first_of_[at + 1];
    }

    cluster_state<Traits>* cluster_ = nullptr;
    plan<width>* journal_ = nullptr;
    node_finder<Traits>* finder_ = nullptr;
    placer<Traits>* placing_ = nullptr;
    savepoint start_;
    member_sorter<width> sorter_;
    gang_members<width> members_;
    std::optional<std::int64_t> duration_;
    sequence<planned> planned_;

    bool gathered_ = false;
    /// Sorted by end; `times_`: index of the first departure of each distinct end.
    sequence<departure> departures_;
    detail::sequence<std::size_t> times_;
    detail::sequence<std::int64_t> moments_;

    std::vector<node_index> order_;
    /// Per node: its position in `order_`.
    detail::sequence<std::size_t> rank_;
    /// The pods in the order of their nodes; `first_of_`: index of the first pod of each node.
    std::vector<pod_index> placed_pods_;
    detail::sequence<std::size_t> first_of_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
