// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/serve/answer.hpp>
#include <muster/serve/kinds.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// What a path names: objects of a kind, one object, or a subresource of one.
struct target {
    std::size_t kind = 0;
    std::string in_namespace = {};
    std::string name = {};
    std::string sub = {};
};

/// Takes a path of the API apart; nothing when no kind is served there.
[[nodiscard]] inline std::optional<target> find_target(const kind_table& kinds,
                                                       std::string_view path) {
    std::vector<std::string> parts;
    for (std::size_t at = 1; at <= path.size();) {
        const auto end = path.find('/', at);
        const auto part = path.substr(at, end - at);
        if (part.empty())
            return std::nullopt;
        parts.emplace_back(part);
        if (end == std::string_view::npos)
            break;
        at = end + 1;
    }
    const bool core = parts.size() >= 3 && parts[0] == "api";
    const bool grouped = parts.size() >= 4 && parts[0] == "apis";
    if (!core && !grouped)
        return std::nullopt;
    const std::string group = core ? "" : parts[1];
    const std::string version = parts[core ? 1 : 2];
    std::size_t at = core ? 2 : 3;
    target made;
    if (parts[at] == "namespaces" && parts.size() > at + 2 && parts[at + 2] != "status" &&
        parts[at + 2] != "finalize") {
        made.in_namespace = parts[at + 1];
        at += 2;
    }
    const auto kind = kinds.find(group, version, parts[at]);
    if (!kind || parts.size() > at + 3)
        return std::nullopt;
    made.kind = *kind;
    const kind_info& of = kinds[*kind];
    if (!of.namespaced && !made.in_namespace.empty())
        return std::nullopt;
    if (parts.size() > at + 1)
        made.name = parts[at + 1];
    if (parts.size() > at + 2)
        made.sub = parts[at + 2];
    if (of.namespaced && made.in_namespace.empty() && !made.name.empty())
        return std::nullopt;
    const bool pod_action = of.group.empty() && of.plural == "pods" &&
                            (made.sub == "binding" || made.sub == "eviction");
    if (!made.sub.empty() && !(made.sub == "status" && of.has_status) && !pod_action)
        return std::nullopt;
    return made;
}

/// Takes `/path?name=value&...` apart, with its escapes.
inline void read_target(std::string_view text, request& into) {
    const auto unescaped = [](std::string_view from) {
        const auto digit = [](char c) {
            return c >= '0' && c <= '9'   ? c - '0'
                   : c >= 'a' && c <= 'f' ? c - 'a' + 10
                   : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                          : -1;
        };
        std::string made;
        for (std::size_t at = 0; at < from.size(); ++at) {
            const bool escape = from[at] == '%' && at + 2 < from.size() &&
                                digit(from[at + 1]) >= 0 && digit(from[at + 2]) >= 0;
            if (escape) {
                made += static_cast<char>(digit(from[at + 1]) * 16 + digit(from[at + 2]));
                at += 2;
            } else {
                made += from[at] == '+' ? ' ' : from[at];
            }
        }
        return made;
    };
    const auto mark = text.find('?');
    into.path = unescaped(text.substr(0, mark));
    while (into.path.size() > 1 && into.path.back() == '/')
        into.path.pop_back();
    std::string_view rest = mark == std::string_view::npos ? "" : text.substr(mark + 1);
    while (!rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find('&'));
        rest.remove_prefix(one.size() == rest.size() ? one.size() : one.size() + 1);
        const auto equal = one.find('=');
        into.query[unescaped(one.substr(0, equal))] =
            equal == std::string_view::npos ? "" : unescaped(one.substr(equal + 1));
    }
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
