// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <muster/apis/gang_definition.hpp>
#include <muster/apis/group_conditions.hpp>
#include <muster/apis/group_report.hpp>
#include <muster/apis/koordinator/facts.hpp>
#include <muster/base/timestamp.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {
namespace detail {

/// scheduler-plugins knows neither PreScheduling nor Scheduled, and its phase goes back when
/// members are lost; Koordinator's does not, once its pods are scheduled.
[[nodiscard]] inline std::string_view
coscheduling_phase(bool koordinator, std::int64_t least, std::int64_t pods, std::int64_t scheduled,
                   std::int64_t running, std::int64_t succeeded, std::int64_t failed,
                   std::string_view before) {
    constexpr std::array<std::string_view, 5> way{"Pending", "PreScheduling", "Scheduling",
                                                  "Scheduled", "Running"};
    if (pods == 0 || (!koordinator && pods < least))
        return "Pending";
    if (succeeded >= least)
        return "Finished";
    if (failed > 0 && failed + running + succeeded >= least)
        return "Failed";
    if (!koordinator)
        return running + succeeded >= least ? "Running" : "Scheduling";
    const std::string_view now = running + succeeded >= least ? "Running"
                                 : scheduled >= least         ? "Scheduled"
                                 : scheduled > 0              ? "Scheduling"
                                 : pods >= least              ? "PreScheduling"
                                                              : "Pending";
    const auto last = std::ranges::find(way, before);
    const bool got_there = last != way.end() && last - way.begin() >= 3;
    return got_there && last > std::ranges::find(way, now) ? *last : now;
}

} // namespace detail

/// The status of a PodGroup of scheduler-plugins or of Koordinator: phase and counts, as their
/// controllers derive them from the pods that name it.
[[nodiscard]] inline boost::json::object coscheduling_group_status(const group_report& of,
                                                                   std::int64_t wall) {
    const bool koordinator = of.version == translate::sigs_group_version;
    const boost::json::object* const before = of.before;
    const boost::json::value* const minimum = of.spec ? of.spec->if_contains("minMember") : nullptr;
    const std::int64_t least = minimum && minimum->is_int64() ? minimum->get_int64() : 0;
    const std::int64_t running = count_in(of.members, "Running");
    const std::int64_t succeeded = count_in(of.members, "Succeeded");
    const std::int64_t failed = count_in(of.members, "Failed");
    const std::int64_t scheduled = std::ranges::count_if(
        of.members, [](const codec::pod_object* pod) { return !pod->node.empty(); });
    boost::json::object made = before ? *before : boost::json::object{};
    const std::string_view phase = detail::coscheduling_phase(
        koordinator, least, static_cast<std::int64_t>(of.members.size()), scheduled, running,
        succeeded, failed, before ? detail::string_in(*before, "phase") : std::string{});
    made["phase"] = phase;
    const auto count = [&](const char* name, std::int64_t value) {
        if (value > 0)
            made[name] = value;
        else
            made.erase(name);
    };
    count("running", running);
    count("succeeded", succeeded);
    count("failed", failed);
    if (koordinator)
        count("scheduled", scheduled);
    if (phase == "Pending")
        return made;
    if (!made.contains("scheduleStartTime"))
        made["scheduleStartTime"] = detail::second_text(wall);
    return made;
}

} // namespace apis
} // namespace v0_1
} // namespace muster
