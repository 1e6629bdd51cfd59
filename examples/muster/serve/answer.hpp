// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/serve/json_values.hpp>
#include <muster/serve/selectors.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// What a client asks, taken out of HTTP.
struct request {
    std::string method = "GET";
    std::string path;
    std::map<std::string, std::string, std::less<>> query = {};
    std::string accept = {};
    std::string content_type = "application/json";
    std::string user = "admin";
    std::string body = {};
    /// The object to create comes from another server: see restore(). Never set over HTTP.
    bool restores = false;

    [[nodiscard]] std::string_view asked(std::string_view name) const {
        const auto at = query.find(name);
        return at == query.end() ? std::string_view{} : std::string_view(at->second);
    }
    [[nodiscard]] bool asked_true(std::string_view name) const {
        return asked(name) == "true" || asked(name) == "1";
    }
};

/// How objects are to be shown: as they are, as rows of a table, or by their metadata alone.
enum class look : std::uint8_t { whole, table, metadata };

/// A stream of changes that the answer opens.
struct watch {
    std::size_t kind = 0;
    std::string in_namespace = {}; ///< empty: all
    selectors which = {};
    look shown = look::whole;
    bool rows_with_objects = false;
    bool bookmarks = false;
    /// Show what is there first, then say so by a bookmark.
    bool initial = false;
    bool initial_end = false;
    std::uint64_t seen = 0;   ///< the resourceVersion of what was sent last
    std::int64_t seconds = 0; ///< for how long; 0: as the server likes
    bool headed = false;      ///< a table's columns were sent
    /// The answer began beyond the history: one event says so.
    bool expired = false;
};

struct answer {
    int code = 200;
    json::object body = {};
    std::optional<watch> opens = {};
    int retry_after = 0;
    /// Plain text in the place of the body.
    std::string text = {};
    std::string_view type_of_text = "text/plain";
};

/// A failure as Kubernetes words it: code 404, reason "NotFound".
[[nodiscard]] inline answer refused(int code, std::string_view reason, std::string message,
                                    json::object details = {}) {
    json::object body{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", json::object{}},
                      {"status", "Failure"}, {"message", message}, {"code", code}};
    if (!reason.empty())
        body["reason"] = reason;
    if (!details.empty())
        body["details"] = std::move(details);
    answer made;
    made.code = code;
    made.body = std::move(body);
    return made;
}

/// A failure that is about no object: its details are there, and empty.
[[nodiscard]] inline answer refused_as_such(int code, std::string_view reason,
                                            std::string message) {
    answer made = refused(code, reason, std::move(message));
    made.body["details"] = json::object{};
    return made;
}

[[nodiscard]] inline answer succeeded(int code, json::object details = {}) {
    json::object body{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", json::object{}},
                      {"status", "Success"}};
    if (!details.empty())
        body["details"] = std::move(details);
    if (code != 200)
        body["code"] = code;
    answer made;
    made.code = code;
    made.body = std::move(body);
    return made;
}

/// The resource as failures name it: `pods`, `podgroups.scheduling.k8s.io`.
[[nodiscard]] inline std::string resource_text(std::string_view plural, std::string_view group) {
    return std::string(plural) + (group.empty() ? "" : ".") + std::string(group);
}

[[nodiscard]] inline json::object details_of(std::string_view name, std::string_view group,
                                             std::string_view kind) {
    json::object made;
    if (!name.empty())
        made["name"] = name;
    if (!group.empty())
        made["group"] = group;
    made["kind"] = kind;
    return made;
}

[[nodiscard]] inline answer not_found(std::string_view plural, std::string_view group,
                                      std::string_view name) {
    return refused(404, "NotFound",
                   resource_text(plural, group) + " \"" + std::string(name) + "\" not found",
                   details_of(name, group, plural));
}

[[nodiscard]] inline answer conflict(std::string_view plural, std::string_view group,
                                     std::string_view name, std::string_view why) {
    return refused(409, "Conflict",
                   "Operation cannot be fulfilled on " + resource_text(plural, group) + " \"" +
                       std::string(name) + "\": " + std::string(why),
                   details_of(name, group, plural));
}

[[nodiscard]] inline answer bad_request(std::string message) {
    return refused(400, "BadRequest", std::move(message));
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
