// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/admission/decide.hpp>
#include <muster/admission/gates.hpp>
#include <muster/base/assert.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/exact/choice.hpp>
#include <muster/exact/pattern.hpp>
#include <muster/exact/search.hpp>
#include <muster/explain/explain.hpp>
#include <muster/explain/gate_reason.hpp>
#include <muster/explain/missing_members.hpp>
#include <muster/explain/named_constraint.hpp>
#include <muster/explain/term_reasons.hpp>
#include <muster/index/weights.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/alike_nodes.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/reason.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

/// Finds the reasons why one gang waits.
template<class Traits>
class reason_finder {
public:
    static constexpr std::size_t width = Traits::width;

    reason_finder(const cluster_state<Traits>& cluster, const gang_members<width>& members,
                  const explain_options& options, certificate_scope scope)
        : cluster_(&cluster), members_(&members), options_(&options), scope_(scope) {
        if (cluster.node_order().size() >= options.group_from)
            alike_.emplace(cluster, members, scope);
        std::vector<kind_id> kinds;
        for (std::size_t column = 0; column < width; ++column)
            if (detail::any_of(members.classes, [&](const auto& waiting_class) {
                    return waiting_class.request[column] > 0;
                }))
                kinds.push_back(kind_id{column});
        if (options.kinds)
            detail::sort_short(kinds, {}, [&](kind_id kind) { return options.kinds->name(kind); });
        for (const kind_id kind : kinds)
            listed_.push_back({reason_code::insufficient_resource, kind, 0});
        for (const kind_id kind : kinds)
            if (members.queue && cluster.accounts().queues().tightest_ceiling(*members.queue, kind))
                listed_.push_back({reason_code::quota_exceeded, kind, 0});
        listed_.push_back({reason_code::node_selector_mismatch, {}, 0});
        listed_.push_back({reason_code::untolerated_taint, {}, 0});
        listed_.push_back({reason_code::node_unschedulable, {}, 0});
        for (std::size_t at = 0; at < members.topology.size(); ++at)
            if (members.topology[at].required)
                listed_.push_back({reason_code::topology_fragmented, {}, at});
        listed_.push_back({reason_code::host_port_taken, {}, 0});
        if (detail::any_of(members.classes, [&](const auto& waiting_class) {
                return !cluster.constraint_sets()[waiting_class.where].value.volumes.empty();
            }))
            listed_.push_back({reason_code::volume_out_of_reach, {}, 0});
        if (detail::any_of(members.classes, [](const auto& waiting_class) {
                return waiting_class.claims->devices != device_demand::none;
            }))
            listed_.push_back({reason_code::devices_taken, {}, 0});
        count_needed();
    }

    /// Returns blocking reasons, or reasons that block together, then contributing reasons. Empty
    /// if the gang fits. Without nodes, every constraint on nodes blocks: returns only the first of
    /// them.
    [[nodiscard]] std::vector<reason> find() {
        std::vector<reason> found = find_all();
        if (detail::any_of(cluster_->node_order(),
                           [&](node_index node) { return (*cluster_)[node].present; }))
            return found;
        const auto is_about_nodes = [](const reason& candidate) {
            return candidate.code != reason_code::quota_exceeded;
        };
        if (const auto first = detail::find_if(found, is_about_nodes); first != found.end())
            found.erase(std::remove_if(first + 1, found.end(), is_about_nodes), found.end());
        return found;
    }

private:
    [[nodiscard]] std::vector<reason> find_all() {
        std::vector<reason> found;
        detail::sequence<char> named(listed_.size(), 0);
        for (std::size_t at = 0; at < listed_.size(); ++at) {
            constraints_in_force alone = constraints_in_force::none();
            listed_[at].set(alone, true);
            if (decide(alone) != fit_outcome::impossible)
                continue;
            named[at] = 1;
            found.push_back(describe(listed_[at], reason_kind::blocking, alone));
            if (listed_[at].code == reason_code::quota_exceeded)
                name_each_ceiling(alone, found);
        }
        const constraints_in_force all;
        if (found.empty()) {
            const fit_outcome whole = decide(all);
            if (whole == fit_outcome::fits)
                return found;
            bool minimal = whole == fit_outcome::impossible;
            constraints_in_force kept = all;
            detail::sequence<std::size_t> together;
            for (std::size_t at = listed_.size(); at-- > 0;) {
                constraints_in_force without = kept;
                listed_[at].set(without, false);
                const fit_outcome outcome = decide(without);
                if (outcome == fit_outcome::impossible) {
                    kept = without;
                    continue;
                }
                minimal = minimal && outcome == fit_outcome::fits;
                together.push_back(at);
            }
            std::reverse(together.begin(), together.end());
            for (const std::size_t at : together) {
                named[at] = 1;
                found.push_back(describe(listed_[at], reason_kind::blocking_together, kept));
                found.back().not_minimal = !minimal;
            }
        }
        const std::vector<role_shortage> lacking = shortages(all, true);
        for (std::size_t at = 0; at < listed_.size(); ++at) {
            if (named[at])
                continue;
            constraints_in_force without = all;
            listed_[at].set(without, false);
            const std::vector<role_shortage> relieved = shortages(without, true);
            bool contributes = false;
            for (std::size_t role = 0; role < lacking.size(); ++role)
                contributes =
                    contributes || std::min(relieved[role].needed, relieved[role].possible) >
                                       std::min(lacking[role].needed, lacking[role].possible);
            if (contributes || decide(without) == fit_outcome::fits)
                found.push_back(describe(listed_[at], reason_kind::contributing, all));
        }
        return found;
    }

    void count_needed() {
        const gang_tree& tree = *members_->tree;
        const subtree_status status = evaluate(tree, members_->holding);
        held_ = members_below(tree, members_->holding);
        needed_.assign(tree.size(), 0);
        for (std::size_t vertex = 0; vertex < tree.size(); ++vertex)
            if (status.counts[vertex] < tree[vertex].min_member)
                needed_[vertex] = tree.is_leaf(vertex) ? tree[vertex].min_member - held_[vertex]
                                                       : missing_members(*members_, vertex).count();
    }

    [[nodiscard]] fit_outcome decide(const constraints_in_force& force) const {
        fit_search<width> search;
        std::int64_t steps = options_->steps;
        if (has_required_topology(*members_))
            return domain_search<Traits>().run(*cluster_, *members_, scope_, force, search, steps);
        if (const auto easy = alike_ ? decide_by_groups(force) : std::nullopt)
            return *easy;
        return search.run(pose(*cluster_, *members_, scope_, force), steps);
    }

    /// Decides by bounds on groups of nodes that are alike; nullopt if the bounds do not decide.
    [[nodiscard]] std::optional<fit_outcome>
    decide_by_groups(const constraints_in_force& force) const {
        pose_grouped(force, {});
        const gang_tree& tree = *members_->tree;
        detail::sequence<char> required(tree.size(), 1);
        for (std::size_t vertex = 0; vertex < tree.size(); ++vertex) {
            if (vertex > 0)
                required[vertex] =
                    required[tree[vertex].parent] != 0 && !tree[tree[vertex].parent].min_subgroups;
            if (required[vertex] == 0 || needed_[vertex] <= 0)
                continue;
            std::int64_t steps = options_->steps;
            const std::int64_t most = room(vertex, steps).most;
            if (steps >= 0 && most < needed_[vertex])
                return fit_outcome::impossible;
        }
        const bool apart = detail::any_of(problem_.of.apart, [](char flag) { return flag; });
        if (!apart && !problem_.of.devices.any() && fits_greedily(problem_))
            return fit_outcome::fits;
        return std::nullopt;
    }

    void pose_grouped(const constraints_in_force& force,
                      std::span<const vertex_domain> among) const {
        if (among.empty() && posed_ == force)
            return;
        problem_.pose(*cluster_, *members_, scope_, force, among, alike_ ? &*alike_ : nullptr);
        posed_ = among.empty() ? std::optional(force) : std::nullopt;
    }

    [[nodiscard]] reason describe(const named_constraint& what, reason_kind kind,
                                  const constraints_in_force& force) const {
        reason made;
        made.code = what.code;
        made.kind = kind;
        made.resource = what.kind;
        if (what.kind)
            amounts(what, made);
        made.roles = shortages(force, false);
        if (what.code != reason_code::topology_fragmented)
            return made;
        const topology_requirement& requirement = members_->topology[what.together];
        made.together = vertex_index{requirement.vertex};
        made.spans_domains = scope_ == certificate_scope::free_now && requirement.held &&
                             requirement.shared <= *requirement.required;
        made.shares_volume = requirement.of_volume;
        if (requirement.of_volume)
            list_domains(requirement, made);
        return made;
    }

    /// Lists the domains in which the shared volume may be, with the room of each domain.
    void list_domains(const topology_requirement& requirement, reason& made) const {
        const topology_domains& domains = cluster_->topologies()[requirement.within];
        made.topology = domains.value().levels[*requirement.required];
        for (const auto& [path, domain] : domains.of_level(*requirement.required)) {
            if (!has_volume(domains[domain].nodes, requirement.vertex))
                continue;
            std::vector<vertex_domain> among{{requirement.vertex, requirement.within, domain}};
            domain_room& room = made.domains.emplace_back();
            room.name = path.back();
            room.possible = room_within_topology({}, requirement.vertex, 0, among);
            constraints_in_force force;
            force.resources = force.quotas = 0;
            if (room_within_topology(force, requirement.vertex, 0, among) <
                needed_[requirement.vertex])
                continue;
            for (const named_constraint& constraint : listed_) {
                if (constraint.code != reason_code::insufficient_resource)
                    continue;
                force.resources = std::uint64_t{1} << constraint.kind->value();
                if (room_within_topology(force, requirement.vertex, 0, among) <
                    needed_[requirement.vertex])
                    room.short_of.push_back(*constraint.kind);
            }
        }
    }

    /// True if some node can use the volumes of some waiting member of the vertex at present.
    [[nodiscard]] bool has_volume(const std::vector<node_index>& nodes, std::size_t vertex) const {
        constexpr unsigned out_of_reach = node_filter_volume | node_filter_unbound_volume;
        return detail::any_of(members_->classes, [&](const auto& waiting_class) {
            const auto& where = cluster_->constraint_sets()[waiting_class.where];
            return is_below(*members_->tree, waiting_class.role.value(), vertex) &&
                   detail::any_of(nodes, [&](node_index node) {
                       return (where.failed_filters[node.value()] & out_of_reach) == 0;
                   });
        });
    }

    /// Sets the least amount of the kind that a choice of members needs, and the amount that is
    /// left.
    void amounts(const named_constraint& what, reason& made) const {
        const auto& accounts = cluster_->accounts();
        const bool now = scope_ == certificate_scope::free_now;
        detail::sequence<std::size_t> roles;
        detail::sequence<int128> costs;
        detail::sequence<std::int64_t> waiting;
        for (const auto& waiting_class : members_->classes) {
            roles.push_back(waiting_class.role.value());
            costs.push_back(waiting_class.request[*what.kind]);
            waiting.push_back(waiting_class.waiting());
        }
        const choice_finder choices(*members_->tree, members_->holding, std::move(roles));
        const detail::sequence<std::int64_t> none(waiting.size(), 0);
        if (const auto least = choices.cheapest(costs, none, waiting))
            made.amount_needed = saturate(least->cost);
        if (what.code == reason_code::quota_exceeded) {
            const auto top = accounts.queues().tightest_ceiling(*members_->queue, *what.kind,
                                                                counted_in(scope_));
            MUSTER_ASSERT(top, "a quota is a reason only where there is one");
            made.queue = top->at;
            made.non_preemptible = top->non_preemptible;
            made.amount_left = top->left;
            return;
        }
        int128 left = 0;
        for (const node_index node : cluster_->node_order()) {
            const auto& from = now ? accounts.free(node) : accounts.allocatable(node);
            left += std::max<std::int64_t>(0, from[*what.kind]);
        }
        made.amount_left = saturate(left);
    }

    /// Replaces the last reason, a quota that blocks, by one reason for each ceiling that blocks,
    /// the queue's own first. The kind is the only constraint in force.
    void name_each_ceiling(const constraints_in_force& alone, std::vector<reason>& found) {
        const reason tightest_ceiling = std::move(found.back());
        found.pop_back();
        const std::size_t before = found.size();
        for (const auto& ceiling : cluster_->accounts().queues().ceilings(
                 *members_->queue, *tightest_ceiling.resource, counted_in(scope_))) {
            if (ceiling.left >= tightest_ceiling.amount_needed)
                continue;
            found.push_back(tightest_ceiling);
            reason& made = found.back();
            made.queue = ceiling.at;
            made.non_preemptible = ceiling.non_preemptible;
            made.amount_left = ceiling.left;
            quota_left_ = ceiling.left;
            made.roles = shortages(alone, false);
        }
        quota_left_.reset();
        if (found.size() == before)
            found.push_back(tightest_ceiling);
    }

    /// Returns the vertices below their own minimum (with `leaves_only`, only roles). For each: how
    /// many more members it needs, and how many fit if no other waiting member uses the room.
    [[nodiscard]] std::vector<role_shortage> shortages(const constraints_in_force& force,
                                                       bool leaves_only) const {
        const gang_tree& tree = *members_->tree;
        std::vector<role_shortage> found;
        for (std::size_t vertex = 0; vertex < tree.size(); ++vertex) {
            if (needed_[vertex] <= 0 || (leaves_only && !tree.is_leaf(vertex)))
                continue;
            std::vector<vertex_domain> among;
            found.push_back({vertex_index{vertex}, needed_[vertex], held_[vertex],
                             room_within_topology(force, vertex, 0, among)});
        }
        return found;
    }

    /// Returns the room for the vertex in the choice of domains that leaves the most.
    [[nodiscard]] std::int64_t room_within_topology(const constraints_in_force& force,
                                                    std::size_t vertex, std::size_t from,
                                                    std::vector<vertex_domain>& among) const {
        const gang_tree& tree = *members_->tree;
        for (; from < members_->topology.size(); ++from) {
            const topology_requirement& requirement = members_->topology[from];
            if (!requirement.required || !is_below(tree, vertex, requirement.vertex) ||
                (force.topologies >> std::min<std::size_t>(from, 63) & 1U) == 0)
                continue;
            std::int64_t most = 0;
            for (const auto& domain :
                 candidate_domains(*cluster_, tree, requirement, *requirement.required,
                                   scope_ == certificate_scope::free_now, among)) {
                among.push_back({requirement.vertex, requirement.within, domain});
                most = std::max(most, room_within_topology(force, vertex, from + 1, among));
                among.pop_back();
            }
            return most;
        }
        pose_grouped(force, among);
        std::int64_t steps = options_->steps;
        return room(vertex, steps).possible;
    }

    /// Number of members for which there is room: `possible` is certain, `most` is an upper bound.
    struct room_for {
        std::int64_t possible = 0;
        std::int64_t most = 0;
    };

    /// Returns the number of waiting members below the vertex that nodes and quotas have room for,
    /// without other waiting members, in the problem posed last. If the steps are used up, `most`
    /// is not an upper bound.
    [[nodiscard]] room_for room(std::size_t vertex, std::int64_t& steps) const {
        const fit_problem<width>& problem = problem_.of;
        const std::size_t classes = problem.members.size();
        detail::sequence<std::int64_t> weights(classes, 0);
        std::int64_t waiting = 0;
        for (std::size_t at = 0; at < classes; ++at) {
            std::size_t above = problem.members[at].role;
            while (above > vertex)
                above = (*problem.tree)[above].parent;
            weights[at] = above == vertex ? 1 : 0;
            waiting += weights[at] * problem.members[at].waiting;
        }
        pattern_finder<width> patterns(problem, steps);
        const detail::sequence<std::int64_t> none(classes, 0);
        detail::sequence<std::int64_t> carried(classes, 0);
        int128 sum = 0;
        for (std::size_t row = 0; row < problem.rows.size(); ++row) {
            detail::sequence<std::int64_t> most(problem.most_of(row),
                                                problem.most_of(row) + classes);
            for (std::size_t at = 0; at < classes; ++at)
                most[at] *= weights[at];
            if (!patterns.find(problem.rows[row].node, problem.rows[row].free, none.data(),
                               most.data(), weights) ||
                steps < 0)
                break;
            sum += patterns.weight() * problem_.times[row];
            for (std::size_t at = 0; at < classes; ++at)
                carried[at] = saturating_add(
                    carried[at],
                    saturate(static_cast<int128>(patterns.counts()[at]) * problem_.times[row]));
        }
        room_for found;
        found.possible = found.most = std::min(waiting, saturate(sum));
        // Each class of a subgroup counts for at most the members that it has.
        if (!problem.tree->is_leaf(vertex)) {
            found.possible = 0;
            for (std::size_t at = 0; at < classes; ++at)
                found.possible += weights[at] * std::min(carried[at], problem.members[at].waiting);
        }
        for (const auto& quota : problem.quotas) {
            // The classes that need the least of the quota go first.
            sequence<std::pair<std::int64_t, std::int64_t>> asks;
            for (std::size_t at = 0; at < classes; ++at)
                if (weights[at] > 0)
                    asks.push_back(
                        {members_->classes[at].request[quota.kind], problem.members[at].waiting});
            detail::sort_short(asks);
            std::int64_t left = quota_left_.value_or(quota.left);
            std::int64_t within = 0;
            for (const auto& [ask, count] : asks) {
                const std::int64_t taken = ask > 0 ? std::min(count, left / ask) : count;
                left -= taken * ask;
                within += taken;
            }
            found.possible = std::min(found.possible, within);
            found.most = std::min(found.most, within);
        }
        return found;
    }

    const cluster_state<Traits>* cluster_;
    const gang_members<width>* members_;
    const explain_options* options_;
    certificate_scope scope_;
    std::vector<named_constraint> listed_;
    std::optional<alike_nodes<Traits>> alike_;
    /// The problem posed last.
    mutable grouped_problem<width> problem_;
    /// The constraints in `problem_`; absent if it confines members to domains.
    mutable std::optional<constraints_in_force> posed_;
    /// Per vertex: members at or below it that have nodes, and how many more members the vertex
    /// needs to meet its own minimum.
    detail::sequence<std::int64_t> held_;
    detail::sequence<std::int64_t> needed_;
    /// The amount that one ceiling leaves of the only quota in force; absent = all ceilings count.
    std::optional<std::int64_t> quota_left_;
};

/// Adds to a reason about volumes the reasons why the members would not fit if all their volumes
/// were ready. Adds none without a proof.
template<class Traits>
void add_beside_volumes(const cluster_state<Traits>& cluster,
                        const gang_members<Traits::width>& if_ready, const explain_options& options,
                        certificate_scope scope, std::vector<reason>& found) {
    std::vector<reason> others = reason_finder<Traits>(cluster, if_ready, options, scope).find();
    if (others.empty() || detail::any_of(others, &reason::not_minimal))
        return;
    if (scope == certificate_scope::free_now)
        for (reason& contributing : term_reason_finder(cluster, if_ready).find_contributing())
            others.push_back(std::move(contributing));
    found.insert(found.end(), std::make_move_iterator(others.begin()),
                 std::make_move_iterator(others.end()));
}

template<class Traits>
std::vector<reason> stopping_reasons(const cluster_state<Traits>& cluster, gang_index which,
                                     const explain_options& options) {
    auto members = members_of(cluster, which);
    const gate at = gate_before_search(cluster, which, members);
    if (at != gate::none) {
        std::vector<reason> found{gate_reason(cluster, which, members, at)};
        if (at == gate::volumes)
            add_beside_volumes(cluster, members_of(cluster, which, true), options,
                               options.scope.value_or(certificate_scope::free_now), found);
        return found;
    }
    if (cluster[which].last.is_known && cluster[which].last.at == gate::order)
        return {gate_reason(cluster, which, members, gate::order)};
    const bool never = cluster[which].last.is_known && cluster[which].last.kind == answer::never;
    const certificate_scope scope = options.scope.value_or(never ? certificate_scope::empty_cluster
                                                                 : certificate_scope::free_now);
    std::optional<held_as_placed<Traits::width>> held;
    std::optional<without_changing_domains<Traits::width>> lasting;
    if (scope == certificate_scope::empty_cluster) {
        held.emplace(members);
        lasting.emplace(members);
    }
    reason_finder<Traits> finder(cluster, members, options, scope);
    std::vector<reason> found = finder.find();
    if (!found.empty() && scope == certificate_scope::free_now)
        for (reason& contributing : term_reason_finder(cluster, members).find_contributing())
            found.push_back(std::move(contributing));
    // Terms between members that prove `never` block the gang now as well.
    if (found.empty() && (never || scope == certificate_scope::free_now)) {
        found = term_reason_finder(cluster, members).find();
        if (!found.empty())
            return found;
    }
    if (cluster[which].last.is_known && cluster[which].last.kind == answer::undecided) {
        reason spent;
        spent.code = reason_code::search_budget_spent;
        found.push_back(spent);
    }
    return found;
}

template<class Traits>
void add_fits_by_now(const cluster_state<Traits>& cluster, gang_index which,
                     std::vector<reason>& found) {
    const last_verdict& last = cluster[which].last;
    if (!found.empty() || !last.is_known || last.kind == answer::admitted)
        return;
    reason made;
    made.code = reason_code::fits_by_now;
    found.push_back(std::move(made));
}

} // namespace detail

template<class Traits>
std::vector<reason> explain(const cluster_state<Traits>& cluster, gang_index which,
                            const explain_options& options) {
    std::vector<reason> found = detail::stopping_reasons(cluster, which, options);
    detail::add_fits_by_now(cluster, which, found);
    return found;
}

} // namespace v0_1
} // namespace muster
