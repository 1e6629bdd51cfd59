// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <muster/apis/volcano/vgpu/node_register.hpp>
#include <muster/apis/volcano/vgpu/pod_requests.hpp>
#include <muster/apis/volcano/vgpu/pod_shares.hpp>

#include "device_cases/share_case.hpp"

namespace share_cases {
namespace volcano_cases {

[[nodiscard]] inline std::string check_type(const object& source) {
    namespace names = muster::codec::volcano_vgpu;
    object_metadata pod;
    set_text(pod, names::use_type_key, source.at("use"));
    set_text(pod, names::no_use_type_key, source.at("nouse"));
    muster::share_filter filter = muster::codec::detail::read_volcano_filter(pod);
    filter.kind.clear();
    muster::shared_device device;
    device.model = text_at(source, "model");
    return compare("accepts", source.at("accepts").as_bool(), filter.accepts(device));
}

[[nodiscard]] inline std::string check_id(const object& source) {
    namespace names = muster::codec::volcano_vgpu;
    object_metadata pod;
    const auto join = [&](std::string_view key, const value& list) {
        std::string text;
        if (list.is_array())
            for (const value& each : list.get_array())
                text += std::string(each.as_string()) + ",";
        pod.annotations.set(std::string(key), text);
    };
    join(names::use_id_key, source.at("allow"));
    join(names::no_use_id_key, source.at("deny"));
    muster::share_filter filter = muster::codec::detail::read_volcano_filter(pod);
    filter.kind.clear();
    muster::shared_device device;
    device.id = text_at(source, "id");
    return compare("accepts", source.at("accepts").as_bool(), filter.accepts(device));
}

/// Returns the pod's metadata and containers.
inline void read_pod(const object& source, object_metadata& pod,
                     std::vector<container_resources>& containers) {
    pod.key = {text_at(source, "namespace"), "p"};
    set_annotations(pod, source.at("annotations").as_object());
    if (!source.at("containers").is_array())
        return;
    for (const value& each : source.at("containers").get_array()) {
        container_resources& to = containers.emplace_back();
        to.amounts.limits = amounts_of(each.as_object().at("limits").as_object());
        to.amounts.requests = amounts_of(each.as_object().at("requests").as_object());
    }
}

[[nodiscard]] inline std::string check_register(const object& source) {
    object_metadata node;
    set_text(node, muster::codec::volcano_vgpu::register_key, source.at("text"));
    diagnostics out;
    const std::map<std::string, std::int64_t> reported{
        {"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-memory", 1}, {"volcano.sh/vgpu-cores", 1}};
    const auto read = read_volcano_vgpu_node(node, reported, out);
    const auto text = [](const std::string& id, std::int64_t count, std::int64_t memory,
                         const std::string& model, bool health) {
        return id + " " + std::to_string(count) + " " + std::to_string(memory) + " " + model +
               (health ? " healthy; " : "; ");
    };
    std::string expected = text_at(source, "mode") + " ";
    for (const value& each : source.at("devices").as_array()) {
        const object& device = each.as_object();
        expected +=
            text(text_at(device, "id"), number_at(device, "count"), number_at(device, "memory"),
                 text_at(device, "model"), device.at("health").as_bool());
    }
    std::string got = read->devices.empty() ? " " : read->devices.front().mode + " ";
    for (const auto& device : read->devices)
        got += text(device.id, *device.slots, device.memory, device.model, device.healthy);
    return compare("devices", expected, got);
}

[[nodiscard]] inline std::string check_list(const object& source) {
    object_metadata pod;
    set_text(pod, muster::codec::volcano_vgpu::ids_key, source.at("text"));
    diagnostics out;
    const auto read = read_volcano_vgpu_pod(pod, out);
    return compare("shares", expected_shares(source.at("shares").as_array()), held_shares(*read));
}

[[nodiscard]] inline std::string check_request(const object& source) {
    object_metadata pod;
    std::vector<container_resources> containers;
    read_pod(source.at("pod").as_object(), pod, containers);
    const auto read = read_volcano_vgpu_requests(pod, containers, "");
    const auto text = [](std::int64_t count, const muster::share_memory& memory,
                         std::int64_t cores) {
        return std::to_string(count) + " x " + std::to_string(cores) + " cores " +
               std::to_string(muster::units_of(memory, 16'000)) + "/16000 " +
               std::to_string(muster::units_of(memory, 77)) + "/77; ";
    };
    std::string expected;
    for (const value& each : source.at("requests").as_array()) {
        const object& request = each.as_object();
        if (number_at(request, "count") > 0)
            expected += text(number_at(request, "count"), memory_of(request, false),
                             number_at(request, "cores"));
    }
    std::string got;
    for (const container_share& each : read.requests)
        got += text(each.request.count, each.request.memory, each.request.cores);
    return compare("requests", expected, got);
}

[[nodiscard]] inline std::string check_group(const object& source) {
    object_metadata pod;
    std::vector<container_resources> containers;
    read_pod(source.at("pod").as_object(), pod, containers);
    return compare("group", text_at(source, "group"), volcano_group_of(pod));
}

/// Reads the geometries of a device, and which of its instances are in use. Returns the names of
/// the latter that it does not have.
inline std::string read_instances(const object& from, muster::shared_device& to) {
    std::vector<muster::codec::volcano_vgpu::mig_geometry> geometries;
    for (const value& each : from.at("geometries").as_array()) {
        auto& geometry = geometries.emplace_back();
        geometry.group = text_at(each.as_object(), "group");
        for (const value& kind : each.as_object().at("kinds").as_array())
            geometry.templates.push_back({text_at(kind.as_object(), "name"),
                                          number_at(kind.as_object(), "memory"),
                                          number_at(kind.as_object(), "count")});
    }
    to.is_partitioned = true;
    to.instances = mig_instances(geometries);
    std::string unknown;
    for (const value& each : from.at("placed").as_array()) {
        const std::string name(each.as_string());
        bool is_known = false;
        for (const muster::gpu_instance& instance : to.instances)
            if (instance.name == name) {
                to.used.slices |= instance.slices;
                is_known = true;
            }
        unknown += is_known ? "" : name + " ";
    }
    return unknown;
}

/// The instance that Volcano chooses on one device.
[[nodiscard]] inline std::string check_instance(const object& source) {
    muster::shared_device device;
    device.id = text_at(source, "id");
    // A device with an unknown instance in use gives none.
    const bool is_known = read_instances(source, device).empty();
    const auto found = is_known ? muster::find_instance(device.instances, device.used.slices,
                                                        number_at(source, "request"))
                                : std::nullopt;
    const std::string wrong = compare("fits", source.at("fits").as_bool(), found.has_value());
    if (!wrong.empty() || !found)
        return wrong;
    const muster::gpu_instance& of = device.instances[*found];
    return compare("instance",
                   text_at(source, "chosen") + " " + std::to_string(number_at(source, "memory")),
                   device.id + "[" + of.name + "] " + std::to_string(of.memory));
}

[[nodiscard]] inline std::string check_choice(const object& source) {
    object_metadata pod;
    std::vector<container_resources> containers;
    read_pod(source.at("pod").as_object(), pod, containers);
    const auto read = read_volcano_vgpu_requests(pod, containers, text_at(source, "policy"));
    std::vector<muster::share_request> requests;
    for (const container_share& each : read.requests)
        requests.push_back(each.request);
    std::vector<muster::shared_device> devices;
    for (const value& each : source.at("devices").as_array()) {
        const object& from = each.as_object();
        auto& device = devices.emplace_back();
        device.id = text_at(from, "id");
        device.model = text_at(from, "model");
        device.memory = number_at(from, "memory");
        device.cores = 100;
        device.slots = number_at(from, "count");
        device.mode = text_at(source, "mode");
        device.healthy = from.at("health").as_bool();
        const auto& used = from.at("used").as_array();
        device.used = {used[0].to_number<std::int64_t>(), used[1].to_number<std::int64_t>(),
                       used[2].to_number<std::int64_t>()};
        if (from.if_contains("geometries"))
            if (const std::string unknown = read_instances(from, device); !unknown.empty())
                return "instances in use that no geometry has: " + unknown;
        for (const value& group : from.at("groups").as_array())
            device.sharers.push_back({{}, std::string(group.as_string())});
    }
    const auto answer =
        muster::allocate_shares(devices, requests, muster::volcano_vgpu_rules, 10'000);
    const bool fits = answer.outcome == muster::share_outcome::allocated;
    // A pod that requests nothing fits in Volcano, and is no pod of vGPUs here.
    const std::string wrong = compare("fits", source.at("fits").as_bool(), fits);
    if (!wrong.empty())
        return wrong;
    return compare("devices", expected_shares(source.at("chosen").as_array()),
                   allocated_shares(devices, requests, answer, instance_text::by_name));
}

} // namespace volcano_cases

[[nodiscard]] inline std::string check_volcano(const object& source) {
    const std::string kind = text_at(source, "kind");
    if (kind == "type")
        return volcano_cases::check_type(source);
    if (kind == "uuid")
        return volcano_cases::check_id(source);
    if (kind == "register")
        return volcano_cases::check_register(source);
    if (kind == "list")
        return volcano_cases::check_list(source);
    if (kind == "request")
        return volcano_cases::check_request(source);
    if (kind == "instance")
        return volcano_cases::check_instance(source);
    if (kind == "group")
        return volcano_cases::check_group(source);
    if (kind == "node")
        return volcano_cases::check_choice(source);
    return "no kind of case: " + kind;
}

} // namespace share_cases
