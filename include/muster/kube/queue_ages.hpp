// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>

#include <muster/apis/core/pod_age.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/document/duration.hpp>
#include <muster/lifecycle/document_fields.hpp>
#include <muster/lifecycle/object_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

namespace detail {

/// How old pods of a T9k queue get; nothing: any age, or nobody knows of such a queue.
[[nodiscard]] inline std::optional<std::int64_t>
age_in_queue(std::span<const boost::json::object* const> seen, std::string_view home,
             std::string_view queue) {
    using namespace lifecycle::detail;
    for (const boost::json::object* const each : seen) {
        if (text_at(*each, "kind") != "Queue" || text_at(*each, "metadata", "name") != queue ||
            text_at(*each, "metadata", "namespace") != home)
            continue;
        const auto longest = codec::parse_duration(text_at(*each, "spec", "maxDuration"));
        return longest && *longest > 0 ? longest : std::nullopt;
    }
    return std::nullopt;
}

/// When the first of a job's pods is that old.
[[nodiscard]] inline std::optional<std::int64_t>
first_end(std::span<const boost::json::object* const> seen, std::int64_t age) {
    using namespace lifecycle::detail;
    std::optional<std::int64_t> first;
    for (const boost::json::object* const each : seen) {
        const std::string_view phase = text_at(*each, "status", "phase");
        if (text_at(*each, "kind") != "Pod" || is_terminating(*each) || phase == "Succeeded" ||
            phase == "Failed")
            continue;
        const auto created = parse_timestamp(text_at(*each, "metadata", "creationTimestamp"));
        const auto end =
            created
                ? codec::end_of_pod(*created, age, number_at(*each, "spec", "priority").value_or(0))
                : std::nullopt;
        if (end)
            first = std::min(first.value_or(*end), *end);
    }
    return first;
}

} // namespace detail

/// A job with a pod older than its queue's maxDuration is paused, which beats all else; until then
/// the step says when to look. Jobs that cannot be paused (BeamJob) lose their pods instead, by the
/// scheduler. `home`: where queues live.
inline void pause_when_too_old(const translate::t9k_job& job, const boost::json::object& owner,
                               std::span<const boost::json::object* const> seen,
                               std::string_view home, std::int64_t wall,
                               lifecycle::object_step& step) {
    if (!job.scheduler || job.run_mode.pause || job.kind == translate::t9k_kind::beam)
        return;
    const auto age = detail::age_in_queue(seen, home, job.scheduler->queue);
    const auto end = age ? detail::first_end(seen, *age) : std::nullopt;
    if (!end)
        return;
    if (*end > wall) {
        step.wake = std::min(step.wake.value_or(*end), *end);
        return;
    }
    boost::json::object paused = owner;
    const auto inside = [](boost::json::object& in, std::string_view key) -> boost::json::object& {
        boost::json::value& found = in[key];
        return found.is_object() ? found.get_object() : found.emplace_object();
    };
    inside(inside(inside(paused, "spec"), "runMode"), "pause")["enabled"] = true;
    step.writes.clear();
    step.writes.push_back({lifecycle::object_write::verb::replace, std::move(paused)});
    step.notes.push_back({true, "MaxDurationExceeded",
                          "paused: queue " + std::string(job.scheduler->queue) +
                              " lets no pod get older than its maxDuration"});
}

} // namespace kube
} // namespace v0_1
} // namespace muster
