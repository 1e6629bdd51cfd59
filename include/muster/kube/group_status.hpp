// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <boost/json/object.hpp>

#include <muster/apis/gang_apis.hpp>
#include <muster/apis/group_report.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/group_report.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The status of a group's object in the form of its own API, by what was seen alone.
struct group_status {
    [[nodiscard]] boost::json::object operator()(const group_report& of, std::int64_t wall) const {
        const group_record& object = *of.object;
        const boost::json::object* const whole =
            object.document ? object.document->root().if_object() : nullptr;
        const apis::group_report report{.version = object.of.version,
                                        .kind = object.of.kind,
                                        .uid = object.who.uid,
                                        .generation = object.generation,
                                        .spec = whole ? detail::object_in(*whole, "spec") : nullptr,
                                        .before = object.status.if_object(),
                                        .of_t9k = &object.object,
                                        .members = of.members,
                                        .standing = of.status};
        boost::json::object made;
        apis::find_api([&]<class Api>() {
            if constexpr (requires { Api::status(report, wall); }) {
                if (!Api::is_group(report.version, report.kind))
                    return false;
                made = Api::status(report, wall);
                return true;
            }
            return false;
        });
        return made;
    }
};

} // namespace kube
} // namespace v0_1
} // namespace muster
