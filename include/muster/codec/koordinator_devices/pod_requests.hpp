// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
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

#include <muster/codec/koordinator_devices/device_reader.hpp>
#include <muster/codec/metadata_text.hpp>
#include <muster/codec/request_reader.hpp>
#include <muster/codec/share_objects.hpp>
#include <muster/devices/share_request.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace koordinator_devices {

inline constexpr std::string_view hint_key = "scheduling.koordinator.sh/device-allocate-hint";
inline constexpr std::string_view partition_key = "scheduling.koordinator.sh/gpu-partition-spec";
/// Annotation that requests devices of several types at one place, which is not modelled.
inline constexpr std::string_view joint_key = "scheduling.koordinator.sh/device-joint-allocate";

} // namespace koordinator_devices

/// What a pod requests of GPUs in total, by Koordinator's resource names. Absent is not 0.
struct koordinator_amounts {
    /// `koordinator.sh/gpu`: percent of both cores and memory.
    std::optional<std::int64_t> gpu;
    /// `koordinator.sh/gpu.shared`: number of devices.
    std::optional<std::int64_t> shared;
    std::optional<std::int64_t> core;
    /// `koordinator.sh/gpu-memory`: bytes.
    std::optional<std::int64_t> memory;
    std::optional<std::int64_t> ratio;
    /// `nvidia.com/gpu`, `amd.com/gpu` or `dcu.com/gpu`: number of whole devices.
    std::optional<std::int64_t> whole;
};

/// The request of a pod's amounts, or why they are not valid.
struct koordinator_request {
    std::optional<share_request> request;
    /// True if each device can be shared with other pods.
    bool is_shared = false;
    std::string wrong;
};

/// Returns the request for a pod's amounts, by Koordinator's table of valid combinations: `whole`;
/// `gpu`; `memory` or `ratio`, with `core` or without; the same with `shared`. A percentage above
/// 100 must be a multiple of 100, and requests whole devices. With `shared`, percentages must be
/// multiples of `shared`, at most 100 per device. O(1).
[[nodiscard]] inline koordinator_request
koordinator_request_of(const koordinator_amounts& amounts) {
    const auto fail = [](std::string why) {
        koordinator_request failed;
        failed.wrong = std::move(why);
        return failed;
    };
    const auto is_percentage = [](const std::optional<std::int64_t>& value) {
        return !value || *value <= 100 || *value % 100 == 0;
    };
    const bool has_parts = amounts.core || amounts.memory || amounts.ratio || amounts.shared;
    if (amounts.gpu.has_value() + amounts.whole.has_value() + has_parts > 1)
        return fail("whole GPUs, koordinator.sh/gpu and its parts are requested at once");
    koordinator_amounts of = amounts;
    if (of.whole)
        of.ratio = of.core = saturating_multiply(*of.whole, 100);
    if (of.gpu)
        of.ratio = of.core = of.gpu;
    if (!of.memory == !of.ratio)
        return fail(of.memory ? "gpu-memory and gpu-memory-ratio are requested at once"
                              : "gpu-memory or gpu-memory-ratio is missing");
    std::int64_t count = 1;
    if (of.shared) {
        if (*of.shared <= 0)
            return fail("gpu.shared is 0");
        count = *of.shared;
        for (const auto& each : {of.core, of.ratio})
            if (each && (*each % count != 0 || *each / count > 100))
                return fail("gpu-core or gpu-memory-ratio is not a multiple of gpu.shared, or is "
                            "more than 100 per GPU");
    } else {
        if (!is_percentage(of.core) || !is_percentage(of.ratio))
            return fail("a percentage above 100 is not a multiple of 100");
        if (of.ratio.value_or(0) > 100)
            count = *of.ratio / 100;
    }
    koordinator_request made;
    share_request& request = made.request.emplace();
    request.count = count;
    request.cores = of.core.value_or(0) / count;
    if (of.ratio)
        request.memory = memory_part{*of.ratio / count, 100};
    else
        request.memory = memory_amount{*of.memory / count};
    made.is_shared = !of.ratio || *of.ratio / count < 100;
    // Koordinator's defaults: the largest free part of memory first; if the places of all devices
    // are known, unused devices first. Ties by minor number.
    request.order = {device_key::percent_up, device_key::index_up, device_key::index_up};
    request.prefers_near = !made.is_shared || count == 1;
    return made;
}

namespace detail {

/// Reads the hints for GPUs into `to`. Returns an error message if a hint is malformed or not
/// modelled; empty otherwise.
[[nodiscard]] inline std::string read_koordinator_hint(const metadata_text& at, bool is_shared,
                                                       share_request& to) {
    if (!at.is_present())
        return {};
    boost::json::error_code error;
    const boost::json::value root = boost::json::parse({at.text().data(), at.text().size()}, error);
    if (error || !root.is_object())
        return at.text_of("not a JSON object (expected hints by device type)");
    const boost::json::value* const gpu = root.get_object().if_contains("gpu");
    if (gpu == nullptr || gpu->is_null())
        return {};
    if (!gpu->is_object())
        return at.text_of("gpu is not an object");
    for (const auto& member : gpu->get_object()) {
        const std::string_view key(member.key().data(), member.key().size());
        const auto* const text = member.value().if_string();
        if (member.value().is_null() || (text && text->empty()))
            continue;
        const std::string_view value =
            text ? std::string_view(text->data(), text->size()) : std::string_view{};
        if (key != "requiredTopologyScope")
            return at.text_of("gpu." + std::string(key) + " is not modelled");
        if (value == "PCIe")
            to.within = share_nearness::same_pcie;
        else if (value == "NUMANode")
            to.within = share_nearness::same_numa;
        else if (value == "Node")
            to.within = share_nearness::same_node;
        else
            return at.text_of(in_quotes(value) +
                              " is not a scope of GPUs (expected PCIe, NUMANode or Node)");
        if (is_shared && to.count > 1)
            return at.text_of("shares of several GPUs cannot have a scope");
    }
    return {};
}

} // namespace detail

/// Reads what a pod requests of Koordinator's GPUs, for all containers together, as Koordinator
/// does. Each amount is the maximum of each init container's amount and the sum of the containers'
/// amounts. `whole_resource`: the resource name of whole GPUs, such as nvidia.com/gpu; empty =
/// whole GPUs are not managed by Koordinator. O(resources of the containers).
[[nodiscard]] inline pod_share_requests
read_koordinator_requests(const object_metadata& pod,
                          const std::vector<container_resources>& containers,
                          std::string_view whole_resource, diagnostics& out) {
    namespace names = koordinator_devices;
    pod_share_requests read;
    read.containers = containers.size();
    named_amounts running;
    named_amounts total;
    for (const container_resources& each : containers) {
        named_amounts amounts = each.amounts.requests;
        for (const auto& [kind, limit] : each.amounts.limits)
            amounts.try_emplace(kind, limit);
        if (each.is_init)
            raise(total, amounts);
        else
            add(running, amounts);
    }
    raise(total, running);
    const auto amount = [&](std::string_view resource) -> std::optional<std::int64_t> {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 1000;
        const auto found = total.find(std::string(resource));
        if (found == total.end() || found->second.milli == 0)
            return std::nullopt;
        const auto whole = detail::whole_amount(found->second, most);
        if (!whole)
            read.unsupported.push_back(std::string(resource) + " (expected a whole number)");
        return whole;
    };
    koordinator_amounts amounts;
    amounts.gpu = amount(names::gpu_resource);
    amounts.shared = amount(names::shared_resource);
    amounts.core = amount(names::core_resource);
    amounts.memory = amount(names::memory_resource);
    amounts.ratio = amount(names::ratio_resource);
    if (!whole_resource.empty())
        amounts.whole = amount(whole_resource);
    for (const std::string_view resource : {names::rdma_resource, names::fpga_resource})
        if (amount(resource))
            read.unsupported.emplace_back(resource);
    const bool asks = amounts.gpu || amounts.shared || amounts.core || amounts.memory ||
                      amounts.ratio || amounts.whole;
    if (!asks || !read.unsupported.empty())
        return read;
    koordinator_request made = koordinator_request_of(amounts);
    if (!made.request) {
        read.unsupported.push_back(made.wrong);
        return read;
    }
    const metadata_text hint(pod, "pod", names::hint_key, out);
    if (std::string wrong = detail::read_koordinator_hint(hint, made.is_shared, *made.request);
        !wrong.empty())
        read.unsupported.push_back(std::move(wrong));
    const metadata_text partition(pod, "pod", names::partition_key, out);
    if (partition.is_present())
        read.unsupported.push_back(partition.text_of("GPU partitions are not modelled"));
    read.requests.push_back({0, std::move(*made.request)});
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
