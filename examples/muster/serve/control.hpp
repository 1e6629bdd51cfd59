// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/serve/api_store.hpp>
#include <muster/serve/faults.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

inline constexpr std::array<std::pair<std::string_view, fault::effect>, 11> fault_words{{
    {"delay", fault::effect::delay},
    {"lose_answer", fault::effect::lose_answer},
    {"refuse", fault::effect::refuse},
    {"reset", fault::effect::reset},
    {"truncate", fault::effect::truncate},
    {"half_line", fault::effect::half_line},
    {"end_watch", fault::effect::end_watch},
    {"hold_watch", fault::effect::hold_watch},
    {"gone", fault::effect::gone},
    {"gone_in_stream", fault::effect::gone_in_stream},
    {"compact", fault::effect::compact},
}};

} // namespace detail

/// A rule as JSON: {"verb": "create", "resource": "pods/binding", "skip": 1, "times": 1,
/// "what": "refuse", "code": 429, "retryAfter": 3}. Nothing when `what` is no fault, and for a
/// field that no rule has: without it, the rule would befall what it is not meant for.
[[nodiscard]] inline std::optional<fault_rule> read_rule(const json::object& from) {
    using namespace std::string_view_literals;
    static constexpr std::array words{"verb"sv, "resource"sv, "name"sv, "what"sv};
    static constexpr std::array numbers{"skip"sv,       "times"sv,        "percent"sv, "code"sv,
                                        "retryAfter"sv, "milliseconds"sv, "events"sv};
    for (const auto& each : from) {
        const std::string_view name = each.key();
        const bool good = std::ranges::find(words, name) != words.end()
                              ? each.value().is_string()
                              : std::ranges::find(numbers, name) != numbers.end() &&
                                    integer_at(from, {name}).value_or(-1) >= 0;
        if (!good)
            return std::nullopt;
    }
    const auto* const found = std::ranges::find(detail::fault_words, text_at(from, {"what"}),
                                                &std::pair<std::string_view, fault::effect>::first);
    if (found == detail::fault_words.end())
        return std::nullopt;
    const auto number = [&](std::string_view name, std::int64_t fallback) {
        return integer_at(from, {name}).value_or(fallback);
    };
    fault_rule made;
    made.verb = text_at(from, {"verb"});
    made.resource = text_at(from, {"resource"});
    made.name = text_at(from, {"name"});
    made.skip = static_cast<std::size_t>(number("skip", 0));
    made.times = static_cast<std::size_t>(number("times", 1));
    made.percent = number("percent", 100);
    made.befalls.what = found->second;
    made.befalls.code = static_cast<int>(number("code", 500));
    made.befalls.retry_after = static_cast<int>(number("retryAfter", 0));
    made.befalls.milliseconds = number("milliseconds", 0);
    made.befalls.events = static_cast<std::size_t>(number("events", 0));
    return made;
}

namespace detail {

[[nodiscard]] inline json::object shown(const journal_entry& of) {
    return {{"time", time_text(of.time)},
            {"verb", of.verb},
            {"resource", of.resource},
            {"namespace", of.in_namespace},
            {"name", of.name},
            {"user", of.user},
            {"code", of.code},
            {"body", of.body},
            {"answered", of.answered}};
}

} // namespace detail

/// What tests ask of a server besides its API, below /muster/: `GET journal?since=N` gives the
/// writes from the N-th on, `POST faults` plans a list of rules, `DELETE faults` drops them all,
/// `POST compact` forgets history. Nothing for any other path.
[[nodiscard]] inline std::optional<answer> control(api_store& store, faults& trouble,
                                                   const request& asked) {
    if (asked.path == "/muster/journal" && asked.method == "GET") {
        json::array entries;
        std::size_t since = 0;
        for (const char c : asked.asked("since"))
            since = since * 10 + static_cast<std::size_t>(c >= '0' && c <= '9' ? c - '0' : 0);
        for (std::size_t at = since; at < store.journal().size(); ++at)
            entries.push_back(detail::shown(store.journal()[at]));
        answer made;
        made.body = {{"entries", std::move(entries)}};
        return made;
    }
    if (asked.path == "/muster/faults" && asked.method == "DELETE") {
        trouble.clear();
        return succeeded(200);
    }
    if (asked.path == "/muster/faults" && asked.method == "POST") {
        const auto body = parse_json(asked.body);
        if (!body || !body->is_array())
            return bad_request("faults are a list of rules");
        for (const json::value& each : body->get_array()) {
            auto rule = each.is_object() ? read_rule(each.get_object()) : std::nullopt;
            if (!rule)
                return bad_request("no such fault: " + json::serialize(each));
            trouble.plan(*std::move(rule));
        }
        return succeeded(200);
    }
    if (asked.path == "/muster/compact" && asked.method == "POST") {
        store.compact();
        return succeeded(200);
    }
    return std::nullopt;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
