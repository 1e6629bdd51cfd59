// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/kube/device_choices.hpp>
#include <muster/kube/time.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {
namespace detail {

[[nodiscard]] inline boost::json::array json_list(const std::vector<std::string>& texts) {
    return boost::json::array(texts.begin(), texts.end());
}

[[nodiscard]] constexpr std::string_view operator_name(label_operator op) noexcept {
    switch (op) {
    case label_operator::in:
        return "In";
    case label_operator::not_in:
        return "NotIn";
    case label_operator::exists:
        return "Exists";
    case label_operator::does_not_exist:
        return "DoesNotExist";
    case label_operator::greater:
        return "Gt";
    case label_operator::less:
        return "Lt";
    }
    return "Exists";
}

/// Adds requirements of a node selector term that are not in the list yet.
inline void add_requirements(const std::vector<label_requirement>& from, boost::json::array& to) {
    for (const label_requirement& each : from) {
        boost::json::object made{{"key", each.key}, {"operator", operator_name(each.op)}};
        if (!each.values.empty())
            made["values"] = json_list(each.values);
        if (std::ranges::find(to, boost::json::value(made)) == to.end())
            to.push_back(std::move(made));
    }
}

/// Returns a UUID that depends on the text alone (FNV-1a; version 8 of RFC 9562).
[[nodiscard]] inline std::string uuid_of(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string made;
    for (const std::uint64_t basis : {14695981039346656037ULL, 1099511628211ULL}) {
        std::uint64_t hash = basis;
        for (const char c : text)
            hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
        for (unsigned shift = 64; shift > 0; shift -= 4)
            made += hex[(hash >> (shift - 4)) & 15U];
    }
    made[12] = '8';
    made[16] = '8';
    for (const std::size_t at : std::array<std::size_t, 4>{20, 16, 12, 8})
        made.insert(at, 1, '-');
    return made;
}

[[nodiscard]] inline boost::json::array
tolerations_json(const std::vector<device_toleration>& from) {
    boost::json::array made;
    for (const device_toleration& each : from) {
        boost::json::object& one =
            made.emplace_back(boost::json::object{{"operator", each.exists ? "Exists" : "Equal"}})
                .get_object();
        if (!each.key.empty())
            one["key"] = each.key;
        if (!each.value.empty())
            one["value"] = each.value;
        if (each.effect)
            one["effect"] =
                *each.effect == device_taint_effect::no_execute ? "NoExecute" : "NoSchedule";
        if (each.seconds)
            one["tolerationSeconds"] = *each.seconds;
    }
    return made;
}

/// The alternative of each request that was chosen, and its name in results.
struct chosen_request {
    std::string name;
    const device_request* request = nullptr;
    const device_alternative* alternative = nullptr;
};
[[nodiscard]] inline std::vector<chosen_request>
chosen_requests(const codec::resource_claim_object& claim, const claim_allocation& given) {
    std::vector<chosen_request> found;
    const auto& requests = claim.spec.asks.requests;
    for (std::size_t at = 0; at < requests.size() && at < given.chosen.size(); ++at) {
        const device_alternative& one = requests[at].alternatives[given.chosen[at]];
        found.push_back(
            {requests[at].is_prioritized ? requests[at].name + "/" + one.name : requests[at].name,
             &requests[at], &one});
    }
    return found;
}

/// Appends what drivers are told of a claim's devices: by their classes, then by the claim.
[[nodiscard]] inline boost::json::array config_json(const codec::device_catalog& catalog,
                                                    const codec::resource_claim_object& claim,
                                                    const std::vector<chosen_request>& chosen) {
    boost::json::array made;
    std::vector<std::string_view> done;
    for (const chosen_request& each : chosen) {
        const std::string& name = each.alternative->class_name;
        const auto known = catalog.classes.find(name);
        if (known == catalog.classes.end() || std::ranges::find(done, name) != done.end())
            continue;
        done.push_back(name);
        boost::json::array requests;
        for (const chosen_request& other : chosen)
            if (other.alternative->class_name == name)
                requests.emplace_back(other.name);
        for (const boost::json::value& one : known->second->config) {
            boost::json::object to = one.is_object() ? one.get_object() : boost::json::object{};
            to["source"] = "FromClass";
            to["requests"] = requests;
            made.push_back(std::move(to));
        }
    }
    for (const boost::json::value& one : claim.spec.config) {
        boost::json::object to = one.is_object() ? one.get_object() : boost::json::object{};
        const boost::json::value* const listed = to.if_contains("requests");
        const boost::json::array* const names = listed ? listed->if_array() : nullptr;
        const auto is_named = [&](const chosen_request& each) {
            return std::ranges::any_of(*names, [&](const boost::json::value& name) {
                return name == boost::json::value(each.name) ||
                       name == boost::json::value(each.request->name);
            });
        };
        if (names && !names->empty() && std::ranges::none_of(chosen, is_named))
            continue;
        to["source"] = "FromClaim";
        made.push_back(std::move(to));
    }
    return made;
}

/// Returns the nodes that can use all of the devices, as a NodeSelector; null = all nodes. A device
/// of one node confines the allocation to `node`.
[[nodiscard]] inline boost::json::value
nodes_json(const std::vector<const codec::pooled_device*>& devices, const std::string& node) {
    boost::json::array fields;
    boost::json::array labels;
    for (const codec::pooled_device* const each : devices) {
        // A pool that changed meanwhile, or a selector that is not understood.
        if (!each || !each->nodes->name.empty() || each->of->binds_to_node ||
            !each->nodes->unsupported.empty() ||
            (each->nodes->selector && each->nodes->selector->size() != 1)) {
            labels.clear();
            fields = {boost::json::object{{"key", "metadata.name"},
                                          {"operator", "In"},
                                          {"values", boost::json::array{node}}}};
            break;
        }
        if (each->nodes->selector) {
            const node_term& term = each->nodes->selector->front();
            add_requirements(term.name, fields);
            add_requirements(term.labels.requirements, labels);
        }
    }
    if (fields.empty() && labels.empty())
        return nullptr;
    boost::json::object term;
    if (!labels.empty())
        term["matchExpressions"] = std::move(labels);
    if (!fields.empty())
        term["matchFields"] = std::move(fields);
    return boost::json::object{{"nodeSelectorTerms", boost::json::array{std::move(term)}}};
}

} // namespace detail

/// Returns the `status.allocation` of a claim with the chosen devices, in the form in which
/// kube-scheduler 1.36 writes it. `pooled`: codec::devices_of() of the catalog's slices. `wall`:
/// the time of the allocation. O(devices of the claim · log devices).
[[nodiscard]] inline boost::json::object allocation_json(
    const codec::device_catalog& catalog, const std::vector<codec::pooled_device>& pooled,
    const codec::resource_claim_object& claim, const device_choice& choice, std::int64_t wall) {
    const auto find = [&](const device_id& id) -> const codec::pooled_device* {
        const auto at = std::ranges::lower_bound(pooled, id, {}, &codec::pooled_device::id);
        return at != pooled.end() && at->id == id ? &*at : nullptr;
    };
    const std::vector<detail::chosen_request> chosen =
        detail::chosen_requests(claim, choice.devices);
    boost::json::array results;
    std::vector<const codec::pooled_device*> devices;
    for (const allocated_device& each : choice.devices.devices) {
        const codec::pooled_device* const published = devices.emplace_back(find(each.id));
        boost::json::object& one =
            results
                .emplace_back(boost::json::object{{"request", each.request},
                                                  {"driver", each.id.driver},
                                                  {"pool", each.id.pool},
                                                  {"device", each.id.device}})
                .get_object();
        if (each.admin_access)
            one["adminAccess"] = true;
        const auto of = std::ranges::find(chosen, each.request, &detail::chosen_request::name);
        if (of != chosen.end() && !of->alternative->tolerations.empty())
            one["tolerations"] = detail::tolerations_json(of->alternative->tolerations);
        if (published && !published->nodes->skips.empty())
            one["skipNodeOperations"] = detail::json_list(published->nodes->skips);
        if (published && !published->of->binding_conditions.empty()) {
            one["bindingConditions"] = detail::json_list(published->of->binding_conditions);
            one["bindingFailureConditions"] =
                detail::json_list(published->of->binding_failure_conditions);
        }
        if (each.is_share) {
            one["shareID"] =
                detail::uuid_of(claim.metadata.uid + "\n" + each.request + "\n" + each.id.driver +
                                "\n" + each.id.pool + "\n" + each.id.device);
            boost::json::object consumed;
            for (const auto& [name, amount] : each.consumed)
                consumed[name] = amount.to_text();
            if (!consumed.empty())
                one["consumedCapacity"] = std::move(consumed);
        }
    }
    boost::json::object made{{"devices", {{"results", std::move(results)}}},
                             {"allocationTimestamp", time_text(wall - wall % second)}};
    if (boost::json::array config = detail::config_json(catalog, claim, chosen); !config.empty())
        made["devices"].get_object()["config"] = std::move(config);
    if (boost::json::value nodes = detail::nodes_json(devices, choice.node); !nodes.is_null())
        made["nodeSelector"] = std::move(nodes);
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
