// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <muster/advice/change.hpp>
#include <muster/advice/least_change.hpp>
#include <muster/advice/relaxation.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/problem/members.hpp>

namespace muster {
inline namespace v0_1 {

struct what_helps_options {
    /// Cycles to try, on copies of the state.
    std::int64_t probes = 2000;
    /// Of each of them.
    budget limit{};
};

/// What would let a gang start.
struct helping_changes {
    /// Each on its own is enough.
    std::vector<remedy> remedies;
    /// False when there may be others: the probes ended first, or where more of one thing makes
    /// less of another enough, no smallest change was found.
    bool complete = true;
    std::int64_t probes = 0;
};

namespace detail {

/// Looks for the smallest changes, of every kind, after which a cycle starts the gang.
template<class Traits, class Namer>
class change_finder {
    static constexpr std::size_t width = Traits::width;

public:
    change_finder(const state<Traits>& known, gang_index which, std::int64_t now,
                  const any_policy<core_of<Traits>>& how, const what_helps_options& options,
                  const Namer& namer)
        : known_(&known),
          which_(which),
          now_(now),
          how_(&how),
          options_(&options),
          namer_(&namer),
          members_(members_of(known, which)) {}

    [[nodiscard]] helping_changes find() {
        if (starts({}))
            return std::move(found_);
        if (is_held_by_volumes(*known_, which_))
            keep({ready_volumes{}});
        // No change can supply what is missing.
        if (members_.classes.empty())
            return std::move(found_);
        remedy opened;
        for (auto at = (*known_)[which_].queue; at; at = (*known_)[*at].parent)
            if ((*known_)[*at].spec.closed)
                opened.push_back(open_queue{*at});
        if (!opened.empty())
            keep(std::move(opened));
        if (const auto raised = exact_quota({}))
            keep(*raised);
        look({});
        // The quota may stop it whatever room there is, while room is missing too.
        const remedy lifted = unlimited(limits_in_force());
        if (found_.remedies.empty() && found_.complete && !lifted.empty())
            look(lifted);
        look_at_minima();
        if (!added_helps_)
            look_at_labelled_nodes();
        return std::move(found_);
    }

private:
    struct limit {
        queue_index queue;
        kind_id kind;
        bool firm = false;
    };

    /// Whether an ordinary cycle starts the gang once the changes are made.
    [[nodiscard]] bool starts(const remedy& changes) {
        if (found_.probes >= options_->probes) {
            found_.complete = false;
            return false;
        }
        ++found_.probes;
        tried_ = *known_;
        if (!apply(tried_, which_, changes, *namer_))
            return false;
        cycle(tried_, now_, *how_, options_->limit, {}, result_);
        return tried_[which_].last.kind == answer::admitted;
    }

    [[nodiscard]] static remedy joined(remedy first, const remedy& second) {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    }

    void keep(remedy found) {
        if (std::ranges::find(found_.remedies, found) == found_.remedies.end() && starts(found))
            found_.remedies.push_back(std::move(found));
    }

    /// Tells the changes that `least(base)` finds to be enough beside `base`. Ceilings that were
    /// lifted for it are made as low as they can be.
    template<class Least>
    bool tell(const remedy& lifted, const Least& least) {
        std::optional<remedy> found = least(lifted);
        if (!found || !found_.complete)
            return false;
        remedy ceilings;
        // Where more can be worse, less of the one may be enough beside less of the other, and so
        // on in a circle.
        bool settled = lifted.empty();
        for (int round = 0; !settled && round < 8; ++round) {
            const auto raised = exact_quota(*found);
            if (raised && starts(*raised)) {
                keep(settle(*raised, {}));
                return true;
            }
            const auto again = raised ? least(*raised) : std::nullopt;
            if (!again || !found_.complete)
                return false;
            settled = *again == *found;
            ceilings = *raised;
            found = *again;
        }
        found_.complete = settled;
        if (settled)
            keep(joined(ceilings, *found));
        return true;
    }

    /// The same for the fewest of `count` things, which `with` makes a change of.
    template<class With>
    bool tell_subset(const remedy& lifted, std::size_t count, const With& with) {
        return tell(lifted, [&](const remedy& base) -> std::optional<remedy> {
            const auto least = least_subset(
                count, [&](const auto& chosen) { return starts(joined(base, with(chosen))); });
            return least ? std::optional(with(*least)) : std::nullopt;
        });
    }

    void look(const remedy& base) {
        look_at_pods(base);
        look_at_nodes(base);
        look_at_cordons(base);
        look_at_constraints(base);
    }

    // ---- pods ----------------------------------------------------------------------------------

    /// Those on their way out first, then those of the lowest priority, of them the newest.
    [[nodiscard]] std::vector<pod_index> standing_pods() const {
        std::vector<pod_index> pods;
        for (const pod_index pod : known_->pod_order())
            if ((*known_)[pod].charged() && (*known_)[pod].gang != which_)
                pods.push_back(pod);
        const auto rank = [&](pod_index at) {
            const auto& pod = (*known_)[at];
            const auto& gang = (*known_)[pod.gang];
            const std::int64_t of_queue = gang.queue ? (*known_)[*gang.queue].spec.priority : 0;
            return std::tuple(!pod.terminating, of_queue, gang.spec.priority, ~pod.created);
        };
        std::ranges::stable_sort(pods, {}, rank);
        return pods;
    }

    void look_at_pods(const remedy& base) {
        const std::vector<pod_index> pods = standing_pods();
        const auto with = [&](const std::vector<std::size_t>& chosen) {
            free_pods freed;
            for (const std::size_t at : chosen)
                freed.pods.push_back(pods[at]);
            return remedy{std::move(freed)};
        };
        tell_subset(base, pods.size(), with);
    }

    // ---- nodes ---------------------------------------------------------------------------------

    [[nodiscard]] bool can_copy(const node<width>& like) const {
        if constexpr (requires { namer_->can_copy(like); })
            return namer_->can_copy(like);
        else
            return true;
    }

    /// A node of each kind that could take a member, kinds being what the members can tell apart.
    /// With `relabelled`, its labels do not matter.
    [[nodiscard]] std::vector<node_index> kinds_of_nodes(bool relabelled = false) const {
        const unsigned counted = relabelled ? unsigned{obstacle_taint} : places_off;
        std::set<std::pair<std::vector<std::int64_t>, std::vector<bool>>> seen;
        std::vector<node_index> kinds;
        std::set<topology_index> within;
        const auto note = [&](const auto& each) { within.insert(each.within); };
        if (!relabelled)
            std::ranges::for_each(members_.together, note);
        for (const gang_index gang : known_->gang_order())
            if (!relabelled)
                std::ranges::for_each((*known_)[gang].together, note);
        for (const node_index node : known_->node_order()) {
            if (!(*known_)[node].present || !can_copy((*known_)[node].spec))
                continue;
            const auto& has = known_->accounts().allocatable(node);
            std::vector<bool> eligible;
            bool any = false;
            for (const auto& each : members_.classes) {
                const auto& where = known_->constraint_sets()[each.where];
                eligible.push_back((where.obstacles[node.value()] & counted) == 0);
                any = any || (eligible.back() && fits(each.request, has));
            }
            if (!relabelled && members_.queue && (*known_)[*members_.queue].present) {
                const auto& of_queue = known_->constraint_sets()[(*known_)[*members_.queue].nodes];
                eligible.push_back((of_queue.obstacles[node.value()] & obstacle_selector) == 0);
                any = any && eligible.back();
            }
            std::vector<std::int64_t> amounts;
            for (const topology_index one : within) {
                const auto& domains = known_->topologies()[one];
                for (std::size_t level = 0; level < domains.levels(); ++level) {
                    const auto domain = domains.find(node, level);
                    amounts.push_back(domain ? static_cast<std::int64_t>(domain->value()) : -1);
                }
            }
            for (std::size_t column = 0; column < width; ++column)
                amounts.push_back(has[column]);
            if (any && seen.emplace(std::move(amounts), std::move(eligible)).second)
                kinds.push_back(node);
        }
        return kinds;
    }

    void look_at_nodes(const remedy& base) {
        for (const node_index like : kinds_of_nodes())
            added_helps_ = look_at_copies(base, like, {}) || added_helps_;
    }

    /// With labels that no node has: the first set of them with which a node of the first kinds
    /// helps.
    void look_at_labelled_nodes() {
        constexpr std::size_t most_kinds = 4;
        std::vector<node_index> kinds = kinds_of_nodes(true);
        kinds.resize(std::min(kinds.size(), most_kinds));
        for (const label_set& labels : labels_that_lack(*known_, members_))
            for (const node_index like : kinds)
                if (look_at_copies({}, like, labels))
                    return;
    }

    bool look_at_copies(const remedy& base, node_index like, const label_set& labels) {
        // The waiting members cannot use more nodes than there are members.
        std::int64_t most = 0;
        for (const gang_index gang : known_->gang_order())
            most += static_cast<std::int64_t>((*known_)[gang].placeable);
        const auto with = [&](std::int64_t count) {
            return remedy{add_nodes{like, count, labels}};
        };
        return tell(base, [&](const remedy& beside) -> std::optional<remedy> {
            const auto least = least_number(
                0, most, [&](std::int64_t count) { return starts(joined(beside, with(count))); });
            return least ? std::optional(with(*least)) : std::nullopt;
        });
    }

    void look_at_cordons(const remedy& base) {
        std::vector<node_index> cordoned;
        for (const node_index node : known_->node_order()) {
            const auto& spec = (*known_)[node].spec;
            if ((*known_)[node].present &&
                (spec.unschedulable || std::ranges::any_of(spec.taints, [](const taint& one) {
                     return one.key == unschedulable_taint_key;
                 })))
                cordoned.push_back(node);
        }
        const auto with = [&](const std::vector<std::size_t>& chosen) {
            uncordon_nodes made;
            for (const std::size_t at : chosen)
                made.nodes.push_back(cordoned[at]);
            return remedy{std::move(made)};
        };
        tell_subset(base, cordoned.size(), with);
    }

    // ---- constraints ---------------------------------------------------------------------------

    /// Taints to tolerate, requirements to drop: the fewest of them, in that order.
    void look_at_constraints(const remedy& base) {
        remedy all = tolerations_of(*known_, members_);
        const std::size_t tolerations = all.size();
        const remedy dropped = requirements_of(*known_, members_);
        all.insert(all.end(), dropped.begin(), dropped.end());
        // Either side alone before both together.
        const bool helped = look_among(base, {all.begin(), all.begin() + at(tolerations)});
        const bool relaxed = look_among(base, {all.begin() + at(tolerations), all.end()});
        if (!helped && !relaxed && tolerations > 0 && tolerations < all.size())
            look_among(base, all);
    }

    [[nodiscard]] static std::ptrdiff_t at(std::size_t index) {
        return static_cast<std::ptrdiff_t>(index);
    }

    bool look_among(const remedy& base, const remedy& all) {
        const auto with = [&](const std::vector<std::size_t>& chosen) {
            remedy made;
            for (const std::size_t each : chosen)
                made.push_back(all[each]);
            return made;
        };
        return tell_subset(base, all.size(), with);
    }

    // ---- minima --------------------------------------------------------------------------------

    /// The minimum of the gang; when that alone does not help, that of each role and subgroup, and
    /// by as much those of the vertices that it counts for.
    void look_at_minima() {
        if (lower(0))
            return;
        for (std::size_t vertex = 1; vertex < members_.tree->size(); ++vertex)
            static_cast<void>(lower(vertex));
    }

    bool lower(std::size_t vertex) {
        const gang_tree& tree = *members_.tree;
        const std::int64_t minimum = tree[vertex].min_member;
        const std::int64_t least = vertex == 0 ? 1 : 0;
        if (minimum <= least)
            return false;
        const auto with = [&](std::int64_t by) {
            remedy made;
            for (std::size_t each = vertex;; each = tree[each].parent) {
                const std::int64_t floor = each == 0 ? 1 : 0;
                if (tree[each].min_member > floor)
                    made.push_back(lower_minimum{vertex_index{each},
                                                 std::max(floor, tree[each].min_member - by)});
                if (each == 0)
                    return made;
            }
        };
        const auto by = least_number(0, minimum - least,
                                     [&](std::int64_t count) { return starts(with(count)); });
        if (!by || !found_.complete)
            return false;
        keep(with(*by));
        return true;
    }

    // ---- quotas --------------------------------------------------------------------------------

    /// The limits that apply to the gang: of its queue and of the queues above, in the order of
    /// kinds. Limits of non-preemptible gangs also hold back others: in a strict queue, a gang that
    /// waits for quota blocks the gangs after it.
    [[nodiscard]] std::vector<limit> limits_in_force() const {
        std::vector<limit> found;
        if (!members_.queue)
            return found;
        const bool firm_matters = members_.queue->firm || firm_gang_waits();
        for (const bool firm : {false, true})
            for (std::optional<queue_index> at = members_.queue->queue;
                 at && (!firm || firm_matters); at = (*known_)[*at].parent)
                for (std::size_t column = 0; column < width; ++column)
                    if (ceilings_of(*at, firm).limited(kind_id{column}))
                        found.push_back({*at, kind_id{column}, firm});
        return found;
    }

    [[nodiscard]] bool firm_gang_waits() const {
        return std::ranges::any_of(known_->gang_order(), [&](gang_index each) {
            const auto& gang = (*known_)[each];
            return gang.queue && !gang.spec.preemptible && gang.placeable > 0;
        });
    }

    [[nodiscard]] const limits<width>& ceilings_of(queue_index queue, bool firm) const {
        const auto& spec = (*known_)[queue].spec;
        return firm ? spec.firm_quota : spec.quota;
    }

    /// What counts against the ceiling.
    [[nodiscard]] static std::int64_t counted(const state<Traits>& from, const raise_quota& of) {
        const auto& queues = from.accounts().queues();
        return of.firm ? queues.present().firm(of.queue)[of.kind]
                       : queues.claimed(of.queue)[of.kind];
    }

    [[nodiscard]] static remedy unlimited(const std::vector<limit>& which) {
        remedy made;
        for (const limit& each : which)
            made.push_back(raise_quota{each.queue, each.kind,
                                       std::numeric_limits<std::int64_t>::max(), each.firm});
        return made;
    }

    /// The fewest ceilings to raise, each to the least that is enough with the others; nothing when
    /// quotas do not keep the gang from starting, or more than quotas do.
    [[nodiscard]] std::optional<remedy> exact_quota(const remedy& with) {
        const std::vector<limit> limits = limits_in_force();
        const auto choose = [&](const std::vector<std::size_t>& chosen) {
            std::vector<limit> some;
            for (const std::size_t each : chosen)
                some.push_back(limits[each]);
            return unlimited(some);
        };
        if (limits.empty())
            return std::nullopt;
        const auto least = least_subset(limits.size(), [&](const auto& chosen) {
            return starts(joined(choose(chosen), with));
        });
        if (!least)
            return std::nullopt;
        remedy raised = choose(*least);
        for (change& each : raised)
            if (!lower_ceiling(raised, each, with))
                return std::nullopt;
        return settle(std::move(raised), with);
    }

    /// Ceilings that are enough together, as low as each can be beside the others: where more can
    /// be worse, one may have become too high beside those lowered after it.
    [[nodiscard]] remedy settle(remedy raised, const remedy& with) {
        for (bool least_of_all = false; !least_of_all && found_.complete;) {
            least_of_all = true;
            for (change& each : raised) {
                auto& ceiling = std::get<raise_quota>(each);
                const std::int64_t to = ceiling.to;
                const auto enough = [&](std::int64_t less) {
                    ceiling.to = less;
                    return starts(joined(raised, with));
                };
                const auto less = least_number(ceiling_of(ceiling) - 1, to - 1, enough);
                least_of_all = least_of_all && !less;
                ceiling.to = less.value_or(to);
            }
        }
        std::erase_if(raised, [&](const change& each) {
            const auto& ceiling = std::get<raise_quota>(each);
            return ceiling.to <= ceiling_of(ceiling);
        });
        return raised;
    }

    [[nodiscard]] std::int64_t ceiling_of(const raise_quota& of) const {
        return ceilings_of(of.queue, of.firm)[of.kind].value_or(0);
    }

    /// Makes one of the ceilings as low as it can be beside the others.
    [[nodiscard]] bool lower_ceiling(const remedy& raised, change& one, const remedy& with) {
        auto& ceiling = std::get<raise_quota>(one);
        const std::int64_t before = ceiling_of(ceiling);
        const auto enough = [&](std::int64_t to) {
            ceiling.to = to;
            return starts(joined(raised, with));
        };
        // With no ceiling, so much was used in the end: one of that height lets the same happen.
        if (!enough(std::numeric_limits<std::int64_t>::max()))
            return false;
        const std::int64_t used = counted(tried_, ceiling);
        std::int64_t most = std::numeric_limits<std::int64_t>::max();
        if (used > before && enough(used))
            most = used;
        // It is often what is used now and what the gang asks for.
        std::int64_t own = counted(*known_, ceiling);
        for (const auto& each : members_.classes)
            static_cast<void>(checked_add(
                own, saturate(static_cast<int128>(each.request[ceiling.kind]) * each.waiting()),
                own));
        if (own > before && own < most && enough(own))
            most = own;
        const auto least = most - 1 > before && !enough(most - 1)
                               ? most
                               : least_number(before, most, enough).value_or(most);
        ceiling.to = least;
        return found_.complete;
    }

    const state<Traits>* known_;
    gang_index which_;
    std::int64_t now_;
    const any_policy<core_of<Traits>>* how_;
    const what_helps_options* options_;
    const Namer* namer_;
    gang_members<width> members_;
    helping_changes found_;
    /// More nodes like some node are enough.
    bool added_helps_ = false;
    state<Traits> tried_;
    cycle_result result_;
};

} // namespace detail

/// Returns the smallest changes after each of which an ordinary cycle at `now` starts the gang,
/// with all other waiting gangs present:
/// - pods freed (none of them could stay; those on their way out, of low priority and new first),
/// - nodes added, like one of each kind that could take a member (one fewer is not enough); if none
///   of these helps, nodes with labels that members ask for and no node has,
/// - cordons lifted, taints tolerated, requirements on nodes, on other pods and on one domain
///   dropped (all of those named are needed),
/// - quotas raised (one unit less is not enough), and a closed queue opened,
/// - minima lowered (one more is too many);
/// - where both quota and room are missing, a quota together with one of the others.
/// Every one was tried out on a copy of the state, and so was the next smaller one.
///
/// Cost: a cycle on a copy of the state for every try; about log(pods) for every pod to be freed,
/// log(count) for every kind of node and quota. Call it for a gang that waits; for one that starts
/// it finds nothing.
template<class Traits, class Policy = policy<>, class Namer = numbered_nodes>
[[nodiscard]] helping_changes
what_helps(const state<Traits>& known, gang_index which, std::int64_t now, const Policy& how = {},
           const what_helps_options& options = {}, const Namer& namer = {}) {
    return detail::change_finder<Traits, Namer>(known, which, now, how, options, namer).find();
}

} // namespace v0_1
} // namespace muster
