// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/numa/node_topology.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/devices/numa_admission.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/metadata_text.hpp>
#include <muster/document/timestamp.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// The Topology Manager's policy and scope, as a NodeResourceTopology names them.
struct topology_manager {
    std::optional<numa_policy> policy;
    numa_scope scope = numa_scope::container;
};

/// When the zones were written last.
struct zones_write {
    std::optional<timestamp> at;
    /// The times of the writes are there, but cannot be read.
    bool is_unreadable = false;
};

/// Returns the newest time in `metadata.managedFields` of a manager that wrote the zones. The API
/// server sets it with every write of this manager. Other managers may have written labels later.
[[nodiscard]] inline zones_write last_write(const boost::json::value* object) {
    const auto member = [](const boost::json::value* of,
                           std::string_view key) -> const boost::json::value* {
        const boost::json::object* const fields = of ? of->if_object() : nullptr;
        return fields ? fields->if_contains(key) : nullptr;
    };
    const boost::json::value* const list = member(member(object, "metadata"), "managedFields");
    if (!list)
        return {};
    if (!list->is_array())
        return {std::nullopt, true};
    std::optional<timestamp> newest;
    for (const boost::json::value& each : list->get_array())
        if (member(member(&each, "fieldsV1"), "f:zones"))
            if (const boost::json::value* const at = member(&each, "time"); at && at->is_string())
                if (const auto time = parse_timestamp(std::string_view(at->get_string())))
                    newest = std::max(*time, newest.value_or(*time));
    return {newest, false};
}

/// Reads the first item of the deprecated list of policies.
inline void read_topology_policies(const field& at, topology_manager& to) {
    const array_reader list = at.as_array();
    if (list.size() == 0)
        return;
    const field first = list[0];
    const auto named = first.as_string();
    if (!named)
        return;
    const auto is = [&](std::string_view policy, std::string_view scope) {
        return *named == std::string(policy) + std::string(scope);
    };
    const bool whole_pods = named->ends_with("PodLevel");
    if (is("SingleNUMANode", "PodLevel") || is("SingleNUMANode", "ContainerLevel"))
        to.policy = numa_policy::single_numa_node;
    else if (is("Restricted", "PodLevel") || is("Restricted", "ContainerLevel") ||
             *named == "Restricted")
        to.policy = numa_policy::restricted;
    else if (!named->starts_with("BestEffort") && *named != "None")
        first.warning(in_quotes(*named) + " is not a policy, and counts as None (expected e.g. "
                                          "SingleNUMANodeContainerLevel or RestrictedPodLevel)");
    if (whole_pods)
        to.scope = numa_scope::pod;
}

inline void read_topology_attributes(const field& at, topology_manager& to) {
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        const auto name = each.required("name").as_string();
        const field value_at = each.optional("value");
        const auto value = value_at.as_string();
        each.finish();
        if (!name || !value)
            return;
        if (*name == "topologyManagerPolicy") {
            if (*value == "single-numa-node")
                to.policy = numa_policy::single_numa_node;
            else if (*value == "restricted")
                to.policy = numa_policy::restricted;
            else if (*value == "none" || *value == "best-effort")
                to.policy.reset();
            else
                value_at.warning(in_quotes(*value) +
                                 " is not a policy, and is ignored (expected none, best-effort, "
                                 "restricted or single-numa-node)");
        } else if (*name == "topologyManagerScope") {
            if (*value == "pod" || *value == "container")
                to.scope = *value == "pod" ? numa_scope::pod : numa_scope::container;
            else
                value_at.warning(in_quotes(*value) +
                                 " is not a scope, and is ignored (expected container or pod)");
        }
    });
}

/// Reads up to one resource more than `most`.
inline void read_zone_resources(const field& at, std::size_t most, numa_zone& to) {
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        const auto name = each.required("name").as_string();
        const auto capacity = read_quantity(each.required("capacity"));
        const auto allocatable = read_quantity(each.required("allocatable"));
        const field available_at = each.required("available");
        const auto available = read_quantity(available_at);
        each.finish();
        if (!name || !capacity || !allocatable || !available || to.supplies.size() > most)
            return;
        numa_supply read{capacity_units(*name, *capacity), capacity_units(*name, *allocatable),
                         capacity_units(*name, *available)};
        if (read.available > read.allocatable) {
            available_at.warning("more than is allocatable, which counts (expected at most " +
                                 std::to_string(read.allocatable) + ")");
            read.available = read.allocatable;
        }
        if (!to.supplies.emplace(*name, read).second)
            each.warning("resource " + std::string(*name) +
                         " is listed twice, and the first entry counts (expected each once)");
    });
}

/// Maximum number of resources of a zone.
inline constexpr std::size_t max_zone_resources = 256;

/// Appends a zone of the type Node. Other zones, such as sockets, are not read.
inline void read_numa_zone(object_reader& object, std::set<std::int64_t>& known,
                           std::vector<numa_zone>& to) {
    const field name_at = object.required("name");
    const auto name = name_at.as_string();
    const auto type = object.required("type").as_string();
    const field resources_at = object.optional("resources");
    object.ignore({"parent", "costs", "attributes"});
    object.finish();
    if (!name || type != "Node")
        return;
    constexpr std::string_view prefix = "node-";
    const auto id =
        name->starts_with(prefix)
            ? whole_number(name->substr(prefix.size()), 0, std::numeric_limits<std::int32_t>::max())
            : std::nullopt;
    if (!id)
        return name_at.warning(in_quotes(*name) +
                               " is not the name of a NUMA node, and takes no pods (expected e.g. "
                               "node-0)");
    if (!known.insert(*id).second)
        return name_at.warning("zone " + std::string(*name) +
                               " is listed twice, and the first entry counts (expected each once)");
    // A node with more zones is closed, whatever they have.
    if (to.size() > max_numa_zones)
        return;
    numa_zone made;
    made.id = *id;
    read_zone_resources(resources_at, max_zone_resources, made);
    to.push_back(std::move(made));
}

/// Returns why a node with these zones is closed, and what is expected; empty if it is not.
[[nodiscard]] inline std::string closing_reason(const numa_zones& of, std::size_t zones) {
    const std::size_t most =
        of.policy == numa_policy::restricted ? max_restricted_zones : max_numa_zones;
    const auto text = [](const std::string& has, std::size_t expected) {
        return has + ", and takes no pods that must be aligned (expected at most " +
               std::to_string(expected) + ")";
    };
    if (zones > most)
        return text("has " + std::to_string(zones) + " NUMA zones", most);
    for (const numa_zone& zone : of.zones)
        if (zone.supplies.size() > max_zone_resources)
            return text("has more than " + std::to_string(max_zone_resources) +
                            " resources in NUMA zone " + std::to_string(zone.id),
                        max_zone_resources);
    return {};
}

} // namespace detail

/// Reads a NodeResourceTopology, v1alpha1 or v1alpha2. As in scheduler-plugins, the first of the
/// deprecated `topologyPolicies` is used, and the attributes `topologyManagerPolicy` and
/// `topologyManagerScope` override it. A node is closed, with a warning, if it has more zones than
/// are modelled (max_numa_zones), more than 256 resources in a zone, or `metadata.managedFields`
/// that cannot be read: it is then unknown which pods the report includes. O(object · log).
[[nodiscard]] inline node_topology_object read_node_topology(object_reader& object,
                                                             reading_context& context) {
    node_topology_object read;
    const detail::zones_write written = detail::last_write(object.value());
    read.reported = written.at;
    read.metadata = read_metadata(object, false, context);
    detail::topology_manager manager;
    detail::read_topology_policies(object.optional("topologyPolicies"), manager);
    detail::read_topology_attributes(object.optional("attributes"), manager);
    numa_zones zones;
    const field zones_at = object.required("zones");
    const array_reader list = zones_at.as_array();
    std::set<std::int64_t> ids;
    list.for_each_object(
        [&](object_reader& each) { detail::read_numa_zone(each, ids, zones.zones); });
    std::ranges::sort(zones.zones, {}, &numa_zone::id);
    object.ignore({"apiVersion", "kind"});
    object.finish();
    if (!manager.policy)
        return read;
    zones.policy = *manager.policy;
    zones.scope = manager.scope;
    std::string reason = detail::closing_reason(zones, ids.size());
    if (reason.empty() && written.is_unreadable)
        reason = "takes no pods that must be aligned: metadata.managedFields cannot be read "
                 "(expected a list)";
    if (!reason.empty()) {
        zones_at.warning("node " + read.metadata.key.name + " " + reason);
        zones.closed = true;
        zones.zones.clear();
    }
    read.zones = std::move(zones);
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
