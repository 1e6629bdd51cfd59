// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/resource/quantity.hpp>
#include <muster/resource/quantity_text.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/name_checks.hpp>
#include <muster/serve/schema.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Returns the quantity of a text or a number, zero for null, or nothing for any other value.
[[nodiscard]] inline std::optional<quantity> quantity_of(const json::value& value) {
    if (value.is_null())
        return quantity{};
    if (!value.is_string() && !value.is_number())
        return std::nullopt;
    const std::string text =
        value.is_string() ? std::string(view(value.get_string())) : json::serialize(value);
    const auto read = parse_quantity(text);
    return read ? std::optional(read.value()) : std::nullopt;
}

/// Returns the cause for an amount that Kubernetes does not accept. Kubernetes writes each amount
/// as a text.
[[nodiscard]] inline field_cause invalid_amount(std::string path, const json::value& found,
                                                const std::string& message) {
    return invalid_value(std::move(path),
                         found.is_string() ? found : json::value(json::serialize(found)), message);
}

namespace detail {

/// True if the name has the domain of Kubernetes, which is also that of names without a domain.
[[nodiscard]] inline bool is_native_resource(std::string_view name) {
    return name.find('/') == std::string_view::npos ||
           name.find("kubernetes.io/") != std::string_view::npos;
}

[[nodiscard]] inline bool is_extended_resource(std::string_view name) {
    return !is_native_resource(name) && !name.starts_with("requests.") &&
           qualified_name_faults("requests." + std::string(name)).empty();
}

/// True if pods may request more of the resource in total than a node has.
[[nodiscard]] inline bool can_be_overcommitted(std::string_view name) {
    return is_native_resource(name) && !name.starts_with("hugepages-");
}

[[nodiscard]] inline text_faults container_resource_faults(std::string_view name) {
    text_faults found = qualified_name_faults(name);
    const bool is_plain = name.find('/') == std::string_view::npos;
    const bool is_standard = name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
                             name.starts_with("hugepages-");
    if (found.empty() && is_plain && !is_standard)
        found.emplace_back("must be a standard resource type or fully qualified");
    if (is_plain && !is_standard)
        found.emplace_back("must be a standard resource for containers");
    else if (!is_plain && !is_native_resource(name) && !is_extended_resource(name))
        found.emplace_back("doesn't follow extended resource name standard");
    return found;
}

inline void check_amounts(const json::object* amounts, const std::string& path,
                          std::vector<field_cause>& wrong) {
    if (amounts)
        for (const auto& [key, value] : *amounts) {
            const std::string_view name(key.data(), key.size());
            const std::string at = path + "[" + std::string(name) + "]";
            add_faults(at, name, container_resource_faults(name), wrong);
            const auto amount = quantity_of(value);
            if (!amount)
                continue;
            if (amount->sign() < 0)
                wrong.push_back(invalid_amount(at, value, "must be greater than or equal to 0"));
            if (is_extended_resource(name) && amount->units_up() != amount->units_down())
                wrong.push_back(invalid_amount(at, value, "must be an integer"));
        }
}

} // namespace detail

/// Adds what is wrong with the `resources` of a container.
inline void check_resources(const json::object& resources, const std::string& path,
                            std::vector<field_cause>& wrong) {
    const json::object* const limits = object_at(resources, {"limits"});
    const json::object* const requests = object_at(resources, {"requests"});
    detail::check_amounts(limits, path + ".limits", wrong);
    detail::check_amounts(requests, path + ".requests", wrong);
    if (!requests)
        return;
    for (const auto& [key, value] : *requests) {
        const std::string_view name(key.data(), key.size());
        const json::value* const limit = limits ? limits->if_contains(key) : nullptr;
        const bool overcommits = detail::can_be_overcommitted(name);
        if (!limit && !overcommits)
            wrong.push_back(required_value(path + ".limits",
                                           "Limit must be set for non overcommitable resources"));
        const auto wanted = quantity_of(value);
        const auto most = limit ? quantity_of(*limit) : std::nullopt;
        if (!wanted || !most)
            continue;
        const bool differs = !overcommits && *wanted != *most;
        if (differs || *wanted > *most)
            wrong.push_back(invalid_amount(path + ".requests", value,
                                           std::string("must be ") +
                                               (differs ? "equal to " : "less than or equal to ") +
                                               std::string(name) + " limit of " + most->to_text()));
    }
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
