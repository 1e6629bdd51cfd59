// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/cluster/state.hpp>
#include <muster/testing/random.hpp>
#include <support/card_rule.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

inline constexpr std::size_t world_width = 4;
/// With an index that splits, merges and learns all the time.
struct world_traits : string_traits<world_width> {
    static constexpr std::size_t index_fanout = 4;
    static constexpr std::size_t index_thresholds = 2;
};
using world_state = state<world_traits>;

/// A small cluster as plain values, to be fed to a state in any order. Columns are cpu, memory and
/// gpu as far as `kinds` goes, and the kind that counts pods, which is the last of them.
struct world {
    struct named_node {
        std::string key;
        node<world_width> spec;
    };
    struct named_queue {
        std::string key;
        queue<world_width> spec;
        std::optional<std::string> parent;
    };
    struct named_gang {
        std::string key;
        gang<std::string> spec;
    };
    struct named_pod {
        std::string key;
        std::string gang;
        pod<world_width> spec;
        std::optional<std::string> on;
    };

    struct named_budget {
        std::string key;
        disruption_budget spec;
    };

    std::uint64_t seed = 0;
    std::size_t kinds = 2;
    std::vector<named_node> nodes;
    std::vector<named_queue> queues;
    std::vector<named_gang> gangs;
    std::vector<named_pod> pods;
    std::vector<named_budget> budgets;

    [[nodiscard]] kind_id pods_kind() const noexcept { return kind_id{kinds - 1}; }
};

inline void expect_applied(event_result what) {
    MUSTER_ASSERT(what == event_result::applied, "worlds consist of events that apply");
    static_cast<void>(what);
}

inline void feed(world_state& to, const world::named_node& one) {
    expect_applied(to.upsert_node(one.key, one.spec));
}
inline void feed(world_state& to, const world::named_queue& one) {
    expect_applied(to.upsert_queue(one.key, one.spec, one.parent));
}
inline void feed(world_state& to, const world::named_gang& one) {
    expect_applied(to.upsert_gang(one.key, one.spec));
}
inline void feed(world_state& to, const world::named_pod& one) {
    expect_applied(to.upsert_pod(one.key, one.gang, one.spec, one.on));
}
inline void feed(world_state& to, const world::named_budget& one) {
    expect_applied(to.upsert_budget(one.key, one.spec));
}

/// Feeds the world's objects to `known`, in the order in which they are listed or, with `order`,
/// in any order.
inline void feed(world_state& known, const world& from, random* order = nullptr) {
    std::vector<std::function<void()>> events;
    const auto add = [&](const auto& items) {
        for (const auto& one : items)
            events.push_back([&known, &one] { feed(known, one); });
    };
    add(from.nodes);
    add(from.queues);
    add(from.gangs);
    add(from.pods);
    add(from.budgets);
    if (order)
        order->shuffle(events);
    for (const auto& event : events)
        event();
}

[[nodiscard]] inline world_state to_state(const world& from, random* order = nullptr) {
    world_state known{from.pods_kind()};
    known.set_device_rule(device_rule::of(cards));
    feed(known, from, order);
    return known;
}

// ---- text --------------------------------------------------------------------------------------

[[nodiscard]] inline std::string text(const resources<world_width>& amounts) {
    std::string out = "[";
    for (std::size_t column = 0; column < world_width; ++column)
        out += (column ? " " : "") + std::to_string(amounts[column]);
    return out + "]";
}

[[nodiscard]] inline std::string text(const label_requirement& one) {
    static constexpr const char* names[] = {"in", "not-in", "exists", "absent", ">", "<"};
    std::string out = one.key + " " + names[static_cast<std::size_t>(one.op)];
    for (const std::string& value : one.values)
        out += " " + value;
    return out;
}

[[nodiscard]] inline std::string text(const label_selector& all) {
    std::string out = "{";
    for (const label_requirement& one : all.requirements)
        out += text(one) + ";";
    return out + "}";
}

[[nodiscard]] inline std::string text(const node_term& term) {
    std::string out = text(term.labels);
    for (const label_requirement& one : term.name)
        out += "name:" + text(one);
    return out;
}

[[nodiscard]] inline std::string text(const label_set& labels) {
    std::string out = "{";
    for (const auto& [key, value] : labels)
        out += key + "=" + value + ";";
    return out + "}";
}

[[nodiscard]] inline std::string text(const pod_selector& which, const std::string& topology) {
    std::string out = text(which.labels) + (which.tenants ? " of(" : "");
    for (std::size_t at = 0; which.tenants && at < which.tenants->size(); ++at)
        out += text((*which.tenants)[at]);
    return out + (which.tenants ? ")" : "") + " by " + topology;
}

[[nodiscard]] inline std::string text(const pod_terms& of) {
    std::string out;
    for (const affinity_term& one : of.affinity)
        out += " near" + text(one.pods, one.topology);
    for (const affinity_term& one : of.anti_affinity)
        out += " apart" + text(one.pods, one.topology);
    for (const preferred_affinity_term& one : of.preferred)
        out += " likes " + std::to_string(one.weight) + text(one.term.pods, one.term.topology);
    for (const spread_term& one : of.spread)
        out += (one.required ? " spread" : " soft-spread") + text(one.pods, one.topology) +
               " skew " + std::to_string(one.max_skew) + " domains " +
               std::to_string(one.min_domains) + (one.honor_affinity ? "" : " any-selector") +
               (one.honor_taints ? " honor-taints" : "");
    return out;
}

[[nodiscard]] inline std::string text(const constraints& of) {
    std::string out;
    if (!of.selector.requirements.empty())
        out += " select" + text(of.selector);
    if (of.affinity) {
        out += " affinity(";
        for (const node_term& term : *of.affinity)
            out += text(term) + "|";
        out += ")";
    }
    for (const preferred_node_term& one : of.preferred)
        out += " prefer " + std::to_string(one.weight) + text(one.term);
    for (const toleration& one : of.tolerations)
        out += " tolerates(" + one.key.value_or("*") +
               (one.comparison == taint_comparison::equal     ? "="
                : one.comparison == taint_comparison::greater ? ">"
                                                              : "<") +
               one.value.value_or("*") + ":" +
               (one.effect ? std::to_string(static_cast<int>(*one.effect)) : "*") + ")";
    if (of.pods)
        out += " terms(" + text(*of.pods) + ")";
    for (const host_port& one : of.claims.ports)
        out += " port " + one.protocol + "/" + one.address + ":" + std::to_string(one.port);
    if (of.claims.devices != device_demand::none)
        out += " devices " + std::to_string(static_cast<std::uint32_t>(of.claims.devices));
    for (const volume_reach& one : of.volumes) {
        out += one.bound ? " volume(" : " unbound-volume(";
        for (const node_term& term : one.any_of)
            out += text(term) + "|";
        out += ")";
    }
    return out + (of.unsupported ? " UNSUPPORTED" : "") + (of.volume_not_ready ? " NOT-READY" : "");
}

[[nodiscard]] inline std::string text(const gang_tree& tree) {
    std::string out = "tree(";
    for (std::size_t at = 0; at < tree.size(); ++at) {
        out += (at ? " " : "") + std::to_string(at) + "<" + std::to_string(tree[at].parent) +
               " min " + std::to_string(tree[at].min_member);
        if (tree[at].min_subgroups)
            out += " of " + std::to_string(*tree[at].min_subgroups);
        if (const auto& how = tree[at].together) {
            out += " together(";
            for (const std::string& level : how->within.levels)
                out += level + " ";
            out += std::string("required ") +
                   (how->required ? std::to_string(*how->required) : "-") + " preferred " +
                   (how->preferred ? std::to_string(*how->preferred) : "-") + ")";
        }
    }
    return out + ")";
}

/// All that a reader needs to write the case down as a test, a line per object. Taint effects: 0
/// NoSchedule, 1 PreferNoSchedule, 2 NoExecute.
[[nodiscard]] inline std::string text(const world& of) {
    static constexpr const char* phases[] = {"pending",   "gated",  "bound",  "running",
                                             "succeeded", "failed", "unknown"};
    std::string out = "world " + std::to_string(of.seed) + ", kinds " + std::to_string(of.kinds);
    for (const auto& [key, spec] : of.nodes) {
        out += "\nnode " + key + " " + text(spec.allocatable) + text(spec.labels) +
               (spec.unschedulable ? " cordoned" : "") +
               (spec.name.empty() ? "" : " name " + spec.name);
        if (spec.devices != device_stock::none)
            out += " devices " + std::to_string(static_cast<std::uint32_t>(spec.devices));
        for (const taint& one : spec.taints)
            out += " taint(" + one.key + "=" + one.value + ":" +
                   std::to_string(static_cast<int>(one.effect)) + ")";
    }
    for (const auto& [key, spec, parent] : of.queues) {
        out += "\nqueue " + key + " priority " + std::to_string(spec.priority) + " quota(";
        for (std::size_t column = 0; column < world_width; ++column)
            if (const auto ceiling = spec.quota[kind_id{column}])
                out += std::to_string(column) + ":" + std::to_string(*ceiling) + " ";
        out += ") firm quota(";
        for (std::size_t column = 0; column < world_width; ++column)
            if (const auto ceiling = spec.non_preemptible_quota[kind_id{column}])
                out += std::to_string(column) + ":" + std::to_string(*ceiling) + " ";
        out += ") guarantee" + text(spec.guarantee) + (parent ? " below " + *parent : "") +
               (spec.closed ? " closed" : "") + (spec.strict_order ? " strict" : "") + " nodes" +
               text(spec.nodes) + " tenants" + (spec.tenants ? text(*spec.tenants) : "(nobody)");
    }
    for (const auto& [key, spec] : of.gangs)
        out += "\ngang " + key + " queue " + spec.queue.value_or("-") + " priority " +
               std::to_string(spec.priority) + " created " + std::to_string(spec.created) + " " +
               (spec.preemptible ? "" : "firm ") + text(spec.tree) + " fault " +
               std::to_string(static_cast<int>(spec.fault)) + " tenant" + text(spec.tenant);
    for (const auto& [key, gang, spec, on] : of.pods)
        out += "\npod " + key + " of " + gang + "/" + std::to_string(spec.role.value()) + " " +
               text(spec.request) + " created " + std::to_string(spec.created) + " " +
               phases[static_cast<std::size_t>(spec.phase)] +
               (spec.terminating ? " terminating" : "") + (spec.ready ? "" : " unready") +
               (on ? " on " + *on : "") +
               (spec.labels.empty() ? "" : " labels" + text(spec.labels)) + text(spec.where);
    for (const auto& [key, spec] : of.budgets)
        out += "\nbudget " + key + " keeps " + std::to_string(spec.keeps) + " of " +
               text(spec.pods.labels) + (spec.frees_unready ? " frees unready" : "");
    return out + "\n";
}

} // namespace testing
} // namespace v0_1
} // namespace muster
