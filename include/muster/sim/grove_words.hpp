// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/document/json_text.hpp>
#include <muster/gangs/pod_marks.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {
namespace detail {

[[nodiscard]] inline const boost::json::object* condition_in(const boost::json::object* status,
                                                             std::string_view type) {
    if (const auto* list = translate::find_array(status, "conditions"))
        for (const boost::json::value& each : *list)
            if (each.is_object() && translate::string_at(each.get_object(), "type") == type)
                return &each.get_object();
    return nullptr;
}

/// Which replica of a set is being updated, in words.
[[nodiscard]] inline std::string update_text(const boost::json::object* status) {
    const auto* progress = translate::find_object(status, "updateProgress");
    if (!progress)
        return {};
    if (const auto* list = translate::find_array(progress, "currentlyUpdating");
        list && !list->empty() && list->front().is_object())
        if (const auto* index = list->front().get_object().if_contains("replicaIndex"))
            return "updating replica " +
                   std::to_string(index->is_uint64()
                                      ? static_cast<std::int64_t>(index->get_uint64())
                                      : index->get_int64());
    return "updated";
}

[[nodiscard]] inline std::int64_t count_in(const boost::json::object* status,
                                           std::string_view field) {
    const auto* value = translate::find(status, field);
    return value && value->is_int64()    ? value->get_int64()
           : value && value->is_uint64() ? static_cast<std::int64_t>(value->get_uint64())
                                         : 0;
}

/// The phase of a set's gang, as a status has it.
[[nodiscard]] inline std::string_view phase_in(const boost::json::object* status,
                                               const boost::json::object& gang) {
    if (const auto* list = translate::find_array(status, "podGangStatuses"))
        for (const boost::json::value& each : *list)
            if (each.is_object() && translate::string_at(each.get_object(), "name") ==
                                        translate::string_at(gang, "name"))
                return translate::string_at(each.get_object(), "phase");
    return {};
}

} // namespace detail

/// What a status of one of Grove's objects says that the one before, which may be null, does not:
/// the phase, counts, conditions with their reasons, how far an update is, and errors.
[[nodiscard]] inline std::string status_changes(const boost::json::object* before,
                                                const boost::json::object& after) {
    std::string text;
    const auto say = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
    if (const auto phase = translate::find_text(&after, "phase");
        phase && phase != translate::find_text(before, "phase"))
        say(std::string(*phase));
    static constexpr std::array<std::string_view, 7> counts{
        "replicas",          "scheduleGatedReplicas", "scheduledReplicas",     "readyReplicas",
        "availableReplicas", "updatedReplicas",       "updatedPodCliquesCount"};
    for (const std::string_view field : counts)
        if (const std::int64_t was = detail::count_in(before, field),
            is = detail::count_in(&after, field);
            was != is)
            say(std::string(field) + " " + std::to_string(was) + " -> " + std::to_string(is));
    if (const auto* gangs = translate::find_array(&after, "podGangStatuses"))
        for (const boost::json::value& each : *gangs)
            if (each.is_object() && detail::phase_in(before, each.get_object()) !=
                                        translate::string_at(each.get_object(), "phase"))
                say(std::string(translate::string_at(each.get_object(), "name")) + " " +
                    std::string(translate::string_at(each.get_object(), "phase")));
    if (const std::string is = detail::update_text(&after);
        !is.empty() && is != detail::update_text(before))
        say(is);
    std::string conditions;
    if (const auto* list = translate::find_array(&after, "conditions"))
        for (const boost::json::value& each : *list) {
            if (!each.is_object())
                continue;
            const boost::json::object& one = each.get_object();
            const std::string_view type = translate::string_at(one, "type");
            const auto* was = detail::condition_in(before, type);
            const std::string_view status = translate::string_at(one, "status");
            const std::string_view reason = translate::string_at(one, "reason");
            if (was && translate::string_at(*was, "status") == status &&
                translate::string_at(*was, "reason") == reason)
                continue;
            conditions.append(conditions.empty() ? "" : ", ").append(type).append("=");
            conditions.append(status).append(" (").append(reason).append(")");
        }
    if (!conditions.empty())
        text += (text.empty() ? "" : "; ") + conditions;
    if (const auto* errors = translate::find_array(&after, "lastErrors"))
        for (const boost::json::value& each : *errors)
            if (each.is_object())
                text.append(text.empty() ? "" : "; ")
                    .append(translate::string_at(each.get_object(), "description"));
    return text;
}

} // namespace sim
} // namespace v0_1
} // namespace muster
