// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/koordinator/devices/device_reader.hpp>
#include <muster/apis/koordinator/devices/pod_marks.hpp>
#include <muster/apis/koordinator/devices/pod_requests.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/input/read_documents.hpp>

#include "device_cases/share_case.hpp"

namespace share_cases {
namespace koordinator_cases {

/// Returns an amount in units; nullopt if it is absent.
[[nodiscard]] inline std::optional<std::int64_t> units_at(const object& amounts,
                                                          std::string_view key) {
    const value* const found = amounts.if_contains(key);
    if (found == nullptr)
        return std::nullopt;
    const auto parsed = muster::parse_quantity(std::string(found->as_string()));
    return parsed ? std::optional(parsed->units_up()) : std::nullopt;
}

[[nodiscard]] inline std::string request_text(std::int64_t count,
                                              const muster::share_memory& memory,
                                              std::int64_t cores, bool is_shared) {
    constexpr std::int64_t device = std::int64_t{16} << 30;
    return std::to_string(count) + " x " + std::to_string(muster::units_of(memory, device)) +
           " bytes, " + std::to_string(cores) + " cores" + (is_shared ? ", shared" : "");
}

/// The memory and the cores of one GPU.
[[nodiscard]] inline muster::share_memory memory_of_each(const object& each) {
    namespace names = muster::codec::koordinator_devices;
    if (const auto ratio = units_at(each, names::ratio_resource))
        return muster::memory_part{*ratio, 100};
    return muster::memory_amount{units_at(each, names::memory_resource).value_or(0)};
}

[[nodiscard]] inline std::string check_request(const object& source) {
    namespace names = muster::codec::koordinator_devices;
    const object& from = source.at("amounts").as_object();
    for (const auto& type : names::plain_types)
        if (const auto amount = units_at(from, type.resource))
            return compare("valid", source.at("valid").as_bool(),
                           koordinator_plain_request(type.name, *amount, {}).has_value());
    koordinator_amounts amounts;
    amounts.gpu = units_at(from, names::gpu_resource);
    amounts.shared = units_at(from, names::shared_resource);
    amounts.core = units_at(from, names::core_resource);
    amounts.memory = units_at(from, names::memory_resource);
    amounts.ratio = units_at(from, names::ratio_resource);
    amounts.npu_core = units_at(from, names::npu_core_resource);
    for (const char* const whole : {"nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu"})
        if (const auto count = units_at(from, whole))
            amounts.whole = count;
    const auto got = koordinator_request_of(amounts);
    const std::string wrong =
        compare("valid", source.at("valid").as_bool(), got.request.has_value());
    if (!wrong.empty() || !got.request)
        return wrong;
    const object& expected = source.at("request").as_object();
    const object& each = expected.at("each").as_object();
    return compare(
        "request",
        request_text(
            number_at(expected, "count"), memory_of_each(each),
            units_at(each, amounts.npu_core ? names::npu_core_resource : names::core_resource)
                .value_or(0),
            expected.at("shared").as_bool()),
        request_text(got.request->count, got.request->memory, got.request->cores, got.is_shared));
}

[[nodiscard]] inline std::string check_choice(const object& source) {
    namespace names = muster::codec::koordinator_devices;
    using muster::device_key;
    std::vector<muster::shared_device> devices;
    for (const value& entry : source.at("devices").as_array()) {
        const object& from = entry.as_object();
        const object& total = from.at("total").as_object();
        const object& used = from.at("used").as_object();
        auto& device = devices.emplace_back();
        device.id = std::to_string(number_at(from, "minor"));
        device.cores = units_at(total, names::core_resource);
        device.memory = units_at(total, names::memory_resource).value_or(0);
        device.healthy = !total.empty();
        device.used = {used.empty() ? 0 : 1, units_at(used, names::memory_resource).value_or(0),
                       units_at(used, names::core_resource).value_or(0)};
        if (!from.at("numa").is_null())
            device.numa = number_at(from, "numa");
        device.pcie = text_at(from, "pcie");
    }
    const object& asked = source.at("request").as_object();
    const object& each = asked.at("each").as_object();
    const bool is_shared = asked.at("shared").as_bool();
    const std::string scope = text_at(asked, "scope");
    const std::string scorer = text_at(source, "scorer");
    muster::share_request request;
    request.count = number_at(asked, "count");
    request.memory = memory_of_each(each);
    request.cores = units_at(each, names::core_resource).value_or(0);
    request.prefers_near = source.at("hasTree").as_bool() && (!is_shared || request.count == 1);
    if (!scope.empty()) {
        object_metadata pod;
        pod.annotations.set(std::string(names::hint_key),
                            R"({"gpu":{"requiredTopologyScope":")" + scope + "\"}}");
        diagnostics out;
        const auto policies = read_koordinator_policies(pod, out);
        if (!policies.wrong.empty() ||
            !muster::codec::detail::refine_gpus(policies, is_shared, request).empty())
            return compare("fits", source.at("fits").as_bool(), false);
    }
    if (!scorer.empty()) {
        const bool least = scorer == "least";
        request.order[0] = least ? device_key::percent_up : device_key::percent_down;
        request.near_order[0] = least ? device_key::in_use_up : device_key::in_use_down;
    } else {
        request.near_order = request.order;
    }
    const std::vector<muster::share_request> requests{request};
    const auto answer =
        muster::allocate_shares(devices, requests, muster::koordinator_rules, 10'000);
    const bool fits = answer.outcome == muster::share_outcome::allocated;
    const std::string wrong = compare("fits", source.at("fits").as_bool(), fits);
    if (!wrong.empty() || !fits)
        return wrong;
    std::string expected;
    for (const value& minor : source.at("chosen").as_array())
        expected += std::to_string(minor.to_number<std::int64_t>()) + " ";
    std::string got;
    for (const std::size_t index : answer.devices.front())
        got += devices[index].id + " ";
    return compare("devices", expected, got);
}

/// Returns a JSON object as a document that the readers read.
[[nodiscard]] inline document document_of(const object& json) {
    diagnostics aside(0);
    auto read = read_documents("case", boost::json::serialize(json), aside);
    return std::move(read.at(0));
}

/// The Device object of the case, with what standing pods hold of its devices.
[[nodiscard]] inline koordinator_device_object device_of(const object& source) {
    namespace names = muster::codec::koordinator_devices;
    boost::json::array list;
    for (const value& each : source.at("devices").as_array())
        list.push_back(each.at("device"));
    object metadata{{"name", "n"}};
    if (source.at("honors").as_bool())
        metadata["labels"] = {{names::partition_policy_label, "Honor"}};
    if (const value* const table = source.if_contains("partitions"))
        metadata["annotations"] = {{names::partitions_key, boost::json::serialize(*table)}};
    const document text = document_of({{"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
                                       {"kind", "Device"},
                                       {"metadata", metadata},
                                       {"spec", {{"devices", list}}}});
    diagnostics out;
    reading_context context;
    object_reader root(text, out);
    koordinator_device_object read = read_koordinator_device(root, context);
    for (const value& each : source.at("devices").as_array()) {
        const object& entry = each.at("device").as_object();
        const std::string type = text_at(entry, "type");
        const bool is_gpu = type == names::gpu_type;
        auto* const device = read.shares.find(names::device_id(
            is_gpu ? std::string_view{} : std::string_view(type), number_at(entry, "minor")));
        const object& used = each.at("used").as_object();
        if (device == nullptr)
            continue;
        device->used = {
            used.empty() ? 0 : 1,
            units_at(used, is_gpu ? names::memory_resource : names::resource_of(type)).value_or(0),
            units_at(used, device->model == names::npu_model ? names::npu_core_resource
                                                             : names::core_resource)
                .value_or(0)};
        for (muster::virtual_function& function : device->functions)
            for (const value& bus : each.at("functions").as_array())
                function.in_use = function.in_use || function.bus_id == bus.as_string();
    }
    return read;
}

/// Replaces the order of Koordinator's defaults by that of the case's scorer.
inline void set_scorer(const object& source, muster::share_request& to) {
    using muster::device_key;
    const bool is_gpu = to.filter.type.empty();
    const std::string scorer =
        text_at(source.at("scorer").as_object(), is_gpu ? std::string("gpu") : to.filter.type);
    to.prefers_near = to.prefers_near && source.at("hasTree").as_bool();
    if (scorer.empty()) {
        to.order = to.near_order = muster::as_listed;
    } else {
        const bool least = scorer == "least";
        to.order[0] = least ? device_key::percent_up : device_key::percent_down;
        to.near_order[0] = least ? device_key::in_use_up : device_key::in_use_down;
    }
    for (muster::share_request& partner : to.partners)
        set_scorer(source, partner);
}

/// What a pod gets as text: for each device the type, minor and virtual functions.
[[nodiscard]] inline std::string chosen_text(const boost::json::array& list) {
    std::string text;
    for (const value& each : list) {
        const object& of = each.as_object();
        text += text_at(of, "type") + "/" + std::to_string(number_at(of, "minor"));
        if (const value* const functions = of.if_contains("functions"))
            for (const value& bus : functions->as_array())
                text += "@" + std::string(bus.as_string());
        text += " ";
    }
    return text;
}

/// A pod with all its annotations on a node, through the readers and allocate_on().
[[nodiscard]] inline std::string check_pod(const object& source) {
    namespace names = muster::codec::koordinator_devices;
    object_metadata pod;
    for (const auto& [field, key] :
         {std::pair("hints", names::hint_key), std::pair("joint", names::joint_key),
          std::pair("partitionSpec", names::partition_key)})
        if (const value* const found = source.if_contains(field))
            pod.annotations.set(std::string(key), boost::json::serialize(*found));
    std::vector<container_resources> containers(1);
    containers[0].amounts.requests = amounts_of(source.at("amounts").as_object());
    diagnostics out;
    const pod_share_requests asked =
        read_koordinator_requests(pod, containers, "nvidia.com/gpu", out);
    if (!asked.unsupported.empty())
        return compare("fits", source.at("fits").as_bool(), false) + " (" +
               asked.unsupported.front() + ")";
    koordinator_device_object device = device_of(source);
    object_metadata node;
    if (const value* const labels = source.if_contains("nodeLabels"))
        for (const auto& label : labels->as_object())
            node.labels.set(std::string(label.key()), std::string(label.value().as_string()));
    share_stock on{share_system::koordinator, device.shares.devices, {}};
    on.partitions = koordinator_partitions(device, node);
    share_demand demand;
    for (const container_share& each : asked.requests) {
        demand.asks[share_system::koordinator].push_back(each.request);
        set_scorer(source, demand.asks[share_system::koordinator].back());
    }
    const share_demand* const demands[] = {&demand};
    const auto answer = allocate_on(on, demands, 100'000);
    const bool fits = answer.outcome == muster::share_outcome::allocated;
    const std::string wrong = compare("fits", source.at("fits").as_bool(), fits);
    if (!wrong.empty() || !fits)
        return wrong;
    const share_marks marks =
        koordinator_marks(asked, device.shares.devices, answer.devices, answer.functions, device);
    const auto written = boost::json::parse(marks.annotations.begin()->second);
    boost::json::array got;
    for (const char* const type : {"gpu", "rdma", "fpga"})
        if (const value* const list = written.as_object().if_contains(type))
            for (const value& each : list->as_array()) {
                object one{{"type", type},
                           {"minor", each.at("minor")},
                           {"resources", each.at("resources")}};
                if (const value* const extension = each.as_object().if_contains("extension")) {
                    boost::json::array functions;
                    for (const value& function : extension->at("vfs").as_array())
                        functions.push_back(function.at("busID"));
                    one["functions"] = functions;
                }
                got.push_back(one);
            }
    const boost::json::array& expected = source.at("chosen").as_array();
    const std::string other = compare("devices", chosen_text(expected), chosen_text(got));
    if (!other.empty())
        return other;
    // Koordinator adds the memory of GPUs later.
    for (std::size_t at = 0; at < expected.size(); ++at)
        for (const auto& amount : expected[at].at("resources").as_object())
            if (units_at(expected[at].at("resources").as_object(), amount.key()) !=
                units_at(got[at].at("resources").as_object(), amount.key()))
                return "amount of " + std::string(amount.key()) + " differs";
    return {};
}

} // namespace koordinator_cases

[[nodiscard]] inline std::string check_koordinator(const object& source) {
    const std::string kind = text_at(source, "kind");
    if (kind == "request")
        return koordinator_cases::check_request(source);
    if (kind == "node")
        return koordinator_cases::check_choice(source);
    if (kind == "pod")
        return koordinator_cases::check_pod(source);
    return "no kind of case: " + kind;
}

} // namespace share_cases
