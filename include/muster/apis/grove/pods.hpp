// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/grove/documents.hpp>
#include <muster/apis/grove/gangs.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/set.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace detail {

/// What Grove tells every container about its place.
[[nodiscard]] inline boost::json::array
grove_environment(const grove_set& set, const grove_gang& gang, const grove_member& member) {
    const auto from_label = [](std::string_view name,
                               std::string_view label) -> boost::json::object {
        return {{"name", name},
                {"valueFrom",
                 {{"fieldRef", {{"fieldPath", "metadata.labels['" + std::string(label) + "']"}}}}}};
    };
    const auto plain = [](std::string_view name, std::string value) -> boost::json::object {
        return {{"name", name}, {"value", std::move(value)}};
    };
    boost::json::array made;
    made.push_back(plain("GROVE_PCS_NAME", std::string(set.name)));
    made.push_back(plain("GROVE_PCS_INDEX", std::to_string(gang.replica)));
    made.push_back(plain("GROVE_PCLQ_NAME", member.name));
    made.push_back(plain("GROVE_HEADLESS_SERVICE", grove::replica_name(set.name, gang.replica) +
                                                       '.' + set.name_space +
                                                       ".svc.cluster.local"));
    made.push_back(from_label("GROVE_PCLQ_POD_INDEX", grove::pod_index_label));
    if (const auto group = set.cliques[member.clique].group) {
        std::int64_t pods = 0;
        for (const std::size_t clique : set.groups[*group].cliques)
            pods += set.cliques[clique].replicas;
        made.push_back(from_label("GROVE_PCSG_NAME", grove::group_label));
        made.push_back(plain("GROVE_PCSG_TEMPLATE_NUM_PODS", std::to_string(pods)));
        made.push_back(from_label("GROVE_PCSG_INDEX", grove::group_replica_label));
    }
    return made;
}

/// Grove's variables come first, so that others may refer to them, and in place of those that a
/// template sets under the same names.
inline void grove_add_environment(boost::json::object& spec, std::string_view list,
                                  const boost::json::array& variables) {
    auto* const containers = spec.if_contains(list);
    if (!containers || !containers->is_array())
        return;
    for (boost::json::value& container : containers->get_array()) {
        if (!container.is_object())
            continue;
        boost::json::value& env = container.get_object()["env"];
        boost::json::array made = variables;
        if (const auto* own = env.if_array())
            for (const boost::json::value& each : *own) {
                const auto* object = each.if_object();
                const auto* name = object ? object->if_contains("name") : nullptr;
                const bool taken = name && std::ranges::any_of(variables, [&](const auto& known) {
                                       return known.get_object().at("name") == *name;
                                   });
                if (!taken)
                    made.push_back(each);
            }
        env = std::move(made);
    }
}

/// The container that waits for the PodCliques that start before.
inline void grove_add_order(boost::json::object& spec, const grove_set& set, const grove_gang& gang,
                            const grove_member& member, std::string_view image) {
    boost::json::array arguments;
    for (const auto& [name, least] : grove_predecessors(set, gang, member))
        arguments.emplace_back("--podcliques=" + name + ':' + std::to_string(least));
    if (arguments.empty())
        return;
    const auto list = [&](std::string_view key) -> boost::json::array& {
        boost::json::value& value = spec[key];
        if (!value.is_array())
            value = boost::json::array();
        return value.get_array();
    };
    const auto item = [](std::string_view path, std::string_view field) -> boost::json::object {
        return {{"path", path}, {"fieldRef", {{"fieldPath", field}}}};
    };
    boost::json::array items;
    items.push_back(item("namespace", "metadata.namespace"));
    items.push_back(
        item("podgangname", "metadata.labels['" + std::string(grove::gang_label) + "']"));
    list("volumes").push_back(boost::json::object{{"name", "pod-info-vol"},
                                                  {"downwardAPI", {{"items", std::move(items)}}}});
    boost::json::array mounts;
    mounts.push_back(boost::json::object{
        {"name", "pod-info-vol"}, {"mountPath", "/var/grove/pod-info"}, {"readOnly", true}});
    boost::json::object container{{"name", "grove-initc"}, {"image", image}};
    container["args"] = std::move(arguments);
    container["volumeMounts"] = std::move(mounts);
    list("initContainers").push_back(std::move(container));
}

} // namespace detail

/// A name for the pod at `index` of a PodClique: `<PodClique>-` and five letters that depend on the
/// two, and on `attempt`, which tells it from pods that have the name already.
[[nodiscard]] inline std::string grove_pod_name(const grove_member& member, std::int64_t index,
                                                std::int64_t attempt = 0) {
    return member.name + '-' +
           document_hash()
               .add(member.name)
               .add(std::to_string(index))
               .add(std::to_string(attempt))
               .letters(5);
}

/// The whole pod at `index` of a PodClique, gated, but for what its scheduler's backend marks it
/// with. O(pod).
[[nodiscard]] inline boost::json::object grove_pod(const grove_set& set, const grove_gang& gang,
                                                   const grove_member& member, std::int64_t index,
                                                   std::string_view name,
                                                   std::string_view clique_uid,
                                                   const grove_options& options) {
    const grove_clique& clique = set.cliques[member.clique];
    boost::json::object labels = detail::grove_member_labels(set, gang, member);
    labels[grove::clique_label] = member.name;
    labels[grove::pod_index_label] = std::to_string(index);
    labels[grove::template_hash_label] = grove_template_hash(clique);
    boost::json::object made = detail::grove_object(
        "v1", "Pod", name, set.name_space, std::move(labels), clique.annotations,
        {std::string(grove::api_version), "PodClique", member.name, std::string(clique_uid),
         options.dialect == grove_dialect::upstream});
    boost::json::object spec;
    if (clique.pod_spec)
        spec = *clique.pod_spec;
    const boost::json::array variables = detail::grove_environment(set, gang, member);
    detail::grove_add_environment(spec, "containers", variables);
    detail::grove_add_environment(spec, "initContainers", variables);
    detail::grove_add_order(spec, set, gang, member, options.init_image);
    spec["hostname"] = grove::replica_name(member.name, index);
    spec["subdomain"] = grove::replica_name(set.name, gang.replica);
    boost::json::value& gates = spec["schedulingGates"];
    if (!gates.is_array())
        gates = boost::json::array();
    gates.get_array().push_back(boost::json::object{{"name", grove_gate(options.dialect)}});
    made["spec"] = std::move(spec);
    return made;
}

/// Takes Grove's own gate from a pod; those of others stay.
inline void open_grove_gate(boost::json::object& pod, grove_dialect dialect) {
    boost::json::value* const spec = pod.if_contains("spec");
    boost::json::value* const gates =
        spec && spec->is_object() ? spec->get_object().if_contains("schedulingGates") : nullptr;
    if (!gates || !gates->is_array())
        return;
    boost::json::array left;
    for (boost::json::value& each : gates->get_array()) {
        const auto* name = each.is_object() ? each.get_object().if_contains("name") : nullptr;
        if (!name || !name->is_string() ||
            std::string_view(name->get_string()) != grove_gate(dialect))
            left.push_back(std::move(each));
    }
    *gates = std::move(left);
}

} // namespace translate
} // namespace v0_1
} // namespace muster
