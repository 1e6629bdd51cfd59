// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/serve/answer.hpp>
#include <muster/serve/invalid.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/registry.hpp>
#include <muster/serve/selectors.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

[[nodiscard]] inline bool is_ready(const json::object& pod) {
    if (const json::array* const conditions = array_at(pod, {"status", "conditions"}))
        for (const json::value& each : *conditions)
            if (const json::object* const one = each.if_object())
                if (text_at(*one, {"type"}) == "Ready")
                    return text_at(*one, {"status"}) == "True";
    return false;
}

/// The condition of a type, made when there is none.
[[nodiscard]] inline json::object& condition_of(json::object& object, std::string_view type) {
    json::value& all = make_object(object, "status")["conditions"];
    if (!all.is_array())
        all.emplace_array();
    for (json::value& each : all.get_array())
        if (each.is_object() && text_at(each.get_object(), {"type"}) == type)
            return each.get_object();
    all.get_array().push_back(json::object{{"type", type}});
    return all.get_array().back().get_object();
}

inline void set_condition(json::object& object, std::string_view type, bool holds,
                          std::string_view when) {
    json::object& one = condition_of(object, type);
    const std::string_view status = holds ? "True" : "False";
    if (text_at(one, {"status"}) == status)
        return;
    one = json::object{{"type", type},
                       {"status", status},
                       {"lastProbeTime", nullptr},
                       {"lastTransitionTime", when}};
}

} // namespace detail

/// pods/binding: puts a pod on a node. Like Kubernetes', the server asks neither whether there is
/// such a node nor whether it has room.
[[nodiscard]] inline answer bind_pod(registry& in, const object_key& key, const json::object& body,
                                     bool dry_run) {
    const std::size_t pods = in.kinds.at("", "v1", "pods");
    const std::string_view node = text_at(body, {"target", "name"});
    const std::string_view target_kind = text_at(body, {"target", "kind"});
    if (node.empty())
        return refused(500, "", "target.name: Required value");
    if (!target_kind.empty() && target_kind != "Node")
        return invalid(in.kinds[pods], key.second,
                       {{"FieldValueNotSupported",
                         "Unsupported value: \"" + std::string(target_kind) +
                             "\": supported values: \"Node\", \"<empty>\"",
                         "target.kind"}});
    const shared_object found = in.objects.find(pods, key);
    if (!found)
        return in.missing(pods, key.second);
    const auto refuse = [&](const std::string& why) {
        return conflict("pods/binding", "", key.second, why);
    };
    const std::string uid(text_at(*found, {"metadata", "uid"}));
    if (const std::string wanted(text_at(body, {"metadata", "uid"}));
        !wanted.empty() && wanted != uid)
        return other_uid(in.kinds[pods], "pods/" + key.first + "/" + key.second, key.second, wanted,
                         uid);
    if (object_at(*found, {"metadata"})->contains("deletionTimestamp"))
        return refuse("pod " + key.second + " is being deleted, cannot be assigned to a host");
    if (const std::string where(text_at(*found, {"spec", "nodeName"})); !where.empty())
        return refuse("pod " + key.second + " is already assigned to node \"" + where + "\"");
    const json::array* const gates = array_at(*found, {"spec", "schedulingGates"});
    if (gates && !gates->empty())
        return refuse("pod " + key.second + " has non-empty .spec.schedulingGates");
    json::object made = *found;
    make_object(made, "spec")["nodeName"] = node;
    for (const char* const field : {"annotations", "labels"})
        if (const json::object* const notes = object_at(body, {"metadata", field}))
            for (const auto& [name, value] : *notes)
                make_object(make_object(made, "metadata"), field)[name] = value;
    detail::set_condition(made, "PodScheduled", true, in.time_now());
    if (!dry_run)
        in.objects.put(pods, key, std::move(made));
    return succeeded(201);
}

namespace detail {

/// A count, or a percentage of `whole` rounded up.
[[nodiscard]] inline std::int64_t scaled(const json::value& value, std::int64_t whole) {
    if (value.is_int64())
        return value.get_int64();
    const std::string_view text = value.is_string() ? view(value.get_string()) : "";
    std::int64_t percent = 0;
    for (const char c : text)
        if (c >= '0' && c <= '9')
            percent = percent * 10 + (c - '0');
    return (whole * percent + 99) / 100;
}

struct budget_view {
    std::string name;
    std::int64_t needed = 0;
    std::int64_t healthy = 0;
};

/// What the budgets say that protect the pod. They are worked out here and now: no controller
/// keeps their status.
[[nodiscard]] inline std::vector<budget_view> budgets_of(const registry& in, const object_key& key,
                                                         const json::object& pod) {
    std::vector<budget_view> made;
    const std::size_t kind = in.kinds.at("policy", "v1", "poddisruptionbudgets");
    const std::size_t pods = in.kinds.at("", "v1", "pods");
    for (const auto& [name, budget] : in.objects.all(kind)) {
        const auto labels = read_label_selector(object_at(*budget, {"spec", "selector"}));
        if (name.first != key.first || !labels)
            continue;
        const selectors which{*labels, {}};
        if (!which.accepts(pod))
            continue;
        budget_view one{name.second, 0, 0};
        std::int64_t all = 0;
        for (const auto& [other, object] : in.objects.all(pods))
            if (other.first == key.first && which.accepts(*object) && is_held(*object)) {
                ++all;
                if (is_ready(*object) &&
                    !object_at(*object, {"metadata"})->contains("deletionTimestamp"))
                    ++one.healthy;
            }
        if (const json::value* const least = value_at(*budget, {"spec", "minAvailable"}))
            one.needed = scaled(*least, all);
        else if (const json::value* const most = value_at(*budget, {"spec", "maxUnavailable"}))
            one.needed = all - scaled(*most, all);
        made.push_back(std::move(one));
    }
    return made;
}

} // namespace detail

/// pods/eviction: deletes a pod unless a PodDisruptionBudget forbids it (429).
[[nodiscard]] inline answer evict_pod(registry& in, const object_key& key,
                                      const delete_options& how) {
    const std::size_t pods = in.kinds.at("", "v1", "pods");
    const shared_object found = in.objects.find(pods, key);
    if (!found)
        return in.missing(pods, key.second);
    if (is_held(*found) && !object_at(*found, {"metadata"})->contains("deletionTimestamp")) {
        const auto budgets = detail::budgets_of(in, key, *found);
        if (budgets.size() > 1)
            return refused(500, "InternalError",
                           "This pod has more than one PodDisruptionBudget, which the eviction "
                           "subresource does not support.");
        for (const detail::budget_view& each : budgets)
            if (detail::is_ready(*found) && each.healthy - 1 < each.needed) {
                json::object details{
                    {"causes",
                     json::array{json::object{
                         {"reason", "DisruptionBudget"},
                         {"message", "The disruption budget " + each.name + " needs " +
                                         std::to_string(each.needed) + " healthy pods and has " +
                                         std::to_string(each.healthy) + " currently"}}}}};
                return refused(429, "TooManyRequests",
                               "Cannot evict pod as it would violate the pod's disruption budget.",
                               std::move(details));
            }
    }
    if (is_held(*found) && !how.dry_run) {
        json::object told = *found;
        detail::condition_of(told, "DisruptionTarget") = json::object{
            {"type", "DisruptionTarget"},        {"status", "True"},
            {"lastProbeTime", nullptr},          {"lastTransitionTime", in.time_now()},
            {"reason", "EvictionByEvictionAPI"}, {"message", "Eviction API: evicting"}};
        in.objects.put(pods, key, std::move(told));
    }
    const answer gone = in.remove(pods, key, how);
    return gone.code < 300 ? succeeded(201) : gone;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
