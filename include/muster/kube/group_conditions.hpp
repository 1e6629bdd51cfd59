// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/group_latch.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The list of conditions that a status has under a name; empty where it has none.
[[nodiscard]] inline boost::json::array conditions_in(const boost::json::object* status,
                                                      std::string_view list) {
    const boost::json::value* const found = status ? status->if_contains(list) : nullptr;
    return found && found->is_array() ? found->get_array() : boost::json::array{};
}

/// Puts a condition into a list in place of the one of its type; the time of the last transition
/// stays while its status does. Others stay as they are.
inline void set_condition(boost::json::array& to, boost::json::object made, std::int64_t wall) {
    const std::string type = detail::string_in(made, "type");
    const std::string status = detail::string_in(made, "status");
    made["lastTransitionTime"] = time_text(wall - wall % second);
    for (boost::json::value& each : to) {
        boost::json::object* const old = each.if_object();
        if (!old || detail::string_in(*old, "type") != type)
            continue;
        if (const std::string when = detail::string_in(*old, "lastTransitionTime");
            detail::string_in(*old, "status") == status && !when.empty()) {
            made["lastTransitionTime"] = when;
            if (const boost::json::value* const id = old->if_contains("transitionID"))
                made["transitionID"] = *id;
        }
        *old = std::move(made);
        return;
    }
    to.emplace_back(std::move(made));
}

inline void drop_condition(boost::json::array& from, std::string_view type) {
    boost::json::array kept;
    for (boost::json::value& each : from)
        if (const boost::json::object* const old = each.if_object();
            !old || detail::string_in(*old, "type") != type)
            kept.push_back(std::move(each));
    from = std::move(kept);
}

/// How many pods are in this phase, as the API server has it.
[[nodiscard]] inline std::int64_t count_in(std::span<const codec::pod_object* const> pods,
                                           std::string_view phase) {
    return std::ranges::count_if(
        pods, [&](const codec::pod_object* pod) { return pod->api_phase == phase; });
}

} // namespace kube
} // namespace v0_1
} // namespace muster
