// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/device_slice_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Adds the paths of the fields that were not read.
inline void note_unknown_fields(object_reader& object, std::vector<std::string>& unsupported) {
    object.take_each([&](std::string_view, const field& at) {
        if (at.is_present())
            unsupported.push_back(at.path());
        return true;
    });
}

/// Returns a copy of a list; empty if it is absent or no list. O(list).
[[nodiscard]] inline boost::json::array json_list_of(const field& at) {
    const boost::json::array* const list = at.is_present() ? at.value()->if_array() : nullptr;
    return list ? *list : boost::json::array{};
}

/// Reads a list of selectors. Adds those that are no CEL expression to `unsupported`.
[[nodiscard]] inline std::vector<std::string>
read_selector_texts(const field& at, std::vector<std::string>& unsupported) {
    std::vector<std::string> read;
    const array_reader selectors = at.as_array();
    selectors.for_each_object([&](object_reader& each) {
        const field cel_at = each.optional("cel");
        object_reader cel = cel_at.as_object();
        if (cel.is_present())
            read.push_back(string_or_empty(cel.required("expression")));
        else if (each.size() == 0)
            unsupported.push_back(each.path());
        cel.ignore_rest();
        note_unknown_fields(each, unsupported);
    });
    return read;
}

[[nodiscard]] inline std::vector<request_selector>
parse_selectors(const std::vector<std::string>& texts) {
    std::vector<request_selector> parsed;
    for (const std::string& each : texts)
        parsed.push_back(read_request_selector(each));
    return parsed;
}

[[nodiscard]] inline std::vector<device_toleration>
read_device_tolerations(const field& at, std::vector<std::string>& unsupported) {
    std::vector<device_toleration> read;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        device_toleration made;
        made.key = string_or_empty(each.optional("key"));
        made.value = string_or_empty(each.optional("value"));
        const std::string op = string_or_empty(each.optional("operator"));
        made.exists = op == "Exists";
        if (!op.empty() && op != "Exists" && op != "Equal")
            unsupported.push_back(each.path());
        if (const std::string effect = string_or_empty(each.optional("effect")); !effect.empty())
            made.effect = device_effect(effect);
        made.seconds = each.optional("tolerationSeconds").as_integer();
        note_unknown_fields(each, unsupported);
        read.push_back(std::move(made));
    });
    return read;
}

[[nodiscard]] inline std::vector<derived_attribute>
read_derived_attributes(const field& at, std::vector<std::string>& unsupported) {
    std::vector<derived_attribute> read;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        read.push_back(read_derived_attribute(string_or_empty(each.required("name")),
                                              string_or_empty(each.required("expression"))));
        note_unknown_fields(each, unsupported);
    });
    return read;
}

/// Reads what `exactly`, an entry of `firstAvailable` or, in v1beta1, a request says.
[[nodiscard]] inline device_alternative
read_device_alternative(object_reader& object, std::vector<std::string>& unsupported) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    device_alternative read;
    read.class_name = string_or_empty(object.required("deviceClassName"));
    const field mode_at = object.optional("allocationMode");
    const std::string mode = string_or_empty(mode_at);
    read.mode = mode.empty() || mode == "ExactCount" ? device_count_mode::exact
                : mode == "All"                      ? device_count_mode::all
                                                     : device_count_mode::unknown;
    if (read.mode == device_count_mode::unknown)
        unsupported.push_back(mode_at.path() + " " + in_quotes(mode) +
                              " (expected ExactCount or All)");
    // As in the API server: `ExactCount` reads 0 as 1, and `All` may have no other count than 0.
    read.count =
        std::max(object.optional("count").as_integer(0, most).value_or(0), std::int64_t{1});
    read.admin_access = object.optional("adminAccess").as_boolean().value_or(false);
    read.selectors =
        parse_selectors(read_selector_texts(object.optional("selectors"), unsupported));
    read.tolerations = read_device_tolerations(object.optional("tolerations"), unsupported);
    read.derived = read_derived_attributes(object.optional("derivedAttributes"), unsupported);
    const field capacity_at = object.optional("capacity");
    object_reader capacity = capacity_at.as_object();
    read.capacities = read_device_amounts(capacity.optional("requests"));
    note_unknown_fields(capacity, unsupported);
    return read;
}

[[nodiscard]] inline device_request read_device_request(object_reader& object,
                                                        std::vector<std::string>& unsupported) {
    device_request read;
    read.name = string_or_empty(object.required("name"));
    const field list_at = object.optional("firstAvailable");
    const field exactly_at = object.optional("exactly");
    const array_reader list = list_at.as_array();
    read.is_prioritized = list.size() > 0;
    list.for_each_object([&](object_reader& each) {
        std::string name = string_or_empty(each.required("name"));
        read.alternatives.push_back(read_device_alternative(each, unsupported));
        read.alternatives.back().name = std::move(name);
        note_unknown_fields(each, unsupported);
    });
    if (exactly_at.is_present()) {
        object_reader exactly = exactly_at.as_object();
        read.alternatives.push_back(read_device_alternative(exactly, unsupported));
        note_unknown_fields(exactly, unsupported);
    } else if (!read.is_prioritized) {
        read.alternatives.push_back(read_device_alternative(object, unsupported));
    }
    note_unknown_fields(object, unsupported);
    return read;
}

[[nodiscard]] inline device_constraint
read_device_constraint(object_reader& object, std::vector<std::string>& unsupported) {
    device_constraint read;
    const std::string match = string_or_empty(object.optional("matchAttribute"));
    const std::string distinct = string_or_empty(object.optional("distinctAttribute"));
    read.kind = !match.empty()      ? device_constraint_kind::match
                : !distinct.empty() ? device_constraint_kind::distinct
                                    : device_constraint_kind::unknown;
    read.attribute = match.empty() ? distinct : match;
    const field requests_at = object.optional("requests");
    read.requests = read_strings(requests_at.as_array());
    note_unknown_fields(object, unsupported);
    return read;
}

/// Reads the `spec` of a claim, or the `spec.spec` of a template. An unknown field keeps the claim
/// from being allocated; it is never ignored.
[[nodiscard]] inline claim_spec read_claim_spec(const field& at) {
    claim_spec read;
    object_reader spec = at.as_object();
    const field devices_at = spec.optional("devices");
    object_reader devices = devices_at.as_object();
    const field requests_at = devices.optional("requests");
    const array_reader requests = requests_at.as_array();
    requests.for_each_object([&](object_reader& each) {
        read.asks.requests.push_back(read_device_request(each, read.unsupported));
    });
    const field constraints_at = devices.optional("constraints");
    const array_reader constraints = constraints_at.as_array();
    constraints.for_each_object([&](object_reader& each) {
        read.asks.constraints.push_back(read_device_constraint(each, read.unsupported));
    });
    // For drivers alone.
    read.config = json_list_of(devices.optional("config"));
    note_unknown_fields(devices, read.unsupported);
    note_unknown_fields(spec, read.unsupported);
    return read;
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
