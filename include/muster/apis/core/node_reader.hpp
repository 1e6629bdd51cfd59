// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/shares/device_shares.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

[[nodiscard]] inline std::optional<taint_effect> read_effect(const field& at) {
    const auto text = at.as_string();
    if (!text)
        return std::nullopt;
    if (*text == "NoSchedule")
        return taint_effect::no_schedule;
    if (*text == "PreferNoSchedule")
        return taint_effect::prefer_no_schedule;
    if (*text == "NoExecute")
        return taint_effect::no_execute;
    at.error(in_quotes(*text) +
             " is not an effect (expected NoSchedule, PreferNoSchedule or NoExecute)");
    return std::nullopt;
}

/// A v1 Node. Absent allocatable is the capacity, as the API server fills it in. What is more than
/// the core counts is valid, and saturates: no request that saturates fits it. Amounts that only an
/// agent of another scheduler gives to pods are set apart.
[[nodiscard]] inline node_object read_node(object_reader& object, reading_context& context) {
    node_object read;
    read.metadata = read_metadata(object, false, context);

    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    read.unschedulable = spec.optional("unschedulable").as_boolean().value_or(false);
    const field taints_at = spec.optional("taints");
    const array_reader taints = taints_at.as_array();
    taints.for_each_object([&](object_reader& each) {
        taint one;
        if (const auto key = each.required("key").as_string())
            one.key = *key;
        if (const auto value = each.optional("value").as_string())
            one.value = *value;
        const field effect_at = each.required("effect");
        const auto effect = read_effect(effect_at);
        each.ignore({"timeAdded"});
        each.finish();
        if (effect) {
            one.effect = *effect;
            read.taints.push_back(std::move(one));
        }
    });
    spec.ignore(
        {"podCIDR", "podCIDRs", "podPreemptionPolicy", "providerID", "externalID", "configSource"});
    spec.finish();

    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    const field allocatable_at = status.optional("allocatable");
    const field capacity_at = status.optional("capacity");
    object_reader amounts =
        (allocatable_at.is_present() ? allocatable_at : capacity_at).as_object();
    amounts.for_each([&](std::string_view kind, const field& at) {
        const auto amount = read_quantity(at);
        if (!amount)
            return;
        const std::int64_t units = capacity_units(kind, *amount);
        if (units > largest_allocatable)
            at.warning(in_quotes(amount->to_text()) + " counts as 2^57" +
                       (kind == "cpu" ? " thousandths" : "") + ", the most that a node has");
        read.allocatable.emplace(std::string(kind), std::min(units, largest_allocatable));
    });
    set_apart_agent_amounts(read);
    // Only `declaredFeatures` sets Muster's own label, so the object's label of this name is
    // dropped.
    read.metadata.labels.erase(optional_operations_mark);
    const field features_at = status.optional("declaredFeatures");
    const array_reader features = features_at.as_array();
    features.for_each([&](const field& each) {
        if (each.as_string() == optional_operations)
            read.metadata.labels.set(std::string(optional_operations_mark), "true");
    });
    status.ignore_rest();
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
