// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/kube/group_conditions.hpp>
#include <muster/kube/group_report.hpp>
#include <muster/kube/order_requests.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The status of a PodGroup of Kubernetes 1.36: the condition PodGroupScheduled, which stays true
/// once it is. Workloads have no status.
[[nodiscard]] inline boost::json::object workload_group_status(const group_report& of,
                                                               std::int64_t wall) {
    if (of.object->of.kind != "PodGroup")
        return {};
    const adapter::gang_status& status = *of.status;
    const boost::json::object* const before = of.object->status.if_object();
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
    if (of.object->generation > 0)
        one["observedGeneration"] = of.object->generation;
    set_condition(conditions, std::move(one), wall);
    made["conditions"] = std::move(conditions);
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
