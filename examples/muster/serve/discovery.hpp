// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/answer.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

[[nodiscard]] inline json::array texts(const std::vector<std::string>& from) {
    json::array made;
    for (const std::string& each : from)
        made.push_back(json::value(each));
    return made;
}

[[nodiscard]] inline json::object resource_entry(const kind_info& of) {
    json::object made{{"name", of.plural},
                      {"singularName", of.singular},
                      {"namespaced", of.namespaced},
                      {"kind", of.kind},
                      {"verbs", json::array{"create", "delete", "deletecollection", "get", "list",
                                            "patch", "update", "watch"}}};
    if (!of.short_names.empty())
        made["shortNames"] = texts(of.short_names);
    if (!of.categories.empty())
        made["categories"] = texts(of.categories);
    return made;
}

[[nodiscard]] inline json::object subresource_entry(const kind_info& of, std::string_view name,
                                                    json::array verbs) {
    return {{"name", of.plural + "/" + std::string(name)},
            {"singularName", ""},
            {"namespaced", of.namespaced},
            {"kind", of.kind},
            {"verbs", std::move(verbs)}};
}

[[nodiscard]] inline json::object resource_list(const kind_table& kinds, std::string_view group,
                                                std::string_view version) {
    json::array all;
    for (std::size_t at = 0; at < kinds.size(); ++at) {
        const kind_info& of = kinds[at];
        if (!kinds.is_served(at) || of.group != group || of.version != version)
            continue;
        all.push_back(resource_entry(of));
        if (of.has_status)
            all.push_back(subresource_entry(of, "status", {"get", "patch", "update"}));
        if (of.plural == "pods" && of.group.empty()) {
            json::object binding = subresource_entry(of, "binding", {"create"});
            binding["kind"] = "Binding";
            all.push_back(std::move(binding));
            json::object eviction = subresource_entry(of, "eviction", {"create"});
            eviction["kind"] = "Eviction";
            eviction["group"] = "policy";
            eviction["version"] = "v1";
            all.push_back(std::move(eviction));
        }
    }
    const std::string named =
        group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
    return {{"kind", "APIResourceList"},
            {"apiVersion", "v1"},
            {"groupVersion", named},
            {"resources", std::move(all)}};
}

/// The versions of each group, in the order in which they were served first.
[[nodiscard]] inline std::vector<std::pair<std::string, std::vector<std::string>>>
groups_of(const kind_table& kinds) {
    std::vector<std::pair<std::string, std::vector<std::string>>> made;
    for (std::size_t at = 0; at < kinds.size(); ++at) {
        if (!kinds.is_served(at))
            continue;
        const kind_info& of = kinds[at];
        std::size_t group = 0;
        while (group < made.size() && made[group].first != of.group)
            ++group;
        if (group == made.size())
            made.push_back({of.group, {}});
        bool known = false;
        for (const std::string& each : made[group].second)
            known = known || each == of.version;
        if (!known)
            made[group].second.push_back(of.version);
    }
    return made;
}

[[nodiscard]] inline json::object group_entry(const std::string& name,
                                              const std::vector<std::string>& versions) {
    json::array all;
    for (const std::string& each : versions)
        all.push_back(json::object{{"groupVersion", name + "/" + each}, {"version", each}});
    const json::value preferred = all.front();
    return {{"name", name}, {"versions", std::move(all)}, {"preferredVersion", preferred}};
}

/// A document that names each kind and says that its writes take `fieldValidation`, which is what
/// kubectl looks for before it lets the server validate.
[[nodiscard]] inline json::object open_api(const kind_table& kinds, std::string_view group,
                                           std::string_view version) {
    json::object paths;
    json::object schemas;
    for (std::size_t at = 0; at < kinds.size(); ++at) {
        const kind_info& of = kinds[at];
        if (!kinds.is_served(at) || of.group != group || of.version != version)
            continue;
        const json::object type{{"group", of.group}, {"version", of.version}, {"kind", of.kind}};
        const json::array parameters{
            json::object{{"name", "dryRun"},
                         {"in", "query"},
                         {"schema", json::object{{"type", "string"}, {"uniqueItems", true}}}},
            json::object{{"name", "fieldManager"},
                         {"in", "query"},
                         {"schema", json::object{{"type", "string"}, {"uniqueItems", true}}}},
            json::object{{"name", "fieldValidation"},
                         {"in", "query"},
                         {"schema", json::object{{"type", "string"}, {"uniqueItems", true}}}}};
        const auto operation = [&](std::string_view action) {
            return json::object{{"parameters", parameters},
                                {"responses", json::object{}},
                                {"x-kubernetes-action", action},
                                {"x-kubernetes-group-version-kind", type}};
        };
        const std::string root =
            (of.group.empty() ? "/api/" + of.version : "/apis/" + of.group + "/" + of.version) +
            (of.namespaced ? "/namespaces/{namespace}/" : "/") + of.plural;
        paths[root] = json::object{{"post", operation("post")}};
        paths[root + "/{name}"] =
            json::object{{"patch", operation("patch")}, {"put", operation("put")}};
        json::object schema = of.schema;
        // kubectl explain prints the description. With properties but without their merge keys,
        // kubectl apply would replace lists.
        if (schema.empty())
            schema = {
                {"type", "object"},
                {"description", "This server does not document the fields of " + of.kind + "."}};
        schema["x-kubernetes-group-version-kind"] = json::array{type};
        schemas[(of.group.empty() ? "core" : of.group) + "." + of.version + "." + of.kind] =
            std::move(schema);
    }
    return {{"openapi", "3.0.0"},
            {"info", json::object{{"title", "Kubernetes"}, {"version", "v1.36.3"}}},
            {"paths", std::move(paths)},
            {"components", json::object{{"schemas", std::move(schemas)}}}};
}

} // namespace detail

/// What is served at paths that name no object: versions, groups, OpenAPI, health. Nothing for any
/// other path.
[[nodiscard]] inline std::optional<answer> discover(const kind_table& kinds,
                                                    std::string_view path) {
    answer made;
    const auto groups = [&] { return detail::groups_of(kinds); };
    if (path == "/version") {
        made.body = {
            {"major", "1"},          {"minor", "36"},           {"gitVersion", "v1.36.3"},
            {"gitCommit", "muster"}, {"gitTreeState", "clean"}, {"platform", "muster/embedded"}};
        return made;
    }
    if (path == "/readyz" || path == "/livez" || path == "/healthz") {
        made.text = "ok";
        return made;
    }
    if (path == "/api") {
        made.body = {{"kind", "APIVersions"}, {"versions", json::array{"v1"}}};
        return made;
    }
    if (path == "/apis") {
        json::array all;
        for (const auto& [name, versions] : groups())
            if (!name.empty())
                all.push_back(detail::group_entry(name, versions));
        made.body = {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(all)}};
        return made;
    }
    if (path == "/openapi/v3") {
        json::object paths;
        for (const auto& [name, versions] : groups())
            for (const std::string& each : versions) {
                const std::string at = (name.empty() ? "api/" : "apis/" + name + "/") + each;
                // The number of kinds stands for a hash: it changes whenever the document does.
                paths[at] =
                    json::object{{"serverRelativeURL",
                                  "/openapi/v3/" + at + "?hash=" + std::to_string(kinds.size())}};
            }
        made.body = {{"paths", std::move(paths)}};
        return made;
    }
    if (path == "/openapi/v2") {
        // kubectl validates an object of kind List by the kinds of this document. There are none,
        // so that kubectl leaves the items to the server. In protobuf: the version 2.0.
        made.text = "\n\x03"
                    "2.0";
        made.type_of_text = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
        return made;
    }
    const auto served = [&](std::string_view group, std::string_view version) {
        for (const auto& [name, versions] : groups())
            for (const std::string& each : versions)
                if (name == group && each == version)
                    return true;
        return false;
    };
    constexpr std::string_view open_api = "/openapi/v3";
    const bool documents = path.starts_with(open_api);
    std::string_view rest = documents ? path.substr(open_api.size()) : path;
    std::string_view group;
    if (rest.starts_with("/apis/")) {
        rest.remove_prefix(6);
        const auto slash = rest.find('/');
        group = rest.substr(0, slash);
        if (slash == std::string_view::npos) {
            for (const auto& [name, versions] : groups())
                if (name == group && !documents) {
                    made.body = detail::group_entry(name, versions);
                    made.body["kind"] = "APIGroup";
                    made.body["apiVersion"] = "v1";
                    return made;
                }
            return std::nullopt;
        }
        rest.remove_prefix(slash + 1);
    } else if (rest.starts_with("/api/")) {
        rest.remove_prefix(5);
    } else {
        return std::nullopt;
    }
    if (rest.find('/') != std::string_view::npos || !served(group, rest))
        return std::nullopt;
    made.body = documents ? detail::open_api(kinds, group, rest)
                          : detail::resource_list(kinds, group, rest);
    return made;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
