// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/gpu_instance.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {

/// Rules of a system that are not capacities. The capacities (slots, memory, cores) always apply.
struct share_rules {
    /// A request for 100 % of the cores needs a device without shares, if the device has exactly
    /// 100 %.
    bool full_cores_need_idle = false;
    /// A device of which all cores are used cannot serve requests for 0 cores.
    bool full_cores_refuse_zero = false;
    /// A request can get several instances of one partitioned device. Its other rules apply to the
    /// device as it was before the request.
    bool repeats_instances = false;
};

/// HAMi 2.10, pkg/device/nvidia/device.go.
inline constexpr share_rules hami_rules{true, true, true};
/// Volcano, pkg/scheduler/api/devices/nvidia/vgpu/utils.go.
inline constexpr share_rules volcano_vgpu_rules{true, true};
/// Koordinator 1.8, pkg/scheduler/plugins/deviceshare/allocator_gpu.go.
inline constexpr share_rules koordinator_rules{false, false};
/// KAI 0.17, pkg/scheduler/api/node_info/gpu_sharing_node_info.go.
inline constexpr share_rules kai_rules{false, false};
/// hkust-adsl/kubernetes-scheduler-simulator, pkg/type/open-gpu-share/cache/gpunodeinfo.go.
inline constexpr share_rules openb_rules{false, false};

/// Why a device cannot serve a share of a request; the first reason that applies.
enum class share_refusal : std::uint8_t {
    none,
    /// An amount of the request is negative, or `memory_part::of` is not positive.
    malformed,
    unhealthy,
    partitioned,
    /// The filter does not accept the device.
    filtered,
    /// The request needs devices at one place, and the place of this one is unknown.
    unknown_place,
    slots,
    memory,
    cores,
    /// The request needs a device without shares.
    not_idle,
    /// All cores are used.
    cores_exhausted,
    /// The device has a share of another pod of the group.
    group,
    /// No virtual function that the request accepts is free.
    functions,
    /// The device is partitioned, and no free instance has enough memory.
    instances,
};

[[nodiscard]] constexpr std::string_view message(share_refusal reason) noexcept {
    switch (reason) {
    case share_refusal::none:
        return "the device can be shared";
    case share_refusal::malformed:
        return "the request is malformed";
    case share_refusal::unhealthy:
        return "the device is unhealthy or cordoned";
    case share_refusal::partitioned:
        return "the device is divided into instances (MIG), and none is known";
    case share_refusal::filtered:
        return "the pod does not accept the device's model, id or mode";
    case share_refusal::unknown_place:
        return "the NUMA node or PCIe root of the device is unknown";
    case share_refusal::slots:
        return "the device has no free slot";
    case share_refusal::memory:
        return "the device does not have enough free memory";
    case share_refusal::cores:
        return "the device does not have enough free cores";
    case share_refusal::not_idle:
        return "the device is in use (expected an idle device)";
    case share_refusal::cores_exhausted:
        return "all cores of the device are in use";
    case share_refusal::group:
        return "the device is shared by another pod of the group";
    case share_refusal::functions:
        return "no virtual function that the pod accepts is free";
    case share_refusal::instances:
        return "the device has no free instance (MIG) with enough memory";
    }
    return "not a reason";
}

namespace detail {

/// Returns whether `need` fits in `capacity` beside `used`. Precondition: no argument is negative.
[[nodiscard]] constexpr bool fits_share(std::int64_t need, std::int64_t capacity,
                                        std::int64_t used) noexcept {
    return need <= capacity - used;
}

[[nodiscard]] inline bool is_well_formed(const share_request& request) noexcept {
    const auto* amount = std::get_if<memory_amount>(&request.memory);
    const auto* part = std::get_if<memory_part>(&request.memory);
    return request.count >= 0 && request.cores >= 0 && (!amount || amount->units >= 0) &&
           (!part || (part->parts >= 0 && part->of > 0)) &&
           std::all_of(request.partners.begin(), request.partners.end(),
                       [](const share_request& each) { return is_well_formed(each); });
}

/// True if the place of the device is unknown, for a request of this nearness.
[[nodiscard]] inline bool is_lost(const shared_device& device, share_nearness within) noexcept {
    return (within != share_nearness::anywhere && !device.numa) ||
           (within == share_nearness::same_pcie && device.pcie.empty());
}

/// Returns the first refusal that does not depend on the use of the device. O(filter).
[[nodiscard]] inline share_refusal lasting_refusal(const shared_device& device,
                                                   const share_request& request) {
    if (!is_well_formed(request))
        return share_refusal::malformed;
    if (!device.healthy)
        return share_refusal::unhealthy;
    if (device.is_partitioned && device.instances.empty())
        return share_refusal::partitioned;
    if (!request.filter.accepts(device))
        return share_refusal::filtered;
    return is_lost(device, request.within) ? share_refusal::unknown_place : share_refusal::none;
}

/// True unless the device can never serve the request, whatever its use. A request that uses
/// partitions can get devices of unknown places.
[[nodiscard]] inline bool is_candidate(const shared_device& device, const share_request& request) {
    const share_refusal lasting = lasting_refusal(device, request);
    return lasting == share_refusal::none ||
           (lasting == share_refusal::unknown_place && request.partition);
}

/// Returns whether a partitioned device has no free instance for a share of the request.
[[nodiscard]] inline bool lacks_instance(const shared_device& device, const share_amounts& used,
                                         const share_request& request) noexcept {
    return !find_instance(device.instances, used.slices, units_of(request.memory, device.memory));
}

/// Returns the first refusal that depends on the use of the device. Precondition: the request is
/// well formed. O(sharers + instances).
[[nodiscard]] inline share_refusal refusal_by_use(const shared_device& device,
                                                  const share_amounts& used,
                                                  const std::vector<device_sharer>& sharers,
                                                  const share_request& request,
                                                  const share_rules& rules) noexcept {
    if (device.slots && !fits_share(1, *device.slots, used.slots))
        return share_refusal::slots;
    if (request.needs_idle && used.slots > 0)
        return share_refusal::not_idle;
    if (!fits_share(units_of(request.memory, device.memory), device.memory, used.memory))
        return share_refusal::memory;
    if (device.cores) {
        if (!fits_share(request.cores, *device.cores, used.cores))
            return share_refusal::cores;
        const bool is_full_request = *device.cores == 100 && request.cores == 100;
        if (rules.full_cores_need_idle && is_full_request && used.slots > 0)
            return share_refusal::not_idle;
        if (rules.full_cores_refuse_zero && request.cores == 0 && *device.cores > 0 &&
            used.cores == *device.cores)
            return share_refusal::cores_exhausted;
    }
    const auto is_near = [&](const device_sharer& each) {
        return each.group == request.group && each.pod != request.pod;
    };
    if (request.apart_from_group && !request.group.empty() &&
        std::any_of(sharers.begin(), sharers.end(), is_near))
        return share_refusal::group;
    if (device.is_partitioned && lacks_instance(device, used, request))
        return share_refusal::instances;
    return share_refusal::none;
}

} // namespace detail

/// Returns why the device, with its present use, cannot serve a share of the request; `none` if it
/// can. Partners of the request do not count. O(filter + sharers + instances + functions).
[[nodiscard]] inline share_refusal
refusal_of(const shared_device& device, const share_request& request, const share_rules& rules) {
    const share_refusal lasting = detail::lasting_refusal(device, request);
    const share_refusal refusal =
        lasting != share_refusal::none
            ? lasting
            : detail::refusal_by_use(device, device.used, device.sharers, request, rules);
    const auto suits = [&](const virtual_function& each) {
        return !each.in_use && accepts_labels(*request.function, each.labels);
    };
    return refusal == share_refusal::none && request.function &&
                   std::none_of(device.functions.begin(), device.functions.end(), suits)
               ? share_refusal::functions
               : refusal;
}

} // namespace v0_1
} // namespace muster
