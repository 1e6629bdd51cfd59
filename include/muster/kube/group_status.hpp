// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <boost/json/object.hpp>

#include <muster/input/group_objects.hpp>
#include <muster/kube/coscheduling_group_status.hpp>
#include <muster/kube/group_report.hpp>
#include <muster/kube/kai_group_status.hpp>
#include <muster/kube/t9k_group_status.hpp>
#include <muster/kube/volcano_group_status.hpp>
#include <muster/kube/workload_group_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The status of a group's object in the form of its own API, by what was seen alone.
struct group_status {
    [[nodiscard]] boost::json::object operator()(const group_report& of, std::int64_t wall) const {
        using translate::gang_api;
        switch (codec::group_api(of.object->of.version, of.object->of.kind)) {
        case gang_api::t9k:
            return t9k_group_status(of, wall);
        case gang_api::coscheduling:
            return coscheduling_group_status(of, wall);
        case gang_api::volcano:
            return volcano_group_status(of, wall);
        case gang_api::kai:
            return kai_group_status(of, wall);
        case gang_api::workload:
            return workload_group_status(of, wall);
        case gang_api::none:
        case gang_api::grove:
        case gang_api::kueue:
            break;
        }
        return {};
    }
};

} // namespace kube
} // namespace v0_1
} // namespace muster
