// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/document/document.hpp>
#include <muster/document/duration.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// What somebody does to a job, a PodCliqueSet, a pod or a node while a run goes on.
enum class script_action : std::uint8_t {
    pause,
    resume,
    scale, ///< to `value` replicas: an elastic job, a set, or what scales in a set by itself
    delete_job,
    set_image, ///< of a set's clique `part`, or all of them, to `text`
    end,       ///< the pod ends with the exit code `value`
    delete_pod,
    lose_node,
    return_node,
};

/// The field that names whom an action is for.
inline constexpr std::array<std::pair<script_action, std::string_view>, 9> script_actions{{
    {script_action::pause, "pause"},
    {script_action::resume, "resume"},
    {script_action::scale, "scale"},
    {script_action::delete_job, "deleteJob"},
    {script_action::set_image, "setImage"},
    {script_action::end, "end"},
    {script_action::delete_pod, "deletePod"},
    {script_action::lose_node, "loseNode"},
    {script_action::return_node, "returnNode"},
}};

struct script_event {
    std::int64_t at = 0; ///< nanoseconds since the start
    script_action what = script_action::pause;
    codec::object_key whom; ///< of a node without a namespace
    std::int64_t value = 0;
    std::string part;
    std::string text;
    codec::location where;
};

namespace detail {

/// Whole seconds, or a duration such as 1h30m.
[[nodiscard]] inline std::int64_t script_time(const codec::field& at) {
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::int64_t most = 1'000'000'000;
    if (at.value() != nullptr && at.value()->is_string()) {
        const auto text = at.as_string();
        const auto parsed = codec::parse_duration(*text);
        if (!parsed || text->empty())
            at.error(codec::in_quotes(*text) + " is no time (expected seconds, or e.g. 1h30m)");
        return parsed.value_or(0);
    }
    return at.as_integer(0, most).value_or(0) * second;
}

inline script_event read_script_event(codec::object_reader& object,
                                      const std::string& default_namespace) {
    script_event read;
    read.where = object.where();
    read.at = script_time(object.required("at"));
    std::size_t actions = 0;
    for (const auto& [action, name] : script_actions) {
        const auto whom = object.optional(name).as_string();
        if (!whom)
            continue;
        ++actions;
        read.what = action;
        const bool of_node =
            action == script_action::lose_node || action == script_action::return_node;
        const std::size_t slash = whom->find('/');
        if (of_node)
            read.whom.name = *whom;
        else if (slash == std::string_view::npos)
            read.whom = {default_namespace, std::string(*whom)};
        else
            read.whom = {std::string(whom->substr(0, slash)), std::string(whom->substr(slash + 1))};
    }
    if (actions != 1)
        object.error("says " + std::to_string(actions) +
                     " things to do (expected exactly one of pause, resume, scale, deleteJob, "
                     "setImage, end, deletePod, loseNode, returnNode)");
    if (read.what == script_action::scale)
        read.value = object.required("replicas").as_integer(0, 1'000'000).value_or(0);
    if (read.what == script_action::set_image) {
        read.text = object.required("image").as_string().value_or("");
        read.part = object.optional("clique").as_string().value_or("");
    }
    if (read.what == script_action::end)
        read.value = object.optional("exitCode").as_integer(0, 255).value_or(0);
    object.finish();
    return read;
}

} // namespace detail

/// What happens from outside during a run: `events:`, a list of
/// `{at: SECONDS, WHAT: [NAMESPACE/]NAME}`, with `replicas` for scale, `image` and
/// perhaps `clique` for setImage, and `exitCode` for end. In the order of times, then as written.
[[nodiscard]] inline std::vector<script_event>
read_script(const std::vector<codec::document>& documents, const std::string& default_namespace,
            codec::diagnostics& out) {
    std::vector<script_event> read;
    for (const codec::document& each : documents) {
        codec::object_reader root(each, out);
        const codec::field list_at = root.required("events");
        const codec::array_reader list = list_at.as_array();
        list.for_each_object([&](codec::object_reader& object) {
            read.push_back(detail::read_script_event(object, default_namespace));
        });
        root.finish();
    }
    std::ranges::stable_sort(read, {}, &script_event::at);
    return read;
}

/// A list of whole numbers, one for every attempt, such as `30, 60`; nothing when it is none
/// or a number is out of bounds. Once it is used up the last number holds.
[[nodiscard]] inline std::optional<std::vector<std::int64_t>>
parse_attempts(std::string_view text, std::int64_t least, std::int64_t most) {
    std::vector<std::int64_t> read;
    while (true) {
        const std::size_t comma = text.find(',');
        std::string_view item = text.substr(0, comma);
        while (!item.empty() && item.front() == ' ')
            item.remove_prefix(1);
        while (!item.empty() && item.back() == ' ')
            item.remove_suffix(1);
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
        if (error != std::errc{} || end != item.data() + item.size() || number < least ||
            number > most)
            return std::nullopt;
        read.push_back(number);
        if (comma == std::string_view::npos)
            return read;
        text.remove_prefix(comma + 1);
    }
}

inline constexpr std::string_view run_seconds_key = "muster.dev/run-seconds";
inline constexpr std::string_view exit_code_key = "muster.dev/exit-code";

/// With which code a pod of the input ends that no job of the run owns: the first of its list.
[[nodiscard]] inline std::optional<std::int64_t> exit_code_of(const codec::pod_object& pod,
                                                              codec::diagnostics& out) {
    const std::string* const text = pod.metadata.annotations.find(std::string(exit_code_key));
    if (text == nullptr)
        return std::nullopt;
    if (const auto list = parse_attempts(*text, 0, 255))
        return list->front();
    report(out, codec::severity::warning, pod.metadata.where,
           {"metadata", "annotations", exit_code_key},
           codec::in_quotes(*text) + " is no list of exit codes, and says nothing (expected e.g. "
                                     "1, 0)");
    return std::nullopt;
}

} // namespace sim
} // namespace v0_1
} // namespace muster
