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
#include <muster/document/json_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {
namespace detail {

/// The text under a key; empty where there is none.
[[nodiscard]] inline std::string string_in(const boost::json::object& in, std::string_view key) {
    return std::string(translate::find_text(&in, key).value_or(std::string_view{}));
}

/// A wall clock time in nanoseconds as metav1.Time has it: whole seconds.
[[nodiscard]] inline std::string second_text(std::int64_t wall) {
    constexpr std::int64_t second = 1'000'000'000;
    return time_text(wall - wall % second);
}

} // namespace detail

/// The condition of this type in a list of a status; null where there is none.
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

/// Returns true if a list of a status has a condition of this type that is true.
[[nodiscard]] inline bool has_condition(const boost::json::object* status, std::string_view list,
                                        std::string_view type) {
    const boost::json::object* const found = find_condition(status, list, type);
    return found && detail::string_in(*found, "status") == "True";
}

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
    made["lastTransitionTime"] = detail::second_text(wall);
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

} // namespace apis
} // namespace v0_1
} // namespace muster
