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

/// A gang of which something may be taken.
struct victim {
    gang_index gang;
    victim_terms terms;
    /// Its place among all that a rule admits, the least valuable first.
    std::size_t rank = 0;
    /// Members on nodes, newest first, then by role and key.
    std::vector<pod_index> pods;
    /// Per pod: the gang keeps its minima without it alone.
    detail::sequence<char> spare;
    /// The same per vertex (leaves only).
    detail::sequence<char> spare_roles;
    /// Per pod: it is taken.
    detail::sequence<char> taken;
    std::size_t count = 0;
    /// Per vertex (leaves only): members that hold.
    detail::sequence<std::int64_t> holding;
    bool any_spare = false;
    /// Without all pods of `spare` together, the gang would not meet its minima or would lose more
    /// pods than it may, so only some of them may go.
    bool contested = false;
    /// All of it may be taken.
    bool as_a_whole = false;
    /// How many may be taken at most as long as the gang keeps its minima.
    std::int64_t most = 0;

    /// As new, with the memory that there is.
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

/// A member that can be spared, or all that is left of a gang.
struct victim_unit {
    static constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();

    std::size_t of = 0;
    std::size_t pod = whole;
    /// Of a whole gang: the pods that went with it.
    detail::sequence<std::size_t> pods;
};

/// The victims that a rule admits for one gang, level by level.
template<class Traits>
class victim_list {
public:
    /// Finds the gangs that may lose pods for the gang that `among` was begun for.
    /// O(queues · log candidates + admitted gangs · log).
    template<victim_rule Rule>
    void begin(const cluster_state<Traits>& cluster, gang_index by, const Rule& rule,
               std::int64_t now, eviction_candidates<Traits>& among) {
        cluster_ = &cluster;
        found_.clear();
        next_change_.reset();
        any_reclaim_ = false;
        const bool timeless = ignores_time(rule);
        const gang_view& mine = among.by();
        for (std::size_t at = 0; at < among.groups().size(); ++at) {
            const std::size_t last = among.admitted_end(at, rule, now);
            for (std::size_t each = among.groups()[at].first; each < last; ++each) {
                const auto& one = among[each];
                if (one.gang == by)
                    continue;
                gang_view of = one.side;
                of.queues_in_common = among.queues_in_common_with(at);
                auto terms = rule(mine, of, now);
                if (!terms)
                    continue;
                if (!timeless) {
                    of.since = since(cluster, one.gang);
                    of.min_runtime = min_runtime_of(cluster, of.queue, mine.queue);
                    terms = rule(mine, of, now);
                    wake_at(rule.next_change(of, now));
                    if (!terms)
                        continue;
                }
                any_reclaim_ = any_reclaim_ || terms->reclaim != reclaim_rule::none;
                found_.push_back({*terms, of.created, one.gang, one.place});
            }
        }
        detail::sort_short(found_, [](const entry& lhs, const entry& rhs) {
            return std::tuple(lhs.terms.queue_level, lhs.terms.gang_level, rhs.created, lhs.place) <
                   std::tuple(rhs.terms.queue_level, rhs.terms.gang_level, lhs.created, rhs.place);
        });
    }

    /// When a rule of time may say more.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept { return next_change_; }

    /// How many gangs the rule admits; they are in the order of levels, then newest first, then by
    /// key.
    [[nodiscard]] std::size_t size() const noexcept { return found_.size(); }
    [[nodiscard]] gang_index gang(std::size_t at) const noexcept { return found_[at].gang; }
    /// What is borrowed counts for some of them.
    [[nodiscard]] bool any_reclaim() const noexcept { return any_reclaim_; }
    /// Where the level of that gang ends.
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

    /// What may be taken of that gang, if anything. O(members + vertices²).
    [[nodiscard]] bool open(std::size_t at, victim& fresh) const {
        return look(at, fresh) && (fresh.any_spare || fresh.as_a_whole);
    }
    /// Finds the running pods of the gang, and how many may go at a time. Returns false if none
    /// runs, or if a member is still to come.
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
        detail::sort_short(fresh.pods, [&](pod_index one, pod_index other) {
            const auto& lhs = cluster[one];
            const auto& rhs = cluster[other];
            if (lhs.created != rhs.created)
                return lhs.created > rhs.created;
            return lhs.role != rhs.role ? lhs.role < rhs.role
                                        : cluster.pod_order().before(one, other);
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
        /// Among all, in the order of keys.
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

    void mark_spare(const gang_tree& tree, victim& of) const {
        of.spare_roles.assign(tree.size(), 0);
        for (std::size_t at = 0; at < tree.size(); ++at) {
            if (of.holding[at] == 0)
                continue;
            --of.holding[at];
            of.spare_roles[at] = reaches_minima(tree, of.holding) ? 1 : 0;
            ++of.holding[at];
        }
        for (std::size_t at = 0; at < of.pods.size(); ++at) {
            of.spare[at] = of.spare_roles[(*cluster_)[of.pods[at]].role.value()];
            of.any_spare = of.any_spare || of.spare[at] != 0;
        }
        if (!of.any_spare)
            return;
        const auto shift = [&](std::int64_t by) {
            for (std::size_t at = 0; at < of.pods.size(); ++at)
                of.holding[(*cluster_)[of.pods[at]].role.value()] += of.spare[at] != 0 ? by : 0;
        };
        shift(-1);
        of.contested = of.most < detail::count_if(
                                     of.spare, [](char each) { return each; }) ||
                       !reaches_minima(tree, of.holding);
        shift(1);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    detail::sequence<entry> found_;
    bool any_reclaim_ = false;
    std::optional<std::int64_t> next_change_;
};

} // namespace v0_1
} // namespace muster
