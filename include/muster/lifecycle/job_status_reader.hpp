// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/document/diagnostic.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/lifecycle/job_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

template<class Kind, std::size_t Size>
[[nodiscard]] std::optional<Kind>
read_word(const field& at, const std::array<std::pair<Kind, std::string_view>, Size>& all) {
    const auto text = at.as_string();
    if (!text)
        return std::nullopt;
    std::string expected;
    for (const auto& [kind, name] : all) {
        if (name == *text)
            return kind;
        expected += (expected.empty() ? "" : ", ") + std::string(name);
    }
    at.error(in_quotes(*text) + " is not known (expected one of " + expected + ")");
    return std::nullopt;
}

/// `Initialized` is spelled in two other ways in T9k's documents.
[[nodiscard]] inline std::optional<lifecycle::condition_type> read_condition_type(const field& at) {
    const auto text = at.as_string();
    if (text == "Initializing" || text == "Initalized")
        return lifecycle::condition_type::initialized;
    return read_word(at, lifecycle::condition_types);
}

inline void read_condition(object_reader& object, lifecycle::job_status& into) {
    lifecycle::job_condition read;
    const field type_at = object.required("type");
    const auto type = read_condition_type(type_at);
    const field status_at = object.required("status");
    const auto status = status_at.as_string();
    read.reason = object.optional("reason").as_string().value_or("");
    read.message = object.optional("message").as_string().value_or("");
    read.transition_id = object.optional("transitionID").as_string().value_or("");
    read.changed = object.optional("lastTransitionTime").as_timestamp().value_or(0);
    object.finish();
    if (status && *status != "True" && *status != "False")
        status_at.error(in_quotes(*status) + " is not known (expected True or False)");
    if (!type || !status)
        return;
    read.type = *type;
    read.is_true = *status == "True";
    const auto at =
        std::ranges::lower_bound(into.conditions, read.type, {}, &lifecycle::job_condition::type);
    if (at != into.conditions.end() && at->type == read.type)
        type_at.error("the condition is there twice (expected every type once)");
    else
        into.conditions.insert(at, std::move(read));
}

[[nodiscard]] inline lifecycle::replica_status read_replica_status(object_reader& object) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    lifecycle::replica_status read;
    read.name = object.optional("name").as_string().value_or("");
    read.uid = object.optional("uid").as_string().value_or("");
    read.phase = read_word(object.required("phase"), lifecycle::replica_phases)
                     .value_or(lifecycle::replica_phase::creating);
    read.restarts = object.optional("restartCount").as_integer(0, most).value_or(0);
    const field list_at = object.optional("containers");
    const array_reader list = list_at.as_array();
    list.for_each_object([&](object_reader& each) {
        lifecycle::ended_container one;
        one.name = each.optional("name").as_string().value_or("");
        one.exit_code = each.optional("exitCode").as_integer().value_or(0);
        each.ignore({"state"});
        each.finish();
        read.containers.push_back(std::move(one));
    });
    object.finish();
    return read;
}

[[nodiscard]] inline lifecycle::task_status read_task_status(object_reader& object) {
    lifecycle::task_status read;
    read.type = object.required("type").as_string().value_or("");
    const field status_at = object.optional("status");
    const field replicas_at = object.optional("replicas");
    if (status_at.is_present() && replicas_at.is_present())
        replicas_at.error("stands beside status (expected one of the two)");
    const array_reader list =
        status_at.is_present() ? status_at.as_array() : replicas_at.as_array();
    list.for_each_object(
        [&](object_reader& each) { read.replicas.push_back(read_replica_status(each)); });
    // Their sum, which is worked out anew.
    object.ignore({"restartCount"});
    object.finish();
    return read;
}

} // namespace detail

/// The status stored with a T9k job of any kind: replicas as `status` or as `replicas`, conditions
/// in any order. What is wrong is reported at its place. O(status).
[[nodiscard]] inline lifecycle::job_status read_job_status(object_reader& object) {
    lifecycle::job_status read;
    const field phase_at = object.optional("phase");
    if (phase_at.value() != nullptr && phase_at.value()->is_string() &&
        *phase_at.as_string() == "Initializing")
        read.phase = lifecycle::job_phase::pending;
    else
        read.phase = detail::read_word(phase_at, lifecycle::job_phases);
    const field conditions_at = object.optional("conditions");
    const array_reader conditions = conditions_at.as_array();
    conditions.for_each_object([&](object_reader& each) { detail::read_condition(each, read); });
    const field tasks_at = object.optional("tasks");
    const array_reader tasks = tasks_at.as_array();
    tasks.for_each_object([&](object_reader& each) {
        read.tasks.push_back(detail::read_task_status(each));
        for (const lifecycle::replica_status& replica : read.tasks.back().replicas)
            read.restarts += replica.restarts;
    });
    // It remembers replicas that were scaled away, too.
    if (const auto count =
            object.optional("backoffCount").as_integer(0, std::numeric_limits<std::int32_t>::max()))
        read.restarts = *count;
    read.started = object.optional("startTime").as_timestamp();
    object.ignore({"aggregate", "completionTime", "jobURL"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
