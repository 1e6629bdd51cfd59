// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/device_labels.hpp>
#include <muster/devices/device_partition.hpp>
#include <muster/devices/gpu_instance.hpp>
#include <muster/devices/share_filter.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {

/// All memory of a device. A request that names no memory means this, not 0.
struct whole_memory {
    friend bool operator==(const whole_memory&, const whole_memory&) = default;
};

/// An amount, in the device's unit.
struct memory_amount {
    std::int64_t units = 0;
    friend bool operator==(const memory_amount&, const memory_amount&) = default;
};

/// `parts` of `of` parts of the device's memory, rounded down. Precondition: of > 0.
struct memory_part {
    std::int64_t parts = 0;
    std::int64_t of = 100;
    friend bool operator==(const memory_part&, const memory_part&) = default;
};

using share_memory = std::variant<whole_memory, memory_amount, memory_part>;

/// Returns the memory of a share on a device with this memory, in the device's unit, saturated to
/// int64. O(1).
[[nodiscard]] inline std::int64_t units_of(const share_memory& share,
                                           std::int64_t device_memory) noexcept {
    if (const auto* amount = std::get_if<memory_amount>(&share))
        return amount->units;
    if (const auto* part = std::get_if<memory_part>(&share))
        return saturate(static_cast<int128>(device_memory) * part->parts / part->of);
    return device_memory;
}

/// The place that all devices of a request must have in common. All values but `anywhere` exclude
/// devices whose NUMA node is unknown; `same_pcie` also excludes those whose PCIe root is unknown.
enum class share_nearness : std::uint8_t { anywhere, same_node, same_numa, same_pcie };

/// Key by which devices are sorted before they are tried for a request. `_up`: smallest first;
/// `_down`: largest first.
enum class device_key : std::uint8_t {
    index_up,
    index_down,
    numa_up,
    numa_down,
    /// Whether the device is in use: `_up` puts unused devices first, `_down` devices in use.
    in_use_up,
    in_use_down,
    /// Used memory.
    memory_up,
    memory_down,
    /// Used memory plus the memory of the request, in percent of the device's memory, rounded down.
    percent_up,
    percent_down,
    /// Number of shares.
    slots_up,
    slots_down,
    /// Sum of the used fractions of slots, cores and memory, weighted; 0 unless the device has all
    /// three.
    load_up,
    load_down,
};

/// Sort keys, the most significant first. Ties are sorted by index, smallest first.
using device_order = std::array<device_key, 3>;

inline constexpr device_order as_listed{device_key::index_up, device_key::index_up,
                                        device_key::index_up};

/// The weights of `device_key::load_up` and `load_down`. Preconditions: from 0 to int32's maximum.
struct load_weights {
    std::int64_t slots = 1;
    std::int64_t memory = 1;
    std::int64_t cores = 1;
    friend bool operator==(const load_weights&, const load_weights&) = default;
};

/// Shares of equal size on `count` different devices of one node, for one container of a pod.
/// Preconditions: no amount is negative.
struct share_request {
    std::int64_t count = 1;
    share_memory memory = whole_memory{};
    /// Percent of the compute of each device. 0 = no cores are reserved for the share.
    std::int64_t cores = 0;
    share_filter filter = {};
    share_nearness within = share_nearness::anywhere;
    /// Prefers devices of one PCIe root, then of one NUMA node; among these places, those in use
    /// come first. If the place of some device is unknown, `order` applies instead.
    bool prefers_near = false;
    /// The order of the devices within a place if `prefers_near` applies.
    device_order near_order = {device_key::in_use_up, device_key::index_up, device_key::index_up};
    /// The device must have no shares when it is chosen. Later requests can share it.
    bool needs_idle = false;
    device_order order = as_listed;
    load_weights weights = {};
    /// Prefers devices with the best links between them, or for one device the one with the worst
    /// links; `order` decides ties.
    bool prefers_links = false;
    /// The pod of the request. Requests of one pod have the same number.
    std::size_t pod = 0;
    /// The group of the pod; empty = none.
    std::string group = {};
    /// No device may have a share of another pod of `group`.
    bool apart_from_group = false;
    /// Takes all devices of the node that the filter accepts, at least one, instead of `count`.
    bool takes_all = false;
    /// Each chosen device also gives a free virtual function whose labels these checks accept.
    /// Absent = no function is needed.
    std::optional<std::vector<device_label_check>> function = {};
    /// Absent = the partitions of the node are ignored.
    std::optional<partition_wish> partition = {};
    /// Requests that are served together with this one, each for another type of devices. A partner
    /// prefers devices at the PCIe roots of this request's devices. It gets at least its `count`
    /// devices, and up to one for each of these roots. Preconditions: a partner has no partners,
    /// and neither `takes_all` nor `partition`.
    std::vector<share_request> partners = {};
    /// The PCIe roots of each partner's devices must be those of this request's devices.
    bool partners_at_same_roots = false;

    friend bool operator==(const share_request&, const share_request&) = default;
};

/// Returns the part of the request that devices of this type serve: the request or a partner.
/// O(partners).
[[nodiscard]] inline const share_request& part_for(const share_request& request,
                                                   const shared_device& device) noexcept {
    for (const share_request& partner : request.partners)
        if (partner.filter.type == device.type)
            return partner;
    return request;
}

/// Returns what a share of the request uses of a device. `instance`: position of its instance; any
/// other position if the device is not partitioned. O(1).
[[nodiscard]] inline share_amounts amounts_of(const shared_device& device,
                                              const share_request& request,
                                              std::size_t instance) noexcept {
    if (instance >= device.instances.size())
        return {1, units_of(request.memory, device.memory), request.cores};
    const gpu_instance& of = device.instances[instance];
    return {1, of.memory, of.cores.value_or(request.cores), of.slices};
}

} // namespace v0_1
} // namespace muster
