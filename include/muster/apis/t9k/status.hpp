// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <boost/json/object.hpp>

#include <muster/apis/group_report.hpp>
#include <muster/apis/t9k/pod_group_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// The status of a T9k PodGroup, as T9k's scheduler writes it; why it was not scheduled yet stands
/// in the message that T9k leaves empty.
[[nodiscard]] inline boost::json::object t9k_group_status(const group_report& of,
                                                          std::int64_t wall) {
    codec::group_standing standing;
    standing.object = of.of_t9k;
    standing.members.assign(of.members.begin(), of.members.end());
    for (const codec::pod_object* const each : of.members)
        if (codec::is_allocated(*each))
            standing.allocated.push_back(each);
    standing.sufficient = of.standing->alive > 0 && of.standing->at != gate::members;
    standing.scheduled = of.standing->reached;
    boost::json::object made = codec::status_of(standing, wall - wall % 1'000'000'000);
    if (!of.standing->message.empty())
        for (boost::json::value& each : made.at("conditions").as_array())
            if (boost::json::object& one = each.as_object();
                one.at("type") == "GroupScheduled" && one.at("status") == "False")
                one["message"] = of.standing->message;
    return made;
}

} // namespace apis
} // namespace v0_1
} // namespace muster
