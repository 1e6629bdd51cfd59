// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/request_reader.hpp>
#include <muster/apis/koordinator/devices/names.hpp>
#include <muster/apis/koordinator/devices/pod_hints.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/device_labels.hpp>
#include <muster/devices/device_partition.hpp>
#include <muster/devices/share_request.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
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
    /// `huawei.com/npu-core`, with `ratio`.
    std::optional<std::int64_t> npu_core = {};
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
    const bool has_parts =
        amounts.core || amounts.memory || amounts.ratio || amounts.shared || amounts.npu_core;
    if (amounts.gpu.has_value() + amounts.whole.has_value() + has_parts > 1)
        return fail("whole GPUs, koordinator.sh/gpu and its parts are requested at once");
    if (amounts.npu_core && (amounts.core || amounts.shared || !amounts.ratio || amounts.memory))
        return fail("huawei.com/npu-core without gpu-memory-ratio, or with another part");
    koordinator_amounts of = amounts;
    if (of.npu_core)
        of.core = of.npu_core;
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
        if (!is_percentage(amounts.core) || !is_percentage(of.ratio))
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
    if (of.npu_core)
        request.filter.model_names = {std::string(koordinator_devices::npu_model)};
    else if (request.cores > 0)
        request.filter.models_not = {std::string(koordinator_devices::npu_model)};
    // Koordinator's defaults: the largest free part of memory first; if the places of all devices
    // are known, unused devices first. Ties by minor number.
    request.order = {device_key::percent_up, device_key::index_up, device_key::index_up};
    request.prefers_near = !made.is_shared || count == 1;
    return made;
}

namespace detail {

/// Completes the request for GPUs by the pod's policies. Returns an error message; empty if there
/// is none.
[[nodiscard]] inline std::string refine_gpus(const koordinator_policies& by, bool is_shared,
                                             share_request& to) {
    // Without a partition spec, Koordinator prefers partitions for whole GPUs.
    if (!is_shared)
        to.partition = by.partition.value_or(partition_wish{});
    const auto found = by.hints.find(koordinator_devices::gpu_type);
    if (found == by.hints.end())
        return {};
    const koordinator_hint& hint = found->second;
    to.filter.labels = hint.labels.value_or(std::vector<device_label_check>{});
    if (hint.scope == "PCIe")
        to.within = share_nearness::same_pcie;
    else if (hint.scope == "NUMANode")
        to.within = share_nearness::same_numa;
    else if (hint.scope == "Node")
        to.within = share_nearness::same_node;
    if (!hint.scope.empty() && is_shared && to.count > 1)
        return std::string(koordinator_devices::hint_key) +
               ": gpu.requiredTopologyScope: shares of several GPUs cannot have a scope";
    return {};
}

} // namespace detail

/// Returns the request for `amount` of a type of devices that have one amount. Up to 100 is a share
/// of one device, unless the hint names another strategy. More is a number of whole devices:
/// nullopt if it is not a multiple of 100. O(checks of the hint).
[[nodiscard]] inline std::optional<share_request>
koordinator_plain_request(std::string_view type, std::int64_t amount,
                          const koordinator_hint& hint) {
    if (amount > 100 && amount % 100 != 0)
        return std::nullopt;
    share_request made;
    made.filter.type = type;
    made.filter.labels = hint.labels.value_or(std::vector<device_label_check>{});
    made.function = hint.function;
    made.order = {device_key::percent_up, device_key::index_up, device_key::index_up};
    std::int64_t each = amount;
    if (amount > 100) {
        made.count = amount / 100;
        each = 100;
    } else if (hint.how == koordinator_hint::strategy::all) {
        made.takes_all = true;
    } else if (hint.how == koordinator_hint::strategy::amount_is_count) {
        made.count = amount;
        each = hint.is_exclusive ? 100 : 1;
    }
    made.memory = memory_amount{each};
    return made;
}

/// Joins the requests of a pod, one for each type, by its policies. Of the types that are allocated
/// together, the first one gets the requests of the others as partners. Types with the strategy
/// `all` are not joined. Returns an error message; empty if there is none. O(requests × types).
[[nodiscard]] inline std::string
join_koordinator_requests(const koordinator_policies& by,
                          std::map<std::string, share_request, std::less<>> requests,
                          pod_share_requests& to) {
    namespace names = koordinator_devices;
    std::vector<std::string> joint;
    for (const std::string& type : by.joint) {
        const auto hint = by.hints.find(type);
        const bool is_alone =
            hint != by.hints.end() && hint->second.how == koordinator_hint::strategy::all;
        if (requests.contains(type) && !is_alone)
            joint.push_back(type);
    }
    if (joint.size() > 1) {
        share_request& first = requests.find(joint.front())->second;
        for (std::size_t at = 1; at < joint.size(); ++at) {
            if (joint[at] == names::gpu_type)
                return std::string(names::joint_key) +
                       ": deviceTypes: GPUs after another type are not modelled";
            const auto partner = requests.find(joint[at]);
            first.partners.push_back(std::move(partner->second));
            requests.erase(partner);
        }
        first.partners_at_same_roots = by.at_same_roots;
    }
    for (const std::string_view type :
         {names::gpu_type, names::plain_types[0].name, names::plain_types[1].name})
        if (const auto found = requests.find(type); found != requests.end())
            to.requests.push_back({0, std::move(found->second)});
    return {};
}

namespace detail {

/// Returns the amounts of a pod: for each resource the maximum of each init container's amount and
/// the sum of the containers' amounts.
[[nodiscard]] inline named_amounts
koordinator_total(const std::vector<container_resources>& containers) {
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
    return total;
}

} // namespace detail

/// Returns the types of Koordinator's devices that a pod requests, whether the requests are
/// modelled or not. `whole_resource`: see below. O(resources of the containers).
[[nodiscard]] inline std::set<std::string, std::less<>>
koordinator_types(const std::vector<container_resources>& containers,
                  std::string_view whole_resource) {
    namespace names = koordinator_devices;
    std::set<std::string, std::less<>> types;
    for (const auto& [resource, amount] : detail::koordinator_total(containers)) {
        if (amount.milli == 0)
            continue;
        const bool is_gpu = resource == names::gpu_resource || resource == names::shared_resource ||
                            resource == names::core_resource ||
                            resource == names::memory_resource ||
                            resource == names::ratio_resource || resource == whole_resource ||
                            names::is_of_other_vendor(resource);
        if (is_gpu)
            types.emplace(names::gpu_type);
        for (const names::plain_type& each : names::plain_types)
            if (resource == each.resource)
                types.emplace(each.name);
    }
    return types;
}

/// Reads what a pod requests of Koordinator's devices, for all containers together, as Koordinator
/// does. Each amount is the maximum of each init container's amount and the sum of the containers'
/// amounts. `whole_resource`: the resource name of whole GPUs, such as nvidia.com/gpu; empty =
/// whole GPUs are not managed by Koordinator. GPUs of other vendors are not modelled. O(resources
/// of the containers + annotations).
[[nodiscard]] inline pod_share_requests
read_koordinator_requests(const object_metadata& pod,
                          const std::vector<container_resources>& containers,
                          std::string_view whole_resource, diagnostics& out) {
    namespace names = koordinator_devices;
    pod_share_requests read;
    read.containers = containers.size();
    const named_amounts total = detail::koordinator_total(containers);
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
    amounts.npu_core = amount(names::npu_core_resource);
    const bool asks_gpus = amounts.gpu || amounts.shared || amounts.core || amounts.memory ||
                           amounts.ratio || amounts.whole || amounts.npu_core;
    std::map<std::string_view, std::int64_t> plain;
    for (const names::plain_type& each : names::plain_types)
        if (const auto asked = amount(each.resource))
            plain.emplace(each.name, *asked);
    const auto refuse_template = [&](std::string_view resource) {
        read.unsupported.push_back(std::string(resource) +
                                   ": templates of shared resources are not modelled");
    };
    for (const auto& [resource, asked] : total) {
        if (asked.milli == 0 || resource == whole_resource ||
            resource == names::npu_core_resource || !names::is_of_other_vendor(resource))
            continue;
        if (resource.starts_with(names::npu_prefix))
            refuse_template(resource);
        else
            read.unsupported.push_back(resource + ": whole GPUs of this vendor are not modelled");
    }
    if ((!asks_gpus && plain.empty()) || !read.unsupported.empty())
        return read;
    koordinator_policies policies = read_koordinator_policies(pod, out);
    for (std::string& each : policies.wrong)
        read.unsupported.push_back(std::move(each));
    std::map<std::string, share_request, std::less<>> requests;
    if (asks_gpus) {
        koordinator_request made = koordinator_request_of(amounts);
        if (amounts.npu_core && made.is_shared)
            refuse_template(names::npu_core_resource);
        std::string wrong = made.request
                                ? detail::refine_gpus(policies, made.is_shared, *made.request)
                                : made.wrong;
        if (wrong.empty())
            requests.emplace(names::gpu_type, std::move(*made.request));
        else
            read.unsupported.push_back(std::move(wrong));
    }
    for (const auto& [type, asked] : plain) {
        const auto hint = policies.hints.find(type);
        auto made = koordinator_plain_request(
            type, asked, hint == policies.hints.end() ? koordinator_hint{} : hint->second);
        if (made)
            requests.emplace(type, std::move(*made));
        else
            read.unsupported.push_back(std::string(names::resource_of(type)) +
                                       " (expected a multiple of 100, if it is above 100)");
    }
    if (read.unsupported.empty())
        if (std::string wrong = join_koordinator_requests(policies, std::move(requests), read);
            !wrong.empty()) {
            read.unsupported.push_back(std::move(wrong));
            read.requests.clear();
        }
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
