// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/cluster/state.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <support/queue_view.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

// The rules of Kubernetes and of gangs once more, written from their definitions: what judges the
// core must not share its mistakes. Only the records of a state are read, never its accounts.

[[nodiscard]] inline std::optional<std::int64_t> whole_number(std::string_view text) {
    if (!text.empty() && text.front() == '+')
        text.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

[[nodiscard]] inline bool holds(const label_requirement& one, const std::string* value) {
    const bool listed =
        value && std::find(one.values.begin(), one.values.end(), *value) != one.values.end();
    if (one.op == label_operator::in)
        return listed;
    if (one.op == label_operator::not_in)
        return !listed;
    if (one.op == label_operator::exists)
        return value != nullptr;
    if (one.op == label_operator::does_not_exist)
        return value == nullptr;
    if (!value || one.values.empty())
        return false;
    const auto have = whole_number(*value);
    const auto bound = whole_number(one.values[0]);
    return have && bound && (one.op == label_operator::less ? *have < *bound : *have > *bound);
}

[[nodiscard]] inline const std::string* label(const label_set& labels, const std::string& key) {
    for (const auto& [name, value] : labels)
        if (name == key)
            return &value;
    return nullptr;
}

[[nodiscard]] inline bool selects(const label_selector& all, const label_set& labels) {
    for (const label_requirement& one : all.requirements)
        if (!holds(one, label(labels, one.key)))
            return false;
    return true;
}

template<std::size_t Width>
[[nodiscard]] bool selects(const node_term& term, const node<Width>& target) {
    for (const label_requirement& one : term.name)
        if (!holds(one, &target.name))
            return false;
    const bool empty = term.name.empty() && term.labels.requirements.empty();
    return !empty && selects(term.labels, target.labels);
}

[[nodiscard]] inline bool compares(const toleration& one, const taint& what) {
    if (!one.value || one.comparison == taint_comparison::equal)
        return one.value.value_or(what.value) == what.value;
    const auto bound = taint_number(*one.value);
    const auto found = taint_number(what.value);
    if (!bound || !found)
        return false;
    return one.comparison == taint_comparison::less ? *found < *bound : *bound < *found;
}

[[nodiscard]] inline bool is_tolerated(const taint& what, const constraints& by) {
    for (const toleration& one : by.tolerations)
        if (one.key.value_or(what.key) == what.key && compares(one, what) &&
            one.effect.value_or(what.effect) == what.effect)
            return true;
    return false;
}

[[nodiscard]] inline bool clash(const std::vector<host_port>& lhs,
                                const std::vector<host_port>& rhs) {
    for (const host_port& one : lhs)
        for (const host_port& two : rhs) {
            const bool apart =
                !one.address.empty() && !two.address.empty() && one.address != two.address;
            if (!apart && one.port == two.port && one.protocol == two.protocol)
                return true;
        }
    return false;
}

/// True if the devices serve another pod with these claims beside those.
[[nodiscard]] inline bool serve(const device_rule& rule, device_stock has,
                                std::vector<device_demand> held, const node_claims& claims) {
    if (claims.devices == device_demand::none)
        return true;
    std::sort(held.begin(), held.end());
    return rule.room(has, held, claims.devices, 1) == 1;
}

/// A set of constraints by bit: the resource kinds, the quota kinds, then the others.
using rule_set = std::uint32_t;
template<std::size_t Width>
struct rules {
    static constexpr rule_set resource(std::size_t kind) { return rule_set{1} << kind; }
    static constexpr rule_set quota(std::size_t kind) { return rule_set{1} << (Width + kind); }
    static constexpr rule_set selector = rule_set{1} << (2 * Width);
    static constexpr rule_set taints = selector << 1U;
    static constexpr rule_set cordon = selector << 2U;
    /// What is required of one vertex of the gang's tree, of the first eight.
    static constexpr rule_set topology(std::size_t vertex) { return selector << (3 + vertex); }
    static constexpr rule_set topologies = rule_set{0xff} * topology(0);
    static constexpr rule_set ports = selector << 11U;
    static constexpr rule_set volumes = selector << 12U;
    static constexpr rule_set devices = selector << 13U;
    static constexpr rule_set all = (selector << 14U) - 1;
    static_assert(2 * Width + 14 < 32);
};

/// The values of the labels that say where in a topology a node stands, down to the level; nothing
/// when it lacks one.
using standpoint = std::optional<std::vector<std::string>>;
template<std::size_t Width>
[[nodiscard]] standpoint stands(const node<Width>& where, const topology& within,
                                std::size_t level) {
    std::vector<std::string> values;
    for (std::size_t at = 0; at <= level; ++at) {
        const std::string* value = label(where.labels, within.levels[at]);
        if (!value)
            return std::nullopt;
        values.push_back(*value);
    }
    return values;
}

[[nodiscard]] inline bool lies_below(const gang_tree& tree, std::size_t vertex,
                                     std::size_t ancestor) {
    for (;; vertex = tree[vertex].parent)
        if (vertex == ancestor || vertex == 0)
            return vertex == ancestor;
}

/// A gang and the cluster as they concern each other, from the records alone.
template<class Traits>
struct observed_gang {
    static constexpr std::size_t width = Traits::width;
    struct member {
        pod_index pod;
        std::size_t role = 0;
        std::shared_ptr<const muster::pod<width>> spec;
    };
    struct target {
        node_index node;
        const muster::node<width>* spec = nullptr;
        resources<width> free;
        std::vector<host_port> ports{};
        /// What the pods on it demand of its devices, in any order.
        std::vector<device_demand> devices{};

        void put(const node_claims& claims) {
            ports.insert(ports.end(), claims.ports.begin(), claims.ports.end());
            if (claims.devices != device_demand::none)
                devices.push_back(claims.devices);
        }
        /// The inverse of the last `put`.
        void take_back(const node_claims& claims) {
            ports.resize(ports.size() - claims.ports.size());
            if (claims.devices != device_demand::none)
                devices.pop_back();
        }
    };

    certificate_scope scope = certificate_scope::free_now;
    device_rule devices;
    const gang_tree* tree = nullptr;
    /// The queue that the gang names, if it exists.
    const queue_record<Traits::width>* queue = nullptr;
    /// What it and those above it ask of nodes.
    std::vector<const label_selector*> allowed;
    /// What its queue may still take, where there is a ceiling.
    std::array<std::optional<std::int64_t>, width> quota_left;
    /// Per vertex (leaves only).
    std::vector<std::int64_t> holding;
    std::vector<std::int64_t> alive;
    /// Role and node of the members that occupy one, which may not be there; none when every pod
    /// is gone.
    std::vector<std::pair<std::size_t, const muster::node<width>*>> occupied;
    /// Members that may be placed: by role, then the oldest first, then by key.
    std::vector<member> waiting;
    /// Present nodes in the order of their keys.
    std::vector<target> nodes;

    /// Where the members at or below the vertex may stand as far as that level goes: the one domain
    /// in which those stand that occupy a node, or any domain of a node. Empty when they stand in
    /// two, or one of them in none.
    [[nodiscard]] std::vector<standpoint> standpoints(std::size_t vertex, const topology& within,
                                                      std::size_t level) const {
        std::vector<standpoint> found;
        bool fixed = false;
        for (const auto& [role, on] : occupied) {
            if (!lies_below(*tree, role, vertex))
                continue;
            const standpoint here = on ? stands(*on, within, level) : std::nullopt;
            if (!here || (fixed && found.front() != here))
                return {};
            found.assign(1, here);
            fixed = true;
        }
        for (const target& each : nodes)
            if (const standpoint here = stands(*each.spec, within, level); here && !fixed)
                found.push_back(here);
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }

    [[nodiscard]] bool holds_below(std::size_t vertex) const {
        return std::any_of(occupied.begin(), occupied.end(),
                           [&](const auto& one) { return lies_below(*tree, one.first, vertex); });
    }

    /// The pod may stand on the node as far as `force` goes, whatever is free there.
    [[nodiscard]] bool welcome(const constraints& of, const muster::node<width>& on,
                               rule_set force = rules<width>::all) const {
        using rule = rules<width>;
        const bool now = scope == certificate_scope::free_now;
        if (force & rule::selector) {
            bool chosen = !of.affinity;
            for (std::size_t at = 0; of.affinity && at < of.affinity->size(); ++at)
                chosen = chosen || selects((*of.affinity)[at], on);
            for (const label_selector* each : allowed)
                chosen = chosen && selects(*each, on.labels);
            if (!chosen || !selects(of.selector, on.labels))
                return false;
        }
        for (const volume_reach& volume : of.volumes) {
            bool reached = !(force & rule::volumes) || (!volume.bound && !now);
            for (std::size_t at = 0; !reached && at < volume.any_of.size(); ++at)
                reached = selects(volume.any_of[at], on);
            if (!reached)
                return false;
        }
        bool cordoned =
            on.unschedulable &&
            !is_tolerated({"node.kubernetes.io/unschedulable", "", taint_effect::no_schedule}, of);
        for (const taint& one : on.taints) {
            if (one.effect == taint_effect::prefer_no_schedule || is_tolerated(one, of))
                continue;
            if (one.key == "node.kubernetes.io/unschedulable")
                cordoned = true;
            else if ((force & rule::taints) && (now || one.key.rfind("node.kubernetes.io/", 0)))
                return false;
        }
        return !(cordoned && now && (force & rule::cordon));
    }
};

/// Takes `amount` from `free` when it is there as far as `force` goes; a zero is always there.
template<std::size_t Width>
[[nodiscard]] bool draw(const resources<Width>& amount, resources<Width>& free,
                        rule_set force = rules<Width>::all) {
    for (std::size_t kind = 0; kind < Width; ++kind)
        if ((force & rules<Width>::resource(kind)) && amount[kind] > 0 && amount[kind] > free[kind])
            return false;
    for (std::size_t kind = 0; kind < Width; ++kind)
        free[kind] -= amount[kind];
    return true;
}

[[nodiscard]] inline bool is_member(const pod_record& pod) {
    return !pod.terminating && pod.phase != pod_phase::failed && pod.phase != pod_phase::gated;
}
[[nodiscard]] inline bool is_waiting(const pod_record& pod) {
    return is_member(pod) && pod.phase == pod_phase::pending && !pod.assumed;
}
/// O(cluster), because all sums are computed again.
template<class Traits>
[[nodiscard]] observed_gang<Traits> view_of(const state<Traits>& known, gang_index which,
                                            certificate_scope scope) {
    constexpr std::size_t width = Traits::width;
    const auto& group = known[which];
    observed_gang<Traits> view;
    view.scope = scope;
    view.devices = known.accounts().rule();
    view.tree = &group.spec.tree;
    // Members of a gang that is not there may name any role.
    std::size_t roles = view.tree->size();
    for (const pod_index member : group.members)
        roles = std::max(roles, known[member].role.value() + 1);
    view.holding.assign(roles, 0);
    view.alive = view.holding;

    for (const node_index node : known.node_order())
        if (known[node].present)
            view.nodes.push_back({node, &known[node].spec, known[node].spec.allocatable, {}});
    std::sort(view.nodes.begin(), view.nodes.end(), [&](const auto& lhs, const auto& rhs) {
        return key_less<Traits>{}(known.key(lhs.node), known.key(rhs.node));
    });

    if (group.queue && known[*group.queue].present) {
        view.queue = &known[*group.queue];
        const queue_view<Traits> queues(known, scope);
        for (const queue_index at : queues.upwards(*group.queue))
            view.allowed.push_back(&known[at].spec.nodes);
        for (std::size_t kind = 0; kind < width; ++kind)
            view.quota_left[kind] = queues.room(*group.queue, kind, !group.spec.preemptible);
    }

    if (scope == certificate_scope::free_now)
        for (const auto& kept : known.reservations())
            for (const auto& part : kept.parts)
                for (auto& node : view.nodes)
                    for (std::size_t kind = 0; node.node == part.node && kind < width; ++kind)
                        node.free[kind] -= part.amount[kind];

    for (const auto& entry : known.pod_keys()) {
        const auto& pod = known[entry.second];
        if (takes_room(pod) && scope == certificate_scope::free_now) {
            for (auto& node : view.nodes) {
                if (node.node != *pod.node)
                    continue;
                for (std::size_t kind = 0; kind < width; ++kind)
                    node.free[kind] -= known.request(entry.second)[kind];
                node.put(known.where(entry.second).value.claims);
            }
        }
        if (pod.gang != which || !is_member(pod))
            continue;
        const std::size_t role = pod.role.value();
        if (takes_room(pod) && scope == certificate_scope::free_now)
            view.occupied.push_back(
                {role, known[*pod.node].present ? &known[*pod.node].spec : nullptr});
        ++view.alive[role];
        const bool held = known.where(entry.second).value.held();
        // Any node may be able to take it once it is not held any more.
        if (!is_waiting(pod) || (held && scope == certificate_scope::empty_cluster))
            ++view.holding[role];
        else if (!held)
            view.waiting.push_back(
                {entry.second, role,
                 std::make_shared<const muster::pod<width>>(known.spec_of(entry.second))});
    }
    std::stable_sort(view.waiting.begin(), view.waiting.end(),
                     [](const auto& lhs, const auto& rhs) {
                         return lhs.role != rhs.role ? lhs.role < rhs.role
                                                     : lhs.spec->created < rhs.spec->created;
                     });
    return view;
}

/// Waiting members of one role that are alike.
template<std::size_t Width>
struct member_kind {
    std::size_t role = 0;
    const muster::pod<Width>* spec = nullptr;
    std::int64_t waiting = 0;
};

/// The kinds of waiting members: by role, then by their oldest member.
template<class Traits>
[[nodiscard]] std::vector<member_kind<Traits::width>> kinds_of(const observed_gang<Traits>& view) {
    std::vector<member_kind<Traits::width>> kinds;
    for (const auto& one : view.waiting) {
        auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) {
            return each.role == one.role && each.spec->request == one.spec->request &&
                   each.spec->where == one.spec->where;
        });
        if (at == kinds.end())
            at = kinds.insert(at, member_kind<Traits::width>{one.role, one.spec.get(), 0});
        ++at->waiting;
    }
    return kinds;
}

/// Whether the vertex reaches its minima with these members per leaf, and how many it then gives
/// the one above: none where it does not.
struct standing_of_vertex {
    bool met = false;
    std::int64_t members = 0;
};
[[nodiscard]] inline standing_of_vertex judge(const gang_tree& tree, std::size_t vertex,
                                              const std::vector<std::int64_t>& per_leaf) {
    std::int64_t members = per_leaf[vertex];
    std::int64_t children = 0;
    std::int64_t met = 0;
    for (std::size_t at = vertex + 1; at < tree.size(); ++at) {
        if (tree[at].parent != vertex)
            continue;
        ++children;
        const standing_of_vertex child = judge(tree, at, per_leaf);
        met += child.met ? 1 : 0;
        members += child.members;
    }
    if (met < tree[vertex].min_subgroups.value_or(children) || members < tree[vertex].min_member)
        return {};
    return {true, members};
}

/// The gang starts with these members per leaf.
[[nodiscard]] inline bool starts_with(const gang_tree& tree,
                                      const std::vector<std::int64_t>& per_leaf) {
    return judge(tree, 0, per_leaf).met;
}

} // namespace testing
} // namespace v0_1
} // namespace muster
