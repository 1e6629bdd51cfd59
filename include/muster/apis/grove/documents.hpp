// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/grove/gangs.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/document/document_hash.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

struct grove_options {
    grove_dialect dialect = grove_dialect::upstream;
    /// Of the container that waits until a pod may start. It reads the names of its namespace and
    /// gang from /var/grove/pod-info.
    std::string_view init_image = "ghcr.io/ai-dynamo/grove/grove-initc:latest";
};

/// The gate that keeps a set's pods from being scheduled too early.
[[nodiscard]] constexpr std::string_view grove_gate(grove_dialect dialect) noexcept {
    return dialect == grove_dialect::seed ? grove::seed_gate : grove::upstream_gate;
}

namespace detail {

[[nodiscard]] inline boost::json::array grove_owner(const object_reference& owner) {
    boost::json::object made{{"apiVersion", owner.api_version},
                             {"kind", owner.kind},
                             {"name", owner.name},
                             {"uid", owner.uid}};
    if (owner.controller) {
        made["controller"] = true;
        made["blockOwnerDeletion"] = true;
    }
    return {std::move(made)};
}

inline void grove_merge(boost::json::object& to, const boost::json::object* from) {
    if (from)
        for (const auto& each : *from)
            to.insert_or_assign(each.key(), each.value());
}

/// apiVersion, kind, and metadata with a name, labels and an owner.
[[nodiscard]] inline boost::json::object
grove_object(std::string_view api_version, std::string_view kind, std::string_view name,
             std::string_view name_space, boost::json::object labels,
             const boost::json::object* annotations, const object_reference& owner) {
    boost::json::object metadata{{"name", name}, {"namespace", name_space}};
    metadata["labels"] = std::move(labels);
    if (annotations && !annotations->empty())
        metadata["annotations"] = *annotations;
    metadata["ownerReferences"] = grove_owner(owner);
    return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

[[nodiscard]] inline boost::json::object grove_labels(const grove_set& set,
                                                      std::string_view component) {
    return {{grove::managed_by_label, grove::operator_name},
            {grove::part_of_label, set.name},
            {grove::component_label, component}};
}

/// Whose replica a PodClique and its pods are.
[[nodiscard]] inline boost::json::object
grove_member_labels(const grove_set& set, const grove_gang& gang, const grove_member& member) {
    const grove_clique& clique = set.cliques[member.clique];
    boost::json::object labels;
    grove_merge(labels, clique.labels);
    grove_merge(labels, &static_cast<const boost::json::object&>(
                            grove_labels(set, clique.group ? "pcsg-podclique" : "pcs-podclique")));
    labels[grove::replica_label] = std::to_string(gang.replica);
    labels[grove::gang_label] = gang.name;
    if (gang.group)
        labels[grove::base_gang_label] = grove::replica_name(set.name, gang.replica);
    if (clique.group) {
        labels[grove::group_label] =
            grove::part_name(set.name, gang.replica, set.groups[*clique.group].name);
        labels[grove::group_replica_label] = std::to_string(member.group_replica);
    }
    return labels;
}

} // namespace detail

/// The set as its children's owner.
[[nodiscard]] inline object_reference grove_owner_of(const grove_set& set, grove_dialect dialect) {
    return {std::string(grove::api_version), "PodCliqueSet", std::string(set.name),
            std::string(set.uid), dialect == grove_dialect::upstream};
}

/// A number that changes when pods of a clique would be made otherwise, as eight letters.
[[nodiscard]] inline std::string grove_template_hash(const grove_clique& clique) {
    document_hash hash;
    for (const boost::json::object* part : {clique.labels, clique.annotations, clique.pod_spec})
        hash.add_document(part ? boost::json::value(*part) : boost::json::value());
    return hash.letters(8);
}

/// The headless Service of a set's replica.
[[nodiscard]] inline boost::json::object grove_service(const grove_set& set, std::int64_t replica,
                                                       const grove_options& options) {
    boost::json::object labels = detail::grove_labels(set, "pcs-headless-service");
    labels[grove::replica_label] = std::to_string(replica);
    boost::json::object made = detail::grove_object(
        "v1", "Service", grove::replica_name(set.name, replica), set.name_space, std::move(labels),
        nullptr, grove_owner_of(set, options.dialect));
    made["spec"] = {
        {"clusterIP", "None"},
        {"publishNotReadyAddresses", set.publish_not_ready},
        {"selector",
         {{grove::part_of_label, set.name}, {grove::replica_label, std::to_string(replica)}}}};
    return made;
}

/// The PodCliqueScalingGroup of a set's replica with so many replicas.
[[nodiscard]] inline boost::json::object
grove_scaling_group_object(const grove_set& set, std::int64_t replica, std::size_t group,
                           std::int64_t replicas, const grove_options& options) {
    const grove_scaling_group& own = set.groups[group];
    boost::json::object labels = detail::grove_labels(set, "pcs-podcliquescalinggroup");
    labels[grove::replica_label] = std::to_string(replica);
    boost::json::object made = detail::grove_object(
        grove::api_version, "PodCliqueScalingGroup", grove::part_name(set.name, replica, own.name),
        set.name_space, std::move(labels), own.annotations, grove_owner_of(set, options.dialect));
    boost::json::array names;
    for (const std::size_t clique : own.cliques)
        names.emplace_back(set.cliques[clique].name);
    made["spec"] = {{"replicas", replicas},
                    {"minAvailable", own.min_available},
                    {"cliqueNames", std::move(names)}};
    return made;
}

/// A PodClique with so many replicas; its startsAfter names PodCliques.
[[nodiscard]] inline boost::json::object
grove_clique_object(const grove_set& set, const grove_gang& gang, const grove_member& member,
                    std::int64_t replicas, const object_reference& owner) {
    const grove_clique& clique = set.cliques[member.clique];
    boost::json::object labels = detail::grove_member_labels(set, gang, member);
    labels[grove::template_hash_label] = grove_template_hash(clique);
    boost::json::object made =
        detail::grove_object(grove::api_version, "PodClique", member.name, set.name_space,
                             std::move(labels), clique.annotations, owner);
    boost::json::object spec;
    if (clique.spec)
        spec = *clique.spec;
    spec["replicas"] = replicas;
    spec["minAvailable"] = clique.min_available;
    spec.erase("startsAfter");
    boost::json::array parents;
    for (const auto& parent : grove_predecessors(set, gang, member))
        parents.emplace_back(parent.first);
    if (!parents.empty())
        spec["startsAfter"] = std::move(parents);
    made["spec"] = std::move(spec);
    return made;
}

/// A PodGang whose podgroups refer to pods: `references(leaf) -> names`, leaves counted from 0.
template<class References>
[[nodiscard]] boost::json::object grove_gang_document(const gang_object& gang,
                                                      const References& references) {
    boost::json::object metadata{{"name", gang.name}, {"namespace", gang.name_space}};
    metadata["labels"] = gang.labels;
    if (!gang.annotations.empty())
        metadata["annotations"] = gang.annotations;
    if (!gang.owners.empty())
        metadata["ownerReferences"] = detail::grove_owner(gang.owners.front());
    const auto pack = [](const topology_constraint& how) -> boost::json::object {
        boost::json::object constraint;
        if (how.required)
            constraint["required"] = how.within.levels[*how.required];
        if (how.preferred)
            constraint["preferred"] = how.within.levels[*how.preferred];
        return {{"packConstraint", std::move(constraint)}};
    };
    boost::json::object spec;
    if (!gang.priority.class_name.empty())
        spec["priorityClassName"] = gang.priority.class_name;
    if (gang.tree[std::size_t{0}].together)
        spec["topologyConstraint"] = pack(*gang.tree[std::size_t{0}].together);
    boost::json::array podgroups;
    boost::json::array configs;
    std::size_t leaf = 0;
    for (std::size_t at = 1; at < gang.tree.size(); ++at) {
        const gang_tree::vertex& vertex = gang.tree[at];
        boost::json::object each{{"name", vertex.name}};
        if (gang.tree.is_leaf(at)) {
            each["minReplicas"] = vertex.min_member;
            boost::json::array list;
            for (const std::string& name : references(leaf++))
                list.push_back(boost::json::object{{"namespace", gang.name_space}, {"name", name}});
            each["podReferences"] = std::move(list);
        } else {
            boost::json::array names;
            for (std::size_t below = at + 1; below < gang.tree.size(); ++below)
                if (gang.tree[below].parent == at)
                    names.emplace_back(gang.tree[below].name);
            each["podGroupNames"] = std::move(names);
        }
        if (vertex.together)
            each["topologyConstraint"] = pack(*vertex.together);
        (gang.tree.is_leaf(at) ? podgroups : configs).push_back(std::move(each));
    }
    spec["podgroups"] = std::move(podgroups);
    if (!configs.empty())
        spec["topologyConstraintGroupConfigs"] = std::move(configs);
    return {{"apiVersion", grove::scheduler_api_version},
            {"kind", "PodGang"},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
}

} // namespace translate
} // namespace v0_1
} // namespace muster
