// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/serve/api_store.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

/// Returns the index of an object's kind, if it is served.
[[nodiscard]] inline std::optional<std::size_t> served_kind_of(const kind_table& kinds,
                                                               const json::object& object) {
    for (std::size_t at = 0; at < kinds.size(); ++at)
        if (kinds.is_served(at) && kinds[at].kind == text_at(object, {"kind"}) &&
            kinds[at].api_version() == text_at(object, {"apiVersion"}))
            return at;
    return std::nullopt;
}

/// Changes an object that exists, as `kubectl apply` does. The object keeps its uid.
[[nodiscard]] inline answer change_object(api_store& store, const kind_info& of,
                                          const std::string& path, json::object object) {
    json::object& metadata = make_object(object, "metadata");
    for (const std::string_view each : {"uid", "creationTimestamp", "deletionTimestamp"})
        metadata.erase(each);
    const json::value* const found = object.if_contains("status");
    const std::optional<json::value> status = found ? std::optional(*found) : std::nullopt;
    const bool keeps_status = status && keeps_restored_status(of, object);
    object.erase("status");
    request made;
    made.method = "PATCH";
    made.path = path;
    made.content_type =
        of.custom ? "application/merge-patch+json" : "application/strategic-merge-patch+json";
    made.body = json::serialize(object);
    answer done = store.handle(made);
    if (done.code != 200 || !keeps_status)
        return done;
    made.path += "/status";
    made.body = json::serialize(json::object{{"status", *status}});
    return store.handle(made);
}

} // namespace detail

/// Creates an object of a manifest or of a backup, or changes the existing object of that name.
/// Returns the error, if any. A new object keeps its uid and its creation time; nodes, claims,
/// volumes and pods with a node also keep their status. resourceVersion and managedFields are
/// ignored, and owners need not exist. An object that was being deleted is deleted. Creates the
/// namespace of the object if it does not exist.
[[nodiscard]] inline std::optional<std::string> restore(api_store& store, json::object object) {
    const std::string name(text_at(object, {"metadata", "name"}));
    const std::string what = std::string(text_at(object, {"kind"})) + " " + name;
    const auto kind = detail::served_kind_of(store.kinds(), object);
    if (!kind)
        return what + ": no such kind is served (is its definition in one of the files?)";
    const kind_info of = store.kinds()[*kind];
    json::object& metadata = make_object(object, "metadata");
    metadata.erase("resourceVersion");
    metadata.erase("managedFields");
    std::string home(text_at(metadata, {"namespace"}));
    if (home.empty())
        home = "default";
    if (of.namespaced) {
        request space;
        space.method = "POST";
        space.path = "/api/v1/namespaces";
        space.body = json::serialize(json::object{{"metadata", json::object{{"name", home}}}});
        static_cast<void>(store.handle(space)); // The namespace may exist.
    }
    request made;
    made.method = "POST";
    made.path = (of.group.empty() ? "/api/" : "/apis/") + of.api_version() +
                (of.namespaced ? "/namespaces/" + home : "") + "/" + of.plural;
    made.body = json::serialize(object);
    made.restores = true;
    answer done = store.handle(made);
    const std::string path =
        made.path + "/" + std::string(text_at(done.body, {"metadata", "name"}));
    if (done.code == 201 && metadata.contains("deletionTimestamp")) {
        made.method = "DELETE";
        made.path = path;
        made.body = "{}";
        done = store.handle(made);
    } else if (text_at(done.body, {"reason"}) == "AlreadyExists") {
        done = detail::change_object(store, of, made.path + "/" + name, std::move(object));
    }
    if (done.code >= 300)
        return what + ": " + std::string(text_at(done.body, {"message"}));
    return std::nullopt;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
