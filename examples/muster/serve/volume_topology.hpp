// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <muster/serve/json_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Labels that a node must have to reach a volume. Empty: every node reaches it.
using topology_segment = std::map<std::string, std::string>;

namespace detail {

[[nodiscard]] inline bool contains_text(const json::array* list, std::string_view text) {
    return list && std::ranges::find(*list, json::value(text)) != list->end();
}

/// Returns the segment of one TopologySelectorTerm, if the node is in that term. Without a node,
/// returns the segment of the first value of each key.
[[nodiscard]] inline std::optional<topology_segment> segment_of(const json::object& term,
                                                                const json::object* node) {
    topology_segment made;
    const json::array* const keys = array_at(term, {"matchLabelExpressions"});
    if (!keys)
        return made;
    for (const json::value& each : *keys) {
        if (!each.is_object())
            continue;
        const std::string key(text_at(each.get_object(), {"key"}));
        const json::array* const values = array_at(each.get_object(), {"values"});
        if (node) {
            const std::string_view label = text_at(*node, {"metadata", "labels", key});
            if (label.empty() || !contains_text(values, label))
                return std::nullopt;
            made[key] = label;
        } else if (values && !values->empty() && values->front().is_string()) {
            made[key] = view(values->front().get_string());
        }
    }
    return made;
}

} // namespace detail

/// Returns the segment in which a provisioner makes a volume of a class: the part of the class's
/// allowedTopologies that the node is in, and the topology keys of the class's driver on that node.
/// Empty if the node is in none of the allowed topologies. `node`, `csi_node`: null = not known.
[[nodiscard]] inline std::optional<topology_segment>
choose_topology(const json::object& storage_class, const json::object* node,
                const json::object* csi_node) {
    std::optional<topology_segment> made;
    const json::array* const terms = array_at(storage_class, {"allowedTopologies"});
    if (!terms || terms->empty())
        made.emplace();
    else
        for (const json::value& each : *terms)
            if (!made && each.is_object())
                made = detail::segment_of(each.get_object(), node);
    const json::array* const drivers =
        csi_node ? array_at(*csi_node, {"spec", "drivers"}) : nullptr;
    if (!made || !node || !drivers)
        return made;
    for (const json::value& driver : *drivers) {
        if (!driver.is_object() ||
            text_at(driver.get_object(), {"name"}) != text_at(storage_class, {"provisioner"}))
            continue;
        if (const json::array* const keys = array_at(driver.get_object(), {"topologyKeys"}))
            for (const json::value& key : *keys)
                if (key.is_string())
                    if (const auto label =
                            text_at(*node, {"metadata", "labels", view(key.get_string())});
                        !label.empty())
                        (*made)[std::string(view(key.get_string()))] = label;
    }
    return made;
}

/// Returns the node affinity of a volume in a segment.
[[nodiscard]] inline json::object affinity_of(const topology_segment& segment) {
    json::array expressions;
    for (const auto& [key, value] : segment)
        expressions.push_back(json::object{
            {"key", key}, {"operator", "In"}, {"values", json::array{json::value(value)}}});
    json::object term{{"matchExpressions", std::move(expressions)}};
    json::object required{{"nodeSelectorTerms", json::array{std::move(term)}}};
    return {{"required", std::move(required)}};
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
