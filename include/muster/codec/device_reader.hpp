// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/codec/device_objects.hpp>
#include <muster/codec/field_reader.hpp>
#include <muster/codec/node_affinity_reader.hpp>
#include <muster/codec/reading_context.hpp>
#include <muster/codec/storage_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

[[nodiscard]] inline device_allocation read_device_allocation(object_reader& object) {
    device_allocation read;
    read.nodes = read_node_selector(object.optional("nodeSelector"), read.unsupported);
    const field devices_at = object.optional("devices");
    object_reader devices = devices_at.as_object();
    const field results_at = devices.optional("results");
    const array_reader results = results_at.as_array();
    results.for_each_object([&](object_reader& each) {
        device_key key{string_or_empty(each.required("driver")),
                       string_or_empty(each.required("pool")),
                       string_or_empty(each.required("device"))};
        if (!each.optional("adminAccess").as_boolean().value_or(false))
            read.devices.push_back(std::move(key));
        each.ignore_rest();
    });
    devices.ignore_rest();
    object.ignore_rest();
    return read;
}

/// Reads `nodeName`, `nodeSelector` and `allNodes` of a slice or of a device.
[[nodiscard]] inline device_nodes read_device_nodes(object_reader& object) {
    device_nodes read;
    read.name = string_or_empty(object.optional("nodeName"));
    read.selector = read_node_selector(object.optional("nodeSelector"), read.unsupported);
    read.all = object.optional("allNodes").as_boolean().value_or(false);
    return read;
}

[[nodiscard]] inline device_value read_device_value(object_reader& object) {
    device_value read;
    if (const auto text = object.optional("string").as_string())
        read = std::string(*text);
    else if (const auto flag = object.optional("bool").as_boolean())
        read = *flag;
    else if (const auto number = object.optional("int").as_integer())
        read = *number;
    object.ignore_rest();
    return read;
}

/// Reads the attributes of a device. A name without a domain gets the driver's name as its domain.
inline void read_device_attributes(const field& at, const std::string& driver,
                                   device_object& device) {
    object_reader attributes = at.as_object();
    attributes.for_each([&](std::string_view key, const field& value_at) {
        object_reader value = value_at.as_object();
        std::string name(key);
        if (name.find('/') == std::string::npos)
            name.insert(0, driver + "/");
        device.attributes.insert_or_assign(std::move(name), read_device_value(value));
    });
}

inline void read_device_fields(object_reader& object, const std::string& driver,
                               device_object& device) {
    read_device_attributes(object.optional("attributes"), driver, device);
    device.is_partition = object.optional("consumesCounters").as_array().size() > 0;
    device.nodes = read_device_nodes(object);
    const field taints_at = object.optional("taints");
    const array_reader taints = taints_at.as_array();
    taints.for_each_object([&](object_reader& each) {
        const auto effect = each.optional("effect").as_string().value_or("");
        device.is_tainted |= effect == "NoSchedule" || effect == "NoExecute";
        each.ignore_rest();
    });
}

} // namespace detail

/// Reads a resource.k8s.io ResourceClaim of v1, v1beta2 or v1beta1, without its `spec`.
[[nodiscard]] inline resource_claim_object read_resource_claim(object_reader& object,
                                                               reading_context& context) {
    resource_claim_object read;
    read.metadata = read_metadata(object, true, context);
    detail::read_controller(object, read);
    read.is_extended =
        detail::annotation_of(read.metadata, "resource.kubernetes.io/extended-resource-claim") ==
        "true";
    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    const field allocation_at = status.optional("allocation");
    object_reader allocation = allocation_at.as_object();
    if (allocation.is_present())
        read.allocation = detail::read_device_allocation(allocation);
    const field consumers_at = status.optional("reservedFor");
    const array_reader consumers = consumers_at.as_array();
    consumers.for_each_object([&](object_reader& each) {
        read.reserved_for.push_back({detail::string_or_empty(each.required("resource")),
                                     detail::string_or_empty(each.required("name")),
                                     detail::string_or_empty(each.optional("uid"))});
        each.ignore_rest();
    });
    status.ignore_rest();
    object.ignore({"apiVersion", "kind", "spec"});
    object.finish();
    return read;
}

/// Reads a resource.k8s.io ResourceClaimTemplate: its metadata only. A controller creates its
/// claims.
[[nodiscard]] inline resource_claim_template_object
read_resource_claim_template(object_reader& object, reading_context& context) {
    resource_claim_template_object read;
    read.metadata = read_metadata(object, true, context);
    object.ignore_rest();
    return read;
}

/// Reads a resource.k8s.io ResourceSlice of v1, v1beta2 or v1beta1. In v1beta1 the fields of a
/// device are below `basic`.
[[nodiscard]] inline resource_slice_object read_resource_slice(object_reader& object,
                                                               reading_context& context) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    resource_slice_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read.driver = detail::string_or_empty(spec.required("driver"));
    const field pool_at = spec.required("pool");
    object_reader pool = pool_at.as_object();
    read.pool = detail::string_or_empty(pool.required("name"));
    read.generation = pool.optional("generation").as_integer(0, most).value_or(0);
    read.slices = pool.required("resourceSliceCount").as_integer(1, most).value_or(1);
    pool.ignore_rest();
    read.nodes = detail::read_device_nodes(spec);
    read.nodes_per_device = spec.optional("perDeviceNodeSelection").as_boolean().value_or(false);
    const field devices_at = spec.optional("devices");
    const array_reader devices = devices_at.as_array();
    devices.for_each_object([&](object_reader& each) {
        device_object made;
        made.name = detail::string_or_empty(each.required("name"));
        if (const field basic_at = each.optional("basic"); basic_at.is_present()) {
            object_reader basic = basic_at.as_object();
            detail::read_device_fields(basic, read.driver, made);
            basic.ignore_rest();
        } else {
            detail::read_device_fields(each, read.driver, made);
        }
        each.ignore_rest();
        read.devices.push_back(std::move(made));
    });
    spec.ignore_rest();
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

/// Reads a resource.k8s.io DeviceClass.
[[nodiscard]] inline device_class_object read_device_class(object_reader& object,
                                                           reading_context& context) {
    device_class_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    read.resource = detail::string_or_empty(spec.optional("extendedResourceName"));
    const field selectors_at = spec.optional("selectors");
    const array_reader selectors = selectors_at.as_array();
    selectors.for_each_object([&](object_reader& each) {
        const field cel_at = each.optional("cel");
        object_reader cel = cel_at.as_object();
        read.selectors.push_back(detail::string_or_empty(cel.optional("expression")));
        cel.ignore_rest();
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
