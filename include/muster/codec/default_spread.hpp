// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/codec/field_reader.hpp>
#include <muster/codec/objects.hpp>
#include <muster/codec/pod_terms_reader.hpp>
#include <muster/codec/reading_context.hpp>
#include <muster/codec/reading_rules.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// kube-scheduler's own default constraints (defaultingType System).
[[nodiscard]] inline std::vector<spread_term> system_default_spread() {
    const auto soft = [](std::string topology, std::int32_t max_skew) {
        spread_term made;
        made.topology = std::move(topology);
        made.max_skew = max_skew;
        made.required = false;
        return made;
    };
    return {soft("kubernetes.io/hostname", 3), soft("topology.kubernetes.io/zone", 5)};
}

namespace detail {

/// Reads the default constraints of a PodTopologySpreadArgs.
[[nodiscard]] inline std::vector<spread_term> read_spread_arguments(object_reader& object) {
    const field type_at = object.optional("defaultingType");
    const auto type = type_at.as_string().value_or("System");
    const field list_at = object.optional("defaultConstraints");
    const array_reader list = list_at.as_array();
    if (type != "System" && type != "List")
        type_at.error(in_quotes(type) + " is not a type of defaults (expected System or List)");
    if (type == "System" && list.size() > 0)
        list_at.error("given with the type System (expected defaultingType: List)");
    list.for_each_object([](object_reader& each) {
        for (const std::string_view key : {"labelSelector", "matchLabelKeys"})
            if (const field at = each.optional(key); at.is_present())
                at.error("default constraints select by the pod's own owners (expected none)");
    });
    if (type == "System")
        return system_default_spread();
    pod_terms terms;
    std::vector<std::string> unsupported;
    read_spread(list_at, {}, {}, terms, unsupported);
    return std::move(terms.spread);
}

} // namespace detail

/// Reads the default spread constraints of a KubeSchedulerConfiguration (first profile) or of a
/// PodTopologySpreadArgs. Returns system_default_spread() if the configuration does not name the
/// plugin PodTopologySpread. The terms have no selectors; apply_default_spread() adds them. Errors
/// go to `out`.
[[nodiscard]] inline std::vector<spread_term> read_default_spread(const document& source,
                                                                  diagnostics& out) {
    object_reader object(source, out);
    const field kind_at = object.required("kind");
    const auto kind = kind_at.as_string();
    if (kind == "PodTopologySpreadArgs")
        return detail::read_spread_arguments(object);
    if (kind && *kind != "KubeSchedulerConfiguration")
        kind_at.error(in_quotes(*kind) + " has no default constraints (expected "
                                         "KubeSchedulerConfiguration or PodTopologySpreadArgs)");
    const field profiles_at = object.optional("profiles");
    const array_reader profiles = profiles_at.as_array();
    std::optional<std::vector<spread_term>> read;
    if (profiles.size() > 0) {
        const field profile_at = profiles[0];
        object_reader profile = profile_at.as_object();
        const field plugins_at = profile.optional("pluginConfig");
        const array_reader plugins = plugins_at.as_array();
        plugins.for_each_object([&](object_reader& each) {
            if (each.required("name").as_string() != "PodTopologySpread")
                return;
            const field arguments_at = each.required("args");
            object_reader arguments = arguments_at.as_object();
            read = detail::read_spread_arguments(arguments);
        });
    }
    return read ? std::move(*read) : system_default_spread();
}

namespace detail {

/// True if default constraints use the pod selectors of this kind.
[[nodiscard]] constexpr bool selects_for_spread(std::string_view version,
                                                std::string_view kind) noexcept {
    return (version == "v1" && (kind == "Service" || kind == "ReplicationController")) ||
           (version == "apps/v1" && (kind == "ReplicaSet" || kind == "StatefulSet"));
}

/// Reads a Service, ReplicationController, ReplicaSet or StatefulSet.
[[nodiscard]] inline spread_owner_object
read_spread_owner(object_reader& object, std::string_view kind, reading_context& context) {
    spread_owner_object read;
    read.metadata = read_metadata(object, true, context);
    read.kind = kind;
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    const field selector_at = spec.optional("selector");
    if (kind == "ReplicaSet" || kind == "StatefulSet") {
        read.pods = read_label_selector(selector_at);
    } else if (selector_at.is_present()) {
        read.pods = {{require_equal(read_labels(selector_at))}};
    } else if (kind == "ReplicationController") {
        const field template_at = spec.optional("template");
        object_reader made = template_at.as_object();
        const field metadata_at = made.optional("metadata");
        object_reader metadata = metadata_at.as_object();
        read.pods = {{require_equal(read_labels(metadata.optional("labels")))}};
    }
    return read;
}

/// Returns the pod's owner that is its controller, if any.
[[nodiscard]] inline std::optional<controller_reference> read_controller(object_reader& pod) {
    std::optional<controller_reference> read;
    const field metadata_at = pod.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    const field owners_at = metadata.optional("ownerReferences");
    const array_reader owners = owners_at.as_array();
    owners.for_each_object([&](object_reader& each) {
        if (read || !each.optional("controller").as_boolean().value_or(false))
            return;
        read.emplace();
        read->version = each.optional("apiVersion").as_string().value_or("");
        read->kind = each.optional("kind").as_string().value_or("");
        read->name = each.optional("name").as_string().value_or("");
    });
    return read;
}

} // namespace detail

/// Adds the default spread constraints to waiting pods that have none. As in kube-scheduler, a
/// constraint counts the pods that all Services of the pod and its controller select; a pod that
/// none of them selects gets no constraint. Leaves out constraints whose topology label no node
/// has. Idempotent.
/// O(pods · log objects + pods · Services of their namespaces).
inline void apply_default_spread(manifests& objects, const reading_rules& rules) {
    std::vector<const spread_term*> defaults;
    for (const spread_term& each : rules.default_spread)
        if (std::ranges::any_of(objects.nodes, [&](const node_object& node) {
                return node.metadata.labels.find(each.topology) != nullptr;
            }))
            defaults.push_back(&each);
    if (defaults.empty())
        return;
    std::map<std::string_view, std::vector<const spread_owner_object*>> services;
    std::map<std::pair<std::string_view, object_key>, const spread_owner_object*> controllers;
    for (const spread_owner_object& each : objects.spread_owners) {
        if (!each.pods)
            continue;
        if (each.kind == "Service")
            services[each.metadata.key.name_space].push_back(&each);
        else
            controllers.emplace(std::pair(std::string_view(each.kind), each.metadata.key), &each);
    }
    for (pod_object& pod : objects.pods) {
        if (pod.phase != pod_phase::pending || !pod.node.empty() ||
            (pod.where.pods && !pod.where.pods->spread.empty()))
            continue;
        std::set<label_requirement> selected;
        const auto add = [&](const spread_owner_object& owner) {
            selected.insert(owner.pods->requirements.begin(), owner.pods->requirements.end());
        };
        const std::string& home = pod.metadata.key.name_space;
        if (const auto at = services.find(home); at != services.end())
            for (const spread_owner_object* const each : at->second)
                if (each->pods->matches(pod.metadata.labels))
                    add(*each);
        if (pod.controller &&
            detail::selects_for_spread(pod.controller->version, pod.controller->kind)) {
            const auto at = controllers.find({pod.controller->kind, {home, pod.controller->name}});
            if (at != controllers.end())
                add(*at->second);
        }
        if (selected.empty())
            continue;
        if (!pod.where.pods)
            pod.where.pods.emplace();
        for (const spread_term* const each : defaults) {
            spread_term made = *each;
            made.pods.tenants = {detail::namespaces_named({home})};
            made.pods.labels.requirements.assign(selected.begin(), selected.end());
            pod.where.pods->spread.push_back(std::move(made));
        }
    }
}

} // namespace codec
} // namespace muster::inline v0_1
