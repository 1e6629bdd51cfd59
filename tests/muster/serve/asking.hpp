// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <muster/serve/api_store.hpp>

namespace api_server_test {

using namespace muster::testing::api_server;

/// A server, and a client that writes its requests briefly.
struct asking {
    api_store store{7};

    asking() { store.set_time(1'700'000'000'000'000'000); }

    answer ask(std::string method, std::string_view target, std::string body = {},
               std::string type = "application/json", std::string accept = {}) {
        request made;
        made.method = std::move(method);
        made.body = std::move(body);
        made.content_type = std::move(type);
        made.accept = std::move(accept);
        read_target(target, made);
        return store.handle(made);
    }
    answer get(std::string_view target) { return ask("GET", target); }
    answer post(std::string_view target, std::string body) {
        return ask("POST", target, std::move(body));
    }
    answer merge(std::string_view target, std::string body) {
        return ask("PATCH", target, std::move(body), "application/merge-patch+json");
    }
    answer strategic(std::string_view target, std::string body) {
        return ask("PATCH", target, std::move(body), "application/strategic-merge-patch+json");
    }
    answer remove(std::string_view target, std::string body = {}) {
        return ask("DELETE", target, std::move(body));
    }
    void pass(std::int64_t seconds) { store.set_time(store.time() + seconds * 1'000'000'000); }

    void node(const std::string& name, const std::string& cpu) {
        REQUIRE(post("/api/v1/nodes", R"({"metadata":{"name":")" + name +
                                          R"("},"status":{"allocatable":{"cpu":")" + cpu +
                                          R"(","pods":"10"}}})")
                    .code == 201);
    }
    /// `more` goes into the spec.
    answer pod(const std::string& name, const std::string& cpu = "1", const std::string& more = {},
               const std::string& metadata = {}) {
        return post("/api/v1/namespaces/default/pods",
                    R"({"metadata":{"name":")" + name + "\"" + metadata +
                        R"(},"spec":{"containers":[{"name":"c","image":"i:1","resources":)"
                        R"({"requests":{"cpu":")" +
                        cpu + R"("}}}])" + more + "}}");
    }
    answer bind(const std::string& name, const std::string& node, const std::string& uid = {}) {
        const std::string metadata = uid.empty() ? "" : R"(,"uid":")" + uid + "\"";
        return post("/api/v1/namespaces/default/pods/" + name + "/binding",
                    R"({"metadata":{"name":")" + name + "\"" + metadata +
                        R"(},"target":{"kind":"Node","name":")" + node + R"("}})");
    }
    watch open(std::string_view target) {
        answer made = get(target);
        REQUIRE(made.opens);
        return *std::move(made.opens);
    }
    /// What a watch tells: `ADDED a MODIFIED a`.
    std::string told(watch& of) {
        std::string made;
        for (const std::string& line : store.events(of)) {
            const auto event = parse_json(line);
            REQUIRE(event);
            const json::object& object = event->get_object();
            made += (made.empty() ? "" : " ") + std::string(text_at(object, {"type"})) + " ";
            const auto name = text_at(object, {"object", "metadata", "name"});
            made += name.empty() ? text_at(object, {"object", "reason"}) : name;
        }
        return made;
    }
    [[nodiscard]] std::string field(std::string_view target, field_names path) {
        return std::string(text_at(get(target).body, path));
    }
};

inline const std::string pods = "/api/v1/namespaces/default/pods";

/// Code and reason of a refusal: `409 Conflict`.
inline std::string verdict(const answer& of) {
    return std::to_string(of.code) + " " + std::string(text_at(of.body, {"reason"}));
}

/// Returns the field and the message of each cause of a 422, one line each.
inline std::string causes(const answer& of) {
    std::string text;
    if (const json::array* const all = array_at(of.body, {"details", "causes"}))
        for (const json::value& each : *all)
            text += std::string(text_at(each.get_object(), {"field"})) + ": " +
                    std::string(text_at(each.get_object(), {"message"})) + "\n";
    return text;
}

} // namespace api_server_test
