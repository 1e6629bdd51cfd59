// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <muster/base/timestamp.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/pod_columns.hpp>
#include <muster/serve/storage_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

struct column {
    std::string_view name;
    std::string_view type = "string";
    std::int64_t priority = 0;
};

[[nodiscard]] inline json::array column_list(std::initializer_list<column> from) {
    json::array made;
    for (const column& each : from)
        made.push_back(json::object{{"name", each.name},
                                    {"type", each.type},
                                    {"format", each.name == "Name" ? "name" : ""},
                                    {"description", ""},
                                    {"priority", each.priority}});
    return made;
}

/// The value that a simple JSONPath means: fields, indexes, and filters like
/// `[?(@.type=="Ready")]`. Null when there is none.
[[nodiscard]] inline const json::value* follow(const json::value& root, std::string_view path) {
    const json::value* here = &root;
    while (!path.empty() && here) {
        if (path.front() == '.') {
            path.remove_prefix(1);
        } else if (path.front() == '[') {
            const auto end = path.find(']');
            if (end == std::string_view::npos || !here->is_array())
                return nullptr;
            std::string_view inside = path.substr(1, end - 1);
            path.remove_prefix(end + 1);
            const json::array& list = here->get_array();
            here = nullptr;
            if (inside.starts_with("?(@.")) {
                const auto equal = inside.find("==");
                const auto open = inside.find_first_of("\"'", equal);
                const auto close = inside.find_last_of("\"'");
                if (equal == std::string_view::npos || open == std::string_view::npos ||
                    close <= open)
                    return nullptr;
                const std::string_view key = inside.substr(4, equal - 4);
                const std::string_view wanted = inside.substr(open + 1, close - open - 1);
                for (const json::value& each : list)
                    if (!here && each.is_object() && text_at(each.get_object(), {key}) == wanted)
                        here = &each;
            } else {
                std::size_t at = 0;
                const auto read = std::from_chars(inside.data(), inside.data() + inside.size(), at);
                if (read.ec == std::errc{} && at < list.size())
                    here = &list[at];
            }
        } else {
            // A dot that belongs to a name is escaped.
            std::string name;
            while (!path.empty() && path.front() != '.' && path.front() != '[') {
                if (path.front() == '\\' && path.size() > 1)
                    path.remove_prefix(1);
                name += path.front();
                path.remove_prefix(1);
            }
            const json::object* const object = here->if_object();
            here = object ? object->if_contains(name) : nullptr;
        }
    }
    return here;
}

[[nodiscard]] inline json::value custom_cell(const json::value& object,
                                             const printed_column& column, std::int64_t now) {
    const json::value* const found = follow(object, column.path);
    if (!found || found->is_null())
        return column.type == "date" ? json::value("<unknown>") : json::value(nullptr);
    if (column.type == "date")
        return found->is_string() ? json::value(age_text(view(found->get_string()), now))
                                  : json::value("<invalid>");
    if (column.type == "string" && !found->is_string())
        return json::value(json::serialize(*found));
    return *found;
}

[[nodiscard]] inline std::string node_status(const json::object& node) {
    std::string text = "Unknown";
    if (const json::array* const conditions = array_at(node, {"status", "conditions"}))
        for (const json::value& each : *conditions)
            if (const json::object* const one = each.if_object())
                if (text_at(*one, {"type"}) == "Ready")
                    text = text_at(*one, {"status"}) == "True" ? "Ready" : "NotReady";
    return text + (true_at(node, {"spec", "unschedulable"}) ? ",SchedulingDisabled" : "");
}

[[nodiscard]] inline std::string node_roles(const json::object& node) {
    constexpr std::string_view prefix = "node-role.kubernetes.io/";
    std::string text;
    if (const json::object* const labels = object_at(node, {"metadata", "labels"}))
        for (const auto& [name, value] : *labels)
            if (std::string_view(name.data(), name.size()).starts_with(prefix))
                text += (text.empty() ? "" : ",") +
                        std::string(name.data(), name.size()).substr(prefix.size());
    return text.empty() ? "<none>" : text;
}

} // namespace detail

/// The columns of a kind's table.
[[nodiscard]] inline json::array table_columns(const kind_info& of) {
    using detail::column_list;
    if (of.custom && !of.columns.empty()) {
        json::array made = column_list({{"Name"}});
        for (const printed_column& each : of.columns)
            made.push_back(json::object{{"name", each.name},
                                        {"type", each.type},
                                        {"format", ""},
                                        {"description", ""},
                                        {"priority", each.priority}});
        return made;
    }
    if (of.group.empty() && of.plural == "pods")
        return column_list({{"Name"},
                            {"Ready"},
                            {"Status"},
                            {"Restarts"},
                            {"Age"},
                            {"IP", "string", 1},
                            {"Node", "string", 1},
                            {"Nominated Node", "string", 1},
                            {"Readiness Gates", "string", 1}});
    if (of.plural == "nodes")
        return column_list({{"Name"}, {"Status"}, {"Roles"}, {"Age"}, {"Version"}});
    if (of.plural == "namespaces")
        return column_list({{"Name"}, {"Status"}, {"Age"}});
    if (of.group.empty() && of.plural == "events")
        return column_list({{"Last Seen"}, {"Type"}, {"Reason"}, {"Object"}, {"Message"}});
    if (of.plural == "configmaps")
        return column_list({{"Name"}, {"Data"}, {"Age"}});
    if (of.plural == "leases")
        return column_list({{"Name"}, {"Holder"}, {"Age"}});
    if (of.plural == "priorityclasses")
        return column_list({{"Name"}, {"Value", "integer"}, {"Global-Default"}, {"Age"}});
    if (of.plural == "customresourcedefinitions")
        return column_list({{"Name"}, {"Created At"}});
    if (is_claim(of))
        return column_list({{"Name"},
                            {"Status"},
                            {"Volume"},
                            {"Capacity"},
                            {"Access Modes"},
                            {"StorageClass"},
                            {"VolumeAttributesClass"},
                            {"Age"},
                            {"VolumeMode", "string", 1}});
    if (is_volume(of))
        return column_list({{"Name"},
                            {"Capacity"},
                            {"Access Modes"},
                            {"Reclaim Policy"},
                            {"Status"},
                            {"Claim"},
                            {"StorageClass"},
                            {"VolumeAttributesClass"},
                            {"Reason"},
                            {"Age"},
                            {"VolumeMode", "string", 1}});
    if (is_storage_class(of))
        return column_list({{"Name"},
                            {"Provisioner"},
                            {"ReclaimPolicy"},
                            {"VolumeBindingMode"},
                            {"AllowVolumeExpansion"},
                            {"Age"}});
    return column_list({{"Name"}, {"Age"}});
}

/// The cells of an object in its kind's table.
[[nodiscard]] inline json::array table_cells(const kind_info& of, const json::object& object,
                                             std::int64_t now) {
    const json::value name(text_at(object, {"metadata", "name"}));
    const json::value age(age_text(text_at(object, {"metadata", "creationTimestamp"}), now));
    if (of.custom && !of.columns.empty()) {
        json::array made{name};
        const json::value whole(object);
        for (const printed_column& each : of.columns)
            made.push_back(detail::custom_cell(whole, each, now));
        return made;
    }
    if (of.group.empty() && of.plural == "pods")
        return pod_cells(object, now);
    if (of.plural == "nodes")
        return {name, json::value(detail::node_status(object)),
                json::value(detail::node_roles(object)), age,
                json::value(text_at(object, {"status", "nodeInfo", "kubeletVersion"}))};
    if (of.plural == "namespaces")
        return {name, json::value(text_at(object, {"status", "phase"})), age};
    if (of.group.empty() && of.plural == "events") {
        std::string kind;
        for (const char c : text_at(object, {"involvedObject", "kind"}))
            kind += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        std::string_view last = text_at(object, {"lastTimestamp"});
        if (last.empty())
            last = text_at(object, {"eventTime"});
        return {json::value(age_text(last, now)), json::value(text_at(object, {"type"})),
                json::value(text_at(object, {"reason"})),
                json::value(kind + "/" + std::string(text_at(object, {"involvedObject", "name"}))),
                json::value(text_at(object, {"message"}))};
    }
    if (of.plural == "configmaps") {
        const json::object* const data = object_at(object, {"data"});
        return {name, json::value(std::to_string(data ? data->size() : 0)), age};
    }
    if (of.plural == "leases")
        return {name, json::value(text_at(object, {"spec", "holderIdentity"})), age};
    if (of.plural == "priorityclasses")
        return {name, json::value(integer_at(object, {"value"}).value_or(0)),
                json::value(true_at(object, {"globalDefault"})), age};
    if (of.plural == "customresourcedefinitions")
        return {name, json::value(text_at(object, {"metadata", "creationTimestamp"}))};
    if (is_claim(of))
        return claim_cells(object, now);
    if (is_volume(of))
        return volume_cells(object, now);
    if (is_storage_class(of))
        return storage_class_cells(object, now);
    return {name, age};
}

/// The object as a list of metadata shows it.
[[nodiscard]] inline json::object metadata_alone(const json::object& object) {
    const json::object* const metadata = object_at(object, {"metadata"});
    return {{"kind", "PartialObjectMetadata"},
            {"apiVersion", "meta.k8s.io/v1"},
            {"metadata", metadata ? *metadata : json::object{}}};
}

[[nodiscard]] inline json::object table_row(const kind_info& of, const json::object& object,
                                            std::int64_t now, bool whole) {
    return {{"cells", table_cells(of, object, now)},
            {"object", whole ? object : metadata_alone(object)}};
}

/// A table of rows. `columns` may be left out where they are known already.
[[nodiscard]] inline json::object make_table(json::array columns, json::array rows,
                                             json::object metadata) {
    return {{"kind", "Table"},
            {"apiVersion", "meta.k8s.io/v1"},
            {"metadata", std::move(metadata)},
            {"columnDefinitions", std::move(columns)},
            {"rows", std::move(rows)}};
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
