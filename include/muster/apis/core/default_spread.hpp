// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_terms_reader.hpp>
#include <muster/apis/core/reading_rules.hpp>
#include <muster/apis/core/spread_owners.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
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

/// Returns those of the default constraints of the rules whose topology label some node has.
/// O(constraints · nodes).
template<class HasLabel>
[[nodiscard]] std::vector<const spread_term*> usable_default_spread(const reading_rules& rules,
                                                                    const HasLabel& some_node_has) {
    std::vector<const spread_term*> found;
    for (const spread_term& each : rules.default_spread)
        if (some_node_has(each.topology))
            found.push_back(&each);
    return found;
}

/// Returns the default spread constraints of a pod: none if it has a node or constraints of its
/// own. As in kube-scheduler, a constraint counts the pods that all Services of the pod and its
/// controller select; a pod that none of them selects gets no constraint.
[[nodiscard]] inline std::vector<spread_term>
default_spread_of(const pod_object& pod, const spread_owners& owners,
                  const std::vector<const spread_term*>& defaults) {
    std::vector<spread_term> found;
    if (defaults.empty() || pod.phase != pod_phase::pending || !pod.node.empty() ||
        (pod.where.pods && !pod.where.pods->spread.empty()))
        return found;
    const std::set<label_requirement> selected = owners.selectors_of(pod);
    if (selected.empty())
        return found;
    for (const spread_term* const each : defaults) {
        spread_term& made = found.emplace_back(*each);
        made.pods.tenants = {detail::namespaces_named({pod.metadata.key.name_space})};
        made.pods.labels.requirements.assign(selected.begin(), selected.end());
    }
    return found;
}

/// Adds spread constraints to those of a pod.
inline void add_spread(std::vector<spread_term> terms, constraints& where) {
    if (terms.empty())
        return;
    if (!where.pods)
        where.pods.emplace();
    std::ranges::move(terms, std::back_inserter(where.pods->spread));
}

/// Adds the default spread constraints to the pods of an input. Idempotent.
/// O(pods · log objects + pods · Services of their namespaces).
inline void apply_default_spread(manifests& objects, const reading_rules& rules) {
    const auto defaults = usable_default_spread(rules, [&](const std::string& label) {
        return std::ranges::any_of(objects.nodes, [&](const node_object& node) {
            return node.metadata.labels.find(label) != nullptr;
        });
    });
    if (defaults.empty())
        return;
    spread_owners owners;
    for (const spread_owner_object& each : objects.spread_owners)
        owners.add(each);
    for (pod_object& pod : objects.pods)
        add_spread(default_spread_of(pod, owners, defaults), pod.where);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
