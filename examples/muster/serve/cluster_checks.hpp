// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/name_checks.hpp>
#include <muster/serve/placement_checks.hpp>
#include <muster/serve/protobuf_reader.hpp>
#include <muster/serve/quantity_checks.hpp>
#include <muster/serve/schema.hpp>
#include <muster/serve/storage_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

[[nodiscard]] inline bool is_priority_class(const kind_info& of) noexcept {
    return of.group == "scheduling.k8s.io" && of.plural == "priorityclasses";
}

inline void check_taint(const json::object& taint, const std::string& path,
                        std::vector<field_cause>& wrong) {
    const std::string_view key = text_at(taint, {"key"});
    const std::string_view value = text_at(taint, {"value"});
    const std::string_view effect = text_at(taint, {"effect"});
    add_faults(path + ".key", key, qualified_name_faults(key), wrong);
    add_faults(path + ".value", value, label_value_faults(value), wrong);
    if (effect.empty())
        wrong.push_back(required_value(path + ".effect"));
    else
        check_effect(effect, path + ".effect", wrong);
}

/// Returns the source of a volume: an object with the one field that says where the volume is.
[[nodiscard]] inline json::object volume_source_of(const json::object& volume) {
    json::object source;
    const protobuf_message* const known = find_message("PersistentVolumeSource");
    const json::object* const spec = object_at(volume, {"spec"});
    if (known && spec)
        for (const protobuf_member& each : *known)
            if (const json::value* const found = spec->if_contains(each.name);
                found && !found->is_null())
                source[each.name] = *found;
    return source;
}

inline void check_volume(const json::object& volume, std::vector<field_cause>& wrong) {
    const json::array* const modes = array_at(volume, {"spec", "accessModes"});
    if (!modes || modes->empty())
        wrong.push_back(required_value("spec.accessModes"));
    const json::object* const capacity = object_at(volume, {"spec", "capacity"});
    if (!capacity || capacity->empty())
        wrong.push_back(required_value("spec.capacity"));
    if (!capacity || !capacity->contains("storage") || capacity->size() > 1)
        wrong.push_back(
            {"FieldValueNotSupported",
             "Unsupported value: " + (capacity ? json::serialize(*capacity) : std::string("null")) +
                 ": supported values: \"storage\"",
             "spec.capacity"});
    if (capacity)
        for (const auto& [key, value] : *capacity)
            if (const auto amount = quantity_of(value); amount && amount->sign() <= 0)
                wrong.push_back(
                    invalid_amount("spec.capacity[" + std::string(key.data(), key.size()) + "]",
                                   value, "must be greater than zero"));
    if (volume_source_of(volume).empty())
        wrong.push_back(required_value("spec", "must specify a volume type"));
}

inline void check_definition(const json::object& definition, std::vector<field_cause>& wrong) {
    const std::string_view name = text_at(definition, {"metadata", "name"});
    if (name != std::string(text_at(definition, {"spec", "names", "plural"})) + "." +
                    std::string(text_at(definition, {"spec", "group"})))
        wrong.push_back(invalid_value("metadata.name", json::value(name),
                                      "must be spec.names.plural+\".\"+spec.group"));
}

} // namespace detail

/// Adds what is wrong with a node, a volume, a storage class, a priority class or a
/// CustomResourceDefinition.
inline void check_cluster_object(const kind_info& of, const json::object& object,
                                 std::vector<field_cause>& wrong) {
    constexpr std::int64_t most_priority = 1'000'000'000;
    if (of.group.empty() && of.plural == "nodes")
        detail::for_each_object(array_at(object, {"spec", "taints"}), "spec.taints",
                                [&](const json::object& each, const std::string& at) {
                                    detail::check_taint(each, at, wrong);
                                });
    if (is_volume(of))
        detail::check_volume(object, wrong);
    if (is_storage_class(of) && text_at(object, {"provisioner"}).empty())
        wrong.push_back(required_value("provisioner"));
    if (detail::is_priority_class(of) &&
        !text_at(object, {"metadata", "name"}).starts_with("system-") &&
        integer_at(object, {"value"}).value_or(0) > most_priority)
        wrong.push_back({"FieldValueForbidden",
                         "Forbidden: maximum allowed value of a user defined priority is " +
                             std::to_string(most_priority),
                         "value"});
    if (of.plural == "customresourcedefinitions")
        detail::check_definition(object, wrong);
}

/// Adds what is wrong with a change of a volume, a storage class or a priority class: some of their
/// fields are fixed.
inline void check_cluster_change(const kind_info& of, const json::object& before,
                                 const json::object& after, std::vector<field_cause>& wrong) {
    const auto fix = [&](std::string_view field, const json::value* old_value,
                         const json::value* new_value) {
        const json::value old_one = old_value ? *old_value : json::value();
        const json::value new_one = new_value ? *new_value : json::value();
        if (old_one != new_one)
            wrong.push_back(invalid_value(std::string(field), new_one, "field is immutable"));
    };
    if (is_storage_class(of))
        for (const std::string_view field :
             {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"})
            fix(field, before.if_contains(field), after.if_contains(field));
    if (detail::is_priority_class(of)) {
        if (integer_at(before, {"value"}) != integer_at(after, {"value"}))
            wrong.push_back(
                {"FieldValueForbidden", "Forbidden: may not be changed in an update.", "value"});
        fix("preemptionPolicy", before.if_contains("preemptionPolicy"),
            after.if_contains("preemptionPolicy"));
    }
    if (is_volume(of)) {
        if (detail::volume_source_of(before) != detail::volume_source_of(after))
            wrong.push_back({"FieldValueForbidden",
                             "Forbidden: spec.persistentvolumesource is immutable after creation",
                             "spec.persistentvolumesource"});
        fix("volumeMode", value_at(before, {"spec", "volumeMode"}),
            value_at(after, {"spec", "volumeMode"}));
    }
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
