// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/group_conditions.hpp>
#include <muster/apis/group_report.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// The status of a Volcano PodGroup. Controllers create its pods once it is no longer Pending:
/// whatever its queue admits is Inqueue at once. The condition Scheduled keeps that its minima were
/// reached.
[[nodiscard]] inline boost::json::object volcano_group_status(const group_report& of,
                                                              std::int64_t wall) {
    const adapter::gang_status& status = *of.standing;
    const boost::json::object* const before = of.before;
    const std::int64_t running = count_in(of.members, "Running");
    const std::int64_t succeeded = count_in(of.members, "Succeeded");
    boost::json::object made = before ? *before : boost::json::object{};
    const bool waits = status.waiting > 0 && status.at != gate::none;
    const char* phase = "Inqueue";
    if (status.holds_minima)
        phase = status.holding == status.succeeded ? "Completed" : "Running";
    else if (running > 0)
        phase = "Unknown";
    else if (status.at == gate::queue || status.at == gate::group)
        phase = "Pending";
    made["phase"] = phase;
    const auto count = [&](const char* name, std::int64_t value) {
        if (value > 0)
            made[name] = value;
        else
            made.erase(name);
    };
    count("running", running);
    count("succeeded", succeeded);
    count("failed", count_in(of.members, "Failed"));
    boost::json::array conditions = conditions_in(before, "conditions");
    const auto add = [&](const char* type, const char* reason, const std::string& message) {
        boost::json::object one{
            {"type", type}, {"status", "True"}, {"transitionID", of.uid}, {"reason", reason}};
        if (!message.empty())
            one["message"] = message;
        set_condition(conditions, std::move(one), wall);
    };
    if (status.reached)
        add("Scheduled", "tasks in gang are ready to be scheduled", {});
    if (waits && !status.holds_minima)
        add("Unschedulable", "NotEnoughResources",
            std::to_string(status.waiting) + "/" + std::to_string(of.members.size()) +
                " tasks in gang unschedulable: " + waiting_text(status));
    else if (status.holds_minima || status.waiting == 0)
        drop_condition(conditions, "Unschedulable");
    if (conditions.empty())
        made.erase("conditions");
    else
        made["conditions"] = std::move(conditions);
    return made;
}

} // namespace apis
} // namespace v0_1
} // namespace muster
