// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// The status of a PodGroup of Kubernetes 1.36: the condition PodGroupScheduled, which stays true
/// once it is. Workloads have no status.
[[nodiscard]] inline boost::json::object workload_group_status(const group_report& of,
                                                               std::int64_t wall) {
    if (of.kind != "PodGroup")
        return {};
    const adapter::gang_status& status = *of.standing;
    const boost::json::object* const before = of.before;
    boost::json::object made = before ? *before : boost::json::object{};
    const bool waits = status.waiting > 0 && status.at != gate::none;
    if (!status.reached && !waits)
        return made;
    boost::json::array conditions = conditions_in(before, "conditions");
    boost::json::object one{{"type", "PodGroupScheduled"},
                            {"status", status.reached ? "True" : "False"},
                            {"reason", status.reached ? "Scheduled" : "Unschedulable"},
                            {"message", ""}};
    if (!status.reached)
        one["message"] = waiting_text(status);
    if (of.generation > 0)
        one["observedGeneration"] = of.generation;
    set_condition(conditions, std::move(one), wall);
    made["conditions"] = std::move(conditions);
    return made;
}

} // namespace apis
} // namespace v0_1
} // namespace muster
