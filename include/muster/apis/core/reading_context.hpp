// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/reading_rules.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/generated_name.hpp>
#include <muster/resource/quantity_text.hpp>
#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What all readers share while they read one input.
struct reading_context {
    std::string default_namespace = "default";
    reading_rules rules;
    /// The newest time seen so far.
    std::optional<timestamp> newest;
    /// In bytes, when the nodes are known before the jobs are read.
    std::optional<std::int64_t> largest_node_memory;
    /// Names made so far for objects that leave theirs to the API server.
    std::int64_t generated_names = 0;

    [[nodiscard]] std::optional<timestamp> time(const field& at) {
        const std::optional<timestamp> read = at.as_timestamp();
        if (read && (!newest || *read > *newest))
            newest = read;
        return read;
    }
};

/// A quantity that is not negative; anything else is an error.
[[nodiscard]] inline std::optional<quantity> read_quantity(const field& at) {
    const std::optional<std::string> text = at.as_quantity_text();
    if (!text)
        return std::nullopt;
    auto parsed = parse_quantity(*text);
    if (!parsed) {
        at.error(in_quotes(*text) + " is not a quantity (expected e.g. 500m, 4, 2Gi)");
        return std::nullopt;
    }
    if (parsed->sign() < 0) {
        at.error(in_quotes(*text) + " is negative (expected a quantity of at least 0)");
        return std::nullopt;
    }
    return std::move(parsed).value();
}

/// What a node or a quota has: rounded down, never more than there is.
[[nodiscard]] inline std::int64_t capacity_units(std::string_view kind, const quantity& amount) {
    return kind == "cpu" ? amount.milli_down() : amount.units_down();
}

/// What a pod asks for, in thousandths, rounded up as the API server rounds it.
[[nodiscard]] inline int128 request_milli(const quantity& amount) {
    if (const auto exact = amount.exact_milli())
        return *exact;
    return static_cast<int128>(amount.units_up()) * 1000;
}

[[nodiscard]] inline label_set read_labels(const field& at) {
    label_set labels;
    object_reader object = at.as_object();
    object.for_each_string([&](std::string_view key, std::string_view value) {
        labels.set(std::string(key), std::string(value));
    });
    return labels;
}

/// The preemptionPolicy of a pod or a PriorityClass; absent, others may be evicted for it.
[[nodiscard]] inline bool read_never_preempts(const field& at) {
    const auto policy = at.as_string().value_or("PreemptLowerPriority");
    if (policy != "Never" && policy != "PreemptLowerPriority")
        at.error(in_quotes(policy) + " is not a policy (expected Never or PreemptLowerPriority)");
    return policy == "Never";
}

/// Strings of a list; other elements are errors.
[[nodiscard]] inline std::vector<std::string> read_strings(const array_reader& list) {
    std::vector<std::string> strings;
    list.for_each([&](const field& element) {
        if (const auto text = element.as_string())
            strings.emplace_back(*text);
    });
    return strings;
}

/// metadata of any object. `namespaced` says whether an absent namespace means the default one.
[[nodiscard]] inline object_metadata read_metadata(object_reader& object, bool namespaced,
                                                   reading_context& context) {
    object_metadata read;
    const field at = object.required("metadata");
    object_reader metadata = at.as_object();
    if (const auto home = metadata.optional("namespace").as_string())
        read.key.name_space = *home;
    if (!namespaced)
        read.key.name_space.clear();
    else if (read.key.name_space.empty())
        read.key.name_space = context.default_namespace;
    const field stem_at = metadata.optional("generateName");
    const std::string stem(stem_at.as_string().value_or(std::string_view{}));
    const field name_at = stem.empty() ? metadata.required("name") : metadata.optional("name");
    if (!stem.empty() && name_at.value() == nullptr) {
        read.key.name =
            translate::generated_name(read.key.name_space, stem, context.generated_names++);
        stem_at.warning("the name is made when the object is created; " + in_quotes(read.key.name) +
                        " stands for it");
    } else if (const auto name = name_at.as_string()) {
        read.key.name = *name;
        if (name->empty())
            name_at.error("empty (expected a name)");
    }
    if (const auto uid = metadata.optional("uid").as_string())
        read.uid = *uid;
    read.labels = read_labels(metadata.optional("labels"));
    read.annotations = read_labels(metadata.optional("annotations"));
    read.created = context.time(metadata.optional("creationTimestamp"));
    // It lies ahead by the grace period, so it does not say when the input was made.
    read.terminating = metadata.optional("deletionTimestamp").as_timestamp().has_value();
    metadata.ignore({"generation", "resourceVersion", "selfLink", "finalizers", "ownerReferences",
                     "managedFields", "deletionGracePeriodSeconds", "clusterName"});
    metadata.finish();
    return read;
}

/// Ends the reading of a part of a selector. If `unsupported` is given, the selector belongs to a
/// pod, and unknown fields make the pod wait; otherwise unknown fields are warnings.
inline void finish_selector(object_reader& object, std::span<const pod_field> fields,
                            std::vector<std::string>* unsupported) {
    if (unsupported)
        detail::finish(object, fields, *unsupported);
    object.finish();
}

/// Reads a requirement of a node selector term (`node`) or of a label selector. See
/// finish_selector() for `unsupported`.
[[nodiscard]] inline std::optional<label_requirement>
read_requirement(object_reader& object, bool node, std::vector<std::string>* unsupported) {
    label_requirement read;
    const auto key = object.required("key").as_string();
    const field op_at = object.required("operator");
    const auto op = op_at.as_string();
    const field values_at = object.optional("values");
    const array_reader values = values_at.as_array();
    read.values = read_strings(values);
    finish_selector(object, detail::pod_tables::requirement, unsupported);
    if (!key || !op)
        return std::nullopt;
    read.key = *key;
    if (*op == "In")
        read.op = label_operator::in;
    else if (*op == "NotIn")
        read.op = label_operator::not_in;
    else if (*op == "Exists")
        read.op = label_operator::exists;
    else if (*op == "DoesNotExist")
        read.op = label_operator::does_not_exist;
    else if (node && *op == "Gt")
        read.op = label_operator::greater;
    else if (node && *op == "Lt")
        read.op = label_operator::less;
    else {
        op_at.error(in_quotes(*op) + " is not an operator (expected In, NotIn, Exists" +
                    std::string(node ? ", DoesNotExist, Gt or Lt)" : " or DoesNotExist)"));
        return std::nullopt;
    }
    const bool listed = read.op == label_operator::in || read.op == label_operator::not_in;
    const bool ordered = read.op == label_operator::greater || read.op == label_operator::less;
    if (listed && values.size() == 0)
        object.error("values are missing (expected at least one with In and NotIn)");
    else if (ordered && values.size() != 1)
        object.error("values are wrong (expected exactly one with Gt and Lt)");
    else if (!listed && !ordered && values.size() > 0)
        values_at.error("values are there (expected none with Exists and DoesNotExist)");
    else
        return read;
    return std::nullopt;
}

[[nodiscard]] inline std::vector<label_requirement>
read_requirements(const field& at, bool node, std::vector<std::string>* unsupported = nullptr) {
    std::vector<label_requirement> read;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        if (auto requirement = read_requirement(each, node, unsupported))
            read.push_back(std::move(*requirement));
    });
    return read;
}

/// Labels that must be equal, as requirements.
[[nodiscard]] inline std::vector<label_requirement> require_equal(const label_set& labels) {
    std::vector<label_requirement> read;
    for (const auto& [key, value] : labels) {
        label_requirement requirement;
        requirement.key = key;
        requirement.op = label_operator::in;
        requirement.values = {value};
        read.push_back(std::move(requirement));
    }
    return read;
}

/// Reads a LabelSelector. Returns nullopt if the field is absent. See finish_selector() for
/// `unsupported`.
[[nodiscard]] inline std::optional<label_selector>
read_label_selector(const field& at, std::vector<std::string>* unsupported = nullptr) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return std::nullopt;
    label_selector read;
    read.requirements = require_equal(read_labels(object.optional("matchLabels")));
    for (label_requirement& each :
         read_requirements(object.optional("matchExpressions"), false, unsupported))
        read.requirements.push_back(std::move(each));
    finish_selector(object, detail::pod_tables::label_selector, unsupported);
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
