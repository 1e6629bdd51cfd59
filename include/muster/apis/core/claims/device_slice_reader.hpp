// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/node_affinity_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/volumes/storage_reader.hpp>
#include <muster/devices/semantic_version_text.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Reads `nodeName`, `nodeSelector` and `allNodes` of a slice or of a device.
[[nodiscard]] inline device_nodes read_device_nodes(object_reader& object) {
    device_nodes read;
    read.name = string_or_empty(object.optional("nodeName"));
    read.selector = read_node_selector(object.optional("nodeSelector"), read.unsupported);
    read.all = object.optional("allNodes").as_boolean().value_or(false);
    return read;
}

/// Reads amounts by name: a quantity, or an object whose `value` is one.
[[nodiscard]] inline std::map<std::string, quantity> read_device_amounts(const field& at) {
    std::map<std::string, quantity> read;
    object_reader object = at.as_object();
    object.for_each([&](std::string_view key, const field& value_at) {
        if (value_at.value() == nullptr || !value_at.value()->is_object()) {
            if (auto amount = read_quantity(value_at))
                read.insert_or_assign(std::string(key), std::move(*amount));
            return;
        }
        object_reader value = value_at.as_object();
        if (auto amount = read_quantity(value.required("value")))
            read.insert_or_assign(std::string(key), std::move(*amount));
        value.ignore_rest();
    });
    return read;
}

[[nodiscard]] inline device_taint_effect device_effect(std::string_view name) {
    return name == "NoSchedule"  ? device_taint_effect::no_schedule
           : name == "NoExecute" ? device_taint_effect::no_execute
                                 : device_taint_effect::none;
}

/// Reads the values of a list with `as`, which returns an optional. Others are errors.
template<class Value, class As>
[[nodiscard]] std::optional<device_attribute> read_attribute_list(const field& at, const As& as) {
    const array_reader list = at.as_array();
    std::vector<Value> read;
    list.for_each([&](const field& each) {
        if (const auto value = as(each))
            read.push_back(static_cast<Value>(*value));
    });
    return read.empty() ? std::nullopt : std::optional<device_attribute>(std::move(read));
}

/// Reads the value of an attribute. Returns nullopt if it has no type of Kubernetes 1.37.
[[nodiscard]] inline std::optional<device_attribute> read_attribute(object_reader& object) {
    const auto version = [](const field& at) -> std::optional<semantic_version> {
        const auto text = at.as_string();
        return text ? parse_semantic_version(*text) : std::nullopt;
    };
    std::optional<device_attribute> read;
    if (const auto text = object.optional("string").as_string())
        read = std::string(*text);
    else if (const auto flag = object.optional("bool").as_boolean())
        read = *flag;
    else if (const auto number = object.optional("int").as_integer())
        read = *number;
    else if (auto parsed = version(object.optional("version")))
        read = std::move(*parsed);
    else if (const field at = object.optional("strings"); at.is_present())
        read = read_attribute_list<std::string>(at,
                                                [](const field& each) { return each.as_string(); });
    else if (const field flags = object.optional("bools"); flags.is_present())
        read =
            read_attribute_list<bool>(flags, [](const field& each) { return each.as_boolean(); });
    else if (const field numbers = object.optional("ints"); numbers.is_present())
        read = read_attribute_list<std::int64_t>(
            numbers, [](const field& each) { return each.as_integer(); });
    else if (const field versions = object.optional("versions"); versions.is_present())
        read = read_attribute_list<semantic_version>(versions, version);
    object.ignore_rest();
    return read;
}

[[nodiscard]] inline capacity_policy read_capacity_policy(object_reader& object) {
    capacity_policy read;
    read.default_request = read_quantity(object.optional("default"));
    if (const field range_at = object.optional("validRange"); range_at.is_present()) {
        object_reader range = range_at.as_object();
        capacity_range& to = read.range.emplace();
        if (auto least = read_quantity(range.required("min")))
            to.min = std::move(*least);
        to.max = read_quantity(range.optional("max"));
        to.step = read_quantity(range.optional("step"));
        range.ignore_rest();
    }
    const field values_at = object.optional("validValues");
    const array_reader values = values_at.as_array();
    values.for_each([&](const field& each) {
        if (auto amount = read_quantity(each))
            read.values.push_back(std::move(*amount));
    });
    object.ignore_rest();
    return read;
}

/// Returns the name with the driver as its domain, unless it has a domain.
[[nodiscard]] inline std::string qualified_name(std::string_view name, const std::string& driver) {
    return name.find('/') == std::string_view::npos ? driver + "/" + std::string(name)
                                                    : std::string(name);
}

inline void read_capacities(const field& at, const std::string& driver, device& of) {
    object_reader capacities = at.as_object();
    capacities.for_each([&](std::string_view key, const field& value_at) {
        object_reader value = value_at.as_object();
        auto amount = read_quantity(value.required("value"));
        const field policy_at = value.optional("requestPolicy");
        std::optional<capacity_policy> policy;
        if (policy_at.is_present()) {
            object_reader rules = policy_at.as_object();
            policy = read_capacity_policy(rules);
        }
        value.ignore_rest();
        if (!amount)
            return;
        of.attributes.capacities.insert_or_assign(qualified_name(key, driver), *amount);
        of.capacities.push_back({std::string(key), std::move(*amount), std::move(policy)});
    });
}

/// Reads the fields of a device but its name and its nodes.
[[nodiscard]] inline device read_device(object_reader& object, const std::string& driver) {
    device read;
    read.attributes.driver = driver;
    read.attributes.allows_multiple_allocations =
        object.optional("allowMultipleAllocations").as_boolean().value_or(false);
    const field attributes_at = object.optional("attributes");
    object_reader attributes = attributes_at.as_object();
    attributes.for_each([&](std::string_view key, const field& value_at) {
        object_reader value = value_at.as_object();
        if (auto attribute = read_attribute(value))
            read.attributes.attributes.insert_or_assign(qualified_name(key, driver),
                                                        std::move(*attribute));
        else
            read.unreadable = "attribute " + std::string(key) + " has no value that is known";
    });
    read_capacities(object.optional("capacity"), driver, read);
    const field consumes_at = object.optional("consumesCounters");
    const array_reader consumes = consumes_at.as_array();
    consumes.for_each_object([&](object_reader& each) {
        counter_consumption made;
        made.counter_set = string_or_empty(each.required("counterSet"));
        made.counters = read_device_amounts(each.optional("counters"));
        const field groups_at = each.optional("compatibilityGroups");
        made.compatibility_groups = read_strings(groups_at.as_array());
        each.ignore_rest();
        read.consumes.push_back(std::move(made));
    });
    const field taints_at = object.optional("taints");
    const array_reader taints = taints_at.as_array();
    taints.for_each_object([&](object_reader& each) {
        read.taints.push_back({string_or_empty(each.optional("key")),
                               string_or_empty(each.optional("value")),
                               device_effect(string_or_empty(each.optional("effect")))});
        each.ignore_rest();
    });
    const field conditions_at = object.optional("bindingConditions");
    read.binding_conditions = read_strings(conditions_at.as_array());
    const field failures_at = object.optional("bindingFailureConditions");
    read.binding_failure_conditions = read_strings(failures_at.as_array());
    read.binds_to_node = object.optional("bindsToNode").as_boolean().value_or(false);
    return read;
}

inline void read_slice_devices(const field& at, bool per_device, resource_slice_object& to) {
    const array_reader devices = at.as_array();
    devices.for_each_object([&](object_reader& each) {
        std::string name = string_or_empty(each.required("name"));
        const auto add = [&](object_reader& fields) {
            device made = read_device(fields, to.slice.driver);
            made.name = std::move(name);
            made.attributes.driver = to.slice.driver;
            if (per_device)
                to.nodes_of.push_back(read_device_nodes(fields));
            to.slice.devices.push_back(std::move(made));
            fields.ignore_rest();
        };
        // v1beta1 has the fields below `basic`.
        if (const field basic_at = each.optional("basic"); basic_at.is_present()) {
            object_reader basic = basic_at.as_object();
            add(basic);
            each.ignore_rest();
        } else {
            add(each);
        }
    });
}

} // namespace detail

/// Reads a resource.k8s.io ResourceSlice of v1, v1beta2 or v1beta1. O(fields · log attributes).
[[nodiscard]] inline resource_slice_object read_resource_slice(object_reader& object,
                                                               reading_context& context) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    resource_slice_object read;
    read.metadata = read_metadata(object, false, context);
    device_slice& to = read.slice;
    to.name = read.metadata.key.name;
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    to.driver = detail::string_or_empty(spec.required("driver"));
    const field pool_at = spec.required("pool");
    object_reader pool = pool_at.as_object();
    to.pool = detail::string_or_empty(pool.required("name"));
    to.generation = pool.optional("generation").as_integer(0, most).value_or(0);
    to.slice_count = pool.required("resourceSliceCount").as_integer(1, most).value_or(1);
    pool.ignore_rest();
    read.nodes = detail::read_device_nodes(spec);
    const field skips_at = spec.optional("skipNodeOperations");
    read.nodes.skips = read_strings(skips_at.as_array());
    const bool per_device = spec.optional("perDeviceNodeSelection").as_boolean().value_or(false);
    detail::read_slice_devices(spec.optional("devices"), per_device, read);
    for (device_nodes& each : read.nodes_of)
        each.skips = read.nodes.skips;
    const field counters_at = spec.optional("sharedCounters");
    const array_reader counters = counters_at.as_array();
    counters.for_each_object([&](object_reader& each) {
        std::string name = detail::string_or_empty(each.required("name"));
        to.counter_sets.push_back(
            {std::move(name), detail::read_device_amounts(each.optional("counters"))});
        each.ignore_rest();
    });
    spec.ignore_rest();
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
