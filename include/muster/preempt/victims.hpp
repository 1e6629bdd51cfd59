// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/victim_rule_concept.hpp>
#include <muster/preempt/candidates.hpp>
#include <muster/preempt/gang_views.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {

/// A gang of which pods may be evicted or moved.
struct victim {
    gang_index gang;
    victim_terms terms;
    /// Its place among all gangs that a rule admits, the least valuable first.
    std::size_t rank = 0;
    /// Members on nodes, newest first, then by role and key.
    std::vector<pod_index> pods;
    /// Per pod: whether the gang keeps its minima if only this pod goes.
    detail::sequence<char> spare;
    /// Per vertex (leaves only): whether the gang keeps its minima without one member.
    detail::sequence<char> spare_roles;
    /// Per pod: whether it is taken.
    detail::sequence<char> taken;
    std::size_t count = 0;
    /// Per vertex (leaves only): members that hold a node and are not taken.
    detail::sequence<std::int64_t> holding;
    bool any_spare = false;
    /// Without all pods of `spare` together, the gang would not meet its minima or would lose more
    /// pods than it may, so only some of them may go.
    bool contested = false;
    /// The whole gang may be taken.
    bool as_a_whole = false;
    /// The most pods that may be taken as long as the gang keeps its minima.
    std::int64_t most = 0;

    /// Resets all fields; memory is reused.
    void reset() {
        pods.clear();
        spare.clear();
        taken.clear();
        count = 0;
        holding.clear();
        any_spare = contested = as_a_whole = false;
        most = 0;
    }
    [[nodiscard]] bool broken() const noexcept { return count == pods.size(); }
    /// True if a taken pod is not surplus: the gang cannot lose it and stay.
    [[nodiscard]] bool takes_core() const noexcept {
        for (std::size_t at = 0; at < pods.size(); ++at)
            if (taken[at] && !spare[at])
                return true;
        return false;
    }
};

/// A surplus member of a gang, or all remaining pods of the gang.
struct victim_unit {
    static constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();

    std::size_t of = 0;
    std::size_t pod = whole;
    /// For a whole gang: the pods that were taken with this unit.
    detail::sequence<std::size_t> pods;
};

/// The gangs that a rule admits as victims for one starting gang, level by level.
template<class Traits>
class victim_list {
public:
    /// Finds the gangs that may lose pods for the starting gang, for which `among.begin_for` was
    /// called. They are in no order until `sort`. O(queues · log candidates + admitted gangs).
    template<victim_rule Rule>
    void begin(const cluster_state<Traits>& cluster, gang_index starting, const Rule& rule,
               std::int64_t now, eviction_candidates<Traits>& among) {
        cluster_ = &cluster;
        found_.clear();
        next_change_.reset();
        any_reclaim_ = false;
        const bool timeless = ignores_time(rule);
        const gang_view& starting_view = among.by();
        for (std::size_t at = 0; at < among.groups().size(); ++at) {
            const std::size_t last = among.admitted_end(at, rule, now);
            for (std::size_t number = among.groups()[at].first; number < last; ++number) {
                const auto& candidate = among[number];
                if (candidate.gang == starting)
                    continue;
                gang_view view = candidate.side;
                view.queues_in_common = among.queues_in_common_with(at);
                auto terms = rule(starting_view, view, now);
                if (!terms)
                    continue;
                if (!timeless) {
                    view.since = since(cluster, candidate.gang);
                    view.min_runtime = min_runtime_of(cluster, view.queue, starting_view.queue);
                    terms = rule(starting_view, view, now);
                    wake_at(rule.next_change(view, now));
                    if (!terms)
                        continue;
                }
                any_reclaim_ = any_reclaim_ || terms->reclaim != reclaim_rule::none;
                found_.push_back({*terms, view.created, candidate.gang, candidate.place});
            }
        }
    }
    /// Sorts the gangs by level, then newest first, then by key. Precondition: none was opened.
    void sort() {
        detail::sort_short(found_, [](const entry& lhs, const entry& rhs) {
            return std::tuple(lhs.terms.queue_level, lhs.terms.gang_level, rhs.created, lhs.place) <
                   std::tuple(rhs.terms.queue_level, rhs.terms.gang_level, lhs.created, rhs.place);
        });
    }

    /// The next time at which a time-dependent rule may admit more.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept { return next_change_; }

    /// The number of gangs that the rule admits.
    [[nodiscard]] std::size_t size() const noexcept { return found_.size(); }
    [[nodiscard]] gang_index gang(std::size_t at) const noexcept { return found_[at].gang; }
    /// Returns true if a reclaim rule applies to some of them.
    [[nodiscard]] bool any_reclaim() const noexcept { return any_reclaim_; }
    /// Returns the end of the gangs that have the level of this gang. Precondition: they are
    /// sorted.
    [[nodiscard]] std::size_t level_end(std::size_t at) const noexcept {
        const victim_terms& first = found_[at].terms;
        while (at < found_.size() && found_[at].terms.queue_level == first.queue_level &&
               found_[at].terms.gang_level == first.gang_level)
            ++at;
        return at;
    }
    /// False if the gang certainly has no surplus. O(1).
    [[nodiscard]] bool may_spare(std::size_t at) const noexcept {
        const auto& group = (*cluster_)[found_[at].gang];
        return static_cast<std::int64_t>(group.members.size() - group.placeable) >
               group.spec.tree[0].min_member;
    }

    /// What `open` finds of a gang.
    struct unit_count {
        std::int64_t pods = 0;
        std::int64_t units = 0;
        /// Surplus pods that cannot go once the other surplus pods are gone.
        std::int64_t refused = 0;
    };
    /// Counts what `open` would find. Returns nothing if the gang has several roles, if not all of
    /// its pods may go, or if some of its pods are charged but not members. O(members).
    [[nodiscard]] std::optional<unit_count> count(std::size_t at) const {
        const auto& group = (*cluster_)[found_[at].gang];
        const victim_terms& terms = found_[at].terms;
        if (group.spec.tree.size() != 1 || group.spec.max_disrupted || terms.only_surplus ||
            terms.only_whole)
            return std::nullopt;
        unit_count made;
        std::int64_t surplus = -group.spec.tree[0].min_member;
        for (const pod_index member : group.members) {
            const auto& pod = (*cluster_)[member];
            if (pod.assumed || pod.migration_target)
                return unit_count{};
            const bool holds = pod.holding() && pod.role.value() == 0;
            if ((holds && pod.charged()) != is_allocated(pod))
                return std::nullopt;
            surplus += holds ? 1 : 0;
            made.pods += is_allocated(pod) ? 1 : 0;
        }
        made.units = surplus > 0 ? made.pods : std::min<std::int64_t>(made.pods, 1);
        if (surplus > 0 && may_spare(at))
            made.refused = std::max<std::int64_t>(0, made.pods - surplus);
        return made;
    }
    /// True if the pod uses its node and is not leaving it.
    [[nodiscard]] static bool is_allocated(const pod_record& pod) noexcept {
        return pod.charged() && pod.charged_as() == allocation::allocated;
    }

    /// Finds which pods of the gang may be taken. Returns false if there are none. O(members +
    /// vertices²).
    [[nodiscard]] bool open(std::size_t at, victim& fresh) const {
        return look(at, fresh) && (fresh.any_spare || fresh.as_a_whole);
    }
    /// Finds the running pods of the gang, and how many of them may be taken at a time. Returns
    /// false if none runs, or if a member is assumed or still to arrive.
    [[nodiscard]] bool look(std::size_t at, victim& fresh) const {
        const entry& from = found_[at];
        const cluster_state<Traits>& cluster = *cluster_;
        const auto& group = cluster[from.gang];
        const gang_tree& tree = group.spec.tree;
        fresh.reset();
        fresh.gang = from.gang;
        fresh.terms = from.terms;
        fresh.rank = at;
        fresh.holding.assign(tree.size(), 0);
        std::int64_t leaving = 0;
        for (const pod_index member : group.members) {
            const auto& pod = cluster[member];
            if (pod.assumed || pod.migration_target)
                return false;
            leaving += pod.charged() && pod.charged_as() == allocation::releasing ? 1 : 0;
            if (!pod.holding() || pod.role.value() >= tree.size())
                continue;
            ++fresh.holding[pod.role.value()];
            if (pod.charged())
                fresh.pods.push_back(member);
        }
        if (fresh.pods.empty())
            return false;
        const auto pods = static_cast<std::int64_t>(fresh.pods.size());
        fresh.most = pods;
        if (group.spec.max_disrupted)
            fresh.most = std::clamp<std::int64_t>(*group.spec.max_disrupted - leaving, 0, pods);
        fresh.as_a_whole = !from.terms.only_surplus && fresh.most == pods;
        detail::sort_short(fresh.pods, [&](pod_index first, pod_index other) {
            const auto& lhs = cluster[first];
            const auto& rhs = cluster[other];
            if (lhs.created != rhs.created)
                return lhs.created > rhs.created;
            return lhs.role != rhs.role ? lhs.role < rhs.role
                                        : cluster.pod_order().before(first, other);
        });
        fresh.taken.assign(fresh.pods.size(), 0);
        fresh.spare.assign(fresh.pods.size(), 0);
        if (!from.terms.only_whole && fresh.most > 0 && reaches_minima(tree, fresh.holding))
            mark_spare(tree, fresh);
        return true;
    }

private:
    struct entry {
        victim_terms terms;
        std::int64_t created = 0;
        gang_index gang;
        /// The place of the gang among all gangs, in the order of keys.
        std::size_t place = 0;
    };

    [[nodiscard]] static std::optional<std::int64_t> since(const cluster_state<Traits>& cluster,
                                                           gang_index which) {
        std::optional<std::int64_t> first;
        for (const pod_index member : cluster[which].members)
            if (const auto& pod = cluster[member]; pod.charged() && pod.started())
                first = first ? std::min(*first, *pod.started()) : *pod.started();
        return first;
    }
    void wake_at(std::optional<std::int64_t> when) noexcept {
        if (when && (!next_change_ || *when < *next_change_))
            next_change_ = when;
    }

    void mark_spare(const gang_tree& tree, victim& marked) const {
        marked.spare_roles.assign(tree.size(), 0);
        for (std::size_t at = 0; at < tree.size(); ++at) {
            if (marked.holding[at] == 0)
                continue;
            --marked.holding[at];
            marked.spare_roles[at] = reaches_minima(tree, marked.holding) ? 1 : 0;
            ++marked.holding[at];
        }
        for (std::size_t at = 0; at < marked.pods.size(); ++at) {
            marked.spare[at] = marked.spare_roles[(*cluster_)[marked.pods[at]].role.value()];
            marked.any_spare = marked.any_spare || marked.spare[at] != 0;
        }
        if (!marked.any_spare)
            return;
        const auto shift = [&](std::int64_t difference) {
            for (std::size_t at = 0; at < marked.pods.size(); ++at)
                marked.holding[(*cluster_)[marked.pods[at]].role.value()] +=
                    marked.spare[at] != 0 ? difference : 0;
        };
        shift(-1);
        marked.contested =
            marked.most < detail::count_if(
                              marked.spare, [](char is_spare) { return is_spare; }) ||
            !reaches_minima(tree, marked.holding);
        shift(1);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    detail::sequence<entry> found_;
    bool any_reclaim_ = false;
    std::optional<std::int64_t> next_change_;
};

} // namespace v0_1
} // namespace muster
