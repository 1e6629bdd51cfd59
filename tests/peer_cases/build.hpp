// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <muster/cluster/state.hpp>
#include <muster/resource/kind_table.hpp>

#include "peer_case.hpp"
#include "read.hpp"

namespace peer_cases {

/// Muster would not take what the case holds: a mistake of ours.
struct refused : std::logic_error {
    using std::logic_error::logic_error;
};

using traits = muster::string_traits<32>;
using cluster = muster::state<traits>;

/// Between a gang's name and its pod's: pods of two gangs may have one name.
inline constexpr char separator = '|';

[[nodiscard]] inline std::string pod_key(const std::string& gang, const std::string& pod) {
    return gang + separator + pod;
}

/// KAI's ties between queues go to the older; theirs are a minute apart in the order of listing.
[[nodiscard]] inline std::string queue_key(const peer_case& of, const std::string& name) {
    for (std::size_t at = 0; at < of.queues.size(); ++at)
        if (of.from == peer::kai && of.queues[at].name == name)
            return std::to_string(1000 + at) + separator + name;
    return name;
}

inline void ok(muster::event_result what, const std::string& of) {
    if (what != muster::event_result::applied)
        throw refused(of + ": the event was refused");
}

/// The columns of a case: all kinds that it names, and pods.
class columns {
public:
    explicit columns(const peer_case& of) {
        for (const node_case& node : of.nodes)
            add(node.allocatable);
        for (const gang_case& gang : of.gangs)
            for (const task& one : gang.tasks)
                add(one.request);
        for (const queue_case& queue : of.queues)
            for (const auto* limits : {&queue.deserved, &queue.limit, &queue.guarantee})
                add(limits->named);
    }

    [[nodiscard]] muster::kind_id of(const std::string& kind) {
        const auto found = table_.intern(kind);
        if (!found || found->value() >= traits::width)
            throw refused("more than 16 kinds of resources");
        return *found;
    }
    [[nodiscard]] const muster::kind_table& table() const noexcept { return table_; }

    /// cpu in thousandths, everything else in whole units, requests rounded up.
    [[nodiscard]] static std::int64_t units(const std::string& kind, std::int64_t thousandths) {
        return kind == "cpu" ? thousandths : (thousandths + 999) / 1000;
    }

    [[nodiscard]] muster::resources<traits::width> vector(const amounts& from) {
        muster::resources<traits::width> made;
        for (const auto& [kind, amount] : from)
            made[of(kind)] = units(kind, amount);
        return made;
    }
    /// What a node has counts only as far as it is whole.
    [[nodiscard]] muster::resources<traits::width> room(const amounts& from) {
        muster::resources<traits::width> made;
        for (const auto& [kind, amount] : from)
            made[of(kind)] = kind == "cpu" ? amount : amount / 1000;
        return made;
    }
    [[nodiscard]] muster::limits<traits::width> limits(const ceilings& from) {
        muster::limits<traits::width> made;
        for (const auto& [kind, amount] : from.named)
            made.set(of(kind), units(kind, amount));
        return made;
    }

private:
    void add(const amounts& from) {
        for (const auto& each : from)
            static_cast<void>(of(each.first));
    }

    muster::kind_table table_;
};

[[nodiscard]] inline muster::label_requirement is_one_of(std::string key,
                                                         std::vector<std::string> values) {
    return {std::move(key), muster::label_operator::in, std::move(values)};
}

/// KAI's tests know one label for node affinity.
inline constexpr const char* affinity_label = "kai.scheduler/type";

[[nodiscard]] inline std::string level_label(const std::string& topology,
                                             const std::string& level) {
    return "level " + topology + separator + level;
}

inline void add_nodes(const peer_case& of, columns& kinds, cluster& to) {
    // Levels are labels of our own, so that a peer's numbers cannot meet a node's real labels.
    for (const node_case& node : of.nodes) {
        cluster::node_type spec;
        spec.allocatable = kinds.room(node.allocatable);
        if (!node.allocatable.contains("pods"))
            spec.allocatable[kinds.of("pods")] = 1'000;
        spec.name = node.name;
        std::map<std::string, std::string> labels = node.labels;
        for (const auto& [level, domain] : node.domains)
            labels[level_label(level.first, level.second)] = domain;
        // KAI's one label of nodes for affinity names the node, where the case gives it no other.
        if (of.from == peer::kai)
            labels.try_emplace(affinity_label, node.name);
        for (const auto& [key, value] : labels)
            spec.labels.set(key, value);
        ok(to.upsert_node(node.name, std::move(spec)), node.name);
    }
}

/// The constraint in terms of the case's levels; nothing when it asks for nothing. Who asks for a
/// level that is not there asks for a domain in which no node stands.
[[nodiscard]] inline std::optional<muster::topology_constraint>
topology_of(const peer_case& of, const domain_constraint& from) {
    if (from.required.empty() && from.preferred.empty())
        return std::nullopt;
    muster::topology_constraint made;
    const auto known = of.topologies.find(from.topology);
    bool all_there = known != of.topologies.end();
    const auto number = [&](const std::string& level) -> std::optional<std::size_t> {
        if (level.empty() || !all_there)
            return std::nullopt;
        const auto found = std::ranges::find(known->second, level);
        all_there = found != known->second.end();
        return all_there ? std::optional(static_cast<std::size_t>(found - known->second.begin()))
                         : std::nullopt;
    };
    made.required = number(from.required);
    made.preferred = number(from.preferred);
    if (!all_there) {
        made.within.levels = {level_label(from.topology, "nowhere")};
        made.required = 0;
        made.preferred.reset();
        return made;
    }
    for (const std::string& level : known->second)
        made.within.levels.push_back(level_label(from.topology, level));
    return made;
}

/// A gang's tree, and the role of each of its pods in order.
struct tree_and_roles {
    muster::gang_tree tree{0};
    std::vector<muster::vertex_index> roles;
    /// Pods of a subgroup that is not there: they never start, and count nowhere.
    std::set<std::size_t> strays;
};

namespace detail {

inline void grow(const peer_case& of, const subgroup& from, muster::vertex_index under,
                 muster::gang_tree& tree, std::map<std::string, muster::vertex_index>& leaves) {
    if (auto how = topology_of(of, from.domain))
        tree.constrain_topology(under, std::move(*how));
    if (from.min_subgroups)
        tree.require_subgroups(under, *from.min_subgroups);
    for (const subgroup& child : from.children) {
        const muster::vertex_index at =
            tree.add(under, child.children.empty() ? child.min_member : 0, child.name);
        if (child.children.empty())
            leaves[child.name] = at;
        grow(of, child, at, tree, leaves);
    }
}

[[nodiscard]] inline tree_and_roles tree_of_subgroups(const peer_case& of, const gang_case& gang) {
    tree_and_roles made;
    std::map<std::string, muster::vertex_index> leaves;
    grow(of, *gang.tree, muster::vertex_index{0}, made.tree, leaves);
    for (const task& one : gang.tasks) {
        const auto found = leaves.find(one.role);
        if (found == leaves.end())
            made.strays.insert(made.roles.size());
        made.roles.push_back(found == leaves.end() ? leaves.begin()->second : found->second);
    }
    return made;
}

/// Roles with minima of their own; the others share a leaf without any.
[[nodiscard]] inline tree_and_roles tree_of_roles(const gang_case& gang) {
    tree_and_roles made{muster::gang_tree(gang.min_member), {}, {}};
    std::map<std::string, muster::vertex_index> leaves;
    for (const auto& [role, least] : gang.role_minima)
        leaves[role] = made.tree.add(muster::vertex_index{0}, least, role);
    std::optional<muster::vertex_index> rest;
    for (const task& one : gang.tasks) {
        const auto found = leaves.find(one.role);
        if (found != leaves.end()) {
            made.roles.push_back(found->second);
            continue;
        }
        if (!rest)
            rest = made.tree.add(muster::vertex_index{0}, 0);
        made.roles.push_back(*rest);
    }
    return made;
}

/// Volcano's partitions: pods alike in the values of a policy's labels are one subgroup, which
/// starts with `size` of them or not at all; so many of a policy's must start.
[[nodiscard]] inline tree_and_roles tree_of_partitions(const peer_case& of, const gang_case& gang) {
    tree_and_roles made{muster::gang_tree(gang.min_member), {}, {}};
    std::vector<muster::vertex_index> policies;
    for (const partition& one : gang.partitions)
        policies.push_back(made.tree.add(muster::vertex_index{0}, 0, one.name));
    std::map<std::pair<std::size_t, std::vector<std::string>>, muster::vertex_index> leaves;
    std::optional<muster::vertex_index> rest;
    for (const task& one : gang.tasks) {
        std::optional<muster::vertex_index> at;
        for (std::size_t policy = 0; policy < policies.size() && !at; ++policy) {
            std::vector<std::string> values;
            for (const std::string& key : gang.partitions[policy].keys)
                if (const auto label = one.labels.find(key); label != one.labels.end())
                    values.push_back(label->second);
            if (values.size() < gang.partitions[policy].keys.size())
                continue;
            const auto [leaf, fresh] =
                leaves.try_emplace({policy, values}, muster::vertex_index{0});
            if (fresh) {
                leaf->second = made.tree.add(policies[policy], gang.partitions[policy].size,
                                             values.empty() ? "" : values.front());
                if (auto how = topology_of(of, gang.partitions[policy].domain))
                    made.tree.constrain_topology(leaf->second, std::move(*how));
            }
            at = leaf->second;
        }
        if (!at && !rest)
            rest = made.tree.add(muster::vertex_index{0}, 0);
        made.roles.push_back(at ? *at : *rest);
    }
    for (std::size_t policy = 0; policy < policies.size(); ++policy)
        made.tree.require_subgroups(policies[policy], gang.partitions[policy].min_subgroups);
    return made;
}

} // namespace detail

[[nodiscard]] inline tree_and_roles tree_of(const peer_case& of, const gang_case& gang) {
    if (gang.tree && !gang.tree->children.empty())
        return detail::tree_of_subgroups(of, gang);
    std::int64_t sum = 0;
    for (const auto& [role, least] : gang.role_minima)
        sum += least;
    tree_and_roles made;
    if (!gang.partitions.empty())
        made = detail::tree_of_partitions(of, gang);
    // Volcano does not look at roles whose minima add up to more than the gang's own.
    else if (!gang.role_minima.empty() && !(of.from == peer::volcano && gang.min_member < sum))
        made = detail::tree_of_roles(gang);
    else
        made = {muster::gang_tree(gang.min_member),
                std::vector<muster::vertex_index>(gang.tasks.size()),
                {}};
    if (auto how = topology_of(of, gang.tree ? gang.tree->domain : gang.domain))
        made.tree.constrain_topology(muster::vertex_index{0}, std::move(*how));
    return made;
}

/// When gangs were made: KAI's are a minute apart in the order of their listing, those of higher
/// priority before all others; Volcano's all at once, so that their names decide both who comes
/// first and, the other way round, who goes first; coscheduling's when their first pod came.
[[nodiscard]] inline std::vector<std::int64_t> creation_times(const peer_case& of) {
    std::vector<std::int64_t> times(of.gangs.size(), 0);
    if (of.from == peer::volcano) {
        std::vector<std::size_t> order(of.gangs.size());
        for (std::size_t at = 0; at < order.size(); ++at)
            order[at] = at;
        std::ranges::stable_sort(order, {}, [&](std::size_t at) { return of.gangs[at].name; });
        for (std::size_t place = 0; place < order.size(); ++place)
            times[order[place]] = static_cast<std::int64_t>(place);
        return times;
    }
    if (of.from == peer::coscheduling) {
        for (std::size_t at = 0; at < of.gangs.size(); ++at) {
            std::int64_t first = static_cast<std::int64_t>(at);
            for (const task& one : of.gangs[at].tasks)
                first = std::min(first, one.arrival.value_or(first));
            times[at] = first;
        }
        return times;
    }
    std::vector<std::size_t> order(of.gangs.size());
    for (std::size_t at = 0; at < order.size(); ++at)
        order[at] = at;
    std::ranges::stable_sort(order, [&](std::size_t lhs, std::size_t rhs) {
        return of.gangs[lhs].priority > of.gangs[rhs].priority;
    });
    for (std::size_t place = 0; place < order.size(); ++place) {
        const std::int64_t age = of.gangs[order[place]].age_minutes.value_or(
            static_cast<std::int64_t>(of.gangs.size() - place));
        times[order[place]] = -age;
    }
    return times;
}

/// How long ago its pods were made, oldest first: who has the higher priority goes first in its
/// gang, and last. Of equals Volcano takes the first by name, the others the first that is listed.
[[nodiscard]] inline std::vector<std::int64_t> order_of_members(const peer_case& of,
                                                                const gang_case& gang) {
    std::vector<std::size_t> order(gang.tasks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (of.from != peer::coscheduling)
        std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t at) {
            return gang.tasks[at].priority.value_or(0);
        });
    std::vector<std::int64_t> ages(order.size(), 0);
    for (std::size_t place = 1; place < order.size(); ++place) {
        const bool equal = gang.tasks[order[place]].priority.value_or(0) ==
                           gang.tasks[order[place - 1]].priority.value_or(0);
        ages[order[place]] = ages[order[place - 1]] + (of.from == peer::volcano && equal ? 0 : 1);
    }
    return ages;
}

[[nodiscard]] inline cluster::pod_type pod_of(const peer_case& of, const task& from,
                                              columns& kinds) {
    cluster::pod_type made;
    made.request = kinds.vector(from.request);
    if (!from.request.contains("pods"))
        made.request[kinds.of("pods")] = 1;
    for (const auto& [key, value] : from.node_selector)
        made.where.selector.requirements.push_back(is_one_of(key, {value}));
    if (!from.affinity_in.empty())
        made.where.selector.requirements.push_back(is_one_of(affinity_label, from.affinity_in));
    for (const auto& [key, value] : from.labels)
        made.labels.set(key, value);
    const auto among_its_own = [&](const std::string& key) {
        muster::affinity_term term;
        for (const auto& [label, value] : from.labels)
            term.pods.labels.requirements.push_back(is_one_of(label, {value}));
        term.topology = key;
        return term;
    };
    if (!from.beside.empty() || !from.apart.empty())
        made.where.pods.emplace();
    if (!from.beside.empty())
        made.where.pods->affinity.push_back(among_its_own(from.beside));
    if (!from.apart.empty())
        made.where.pods->anti_affinity.push_back(among_its_own(from.apart));
    switch (from.state) {
    case pod_state::pending:
    case pod_state::nominated:
        made.phase = muster::pod_phase::pending;
        break;
    case pod_state::gated:
        made.phase = muster::pod_phase::gated;
        break;
    case pod_state::bound:
        made.phase = muster::pod_phase::running;
        break;
    case pod_state::leaving:
    case pod_state::stuck:
        made.phase = muster::pod_phase::running;
        made.terminating = true;
        break;
    case pod_state::succeeded:
        // Coscheduling counts those who run or wait.
        made.phase = of.from == peer::coscheduling ? muster::pod_phase::failed
                                                   : muster::pod_phase::succeeded;
        break;
    case pod_state::failed:
        made.phase = muster::pod_phase::failed;
        break;
    }
    return made;
}

} // namespace peer_cases
