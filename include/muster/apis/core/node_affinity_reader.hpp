// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/pod_fields.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/vocabulary/constraints.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

[[nodiscard]] inline node_term read_node_term(object_reader& object,
                                              std::vector<std::string>& unsupported) {
    node_term read;
    read.labels.requirements =
        read_requirements(object.optional("matchExpressions"), true, &unsupported);
    const field fields_at = object.optional("matchFields");
    read.name = read_requirements(fields_at, true, &unsupported);
    for (const label_requirement& each : read.name)
        if (each.key != "metadata.name")
            fields_at.error(in_quotes(each.key) + " is not a field (expected metadata.name)");
    finish(object, pod_tables::node_term, unsupported);
    return read;
}

/// Reads a NodeSelector: a node matches if at least one of the terms does. Returns nullopt if the
/// field is absent.
[[nodiscard]] inline std::optional<std::vector<node_term>>
read_node_selector(const field& at, std::vector<std::string>& unsupported) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return std::nullopt;
    std::vector<node_term> read;
    const field terms_at = object.required("nodeSelectorTerms");
    const array_reader terms = terms_at.as_array();
    terms.for_each_object(
        [&](object_reader& each) { read.push_back(read_node_term(each, unsupported)); });
    finish(object, pod_tables::node_selector, unsupported);
    return read;
}

inline void read_node_affinity(const field& at, pod_object& pod) {
    constraints& where = pod.where;
    object_reader object = at.as_object();
    where.affinity = read_node_selector(
        object.optional("requiredDuringSchedulingIgnoredDuringExecution"), pod.unsupported);
    const field preferred_at = object.optional("preferredDuringSchedulingIgnoredDuringExecution");
    const array_reader preferred = preferred_at.as_array();
    preferred.for_each_object([&](object_reader& each) {
        preferred_node_term one;
        one.weight =
            static_cast<std::int32_t>(each.required("weight").as_integer(1, 100).value_or(1));
        const field term_at = each.required("preference");
        object_reader term = term_at.as_object();
        one.term = read_node_term(term, pod.unsupported);
        finish(each, pod_tables::preferred_node, pod.unsupported);
        where.preferred.push_back(std::move(one));
    });
    finish(object, pod_tables::affinity_kind, pod.unsupported);
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
