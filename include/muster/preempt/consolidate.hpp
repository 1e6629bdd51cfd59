// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/admission/admit.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/place.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/consolidation_concept.hpp>
#include <muster/preempt/candidates.hpp>
#include <muster/preempt/movable_pods.hpp>
#include <muster/preempt/room_groups.hpp>
#include <muster/preempt/victim_fit.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/problem/counted_class.hpp>

namespace muster {
inline namespace v0_1 {

/// Starts gangs that wait for room by moving pods of other gangs to other nodes, such that the gang
/// then fits. The moved pods and the gang are placed together, all or none. Scratch memory is
/// reused.
///
/// If up to `few` pods may move, it finds the fewest moves, and the least valuable pods among
/// equally many moves, unless the steps run out. Otherwise it moves pods that make room together,
/// and then searches for fewer moves, in a bounded number of steps, unless a lower bound shows that
/// there are none.
template<class Traits>
class consolidator {
public:
    static constexpr std::size_t width = Traits::width;
    static constexpr std::size_t few = 12;

    /// Returns true if the gang starts. `into`, which must be empty, then has the pods that leave,
    /// their new placements in the same order, and then the placements of the gang, to be committed
    /// with `commit_nominated`. Otherwise `into` is empty again. Takes its steps from `steps`.
    /// `one_more`: the gang has its minima and gets one more member, or none.
    template<consolidation_rule Rule>
    [[nodiscard]] bool start(const cluster_state<Traits>& cluster, gang_index starting,
                             const Rule& rule, std::int64_t now, plan<width>& into,
                             node_finder<Traits>& finder, placer<Traits>& placing,
                             admission<Traits>& deciding, eviction_candidates<Traits>& among,
                             std::int64_t& steps, bool one_more = false) {
        moves_.clear();
        next_change_.reset();
        if (!any_pod_may_move(cluster, starting, rule, now) ||
            !(one_more ? deciding.prepare_one_more(cluster, starting)
                       : deciding.prepare(cluster, starting)))
            return false;
        into.assume_released(cluster.population().anybody_comes());
        attempt on{cluster,  into,  finder,      placing,     deciding,
                   starting, steps, into.mark(), std::nullopt};
        if (into.assumes_released() && on.gang_fits())
            return true;
        into.rollback(on.base);
        if (has_room_in_total(on)) {
            among.look(cluster);
            among.begin_for(starting);
            pods_.begin(cluster, starting, rule, now, among);
            next_change_ = pods_.next_change();
            if (!pods_.all().empty() && choose(on))
                return true;
        }
        moves_.clear();
        into.rollback({});
        return false;
    }

    /// The moves for the gang that started last: the pods and their new nodes.
    [[nodiscard]] const std::vector<placement>& moves() const noexcept { return moves_; }
    /// The next time at which a time-dependent rule may admit more for the gangs that were tried.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept { return next_change_; }

private:
    /// The minimum steps for one trial placement of the gang, and the steps for the search for
    /// fewer moves among many pods.
    static constexpr std::int64_t steps_of_try = 64;
    static constexpr std::int64_t steps_for_fewer = std::int64_t{1} << 15;

    struct move {
        std::size_t pod = 0;
        node_index to;
    };

    /// The context of the attempt to start one gang.
    struct attempt {
        const cluster_state<Traits>& cluster;
        plan<width>& into;
        node_finder<Traits>& finder;
        placer<Traits>& placing;
        admission<Traits>& deciding;
        gang_index by;
        std::int64_t& steps;
        /// The plan before any move, in which released room counts as free.
        savepoint base;
        /// The class whose room alone decides whether the gang fits, if there is one.
        std::optional<std::size_t> only;

        /// Places the gang in the plan. Returns false if it does not fit.
        [[nodiscard]] bool gang_fits() {
            steps -= steps_of_try;
            return steps > 0 &&
                   deciding.try_minima(cluster, into, finder, placing, steps) == answer::admitted;
        }
        void scanned() noexcept {
            steps -= 1 + static_cast<std::int64_t>(cluster.accounts().nodes() / 8);
        }
        [[nodiscard]] node_query<width> query() const {
            const auto& members = deciding.members();
            return detail::query_for(cluster, members.classes[*only].shape, members.queue_nodes);
        }
        [[nodiscard]] std::int64_t need() const { return (*deciding.needs())[*only]; }
    };

    /// Returns false if the rule certainly admits no gang. O(queues).
    template<consolidation_rule Rule>
    [[nodiscard]] static bool any_pod_may_move(const cluster_state<Traits>& cluster,
                                               gang_index starting, const Rule& rule,
                                               std::int64_t now) {
        const gang_view starting_view = gang_view_of(cluster, starting);
        if (rule(starting_view, gang_view::least_of(std::nullopt, 0, true), now))
            return true;
        return detail::any_of(cluster.queue_order(), [&](queue_index queue_number) {
            const auto& queue = cluster[queue_number];
            return rule(starting_view,
                        gang_view::least_of(queue_number, queue.spec.priority,
                                            queue.present && queue.spec.preemptible),
                        now)
                .has_value();
        });
    }

    /// Returns false if the sum of the free amounts, or the quota, is too little: moves help with
    /// neither. O(nodes).
    [[nodiscard]] static bool has_room_in_total(const attempt& on) {
        const auto& members = on.deciding.members();
        const auto* needs = on.deciding.needs();
        resources<width> amount;
        if (!need_of(members, needs, amount))
            return false;
        if (!needs)
            return true;
        const auto& accounts = on.cluster.accounts();
        if (members.queue && !accounts.admits(*members.queue, amount))
            return false;
        for (std::size_t column = 0; column < width; ++column) {
            int128 there = 0;
            for (std::size_t at = 0; at < accounts.nodes() && there < amount[column]; ++at)
                there += std::max<std::int64_t>(0, accounts.free(node_index{at})[column]);
            if (there < amount[column])
                return false;
        }
        return true;
    }

    [[nodiscard]] bool choose(attempt& on) {
        by_size_.resize(pods_.all().size());
        for (std::size_t at = 0; at < by_size_.size(); ++at)
            by_size_[at] = at;
        sizes_.clear();
        for (const movable_pod& movable : pods_.all())
            sizes_.push_back(on.finder.weights().key(on.cluster.request(movable.pod)));
        detail::stable_sort(by_size_, {}, [&](std::size_t at) { return ~sizes_[at]; });
        on.only = counted_class(on.cluster, on.by, on.deciding.members(), on.deciding.needs());
        std::size_t least = 1;
        std::size_t most = pods_.all().size();
        detail::sequence<move> found;
        if (most > few) {
            if ((on.only && nodes_with_freed_room(on, least)) || nodes_that_fit(on)) {
                found = chosen_;
                most = found.size() - 1;
            }
        }
        if (fewer(on, least, most))
            return finish();
        chosen_ = std::move(found);
        return !chosen_.empty() && realize(on) && finish();
    }
    [[nodiscard]] bool finish() {
        for (const move& chosen_move : chosen_)
            moves_.push_back({pods_.all()[chosen_move.pod].pod, chosen_move.to});
        return true;
    }

    // ---- many pods -----------------------------------------------------------------------------

    /// Moves group after group to nodes on which it takes no room that the gang could use.
    [[nodiscard]] bool nodes_with_freed_room(attempt& on, std::size_t& least) {
        const std::int64_t need = on.need();
        const node_query<width> query = on.query();
        const auto& accounts = on.cluster.accounts();
        std::int64_t missing =
            need - on.finder.room(on.cluster, on.deciding.members().classes[*on.only].shape,
                                  on.deciding.members().queue_nodes, need);
        if (missing <= 0)
            return false;
        groups_.begin(on.cluster, pods_, query, missing);
        least = groups_.at_least(missing);
        gone_.assign(accounts.nodes(), 0);
        detail::sequence<move> kept;
        const auto room = [&](node_index node) {
            return fit_count(*query.request, accounts.free(node), need);
        };
        for (const room_group& group : groups_.all()) {
            if (missing <= 0 || on.steps <= 0)
                break;
            if (gone_[group.node.value()] != group.after)
                continue;
            const savepoint before = on.into.mark();
            const std::int64_t room_before = room(group.node);
            chosen_.clear();
            std::size_t taken = 0;
            for (; taken < group.pods.size() && pods_.take(group.pods[taken]); ++taken)
                pods_.vacate(group.pods[taken], on.into);
            const std::int64_t gained = room(group.node) - room_before;
            bool fine = taken == group.pods.size() && gained > 0;
            for (std::size_t at = 0; fine && at < group.pods.size(); ++at) {
                on.scanned();
                const auto to =
                    pods_.tightest(group.pods[at], on.finder.weights(), [&](node_index node) {
                        return node != group.node && leaves_room(on, query, node, group.pods[at]);
                    });
                fine = to && pods_.put(group.pods[at], *to, on.into);
                if (fine)
                    chosen_.push_back({group.pods[at], *to});
            }
            if (!fine) {
                on.into.rollback(before);
                while (taken-- > 0)
                    pods_.put_back(group.pods[taken]);
                continue;
            }
            kept.insert(kept.end(), chosen_.begin(), chosen_.end());
            ++gone_[group.node.value()];
            missing -= gained;
        }
        for (const move& kept_move : kept)
            pods_.put_back(kept_move.pod);
        chosen_ = std::move(kept);
        const bool fits = missing <= 0 && on.gang_fits();
        on.into.rollback(on.base);
        return fits;
    }
    /// Returns true if the node can take as many members of the gang with the pod on it as without.
    [[nodiscard]] bool leaves_room(const attempt& on, const node_query<width>& query,
                                   node_index node, std::size_t pod) const {
        if (!eligible(query, node))
            return true;
        resources<width> free = on.cluster.accounts().free(node);
        const std::int64_t before = fit_count(*query.request, free, on.need());
        free -= on.cluster.request(pods_.all()[pod].pod);
        return before == 0 || fit_count(*query.request, free, on.need()) == before;
    }

    /// Vacates more and more nodes, those with the fewest pods first, until the gang fits. Then
    /// puts back pods that can go back.
    [[nodiscard]] bool nodes_that_fit(attempt& on) {
        detail::sequence<std::size_t> order(pods_.all().size());
        for (std::size_t at = 0; at < order.size(); ++at)
            order[at] = at;
        detail::sequence<std::size_t> count(on.cluster.accounts().nodes(), 0);
        for (const movable_pod& movable : pods_.all())
            ++count[movable.node.value()];
        const auto& labels = on.cluster.node_labels();
        detail::stable_sort(order, {}, [&](std::size_t at) {
            const node_index node = pods_.all()[at].node;
            return std::pair(count[node.value()], labels[node]);
        });
        for (std::size_t size = 1; on.steps > 0; size = std::min(order.size(), size * 2)) {
            if (without(on, order, size)) {
                std::size_t failing = size / 2;
                std::size_t fitting = size;
                while (fitting - failing > 1 && on.steps > 0) {
                    const std::size_t middle = failing + (fitting - failing) / 2;
                    (without(on, order, middle) ? fitting : failing) = middle;
                }
                if (put_back_most(on, order, fitting) ||
                    (fitting != size && put_back_most(on, order, size)))
                    return true;
            }
            if (size == order.size())
                return false;
        }
        return false;
    }
    /// Returns true if the gang fits with the first `size` pods gone. Undoes everything.
    [[nodiscard]] bool without(attempt& on, const detail::sequence<std::size_t>& order,
                               std::size_t size) {
        vacate_first(on, order, size);
        const bool fits = on.gang_fits();
        undo(on);
        return fits;
    }
    void vacate_first(attempt& on, const detail::sequence<std::size_t>& order, std::size_t size) {
        set_.clear();
        for (std::size_t at = 0; at < size; ++at) {
            on.steps -= 1;
            if (!pods_.take(order[at]))
                continue;
            pods_.vacate(order[at], on.into);
            set_.push_back(order[at]);
        }
    }
    void undo(attempt& on) {
        on.into.rollback(on.base);
        for (const std::size_t at : set_)
            pods_.put_back(at);
        set_.clear();
    }
    [[nodiscard]] bool put_back_most(attempt& on, const detail::sequence<std::size_t>& order,
                                     std::size_t size) {
        vacate_first(on, order, size);
        chosen_.clear();
        bool fine = on.gang_fits();
        detail::sequence<std::size_t> moving;
        detail::sort_short(set_, [](std::size_t lhs, std::size_t rhs) { return lhs > rhs; });
        for (const std::size_t at : set_)
            if (!pods_.put(at, pods_.all()[at].node, on.into))
                moving.push_back(at);
        for (const std::size_t at : by_size_) {
            if (!fine || detail::find(moving, at) == moving.end())
                continue;
            on.scanned();
            const auto to =
                pods_.tightest(at, on.finder.weights(), [](node_index) { return true; });
            fine = to && pods_.put(at, *to, on.into);
            if (fine)
                chosen_.push_back({at, *to});
        }
        undo(on);
        fine = fine && !chosen_.empty() && realize(on);
        on.into.rollback(on.base);
        return fine;
    }

    // ---- the fewest ----------------------------------------------------------------------------

    /// Searches for the fewest moves, between `least` and `most`. If it finds some, they are in the
    /// plan.
    [[nodiscard]] bool fewer(attempt& on, std::size_t least, std::size_t most) {
        std::int64_t given = on.steps;
        std::int64_t rest = 0;
        if (pods_.all().size() > few) {
            given = std::min(given, steps_for_fewer);
            rest = on.steps - given;
            on.steps = given;
        }
        bool found = false;
        if (on.only)
            counted_.begin(on.cluster, on.query(), on.need(),
                           on.finder.room(on.cluster, on.deciding.members().classes[*on.only].shape,
                                          on.deciding.members().queue_nodes, on.need()));
        for (std::size_t count = least; count <= most && !found && on.steps > 0; ++count) {
            set_.clear();
            found = descend(on, count, pods_.all().size());
        }
        on.steps = rest + std::max<std::int64_t>(0, on.steps);
        return found;
    }
    /// Tries all sets of `left` more pods among the first `end`. Sets whose most valuable pod is
    /// worth least come first.
    [[nodiscard]] bool descend(attempt& on, std::size_t left, std::size_t end) {
        if (left == 0)
            return judge(on);
        for (std::size_t at = left - 1; at < end && on.steps > 0; ++at) {
            --on.steps;
            if (!pods_.take(at))
                continue;
            set_.push_back(at);
            if (on.only)
                counted_.take(pods_.all()[at].pod);
            const bool found = descend(on, left - 1, at);
            if (on.only)
                counted_.put_back(pods_.all()[at].pod);
            set_.pop_back();
            pods_.put_back(at);
            if (found)
                return true;
        }
        return false;
    }
    /// Returns true if the gang fits after the pods of the set move and all of them fit elsewhere.
    /// All of that is then in the plan.
    [[nodiscard]] bool judge(attempt& on) {
        if (on.only && !counted_.fits())
            return false;
        for (const std::size_t at : set_)
            pods_.vacate(at, on.into);
        const savepoint vacated = on.into.mark();
        // With required affinity the gang may only fit once the pods of the set are on their new
        // nodes.
        if (!on.gang_fits() && detail::affinity_effect_on(on.cluster, on.deciding.members()) !=
                                   detail::affinity_effect::required) {
            on.into.rollback(on.base);
            return false;
        }
        chosen_.clear();
        bool fine = true;
        for (const std::size_t at : by_size_) {
            if (detail::find(set_, at) == set_.end())
                continue;
            on.scanned();
            const auto to =
                pods_.tightest(at, on.finder.weights(), [](node_index) { return true; });
            fine = to && pods_.put(at, *to, on.into);
            if (!fine)
                break;
            chosen_.push_back({at, *to});
        }
        if (fine) {
            on.into.rollback(on.base);
            if (realize(on))
                return true;
            for (const std::size_t at : set_)
                pods_.vacate(at, on.into);
        }
        on.into.rollback(vacated);
        chosen_.clear();
        if (scatter(on, 0))
            return true;
        on.into.rollback(on.base);
        return false;
    }
    /// Tries every node for every pod of the set, then the gang.
    [[nodiscard]] bool scatter(attempt& on, std::size_t place) {
        if (place == set_.size())
            return on.gang_fits();
        const std::size_t at = set_[place];
        for (const node_index node : on.cluster.node_order()) {
            if (--on.steps <= 0)
                return false;
            const savepoint before = on.into.mark();
            if (!pods_.suits(at, node) || !pods_.put(at, node, on.into))
                continue;
            chosen_.push_back({at, node});
            if (scatter(on, place + 1))
                return true;
            chosen_.pop_back();
            on.into.rollback(before);
        }
        return false;
    }

    /// Makes all moves of `chosen_` in the plan and places the gang. Returns false and places
    /// nothing if that does not fit.
    [[nodiscard]] bool realize(attempt& on) {
        on.into.rollback(on.base);
        for (const move& chosen_move : chosen_)
            pods_.vacate(chosen_move.pod, on.into);
        bool fine = true;
        for (const move& chosen_move : chosen_)
            fine = fine && pods_.put(chosen_move.pod, chosen_move.to, on.into);
        fine = fine && on.gang_fits();
        if (!fine)
            on.into.rollback(on.base);
        return fine;
    }

    movable_pods<Traits> pods_;
    room_groups<Traits> groups_;
    counted_fit<Traits> counted_;
    detail::sequence<move> chosen_;
    /// The pods of the current set, and all pods by their requests, the largest first.
    detail::sequence<std::size_t> set_;
    detail::sequence<std::size_t> by_size_;
    detail::sequence<std::int64_t> sizes_;
    /// Per node: the number of groups that left it.
    detail::sequence<std::size_t> gone_;
    std::vector<placement> moves_;
    std::optional<std::int64_t> next_change_;
};

} // namespace v0_1
} // namespace muster
