// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <muster/apis/core/disruption_budget_reader.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/peer_queue_reader.hpp>
#include <muster/base/assert.hpp>
#include <muster/cluster/state.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/input/cluster_checks.hpp>
#include <muster/input/cluster_volumes.hpp>
#include <muster/input/membership.hpp>
#include <muster/input/topology_reader.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/resource/storage_kinds.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Keys as Kubernetes has them.
template<std::size_t Width>
struct kubernetes_traits {
    using node_key = std::string;
    using pod_key = object_key;
    using gang_key = group_key;
    using queue_key = std::string;
    static constexpr std::size_t width = Width;
};

/// A cluster as the core sees it, with what the edge needs to speak of it. It refers to the
/// manifests that it was made from.
template<std::size_t Width>
struct cluster {
    using traits = kubernetes_traits<Width>;

    const manifests* objects = nullptr;
    kind_table kinds;
    muster::state<traits> state;
    timestamp now = 0;
    /// All groups, those with nothing to decide among them.
    std::map<group_key, group_facts> groups;
    volume_plan volumes;
};

struct cluster_options {
    /// When it is; the newest time in the input without.
    std::optional<timestamp> now;
    /// Where T9k queues live.
    std::string queue_namespace = "t9k-system";
    /// Levels of node labels, coarse to fine, for groups that name no Topology of their own.
    topology levels;
    /// The schedulers whose pods are placed. If there are any, a waiting pod of another scheduler
    /// that is nominated to a node gets the room there, and is placed by that scheduler. Otherwise
    /// nominations are ignored.
    std::set<std::string, std::less<>> scheduler_names;
};

namespace detail {

/// Returns the resource kinds that the input names or that are counted for its volumes, in the
/// order of names. O(amounts · log kinds).
[[nodiscard]] inline std::set<std::string_view> kinds_of(const manifests& objects,
                                                         const volume_plan& volumes = {}) {
    std::set<std::string_view> names{"pods"};
    const auto note = [&](const auto& amounts) {
        for (const auto& each : amounts)
            names.insert(each.first);
    };
    for (const node_object& node : objects.nodes)
        note(node.allocatable);
    for (const pod_object& pod : objects.pods)
        note(pod.requests);
    for (const queue_object& queue : objects.queues)
        for (const auto* amounts :
             {&queue.quota, &queue.non_preemptible_quota, &queue.deserved, &queue.guarantee})
            note(*amounts);
    for (const auto& each : volumes.kinds)
        names.insert(each.first);
    return names;
}

/// Requests round up: what is not zero never becomes zero.
[[nodiscard]] inline std::int64_t request_units(const std::string& kind, int128 milli) {
    return saturate(kind == "cpu" ? milli : (milli + 999) / 1000);
}

[[nodiscard]] inline const char* describe(event_result what) {
    switch (what) {
    case event_result::out_of_range:
        return "the requests leave int64, or a sum with others does (expected less than 2^63)";
    case event_result::circular:
        return "the queue stands below itself (expected a tree)";
    case event_result::immutable:
    case event_result::no_such_role:
    case event_result::unexpected:
    case event_result::applied:
        break;
    }
    return "cannot be taken in";
}

inline void check(event_result what, const object_metadata& of, diagnostics& out) {
    if (what != event_result::applied)
        report(out, severity::error, of.where, {},
               in_quotes(of.key.name) + ": " + std::string(describe(what)));
}

/// How long a group runs at most: its longest member, but no longer than pods of its queue get
/// old. Nothing when a member declares nothing and the queue does not either.
[[nodiscard]] inline std::optional<std::int64_t>
longest_run(const manifests& objects, const group_facts& facts,
            const std::map<std::string_view, std::int64_t>& queue_ages) {
    std::optional<std::int64_t> longest;
    const auto age = queue_ages.find(facts.queue);
    for (const std::size_t member : facts.members) {
        std::optional<std::int64_t> run = objects.pods[member].run_time;
        if (age != queue_ages.end())
            run = std::min(run.value_or(age->second), age->second);
        if (!run)
            return std::nullopt;
        longest = std::max(longest.value_or(0), *run);
    }
    return longest;
}

} // namespace detail

namespace detail {

/// Adds the amounts, nodes, labels and pod terms that the volumes of a pod need. Returns false if
/// the kind table lacks a kind.
template<std::size_t Width>
[[nodiscard]] bool add_volumes(pod<Width>& spec, const volume_effects& from,
                               const kind_table& kinds) {
    bool known = true;
    for (const auto& [kind, amount] : from.amounts)
        if (const auto column = kinds.find(kind))
            spec.request[*column] = saturating_add(spec.request[*column], amount);
        else
            known = false;
    for (const std::string& kind : from.growing)
        if (const auto column = kinds.find(kind))
            spec.where.growing_kinds |= std::uint64_t{1} << column->value();
    spec.where.claims.devices = from.devices;
    spec.where.volumes = from.reach;
    spec.where.volume_not_ready = !from.waits.empty();
    spec.where.volume_unusable = from.unusable;
    for (const auto& [key, value] : from.labels)
        spec.labels.set(key, value);
    if (!from.near.empty() || !from.apart.empty()) {
        pod_terms terms = std::move(spec.where.pods).value_or(pod_terms{});
        terms.affinity.insert(terms.affinity.end(), from.near.begin(), from.near.end());
        terms.anti_affinity.insert(terms.anti_affinity.end(), from.apart.begin(), from.apart.end());
        spec.where.pods = std::move(terms);
        spec.where.terms_may_change = true;
    }
    return known;
}

} // namespace detail

/// Returns what is not modelled of a pod. `volumes`: the effects of its volumes and devices; null =
/// it has none. Marks of shares that nodes of the cluster serve are modelled. O(unsupported ×
/// marks).
[[nodiscard]] inline std::vector<std::string> unmodelled_of(const pod_object& object,
                                                            const volume_effects* volumes) {
    std::vector<std::string> found;
    for (const std::string& each : object.unsupported)
        if (!volumes || !volumes->has_shares ||
            std::ranges::find(object.share_marks, each) == object.share_marks.end())
            found.push_back(each);
    if (volumes)
        found.insert(found.end(), volumes->unmodelled.begin(), volumes->unmodelled.end());
    return found;
}

/// Converts a pod to the core's form, with the effects of its volumes. A pod that requests a kind
/// that is not in the table waits (`unsupported`).
template<std::size_t Width>
[[nodiscard]] pod<Width> core_pod(const pod_object& object, vertex_index role,
                                  const kind_table& kinds, kind_id pods_kind,
                                  const volume_effects* volumes = nullptr) {
    pod<Width> spec;
    bool unknown = false;
    spec.role = role;
    for (const auto& [kind, amount] : object.requests)
        if (const auto column = kinds.find(kind))
            spec.request[*column] = detail::request_units(kind, amount.milli);
        else
            unknown = true;
    spec.request[pods_kind] = 1;
    spec.where = object.where;
    spec.labels = object.metadata.labels;
    if (volumes)
        unknown |= !detail::add_volumes(spec, *volumes, kinds);
    spec.where.unsupported = unknown || !unmodelled_of(object, volumes).empty();
    spec.where.tied_to_node =
        !object.node.empty() &&
        (!object.volumes.empty() || !object.claims.empty() ||
         (volumes && (volumes->devices != device_demand::none || volumes->is_aligned)));
    spec.created = object.metadata.created.value_or(std::numeric_limits<timestamp>::max());
    spec.started = object.started ? object.started : object.scheduled;
    spec.phase = object.phase;
    spec.terminating = object.metadata.terminating;
    spec.ready = object.ready;
    return spec;
}

/// A node as the core has it. Kinds that the table does not know are left out: nothing asks for
/// them.
template<std::size_t Width>
[[nodiscard]] node<Width> core_node(const node_object& object, const kind_table& kinds,
                                    const volume_plan& volumes = {}) {
    node<Width> spec;
    for (const auto& [kind, amount] : object.allocatable)
        if (const auto column = kinds.find(kind))
            spec.allocatable[*column] = amount;
    if (volumes.shares_gpus)
        for (const auto& [kind, amount] : object.agent_amounts)
            if (const auto column = kinds.find(kind))
                spec.allocatable[*column] = amount;
    spec.labels = object.metadata.labels;
    spec.taints = object.taints;
    spec.unschedulable = object.unschedulable;
    spec.name = object.metadata.key.name;
    spec.devices = volumes.stock_of(spec.name);
    for (const auto& [kind, supply] : volumes.kinds)
        if (const auto column = kinds.find(kind))
            spec.allocatable[*column] = supply.at(spec.name);
    if (volumes.marks_nodes) {
        spec.labels.set(std::string(volume_node_label), spec.name);
        spec.labels.set(std::string(volume_cluster_label), "all");
        spec.labels.set(std::string(volume_supply_label), "all");
    }
    if (const auto marks = volumes.node_labels.find(spec.name); marks != volumes.node_labels.end())
        for (const auto& [key, value] : marks->second)
            spec.labels.set(key, value);
    return spec;
}

/// A queue as the core has it. Kinds that the table does not know are left out: nothing asks for
/// them.
template<std::size_t Width>
[[nodiscard]] queue<Width> core_queue(const queue_object& object, const kind_table& kinds) {
    queue<Width> spec;
    const auto set = [&](const std::map<std::string, std::int64_t>& from, const auto& use) {
        for (const auto& [kind, amount] : from)
            if (const auto column = kinds.find(kind))
                use(*column, amount);
    };
    set(object.quota, [&](kind_id kind, std::int64_t most) { spec.quota.set(kind, most); });
    set(object.non_preemptible_quota,
        [&](kind_id kind, std::int64_t most) { spec.non_preemptible_quota.set(kind, most); });
    set(object.deserved, [&](kind_id kind, std::int64_t most) { spec.deserved.set(kind, most); });
    set(object.guarantee, [&](kind_id kind, std::int64_t least) { spec.guarantee[kind] = least; });
    spec.preempt_min_runtime = object.preempt_min_runtime;
    spec.reclaim_min_runtime = object.reclaim_min_runtime;
    spec.priority = object.priority;
    spec.closed = object.closed;
    spec.preemptible = object.preemptible;
    spec.strict_order = object.strict_order;
    spec.weight = object.weight;
    spec.within_queue = object.within_queue;
    spec.within_cohort = object.within_cohort;
    spec.borrow_within_cohort = object.borrow_within_cohort;
    spec.tenants = object.namespaces;
    // T9k's without requirements admits no namespace.
    if (!object.of_cluster && spec.tenants && spec.tenants->requirements.empty())
        spec.tenants.reset();
    spec.nodes = object.nodes;
    for (std::size_t column = 0; object.nothing_else && column < kinds.size(); ++column) {
        const kind_id kind{column};
        // Kinds that are counted for volumes are no requests of pods.
        if (kinds.name(kind) != "pods" && !spec.deserved.limited(kind) &&
            !storage_kinds::counts_volumes(kinds.name(kind)))
            spec.quota.set(kind, 0);
    }
    return spec;
}

/// Volcano's `root` stands above all other queues of its cluster; where it is no object, nothing
/// stands there.
[[nodiscard]] inline std::optional<std::string> parent_of(const queue_object& of,
                                                          const manifests& objects) {
    const auto is_root = [&](const queue_object& other) {
        return other.of_cluster && other.metadata.key.name == of.parent;
    };
    if (of.parent.empty() ||
        (of.parent == volcano_root && std::ranges::none_of(objects.queues, is_root)))
        return std::nullopt;
    return of.parent;
}

/// A group as the core has it.
[[nodiscard]] inline gang<std::string>
core_gang(const manifests& objects, const object_lookup& lookup, const group_key& key,
          const group_facts& facts, const std::map<std::string_view, std::int64_t>& queue_ages) {
    gang<std::string> spec;
    if (!facts.queue.empty())
        spec.queue = facts.queue;
    spec.priority = facts.priority;
    spec.created = facts.created.value_or(std::numeric_limits<timestamp>::max());
    spec.duration = detail::longest_run(objects, facts, queue_ages);
    spec.tree = facts.tree;
    spec.may_preempt = std::ranges::none_of(facts.members, [&](std::size_t member) {
        return lookup.never_preempts(objects.pods[member]);
    });
    if (facts.declared) {
        spec.preemptible = facts.declared->preemptible;
        spec.may_preempt = spec.may_preempt && facts.declared->may_preempt;
    }
    spec.fault = facts.fault;
    spec.tenant = lookup.namespace_labels(key.name_space);
    return spec;
}

namespace detail {

/// Tells of which kinds a guarantee keeps nothing, since no queue above has a ceiling for others to
/// meet (Volcano means what the nodes have). O(kinds × depth).
template<std::size_t Width>
void check_guarantee(const queue_object& of, const cluster<Width>& in, diagnostics& out) {
    const auto known = in.state.find_queue(of.metadata.key.name);
    if (of.parent.empty() || !known)
        return;
    for (const auto& [kind, least] : of.guarantee) {
        bool bounded = false;
        for (auto at = in.state[known->index].parent; at && !bounded; at = in.state[*at].parent)
            bounded = in.state[*at].spec.quota.limited(*in.kinds.find(kind));
        if (!bounded)
            report(out, severity::warning, of.metadata.where, {"spec", "guarantee"},
                   kind +
                       " is guaranteed without effect: no queue above has a quota of it (expected "
                       "e.g. what the nodes have as the root's capability)");
    }
}

/// True if another scheduler has nominated the waiting pod to a node.
[[nodiscard]] inline bool is_nominated_by_others(const pod_object& pod,
                                                 const cluster_options& options) {
    return !options.scheduler_names.empty() && !pod.nominated_node.empty() && pod.node.empty() &&
           pod.phase == pod_phase::pending && !pod.metadata.terminating &&
           !options.scheduler_names.contains(pod.scheduler_name);
}

template<std::size_t Width>
[[nodiscard]] cluster<Width>
make_cluster(const manifests& objects, const std::set<std::string_view>& kinds, volume_plan volumes,
             const cluster_options& options, diagnostics& out) {
    MUSTER_ASSERT(kinds.size() <= Width, "the cluster is as wide as its kinds ask for");
    cluster<Width> made;
    made.objects = &objects;
    made.volumes = std::move(volumes);
    made.now = options.now.value_or(objects.newest.value_or(0));
    for (const std::string_view kind : kinds)
        static_cast<void>(made.kinds.intern(kind));
    const kind_id pods_kind = *made.kinds.find("pods");
    made.state = muster::state<kubernetes_traits<Width>>(pods_kind);
    auto& state = made.state;
    if (const device_judge* const judge = made.volumes.judge.get())
        state.set_device_rule(device_rule::of(*judge));

    for (const node_object& object : objects.nodes) {
        if (!object.allocatable.contains("pods"))
            report(out, severity::warning, object.metadata.where, {"status", "allocatable"},
                   "no pods are listed, so no pod fits (expected e.g. pods: 110)");
        check(state.upsert_node(object.metadata.key.name,
                                core_node<Width>(object, made.kinds, made.volumes)),
              object.metadata, out);
    }
    bool default_queue_exists = false;
    std::map<std::string_view, std::int64_t> queue_ages;
    std::set<std::string_view> names;
    for (const queue_object& object : objects.queues) {
        if (!object.counts(options.queue_namespace)) {
            report(out, severity::warning, object.metadata.where, {"metadata", "namespace"},
                   "a queue in " + in_quotes(object.metadata.key.name_space) +
                       " is ignored (expected namespace " + options.queue_namespace + ")");
            continue;
        }
        default_queue_exists |= object.metadata.key.name == "default";
        if (object.max_duration)
            queue_ages.emplace(object.metadata.key.name, *object.max_duration);
        if (!names.insert(object.metadata.key.name).second) {
            report(out, severity::error, object.metadata.where, {"metadata", "name"},
                   "another scheduler's queue is called " + in_quotes(object.metadata.key.name) +
                       ", too (expected one of each name)");
            continue;
        }
        check(state.upsert_queue(object.metadata.key.name, core_queue<Width>(object, made.kinds),
                                 parent_of(object, objects)),
              object.metadata, out);
    }
    if (!default_queue_exists)
        static_cast<void>(state.upsert_queue("default", queue<Width>{}));
    if (!names.contains(kai_default_queue) &&
        std::ranges::any_of(objects.gangs, [](const declared_gang& each) {
            return each.origin.api == translate::gang_api::kai;
        }))
        static_cast<void>(state.upsert_queue(std::string(kai_default_queue), queue<Width>{}));
    for (const queue_object& object : objects.queues)
        check_guarantee(object, made, out);

    const object_lookup lookup(objects);
    std::vector<const group_map::value_type*> group_of;
    made.groups = find_groups(objects, lookup, group_of, out);
    keep_groups_together(objects, options.levels, made.groups, out);
    for (auto& [key, facts] : made.groups)
        check_lone_claims(objects, made.volumes, facts);
    check_cluster(objects, made.groups, options.queue_namespace, out);
    for (const auto& [key, facts] : made.groups) {
        const event_result taken =
            state.upsert_gang(key, core_gang(objects, lookup, key, facts, queue_ages));
        MUSTER_ASSERT(taken == event_result::applied, "a group comes before its members");
        static_cast<void>(taken);
    }
    for (std::size_t at = 0; at < objects.pods.size(); ++at) {
        const pod_object& object = objects.pods[at];
        const auto& [group, facts] = *group_of[at];
        pod<Width> spec = core_pod<Width>(object, facts.role_of(object), made.kinds, pods_kind,
                                          made.volumes.find(object.metadata.key));
        spec.where.unsupported = spec.where.unsupported || !facts.unsupported.empty();
        std::optional<std::string> on;
        if (!object.node.empty())
            on = object.node;
        const bool nominated = is_nominated_by_others(object, options);
        if (nominated)
            spec.phase = pod_phase::gated;
        check(state.upsert_pod(object.metadata.key, group, std::move(spec), on), object.metadata,
              out);
        // If the node is not in the input, the pod still waits for its own scheduler.
        if (nominated)
            static_cast<void>(state.expect(object.metadata.key, object.nominated_node));
    }
    for (const disruption_budget_object& object : objects.budgets)
        check(state.upsert_budget(object.metadata.key, core_budget(object, objects, out)),
              object.metadata, out);
    return made;
}

} // namespace detail

/// Makes the state of a cluster from its objects. The order of the objects decides nothing.
/// Precondition: they name at most Width kinds.
template<std::size_t Width>
[[nodiscard]] cluster<Width> make_cluster(const manifests& objects, const cluster_options& options,
                                          diagnostics& out) {
    volume_plan volumes = plan_volumes(objects, out);
    const auto kinds = detail::kinds_of(objects, volumes);
    return detail::make_cluster<Width>(objects, kinds, std::move(volumes), options, out);
}

/// Makes the state of a cluster from its objects. Kinds that are `foreseen` get a column too, for
/// pods to come. Adds an error and returns nullopt if there are more than `max_kinds` kinds.
[[nodiscard]] inline std::optional<cluster<max_kinds>>
make_cluster(const manifests& objects, const cluster_options& options, diagnostics& out,
             const manifests* foreseen = nullptr) {
    volume_plan volumes = plan_volumes(objects, out, foreseen);
    std::set<std::string_view> kinds = detail::kinds_of(objects, volumes);
    if (foreseen != nullptr)
        kinds.merge(detail::kinds_of(*foreseen));
    if (kinds.size() > max_kinds) {
        out.error({"(input)", 0, 0}, "the cluster names " + std::to_string(kinds.size()) +
                                         " resource kinds (expected at most " +
                                         std::to_string(max_kinds) + ")");
        return std::nullopt;
    }
    return detail::make_cluster<max_kinds>(objects, kinds, std::move(volumes), options, out);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
