// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/shares/share_objects.hpp>
#include <muster/apis/volcano/vgpu/node_register.hpp>
#include <muster/apis/volcano/vgpu/pod_shares.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace volcano_vgpu {

inline constexpr std::string_view use_type_key = "nvidia.com/use-gputype";
inline constexpr std::string_view no_use_type_key = "nvidia.com/nouse-gputype";
inline constexpr std::string_view use_id_key = "volcano.sh/vgpu-use-gpuuuid";
inline constexpr std::string_view no_use_id_key = "volcano.sh/vgpu-nouse-gpuuuid";
inline constexpr std::string_view mode_key = "volcano.sh/vgpu-mode";
inline constexpr std::string_view group_policy_key = "volcano.sh/vgpu-podgroup-policy";

} // namespace volcano_vgpu

namespace detail {

/// Reads the annotations that restrict devices. `use-gputype` overrides `nouse-gputype`. Both are
/// split at commas without trimming, and an empty part is a substring of every type.
[[nodiscard]] inline share_filter read_volcano_filter(const object_metadata& pod) {
    const auto parts = [&](const std::string& text) {
        std::vector<std::string> all;
        for (const std::string_view part : split_text(text, ','))
            all.emplace_back(part);
        return all;
    };
    const auto words = [&](std::string_view key) {
        const std::string* const text = pod.annotations.find(key);
        return text ? listed_words(*text) : std::vector<std::string>{};
    };
    share_filter filter;
    filter.kind = "NVIDIA";
    if (const std::string* const used = pod.annotations.find(volcano_vgpu::use_type_key))
        filter.models = parts(*used);
    else if (const std::string* const not_used =
                 pod.annotations.find(volcano_vgpu::no_use_type_key))
        filter.models_not = parts(*not_used);
    if (std::vector<std::string> ids = words(volcano_vgpu::use_id_key); !ids.empty())
        filter.ids = std::move(ids);
    filter.ids_not = words(volcano_vgpu::no_use_id_key);
    if (const std::string* const mode = pod.annotations.find(volcano_vgpu::mode_key))
        filter.modes = {*mode};
    return filter;
}

/// Returns the order for a value of the scheduler's setting `deviceshare.SchedulePolicy`; any other
/// value: the last device first.
[[nodiscard]] inline device_order volcano_order(std::string_view policy) {
    if (policy == "binpack")
        return {device_key::memory_down, device_key::index_up, device_key::index_up};
    if (policy == "spread")
        return {device_key::slots_up, device_key::index_up, device_key::index_up};
    return {device_key::index_down, device_key::index_down, device_key::index_down};
}

/// Reads what one container requests; see read_hami_container(). A container with a limit of memory
/// and without one of the count requests one device. A percentage of 101 counts as absent; any
/// other percentage overrides the memory.
[[nodiscard]] inline std::optional<share_request>
read_volcano_container(const container_resources& of, std::vector<std::string>& unsupported) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    constexpr std::int64_t no_percentage = 101;
    const std::size_t before = unsupported.size();
    const auto read = [&](std::string_view resource) {
        return read_share_amount(of, resource, most, unsupported);
    };
    const auto has_limit = [&](std::string_view resource) {
        return of.amounts.limits.contains(std::string(resource));
    };
    const auto memory = read(volcano_vgpu::memory_resource);
    const auto percentage = read(volcano_vgpu::percentage_resource);
    const auto cores = read(volcano_vgpu::cores_resource);
    const auto count = read(volcano_vgpu::count_resource);
    if (unsupported.size() != before)
        return std::nullopt;
    if (!has_limit(volcano_vgpu::count_resource) && !has_limit(volcano_vgpu::memory_resource)) {
        // Volcano reads limits only, so such a pod would start without a device.
        if (memory || percentage || cores || count)
            unsupported.push_back("shares of GPUs of container " + in_quotes(of.name) +
                                  " (expected limits of " +
                                  std::string(volcano_vgpu::count_resource) + ")");
        return std::nullopt;
    }
    share_request request;
    request.count = has_limit(volcano_vgpu::count_resource) ? count.value_or(0) : 1;
    request.cores = cores.value_or(0);
    if (percentage.value_or(no_percentage) != no_percentage)
        request.memory = memory_part{*percentage, 100};
    else if (memory.value_or(0) > 0)
        request.memory = memory_amount{*memory};
    return request.count > 0 ? std::optional(request) : std::nullopt;
}

} // namespace detail

/// Reads what a pod requests of Volcano's vGPUs. Init containers with requests are not modelled.
/// `policy`: see volcano_order(). `containers`: init containers first. O(containers × annotations).
[[nodiscard]] inline pod_share_requests
read_volcano_vgpu_requests(const object_metadata& pod,
                           const std::vector<container_resources>& containers,
                           std::string_view policy) {
    pod_share_requests read;
    read.containers = containers.size();
    const std::string* const spread = pod.annotations.find(volcano_vgpu::group_policy_key);
    for (std::size_t index = 0; index < containers.size(); ++index) {
        auto request = detail::read_volcano_container(containers[index], read.unsupported);
        if (!request)
            continue;
        if (containers[index].is_init) {
            read.unsupported.push_back("shares of GPUs for init container " +
                                       in_quotes(containers[index].name));
            continue;
        }
        request->filter = detail::read_volcano_filter(pod);
        request->order = detail::volcano_order(policy);
        request->group = volcano_group_of(pod);
        request->apart_from_group = spread != nullptr && *spread == "spread";
        read.requests.push_back({index, std::move(*request)});
    }
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
