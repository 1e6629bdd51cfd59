// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/input/group_objects.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/dialect.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The entry of a list of conditions that has this type; null when there is none.
[[nodiscard]] inline const boost::json::object*
find_condition(const boost::json::object* status, std::string_view list, std::string_view type) {
    const boost::json::value* const all = status ? status->if_contains(list) : nullptr;
    const boost::json::array* const conditions = all ? all->if_array() : nullptr;
    for (std::size_t at = 0; conditions && at < conditions->size(); ++at)
        if (const boost::json::object* const each = (*conditions)[at].if_object())
            if (detail::string_in(*each, "type") == type)
                return each;
    return nullptr;
}

/// What the object of a group keeps of whether its minima were ever reached, each API in its own
/// place. Absent: it has none, as scheduler-plugins', whose phase goes back when members are lost.
[[nodiscard]] inline std::optional<bool> latch_of(const collection& of,
                                                  const boost::json::value& written) {
    using translate::gang_api;
    const boost::json::object* const status = written.if_object();
    const auto is_true = [&](std::string_view list, std::string_view type) {
        const boost::json::object* const found = find_condition(status, list, type);
        return found && detail::string_in(*found, "status") == "True";
    };
    switch (codec::group_api(of.version, of.kind)) {
    case gang_api::t9k:
        return is_true("conditions", "GroupScheduled");
    case gang_api::volcano:
        return is_true("conditions", "Scheduled");
    case gang_api::kai:
        return is_true("schedulingConditions", "Scheduled");
    case gang_api::workload:
        if (of.kind != "PodGroup")
            return std::nullopt;
        return is_true("conditions", "PodGroupScheduled");
    case gang_api::coscheduling: {
        const std::string phase = status ? detail::string_in(*status, "phase") : std::string{};
        if (phase == "Scheduled" || phase == "Running" || phase == "Finished" || phase == "Failed")
            return true;
        // Koordinator's does not go back.
        return of.version == codec::sigs_group_version ? std::optional(false) : std::nullopt;
    }
    case gang_api::none:
    case gang_api::grove:
    case gang_api::kueue:
        break;
    }
    return std::nullopt;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
