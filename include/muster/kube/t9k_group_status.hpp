// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <boost/json/object.hpp>

#include <muster/input/pod_group_status.hpp>
#include <muster/kube/group_report.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The status of a T9k PodGroup, as T9k's scheduler writes it; why it was not scheduled yet stands
/// in the message that T9k leaves empty.
[[nodiscard]] inline boost::json::object t9k_group_status(const group_report& of,
                                                          std::int64_t wall) {
    codec::group_standing standing;
    standing.object = &of.object->object;
    standing.members.assign(of.members.begin(), of.members.end());
    for (const codec::pod_object* const each : of.members)
        if (codec::is_allocated(*each))
            standing.allocated.push_back(each);
    standing.sufficient = of.status->alive > 0 && of.status->at != gate::members;
    standing.scheduled = of.status->reached;
    boost::json::object made = codec::status_of(standing, wall - wall % second);
    if (!of.status->message.empty())
        for (boost::json::value& each : made.at("conditions").as_array())
            if (boost::json::object& one = each.as_object();
                one.at("type") == "GroupScheduled" && one.at("status") == "False")
                one["message"] = of.status->message;
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
