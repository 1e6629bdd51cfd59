// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/hami/node_register.hpp>
#include <muster/apis/hami/pod_requests.hpp>
#include <muster/apis/hami/pod_shares.hpp>

#include "device_cases/share_case.hpp"

namespace share_cases {
namespace hami_cases {

[[nodiscard]] inline std::string check_filter(const object& source, bool by_model) {
    namespace names = muster::codec::hami;
    object_metadata pod;
    set_text(pod, by_model ? names::use_type_key : names::use_id_key, source.at("use"));
    set_text(pod, by_model ? names::no_use_type_key : names::no_use_id_key, source.at("nouse"));
    muster::shared_device device;
    (by_model ? device.model : device.id) = text_at(source, by_model ? "model" : "id");
    return compare("accepts", source.at("accepts").as_bool(),
                   muster::codec::detail::read_hami_filter(pod).accepts(device));
}

[[nodiscard]] inline std::string check_register(const object& source) {
    object_metadata node;
    set_text(node, muster::codec::hami::register_key, source.at("text"));
    diagnostics out;
    const auto read = read_hami_node(node, out);
    if (source.at("error").as_bool())
        return out.findings().empty() ? "expected an error" : "";
    const auto text = [](const std::string& id, std::int64_t count, std::int64_t memory,
                         std::int64_t cores, const std::string& model, std::int64_t numa,
                         const std::string& mode, bool health) {
        return id + " " + std::to_string(count) + " " + std::to_string(memory) + " " +
               std::to_string(cores) + " " + model + " " + std::to_string(numa) + " " + mode +
               (health ? " healthy; " : "; ");
    };
    std::string expected;
    for (const value& each : source.at("devices").as_array()) {
        const object& device = each.as_object();
        expected +=
            text(text_at(device, "id"), number_at(device, "count"), number_at(device, "memory"),
                 number_at(device, "cores"), text_at(device, "model"), number_at(device, "numa"),
                 text_at(device, "mode"), device.at("health").as_bool());
    }
    std::string got;
    for (const auto& device : read->devices)
        got += text(device.id, *device.slots, device.memory, *device.cores, device.model,
                    *device.numa, device.mode, device.healthy);
    for (std::size_t at = 0; at < read->devices.size(); ++at) {
        std::vector<muster::gpu_instance> instances;
        if (const value* const list =
                source.at("devices").at(at).as_object().if_contains("profiles"))
            static_cast<void>(read_mig_profiles(*list, instances));
        expected += std::to_string(instances.size()) + " ";
        got += std::to_string(read->devices[at].instances.size()) + " ";
        if (instances != read->devices[at].instances)
            got += "other instances";
    }
    return compare("devices", expected, got);
}

[[nodiscard]] inline std::string check_list(const object& source) {
    object_metadata pod;
    set_text(pod, muster::codec::hami::allocated_key, source.at("text"));
    diagnostics out;
    const auto read = read_hami_pod(pod, out);
    if (source.at("error").as_bool())
        return read->unread.empty() ? "expected an error" : "";
    return compare("shares", expected_shares(source.at("shares").as_array()), held_shares(*read));
}

[[nodiscard]] inline std::string check_request(const object& source) {
    namespace names = muster::codec::hami;
    const object& named = source.at("names").as_object();
    container_resources container;
    for (const bool limits : {true, false})
        for (const auto& [name, amount] :
             amounts_of(source.at(limits ? "limits" : "requests").as_object())) {
            std::string_view known;
            if (name == text_at(named, "count"))
                known = names::count_resource;
            else if (name == text_at(named, "memory"))
                known = names::memory_resource;
            else if (name == text_at(named, "percent"))
                known = names::percentage_resource;
            else if (name == text_at(named, "cores"))
                known = names::cores_resource;
            else
                continue;
            (limits ? container.amounts.limits : container.amounts.requests)[std::string(known)] =
                amount;
        }
    hami_options options;
    options.default_memory = number_at(source, "defaultMemory");
    options.default_cores = number_at(source, "defaultCores");
    options.memory_factor = number_at(source, "memoryFactor");
    std::vector<std::string> unsupported;
    const auto got =
        muster::codec::detail::read_hami_container(container, options, true, unsupported);
    const object& expected = source.at("request").as_object();
    const auto text = [](std::int64_t count, const muster::share_memory& memory,
                         std::int64_t cores) {
        if (count == 0)
            return std::string("none");
        std::string made = std::to_string(count) + " x " + std::to_string(cores) + " cores";
        for (const std::int64_t device : {16'000, 40'960, 77})
            made += " " + std::to_string(muster::units_of(memory, device)) + "/" +
                    std::to_string(device);
        return made;
    };
    return compare("request",
                   text(number_at(expected, "count"), memory_of(expected, true),
                        std::min<std::int64_t>(number_at(expected, "cores"), 100)),
                   got ? text(got->count, got->memory, got->cores) : "none");
}

/// `whole_node`: HAMi sorts the devices first; else it tries them from the last to the first.
[[nodiscard]] inline std::string check_choice(const object& source, bool whole_node) {
    namespace names = muster::codec::hami;
    object_metadata pod;
    set_annotations(pod, source.at("annotations").as_object());
    container_resources container;
    container.amounts.limits[std::string(names::count_resource)] = {1000, {}};
    diagnostics out;
    hami_options options;
    options.policy = text_at(source, "policy");
    const auto read = read_hami_requests(pod, {container}, options, out);
    muster::share_request request = read.requests.at(0).request;
    const object& asked = source.at("request").as_object();
    request.count = number_at(asked, "count");
    request.memory = memory_of(asked, true);
    request.cores = std::min<std::int64_t>(number_at(asked, "cores"), 100);
    if (whole_node)
        request.order = muster::codec::detail::hami_order(text_at(source, "policy"),
                                                          source.at("numaBind").as_bool());
    else
        request.order.fill(muster::device_key::index_down);
    std::vector<muster::shared_device> devices;
    const auto cordoned = muster::codec::detail::listed_words(text_at(source, "cordon"));
    for (const value& each : source.at("devices").as_array()) {
        const object& from = each.as_object();
        auto& device = devices.emplace_back();
        device.id = text_at(from, "id");
        device.model = text_at(from, "model");
        device.memory = number_at(from, "memory");
        device.cores = number_at(from, "cores");
        device.slots = number_at(from, "count");
        device.numa = number_at(from, "numa");
        device.mode = text_at(from, "mode");
        device.is_partitioned = device.mode == "mig";
        if (const value* const list = from.if_contains("profiles"); list && device.is_partitioned)
            for (const std::string& wrong : read_mig_profiles(*list, device.instances))
                return wrong;
        device.healthy = from.at("health").as_bool() &&
                         std::find(cordoned.begin(), cordoned.end(), device.id) == cordoned.end();
        const auto& used = from.at("used").as_array();
        device.used = {used[0].to_number<std::int64_t>(), used[1].to_number<std::int64_t>(),
                       used[2].to_number<std::int64_t>()};
        if (const value* const placed = from.if_contains("placed"))
            for (const value& place : placed->as_array())
                device.used.slices |=
                    muster::slices_at(place.as_array()[0].to_number<std::int64_t>(),
                                      place.as_array()[1].to_number<std::int64_t>());
    }
    if (const value* const links = source.if_contains("links")) {
        node_shares node{"n", std::move(devices), {}};
        if (const std::string wrong =
                muster::codec::detail::read_hami_links(boost::json::serialize(*links), node);
            !wrong.empty())
            return wrong;
        devices = std::move(node.devices);
    }
    const std::vector<muster::share_request> requests{request};
    const auto answer = muster::allocate_shares(devices, requests, muster::hami_rules, 10'000);
    const bool fits = answer.outcome == muster::share_outcome::allocated;
    const std::string wrong = compare("fits", source.at("fits").as_bool(), fits);
    if (!wrong.empty())
        return wrong;
    return compare("devices", expected_shares(source.at("chosen").as_array()),
                   allocated_shares(devices, requests, answer,
                                    whole_node ? instance_text::by_place : instance_text::none));
}

} // namespace hami_cases

[[nodiscard]] inline std::string check_hami(const object& source) {
    const std::string kind = text_at(source, "kind");
    if (kind == "type" || kind == "uuid")
        return hami_cases::check_filter(source, kind == "type");
    if (kind == "register")
        return hami_cases::check_register(source);
    if (kind == "list")
        return hami_cases::check_list(source);
    if (kind == "request")
        return hami_cases::check_request(source);
    if (kind == "fit" || kind == "node")
        return hami_cases::check_choice(source, kind == "node");
    return "no kind of case: " + kind;
}

} // namespace share_cases
