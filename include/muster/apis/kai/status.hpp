// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/pod_amounts.hpp>
#include <muster/apis/group_conditions.hpp>
#include <muster/apis/group_report.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// The status of a KAI PodGroup: while nothing of it stands and it does not fit, the condition
/// UnschedulableOnNodePool; once its minima were reached, Scheduled; and what its pods ask for and
/// hold.
[[nodiscard]] inline boost::json::object kai_group_status(const group_report& of,
                                                          std::int64_t wall) {
    const adapter::gang_status& status = *of.standing;
    const boost::json::object* const before = of.before;
    boost::json::object made = before ? *before : boost::json::object{};
    boost::json::array conditions = conditions_in(before, "schedulingConditions");
    // Counted on, so that the newest can be told.
    std::int64_t last = 0;
    for (const boost::json::value& each : conditions)
        if (const boost::json::object* const one = each.if_object()) {
            const std::string id = detail::string_in(*one, "transitionID");
            std::int64_t number = 0;
            std::from_chars(id.data(), id.data() + id.size(), number);
            last = std::max(last, number);
        }
    const std::string next = std::to_string(last + 1);
    if (status.reached) {
        drop_condition(conditions, "UnschedulableOnNodePool");
        set_condition(conditions,
                      {{"type", "Scheduled"}, {"status", "True"}, {"transitionID", next}}, wall);
    } else if (status.waiting > 0 && status.at != gate::none && status.holding == 0) {
        const std::string message = waiting_text(status);
        set_condition(conditions,
                      {{"type", "UnschedulableOnNodePool"},
                       {"nodePool", "default"},
                       {"reason", "Unschedulable"},
                       {"message", message},
                       {"reasons", boost::json::array{boost::json::object{
                                       {"reason", "Unschedulable"}, {"message", message}}}},
                       {"status", "True"},
                       {"transitionID", next}},
                      wall);
    }
    if (conditions.empty())
        made.erase("schedulingConditions");
    else
        made["schedulingConditions"] = std::move(conditions);
    std::vector<const codec::pod_object*> asking;
    std::vector<const codec::pod_object*> standing;
    for (const codec::pod_object* const pod : of.members) {
        if (pod->phase == pod_phase::succeeded || pod->phase == pod_phase::failed)
            continue;
        asking.push_back(pod);
        if (codec::is_allocated(*pod))
            standing.push_back(pod);
    }
    boost::json::object resources;
    const auto sum = [&](const char* name, const std::vector<const codec::pod_object*>& pods) {
        if (boost::json::object amounts = codec::resource_list(codec::sum_of(pods));
            !amounts.empty())
            resources[name] = std::move(amounts);
    };
    sum("allocated", standing);
    sum("requested", asking);
    if (resources.empty())
        made.erase("resourcesStatus");
    else
        made["resourcesStatus"] = std::move(resources);
    return made;
}

} // namespace apis
} // namespace v0_1
} // namespace muster
