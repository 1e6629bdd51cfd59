// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/name_checks.hpp>
#include <muster/serve/schema.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

[[nodiscard]] inline text_faults object_name_faults(const kind_info& of, std::string_view name) {
    if (of.group == "rbac.authorization.k8s.io")
        return path_segment_faults(name);
    const bool is_label =
        of.group.empty() && (of.plural == "namespaces" || of.plural == "services");
    return is_label ? dns_label_faults(name) : subdomain_faults(name);
}

/// Returns the text of a map's value; null is the empty text, as in Go.
[[nodiscard]] inline std::string_view map_text(const json::value& value) {
    const json::string* const text = value.if_string();
    return text ? view(*text) : std::string_view{};
}

/// Adds what is wrong with a map of labels. Kubernetes names the map, not the key, as the field.
inline void check_labels(const json::object* labels, const std::string& path,
                         std::vector<field_cause>& wrong) {
    if (labels)
        for (const auto& [key, value] : *labels) {
            const std::string_view name(key.data(), key.size());
            add_faults(path, name, qualified_name_faults(name), wrong);
            add_faults(path, map_text(value), label_value_faults(map_text(value)), wrong);
        }
}

inline void check_annotations(const json::object* annotations, std::vector<field_cause>& wrong) {
    constexpr std::size_t most_bytes = 256 * 1024;
    if (!annotations)
        return;
    std::size_t bytes = 0;
    for (const auto& [key, value] : *annotations) {
        const std::string_view name(key.data(), key.size());
        std::string lower;
        for (const char c : name)
            lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        add_faults("metadata.annotations", name, qualified_name_faults(lower), wrong);
        bytes += name.size() + map_text(value).size();
    }
    if (bytes > most_bytes)
        wrong.push_back({"FieldValueTooLong",
                         "Too long: may not be more than " + std::to_string(most_bytes) + " bytes",
                         "metadata.annotations"});
}

} // namespace detail

/// Adds what is wrong with the name of a new object. `prefix`: the generateName of the object.
inline void check_name(const kind_info& of, std::string_view name, std::string_view prefix,
                       std::vector<field_cause>& wrong) {
    if (!prefix.empty()) {
        // Characters follow a dash at the end.
        std::string whole(prefix);
        if (whole.size() > 1 && whole.ends_with('-'))
            whole.replace(whole.size() - 2, 2, "a");
        add_faults("metadata.generateName", prefix, detail::object_name_faults(of, whole), wrong);
    }
    if (name.empty())
        wrong.push_back(required_value("metadata.name", "name or generateName is required"));
    else
        add_faults("metadata.name", name, detail::object_name_faults(of, name), wrong);
}

/// Adds what is wrong with the labels and annotations of an object.
inline void check_marks(const json::object& object, std::vector<field_cause>& wrong) {
    detail::check_labels(object_at(object, {"metadata", "labels"}), "metadata.labels", wrong);
    detail::check_annotations(object_at(object, {"metadata", "annotations"}), wrong);
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
