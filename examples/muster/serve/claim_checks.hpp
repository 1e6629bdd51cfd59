// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/resource/quantity.hpp>
#include <muster/serve/answer.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/name_checks.hpp>
#include <muster/serve/quantity_checks.hpp>
#include <muster/serve/schema.hpp>
#include <muster/serve/storage_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Finalizer that keeps a claim until no pod with a node mounts it.
inline constexpr std::string_view claim_protection = "kubernetes.io/pvc-protection";
/// Finalizer that keeps a volume until its claim is gone.
inline constexpr std::string_view volume_protection = "kubernetes.io/pv-protection";

/// Adds the finalizer of a new claim or volume.
inline void protect_storage(const kind_info& of, json::object& made) {
    if (!is_claim(of) && !is_volume(of))
        return;
    const json::value name(is_claim(of) ? claim_protection : volume_protection);
    json::value& all = make_object(made, "metadata")["finalizers"];
    if (!all.is_array())
        all.emplace_array();
    if (std::ranges::find(all.get_array(), name) == all.get_array().end())
        all.get_array().push_back(name);
}

namespace detail {

[[nodiscard]] inline std::optional<quantity> requested_storage(const json::object& claim) {
    const json::value* const size = value_at(claim, {"spec", "resources", "requests", "storage"});
    return size ? quantity_of(*size) : std::nullopt;
}

[[nodiscard]] inline bool is_bound(const json::object& claim) {
    return text_at(claim, {"status", "phase"}) == "Bound";
}

} // namespace detail

/// Adds what is wrong with the spec of a claim.
inline void check_claim(const json::object& claim, std::vector<field_cause>& wrong) {
    constexpr std::array<std::string_view, 4> known{"ReadOnlyMany", "ReadWriteMany",
                                                    "ReadWriteOnce", "ReadWriteOncePod"};
    const json::array* const modes = array_at(claim, {"spec", "accessModes"});
    if (!modes || modes->empty())
        wrong.push_back(required_value("spec.accessModes", "at least 1 access mode is required"));
    bool once_per_pod = false;
    bool shared = false;
    for (std::size_t at = 0; modes && at < modes->size(); ++at) {
        const json::string* const text = (*modes)[at].if_string();
        const std::string_view mode = text ? view(*text) : std::string_view{};
        const bool is_known = std::ranges::find(known, mode) != known.end();
        if (!is_known)
            wrong.push_back(unsupported_value(
                "spec.accessModes", mode,
                R"("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")"));
        once_per_pod = once_per_pod || mode == "ReadWriteOncePod";
        shared = shared || (is_known && mode != "ReadWriteOncePod");
    }
    if (once_per_pod && shared)
        wrong.push_back({"FieldValueForbidden",
                         "Forbidden: may not use ReadWriteOncePod with other access modes",
                         "spec.accessModes"});
    const json::value* const size = value_at(claim, {"spec", "resources", "requests", "storage"});
    if (!size)
        wrong.push_back(required_value("spec.resources[storage]"));
    else if (const auto amount = quantity_of(*size); amount && amount->sign() <= 0)
        wrong.push_back(
            invalid_amount("spec.resources[storage]", *size, "must be greater than zero"));
    if (const std::string_view name = text_at(claim, {"spec", "storageClassName"}); !name.empty())
        add_faults("spec.storageClassName", name, subdomain_faults(name), wrong);
    if (const std::string_view mode = text_at(claim, {"spec", "volumeMode"});
        !mode.empty() && mode != "Block" && mode != "Filesystem")
        wrong.push_back(unsupported_value("spec.volumeMode", mode, R"("Block", "Filesystem")"));
}

/// Adds what is wrong with a change of a claim. The spec is fixed except for a volume and a class
/// that it did not have, and for the size and the attributes class of a bound claim.
inline void check_claim_change(const json::object& before, const json::object& after,
                               std::vector<field_cause>& wrong) {
    const json::object* const old_spec = object_at(before, {"spec"});
    const json::object* const new_spec = object_at(after, {"spec"});
    if (!old_spec || !new_spec || *old_spec == *new_spec)
        return;
    json::object old_fixed = *old_spec;
    json::object new_fixed = *new_spec;
    const auto ignore = [&](std::string_view field) {
        old_fixed.erase(field);
        new_fixed.erase(field);
    };
    const auto old_size = detail::requested_storage(before);
    const auto new_size = detail::requested_storage(after);
    if (text_at(*old_spec, {"volumeName"}).empty())
        ignore("volumeName");
    if (!old_fixed.contains("storageClassName") && class_name_of(before).empty())
        ignore("storageClassName");
    if (detail::is_bound(after))
        ignore("volumeAttributesClassName");
    if (detail::is_bound(after) || (old_size && new_size && *old_size == *new_size))
        for (json::object* const spec : {&old_fixed, &new_fixed})
            make_object(make_object(*spec, "resources"), "requests").erase("storage");
    if (old_fixed != new_fixed)
        wrong.push_back({"FieldValueForbidden",
                         "Forbidden: spec is immutable after creation except resources.requests "
                         "and volumeAttributesClassName for bound claims",
                         "spec"});
    const json::value* const capacity = value_at(after, {"status", "capacity", "storage"});
    const auto provided = capacity ? quantity_of(*capacity) : std::nullopt;
    if (old_size && new_size && *new_size < *old_size && provided && *new_size <= *provided)
        wrong.push_back({"FieldValueForbidden",
                         "Forbidden: field can not be less than status.capacity",
                         "spec.resources.requests.storage"});
    if (const std::string_view mode = text_at(*new_spec, {"volumeMode"});
        mode != text_at(*old_spec, {"volumeMode"}))
        wrong.push_back(invalid_value("volumeMode", json::value(mode), "field is immutable"));
}

/// True if a claim asks for more than before.
[[nodiscard]] inline bool grows(const json::object& before, const json::object& after) {
    const auto old_size = detail::requested_storage(before);
    const auto new_size = detail::requested_storage(after);
    return old_size && new_size && *new_size > *old_size;
}

/// 403: the class of a claim does not let the claim grow.
[[nodiscard]] inline answer refuse_growth(const kind_info& of, const std::string& name) {
    return refused(403, "Forbidden",
                   of.plural + " \"" + name +
                       "\" is forbidden: only dynamically provisioned pvc can be resized and the "
                       "storageclass that provisions the pvc must support resize",
                   details_of(name, of.group, of.plural));
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
