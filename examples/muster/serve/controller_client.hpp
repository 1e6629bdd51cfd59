// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <muster/base/timestamp.hpp>
#include <muster/serve/api_store.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Sends the requests of a controller that acts on a server as a client.
class controller_client {
public:
    controller_client(api_store& of, std::string_view component)
        : store_(&of), component_(component) {}

    void send(std::string method, std::string path, const json::object& body = {}) {
        request made;
        made.method = std::move(method);
        made.path = std::move(path);
        made.user = "system:" + component_;
        made.content_type =
            made.method == "PATCH" ? "application/merge-patch+json" : "application/json";
        if (!body.empty())
            made.body = json::serialize(body);
        static_cast<void>(store_->handle(made));
    }

    /// Sends a merge patch.
    void merge(std::string path, const json::object& change) {
        send("PATCH", std::move(path), change);
    }

    void set_phase(const std::string& path, const json::object& object, std::string_view phase) {
        if (text_at(object, {"status", "phase"}) != phase)
            merge(path + "/status", {{"status", json::object{{"phase", phase}}}});
    }

    /// Writes an event about an object, unless the last event about the object has the same mark
    /// (default: the message).
    void say(const json::object& about, std::string_view type, std::string_view reason,
             const std::string& message, std::string_view mark = {}) {
        const std::string uid(text_at(about, {"metadata", "uid"}));
        const std::string_view now_said = mark.empty() ? std::string_view(message) : mark;
        if (std::string& last = said_[uid]; last != now_said)
            last = now_said;
        else
            return;
        const std::string in_namespace(text_at(about, {"metadata", "namespace"}));
        const std::string name(text_at(about, {"metadata", "name"}));
        constexpr std::int64_t second = 1'000'000'000;
        const std::string now = time_text(store_->time() / second * second);
        // Every write has another version, so no two events have the same name.
        const std::string version = std::to_string(store_->objects().version());
        send("POST", "/api/v1/namespaces/" + in_namespace + "/events",
             {{"metadata", json::object{{"name", name + "." + version}}},
              {"involvedObject", json::object{{"apiVersion", text_at(about, {"apiVersion"})},
                                              {"kind", text_at(about, {"kind"})},
                                              {"namespace", in_namespace},
                                              {"name", name},
                                              {"uid", uid}}},
              {"type", type},
              {"reason", reason},
              {"message", message},
              {"source", json::object{{"component", component_}}},
              {"count", 1},
              {"firstTimestamp", now},
              {"lastTimestamp", now}});
    }

private:
    api_store* store_;
    std::string component_;
    /// The mark of the last event about each object, by uid.
    std::map<std::string, std::string> said_;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
