// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <muster/apis/shares/share_demand.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/share_allocator.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/vocabulary/gpu_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

namespace detail {

/// Returns `all` minus `used` in thousandths of `all`, rounded down; 0 if more is used.
[[nodiscard]] constexpr std::int64_t milli_left(std::int64_t all, std::int64_t used) noexcept {
    return all <= 0 || used >= all ? 0 : saturate((int128{all} - used) * 1000 / all);
}
/// Returns `part` in thousandths of `all`, rounded up, at most 1000.
[[nodiscard]] constexpr std::int64_t milli_of(std::int64_t part, std::int64_t all) noexcept {
    return all <= 0 || part >= all ? 1000 : saturate((int128{part} * 1000 + all - 1) / all);
}

/// Returns the memory of the largest free instance in thousandths of the device's, rounded down.
[[nodiscard]] inline std::int64_t milli_of_instances(const shared_device& of) noexcept {
    std::int64_t most = 0;
    for (const gpu_instance& each : of.instances)
        if (each.is_free(of.used.slices))
            most = std::max(most, each.memory);
    return of.memory <= 0 ? 0 : saturate(int128{std::min(most, of.memory)} * 1000 / of.memory);
}

} // namespace detail

/// Returns the free thousandths of each GPU in addition to these demands: the smaller of the free
/// parts of its memory and of its cores; 0 if the GPU accepts no more pods. On a partitioned GPU,
/// the largest free instance counts as the free memory. For demands that do not name their GPUs,
/// allocate_on() chooses them. O(GPUs) plus one allocate_on().
[[nodiscard]] inline std::vector<std::int64_t>
gpu_milli_left(const share_stock& of, std::span<const share_demand* const> pods,
               std::int64_t max_steps) {
    std::vector<shared_device> devices = with_held(of, pods);
    if (const share_allocation made = allocate_on(of, pods, max_steps);
        made.outcome == share_outcome::allocated && !made.devices.empty()) {
        std::vector<share_request> requests;
        for (std::size_t at = 0; at < pods.size(); ++at)
            for (share_request& each : requests_on(of, *pods[at], at))
                requests.push_back(std::move(each));
        devices = with_shares(std::move(devices), requests, made);
    }
    std::vector<std::int64_t> left;
    for (const shared_device& each : devices) {
        if (!each.type.empty())
            continue;
        const bool takes_more = each.healthy && (!each.slots || each.used.slots < *each.slots);
        std::int64_t here = takes_more ? detail::milli_left(each.memory, each.used.memory) : 0;
        if (each.is_partitioned)
            here = std::min(here, detail::milli_of_instances(each));
        if (each.cores && *each.cores > 0)
            here = std::min(here, detail::milli_left(*each.cores, each.used.cores));
        left.push_back(here);
    }
    return left;
}

/// Returns the number of GPUs of which a pod holds these parts on the node, and the largest part of
/// memory or of cores, in thousandths, rounded up. O(held).
[[nodiscard]] inline gpu_part held_gpu_part(const share_stock& on,
                                            std::span<const held_device_share> held) {
    gpu_part made;
    for (const held_device_share& each : held) {
        if (each.at >= on.devices.size() || !on.devices[each.at].type.empty())
            continue;
        const shared_device& gpu = on.devices[each.at];
        ++made.gpus;
        made.milli = std::max(made.milli, detail::milli_of(each.amounts.memory, gpu.memory));
        if (gpu.cores && *gpu.cores > 0)
            made.milli = std::max(made.milli, detail::milli_of(each.amounts.cores, *gpu.cores));
    }
    return made;
}

/// Returns the number of GPUs that the pod requests on the node, and the larger of its parts of
/// memory and of cores, in thousandths, rounded up. If the pod holds GPUs, it requests those, on
/// any node. O(requests × GPUs).
[[nodiscard]] inline gpu_part gpu_part_of(const share_stock& on, const share_demand& of) {
    if (of.held_gpus.gpus > 0)
        return of.held_gpus;
    gpu_part made;
    for (const share_request& request : requests_on(on, of, 0)) {
        if (!request.filter.type.empty())
            continue;
        made.gpus = saturating_add(made.gpus, std::max<std::int64_t>(request.count, 0));
        for (const shared_device& each : on.devices) {
            if (!each.type.empty())
                continue;
            std::int64_t milli =
                detail::milli_of(units_of(request.memory, each.memory), each.memory);
            if (each.cores && *each.cores > 0)
                milli = std::max(milli, detail::milli_of(request.cores, *each.cores));
            made.milli = std::max(made.milli, request.count > 0 ? milli : 0);
        }
    }
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
