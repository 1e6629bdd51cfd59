// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <muster/adapter/writes.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/group_report.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/kube/http.hpp>
#include <muster/vocabulary/answer.hpp>
#include <muster/words/gate_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

using apis::waiting_text;

// Orders of a driver as requests. Each names the object's uid, which the server holds against the
// object's: it never touches another of that name.

[[nodiscard]] inline std::string pod_path(const codec::object_key& pod) {
    return "/api/v1/namespaces/" + escape(pod.name_space) + "/pods/" + escape(pod.name);
}

/// `marks`: annotations and labels that the API server writes into the pod together with its node.
[[nodiscard]] inline http_request bind_request(const codec::object_key& pod, const std::string& uid,
                                               const std::string& node,
                                               const codec::share_marks& marks = {}) {
    boost::json::object metadata{{"name", pod.name}, {"namespace", pod.name_space}, {"uid", uid}};
    for (const auto& [name, entries] :
         {std::pair("annotations", &marks.annotations), std::pair("labels", &marks.labels)})
        if (!entries->empty()) {
            boost::json::object& to = metadata[name].emplace_object();
            for (const auto& [key, text] : *entries)
                to[key] = text;
        }
    http_request made;
    made.method = http_method::post;
    made.path = pod_path(pod) + "/binding";
    made.content_type = json_type;
    made.body = boost::json::serialize(
        boost::json::object{{"apiVersion", "v1"},
                            {"kind", "Binding"},
                            {"metadata", std::move(metadata)},
                            {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}});
    return made;
}

/// For a pod that has no gate but the scheduler's own; gates cannot be added later.
[[nodiscard]] inline http_request ungate_request(const codec::object_key& pod,
                                                 const std::string& uid) {
    http_request made;
    made.method = http_method::patch;
    made.path = pod_path(pod);
    made.content_type = merge_patch_type;
    made.body = boost::json::serialize(boost::json::object{
        {"metadata", {{"uid", uid}}}, {"spec", {{"schedulingGates", boost::json::array{}}}}});
    return made;
}

[[nodiscard]] inline http_request evict_request(const codec::object_key& pod,
                                                const std::string& uid) {
    http_request made;
    made.method = http_method::post;
    made.path = pod_path(pod) + "/eviction";
    made.content_type = json_type;
    made.body = boost::json::serialize(
        boost::json::object{{"apiVersion", "policy/v1"},
                            {"kind", "Eviction"},
                            {"metadata", {{"name", pod.name}, {"namespace", pod.name_space}}},
                            {"deleteOptions", {{"preconditions", {{"uid", uid}}}}}});
    return made;
}

/// Sets `status.nominatedNodeName` of a pod; without a node, removes it.
[[nodiscard]] inline http_request nominate_request(const codec::object_key& pod,
                                                   const std::string& uid,
                                                   const std::optional<std::string>& node) {
    boost::json::value name;
    if (node)
        name = *node;
    http_request made;
    made.method = http_method::patch;
    made.path = pod_path(pod) + "/status";
    made.content_type = merge_patch_type;
    made.body = boost::json::serialize(boost::json::object{
        {"metadata", {{"uid", uid}}}, {"status", {{"nominatedNodeName", std::move(name)}}}});
    return made;
}

/// The JSON merge patch (RFC 7386) that makes `to` of `from`; empty when they are equal.
[[nodiscard]] inline boost::json::object merge_patch(const boost::json::object& from,
                                                     const boost::json::object& to) {
    boost::json::object patch;
    for (const auto& member : from)
        if (!to.contains(member.key()))
            patch[member.key()] = nullptr;
    for (const auto& member : to) {
        const boost::json::value* const old = from.if_contains(member.key());
        if (old && *old == member.value())
            continue;
        if (old && old->is_object() && member.value().is_object())
            patch[member.key()] = merge_patch(old->get_object(), member.value().get_object());
        else
            patch[member.key()] = member.value();
    }
    return patch;
}

/// `path` is the object's own.
[[nodiscard]] inline http_request status_request(const std::string& path, const std::string& uid,
                                                 boost::json::object patch) {
    http_request made;
    made.method = http_method::patch;
    made.path = path + "/status";
    made.content_type = merge_patch_type;
    made.body = boost::json::serialize(
        boost::json::object{{"metadata", {{"uid", uid}}}, {"status", std::move(patch)}});
    return made;
}

/// What an Event says, beside its object.
struct event_words {
    std::string_view type;
    std::string_view reason;
    std::string_view action;
    std::string note;
};

[[nodiscard]] inline std::string_view to_text(adapter::eviction_cause why) {
    switch (why) {
    case adapter::eviction_cause::never_completed:
        return "their gang never reached its minimum, and could not be completed";
    case adapter::eviction_cause::stale:
        return "their gang was below its minimum for too long";
    case adapter::eviction_cause::preempted:
        return "for a gang of higher rank";
    case adapter::eviction_cause::moved:
        return "to run elsewhere, so that another gang fits";
    case adapter::eviction_cause::too_old:
        return "their queue lets no pod get as old (maxDuration)";
    }
    return "";
}

template<class Traits>
[[nodiscard]] event_words words_of(const adapter::event_order<Traits>& order) {
    const std::string pods =
        std::to_string(order.count) + (order.count == 1 ? " pod is " : " pods are ");
    switch (order.reason) {
    case adapter::event_reason::bound:
        return {"Normal", "GangBound", "Binding", pods + "bound"};
    case adapter::event_reason::bind_failed:
        return {"Warning", "GangBindFailed", "Binding", order.message};
    case adapter::event_reason::waiting:
        return {"Warning", "GangWaiting", "Scheduling",
                order.message.empty() ? std::string(words::gate_text(order.at)) : order.message};
    case adapter::event_reason::evicted:
        break;
    }
    return {"Normal", "GangEvicted", "Evicting",
            pods + "evicted, " + std::string(to_text(order.why))};
}

} // namespace kube
} // namespace v0_1
} // namespace muster
