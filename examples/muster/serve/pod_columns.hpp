// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <muster/base/timestamp.hpp>
#include <muster/serve/json_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// A span of time as kubectl's tables show it: `45s`, `3m5s`, `12m`, `5h20m`, `3d4h`.
[[nodiscard]] inline std::string span_text(std::int64_t nanoseconds) {
    const std::int64_t seconds = nanoseconds / 1'000'000'000;
    const auto with_rest = [](std::int64_t whole, const char* unit, std::int64_t rest,
                              const char* rest_unit) {
        return std::to_string(whole) + unit + (rest == 0 ? "" : std::to_string(rest) + rest_unit);
    };
    if (seconds < -1)
        return "<invalid>";
    if (seconds < 120)
        return std::to_string(seconds < 0 ? 0 : seconds) + "s";
    const std::int64_t minutes = seconds / 60;
    if (minutes < 10)
        return with_rest(minutes, "m", seconds % 60, "s");
    if (minutes < 180)
        return std::to_string(minutes) + "m";
    const std::int64_t hours = minutes / 60;
    if (hours < 8)
        return with_rest(hours, "h", minutes % 60, "m");
    if (hours < 48)
        return std::to_string(hours) + "h";
    if (hours < 24 * 8)
        return with_rest(hours / 24, "d", hours % 24, "h");
    if (hours < 24 * 365 * 2)
        return std::to_string(hours / 24) + "d";
    if (hours < 24 * 365 * 8)
        return with_rest(hours / 24 / 365, "y", hours / 24 % 365, "d");
    return std::to_string(hours / 24 / 365) + "y";
}

/// How long ago a time was.
[[nodiscard]] inline std::string age_text(std::string_view time, std::int64_t now) {
    const auto then = parse_timestamp(time);
    return then ? span_text(now - *then) : "<unknown>";
}

namespace detail {

[[nodiscard]] inline std::string pod_status(const json::object& pod) {
    std::string reason(text_at(pod, {"status", "phase"}));
    if (const auto own = text_at(pod, {"status", "reason"}); !own.empty())
        reason = own;
    if (const json::array* const conditions = array_at(pod, {"status", "conditions"}))
        for (const json::value& each : *conditions)
            if (const json::object* const one = each.if_object())
                if (text_at(*one, {"type"}) == "PodScheduled" &&
                    text_at(*one, {"reason"}) == "SchedulingGated")
                    reason = "SchedulingGated";
    if (const json::array* const all = array_at(pod, {"status", "containerStatuses"}))
        for (std::size_t at = all->size(); at-- > 0;) {
            const json::object* const one = (*all)[at].if_object();
            if (!one)
                continue;
            const auto waiting = text_at(*one, {"state", "waiting", "reason"});
            const auto ended = text_at(*one, {"state", "terminated", "reason"});
            if (!waiting.empty())
                reason = waiting;
            else if (!ended.empty())
                reason = ended;
            else if (const auto code = integer_at(*one, {"state", "terminated", "exitCode"}))
                reason = "ExitCode:" + std::to_string(*code);
        }
    if (value_at(pod, {"metadata", "deletionTimestamp"}))
        reason = text_at(pod, {"status", "reason"}) == "NodeLost" ? "Unknown" : "Terminating";
    return reason;
}

[[nodiscard]] inline std::string or_none(std::string_view text) {
    return text.empty() ? "<none>" : std::string(text);
}

} // namespace detail

/// The cells of a pod in the table of pods.
[[nodiscard]] inline json::array pod_cells(const json::object& pod, std::int64_t now) {
    std::int64_t ready = 0;
    std::int64_t restarts = 0;
    if (const json::array* const all = array_at(pod, {"status", "containerStatuses"}))
        for (const json::value& each : *all)
            if (const json::object* const one = each.if_object()) {
                const bool runs = object_at(*one, {"state", "running"}) != nullptr;
                ready += true_at(*one, {"ready"}) && runs ? 1 : 0;
                restarts += integer_at(*one, {"restartCount"}).value_or(0);
            }
    const json::array* const containers = array_at(pod, {"spec", "containers"});
    const std::size_t count = containers ? containers->size() : 0;
    const std::string ready_text = std::to_string(ready) + "/" + std::to_string(count);
    return {json::value(text_at(pod, {"metadata", "name"})),
            json::value(ready_text),
            json::value(detail::pod_status(pod)),
            json::value(std::to_string(restarts)),
            json::value(age_text(text_at(pod, {"metadata", "creationTimestamp"}), now)),
            json::value(detail::or_none(text_at(pod, {"status", "podIP"}))),
            json::value(detail::or_none(text_at(pod, {"spec", "nodeName"}))),
            json::value(detail::or_none(text_at(pod, {"status", "nominatedNodeName"}))),
            json::value("<none>")};
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
