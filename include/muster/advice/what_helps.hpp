// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <muster/advice/change.hpp>
#include <muster/advice/least_change.hpp>
#include <muster/advice/quota_finder.hpp>
#include <muster/advice/relaxation.hpp>
#include <muster/advice/trial.hpp>
#include <muster/cluster/state.hpp>
#include <muster/problem/members.hpp>

namespace muster {
inline namespace v0_1 {

struct what_helps_options {
    /// Maximum number of cycles to try on copies of the state.
    std::int64_t probes = 2000;
    /// Budget of each of these cycles.
    budget limit{};
};

/// The changes that would let a gang start.
struct helping_changes {
    /// Each remedy is enough on its own.
    std::vector<remedy> remedies;
    /// False if there may be other remedies: the probes were used up, or a smallest combination of
    /// quotas with another change was not found, because less of the one needs more of the other.
    bool complete = true;
    std::int64_t probes = 0;
};

namespace detail {

/// Finds the smallest changes, of every kind, after which a cycle starts the gang.
template<class Traits, class Namer>
class change_finder {
    static constexpr std::size_t width = Traits::width;

public:
    change_finder(const state<Traits>& cluster, gang_index which, std::int64_t now,
                  const any_policy<core_of<Traits>>& how, const what_helps_options& options,
                  const Namer& namer)
        : cluster_(&cluster),
          which_(which),
          namer_(&namer),
          members_(members_of(cluster, which)),
          tries_(cluster, which, now, how, namer, options.limit, options.probes),
          quotas_(tries_, members_) {}

    [[nodiscard]] helping_changes find() {
        look_at_all();
        found_.complete = found_.complete && tries_.complete();
        found_.probes = tries_.made();
        return std::move(found_);
    }

private:
    void look_at_all() {
        if (starts({}))
            return;
        if (is_held_by_volumes(*cluster_, which_))
            keep({ready_volumes{}});
        // If no member can be placed, no other change helps.
        if (members_.classes.empty())
            return;
        remedy opened;
        for (auto at = (*cluster_)[which_].queue; at; at = (*cluster_)[*at].parent)
            if ((*cluster_)[*at].spec.closed)
                opened.push_back(open_queue{*at});
        if (!opened.empty())
            keep(std::move(opened));
        if (const auto raised = quotas_.least({}))
            keep(*raised);
        look({});
        // Both quota and room may be missing.
        const remedy lifted = quotas_.lifted();
        if (found_.remedies.empty() && complete() && !lifted.empty())
            look(lifted);
        look_at_minima();
        if (!added_helps_)
            look_at_labelled_nodes();
    }

    [[nodiscard]] bool starts(const remedy& changes) { return tries_.starts(changes); }
    [[nodiscard]] bool complete() const { return found_.complete && tries_.complete(); }

    void keep(remedy found) {
        if (std::ranges::find(found_.remedies, found) == found_.remedies.end() && starts(found))
            found_.remedies.push_back(std::move(found));
    }

    /// Adds the changes that `least(base)` finds to be enough together with `base`. The quotas in
    /// `lifted` are then made as low as possible. Returns false if no such changes were found.
    template<class Least>
    bool tell(const remedy& lifted, const Least& least) {
        std::optional<remedy> found = least(lifted);
        if (!found || !complete())
            return false;
        remedy ceilings;
        // The quotas and the changes depend on each other, so both are reduced in turn. If more can
        // be worse, that need not end, hence the limit.
        bool settled = lifted.empty();
        for (int round = 0; !settled && round < 8; ++round) {
            const auto raised = quotas_.least(*found);
            if (raised && starts(*raised)) {
                keep(quotas_.settle(*raised, {}));
                return true;
            }
            const auto again = raised ? least(*raised) : std::nullopt;
            if (!again || !complete())
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

    /// The same for the fewest of `count` things; `with(indices)` returns the change for these.
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

    /// Returns the pods of other gangs that hold room: terminating pods first, then by priority of
    /// the queue and of the gang, the lowest first, then the newest first.
    [[nodiscard]] std::vector<pod_index> placed_pods() const {
        std::vector<pod_index> pods;
        for (const pod_index pod : cluster_->pod_order())
            if ((*cluster_)[pod].charged() && (*cluster_)[pod].gang != which_)
                pods.push_back(pod);
        const auto rank = [&](pod_index at) {
            const auto& pod = (*cluster_)[at];
            const auto& gang = (*cluster_)[pod.gang];
            const std::int64_t of_queue = gang.queue ? (*cluster_)[*gang.queue].spec.priority : 0;
            return std::tuple(!pod.terminating, of_queue, gang.spec.priority, ~pod.created);
        };
        std::ranges::stable_sort(pods, {}, rank);
        return pods;
    }

    void look_at_pods(const remedy& base) {
        const std::vector<pod_index> pods = placed_pods();
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

    /// Returns one node of each kind that could take a member. Two nodes are of the same kind if
    /// they do not differ for the members. With `relabelled`, labels of nodes do not count.
    [[nodiscard]] std::vector<node_index> kinds_of_nodes(bool relabelled = false) const {
        const unsigned counted = relabelled ? unsigned{node_filter_taint} : places_off;
        std::set<std::pair<std::vector<std::int64_t>, std::vector<bool>>> seen;
        std::vector<node_index> kinds;
        std::set<topology_index> within;
        const auto note = [&](const auto& requirement) { within.insert(requirement.within); };
        if (!relabelled)
            std::ranges::for_each(members_.topology, note);
        for (const gang_index gang : cluster_->gang_order())
            if (!relabelled)
                std::ranges::for_each((*cluster_)[gang].together, note);
        for (const node_index node : cluster_->node_order()) {
            if (!(*cluster_)[node].present || !can_copy((*cluster_)[node].spec))
                continue;
            const auto& has = cluster_->accounts().allocatable(node);
            std::vector<bool> eligible;
            bool any = false;
            for (const auto& waiting_class : members_.classes) {
                const auto& where = cluster_->constraint_sets()[waiting_class.where];
                eligible.push_back((where.failed_filters[node.value()] & counted) == 0);
                any = any || (eligible.back() && fits(waiting_class.request, has));
            }
            if (!relabelled && members_.queue && (*cluster_)[*members_.queue].present) {
                const auto& of_queue =
                    cluster_->constraint_sets()[(*cluster_)[*members_.queue].nodes];
                eligible.push_back((of_queue.failed_filters[node.value()] & node_filter_selector) ==
                                   0);
                any = any && eligible.back();
            }
            std::vector<std::int64_t> amounts;
            for (const topology_index one : within) {
                const auto& domains = cluster_->topologies()[one];
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

    /// Tries new nodes of the first `max_kinds` kinds with labels_that_lack(). Stops at the first
    /// that helps.
    void look_at_labelled_nodes() {
        constexpr std::size_t max_kinds = 4;
        std::vector<node_index> kinds = kinds_of_nodes(true);
        kinds.resize(std::min(kinds.size(), max_kinds));
        for (const label_set& labels : labels_that_lack(*cluster_, members_))
            for (const node_index like : kinds)
                if (look_at_copies({}, like, labels))
                    return;
    }

    bool look_at_copies(const remedy& base, node_index like, const label_set& labels) {
        // The waiting members cannot use more nodes than there are members.
        std::int64_t most = 0;
        for (const gang_index gang : cluster_->gang_order())
            most += static_cast<std::int64_t>((*cluster_)[gang].placeable);
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
        for (const node_index node : cluster_->node_order()) {
            const auto& spec = (*cluster_)[node].spec;
            if ((*cluster_)[node].present &&
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

    /// Finds the fewest taints to tolerate, and the fewest requirements to drop.
    void look_at_constraints(const remedy& base) {
        remedy all = tolerations_of(*cluster_, members_);
        const std::size_t tolerations = all.size();
        const remedy dropped = requirements_of(*cluster_, members_);
        all.insert(all.end(), dropped.begin(), dropped.end());
        // Tries both together only if neither alone helps.
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
            for (const std::size_t index : chosen)
                made.push_back(all[index]);
            return made;
        };
        return tell_subset(base, all.size(), with);
    }

    // ---- minima --------------------------------------------------------------------------------

    /// Lowers the minimum of the gang. If that does not help, lowers the minimum of each role and
    /// subgroup, and by the same amount the minima of all vertices above it.
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
        const auto with = [&](std::int64_t amount) {
            remedy made;
            for (std::size_t above = vertex;; above = tree[above].parent) {
                const std::int64_t floor = above == 0 ? 1 : 0;
                if (tree[above].min_member > floor)
                    made.push_back(lower_minimum{vertex_index{above},
                                                 std::max(floor, tree[above].min_member - amount)});
                if (above == 0)
                    return made;
            }
        };
        const auto reduction = least_number(
            0, minimum - least, [&](std::int64_t count) { return starts(with(count)); });
        if (!reduction || !complete())
            return false;
        keep(with(*reduction));
        return true;
    }

    const state<Traits>* cluster_;
    gang_index which_;
    const Namer* namer_;
    gang_members<width> members_;
    trial<Traits, Namer> tries_;
    quota_finder<Traits, Namer> quotas_;
    helping_changes found_;
    /// True if copies of some node are enough.
    bool added_helps_ = false;
};

} // namespace detail

/// Returns the smallest changes after each of which an ordinary cycle at `now` starts the gang,
/// with all other waiting gangs present:
/// - pods removed (all of them are needed; terminating pods, pods of low priority and new pods are
///   preferred),
/// - nodes added: copies of one node of each kind that could take a member (one fewer is not
///   enough); if none of these helps, nodes with labels that members require and that no node has
///   which is large enough,
/// - nodes uncordoned; taints tolerated; requirements on nodes, on other pods and on a shared
///   domain dropped (all that are listed are needed),
/// - quotas raised (one unit less is not enough), and closed queues opened,
/// - minima lowered (a minimum higher by one is too high),
/// - if both quota and room are missing: quotas together with one of the other changes.
///
/// Each remedy was tried on a copy of the state, and so was the next smaller one.
///
/// Cost: a cycle on a copy of the state for every try; about log(pods) tries for every pod to be
/// removed, and log(count) for every kind of node and every quota. Call it for a waiting gang; it
/// finds nothing for a gang that starts.
template<class Traits, class Policy = policy<>, class Namer = numbered_nodes>
[[nodiscard]] helping_changes
what_helps(const state<Traits>& cluster, gang_index which, std::int64_t now, const Policy& how = {},
           const what_helps_options& options = {}, const Namer& namer = {}) {
    return detail::change_finder<Traits, Namer>(cluster, which, now, how, options, namer).find();
}

} // namespace v0_1
} // namespace muster
