// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>

#include <muster/apis/gang_definition.hpp>
#include <muster/apis/yunikorn/facts.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/resource/quantity_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A task group of a YuniKorn application: so many pods that name it start together.
struct yunikorn_task_group {
    std::string name;
    std::int64_t least = 0;
    /// Whether it says more of the pods that hold its place than what each of them requests.
    bool constrains = false;

    [[nodiscard]] friend bool operator==(const yunikorn_task_group&,
                                         const yunikorn_task_group&) = default;
};

/// The annotation `task-groups` of a pod.
struct yunikorn_task_groups {
    std::vector<yunikorn_task_group> groups;
    /// What is wrong with it and what was expected; empty when nothing is.
    std::string wrong;
};

namespace detail {

/// What is wrong with the amounts of a task group; empty when nothing is.
[[nodiscard]] inline std::string fault_of_amounts(const boost::json::value* amounts) {
    if (!amounts || !amounts->is_object())
        return "has no minResource (expected amounts by the names of resources)";
    for (const auto& [name, amount] : amounts->get_object()) {
        const std::string text = amount.is_string()  ? std::string(amount.get_string())
                                 : amount.is_int64() ? std::to_string(amount.get_int64())
                                                     : std::string{};
        const auto read = parse_quantity(text);
        if (!read || text.starts_with('-'))
            return "has the minResource " + std::string(name) + " = " + in_quotes(text) +
                   " (expected a quantity of at least 0)";
    }
    return {};
}

} // namespace detail

/// Reads the annotation by YuniKorn's rules: each group has a name, a number of members from 1 to
/// 2147483647, and amounts. O(text).
[[nodiscard]] inline yunikorn_task_groups read_yunikorn_task_groups(std::string_view text) {
    yunikorn_task_groups made;
    const std::string key(translate::keys::yunikorn_task_groups);
    boost::system::error_code error;
    boost::json::parse_options how;
    how.max_depth = 64;
    const boost::json::value value = boost::json::parse(text, error, {}, how);
    if (error || !value.is_array()) {
        made.wrong = key + " is no list in JSON (expected a list of task groups)";
        return made;
    }
    for (const boost::json::value& each : value.get_array()) {
        const boost::json::object* const group = each.if_object();
        yunikorn_task_group one;
        one.name = translate::find_text(group, "name").value_or(std::string_view{});
        const std::string who =
            key + ": the group " +
            (one.name.empty() ? "at " + std::to_string(made.groups.size()) : in_quotes(one.name));
        const boost::json::value* const least = group ? group->if_contains("minMember") : nullptr;
        if (one.name.empty())
            made.wrong = who + " has no name (expected one)";
        else if (!least || !least->is_int64() || least->get_int64() < 1 ||
                 least->get_int64() > std::numeric_limits<std::int32_t>::max())
            made.wrong = who + " has no minMember (expected a whole number from 1 to 2147483647)";
        else if (std::string wrong = detail::fault_of_amounts(group->if_contains("minResource"));
                 !wrong.empty())
            made.wrong = who + " " + wrong;
        else if (std::ranges::find(made.groups, one.name, &yunikorn_task_group::name) !=
                 made.groups.end())
            made.wrong = who + " is there twice (expected every group once)";
        if (!made.wrong.empty())
            return made;
        one.least = least->get_int64();
        one.constrains = std::ranges::any_of(*group, [](const auto& field) {
            return field.key() != "name" && field.key() != "minMember" &&
                   field.key() != "minResource" &&
                   !(field.value().is_object() && field.value().get_object().empty()) &&
                   !(field.value().is_array() && field.value().get_array().empty());
        });
        made.groups.push_back(std::move(one));
    }
    if (made.groups.empty())
        made.wrong = key + " lists no group (expected at least one)";
    return made;
}

/// The value of a parameter in the annotation `schedulingPolicyParameters`: `name=value` pairs with
/// spaces between them. Empty where it is not there.
[[nodiscard]] inline std::string_view yunikorn_parameter(std::string_view text,
                                                         std::string_view name) {
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const std::size_t equal = word.find('=');
        if (equal != std::string_view::npos && word.substr(0, equal) == name)
            return word.substr(equal + 1);
    }
    return {};
}

/// Describes the gang of an application by the annotations of the pod that lists its task groups.
/// Returns nothing if the pod lists none, or if the list is wrong.
[[nodiscard]] inline std::optional<gang_definition>
read_yunikorn_application(const boost::json::object& pod, std::string application,
                          std::string name_space) {
    namespace keys = translate::keys;
    const std::string_view list =
        translate::metadata_entry(pod, "annotations", keys::yunikorn_task_groups);
    if (list.empty() || application.empty())
        return std::nullopt;
    const yunikorn_task_groups read = read_yunikorn_task_groups(list);
    if (!read.wrong.empty())
        return std::nullopt;
    gang_definition made;
    made.gang.kind = "Application";
    made.gang.name_space = std::move(name_space);
    made.gang.name = std::move(application);
    made.gang.origin = translate::detail::yunikorn_targets.front();
    // A root and a leaf also for one group: pods of the application may be in none.
    made.gang.tree = gang_tree(0);
    for (const yunikorn_task_group& each : read.groups)
        made.gang.tree.add(vertex_index{0}, each.least, each.name);
    total_from_leaves(made.gang.tree);
    for (const yunikorn_task_group& each : read.groups)
        if (each.constrains)
            made.gang.own_words.push_back(
                {translate::yunikorn_facts.api, translate::loss_kind::pod_contents,
                 "constraints of the task group " + each.name, boost::json::value(nullptr)});
    const std::string_view parameters =
        translate::metadata_entry(pod, "annotations", keys::yunikorn_parameters);
    if (const auto wait =
            parse_count(yunikorn_parameter(parameters, "placeholderTimeoutInSeconds")))
        made.gang.wait_seconds = *wait;
    if (const std::string_view style = yunikorn_parameter(parameters, "gangSchedulingStyle");
        !style.empty())
        made.gang.own_words.push_back({translate::yunikorn_facts.api,
                                       translate::loss_kind::lifecycle, "gangSchedulingStyle",
                                       boost::json::string(style)});
    std::string_view queue = translate::metadata_entry(pod, "labels", keys::yunikorn_queue);
    if (queue.empty())
        queue = translate::metadata_entry(pod, "annotations", keys::yunikorn_queue);
    if (queue.empty())
        queue = translate::metadata_entry(pod, "labels", keys::yunikorn_old_queue);
    if (!queue.empty())
        made.gang.queue = std::string(queue);
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
