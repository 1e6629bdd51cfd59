// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include <muster/base/checked.hpp>
#include <muster/devices/share_filter.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {

/// All memory of a device. A request that names no memory needs this, not 0.
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

/// Returns what the memory of a share is on a device with this memory, held at int64. O(1).
[[nodiscard]] inline std::int64_t units_of(const share_memory& share,
                                           std::int64_t device_memory) noexcept {
    if (const auto* amount = std::get_if<memory_amount>(&share))
        return amount->units;
    if (const auto* part = std::get_if<memory_part>(&share))
        return saturate(static_cast<int128>(device_memory) * part->parts / part->of);
    return device_memory;
}

/// Which devices of a request must be at one place. All but `anywhere` exclude devices whose place
/// is unknown.
enum class share_nearness : std::uint8_t { anywhere, same_node, same_numa, same_pcie };

/// What devices are sorted by, before a request tries them. `_up`: least first.
enum class device_key : std::uint8_t {
    index_up,
    index_down,
    numa_up,
    numa_down,
    /// Whether the device has shares: first those without, or first those with.
    in_use_up,
    in_use_down,
    /// Memory that is used.
    memory_up,
    memory_down,
    /// The same as percent of the device's memory, rounded down with what is requested.
    percent_up,
    percent_down,
    /// Shares that are used.
    slots_up,
    slots_down,
    /// Sum of the used parts of slots, cores and memory.
    load_up,
    load_down,
};

/// The first key that tells two devices apart decides, then the index, least first.
using device_order = std::array<device_key, 3>;

inline constexpr device_order as_listed{device_key::index_up, device_key::index_up,
                                        device_key::index_up};

/// Shares of equal size on `count` different devices of one node, for one container of a pod.
/// Preconditions: no amount is negative.
struct share_request {
    std::int64_t count = 1;
    share_memory memory = whole_memory{};
    /// Percent of each device. 0 = the share has no cores of its own, and uses those of others.
    std::int64_t cores = 0;
    share_filter filter = {};
    share_nearness within = share_nearness::anywhere;
    /// Devices of one PCIe root come first, then those of one NUMA node; among these, places that
    /// are in use come first. Only a preference, and only if the place of every device is known:
    /// else `order` applies.
    bool prefers_near = false;
    /// The order of the devices of one place, with `prefers_near`.
    device_order near_order = {device_key::in_use_up, device_key::index_up, device_key::index_up};
    /// The device must be without shares. It can get more shares later.
    bool needs_idle = false;
    device_order order = as_listed;
    /// The pod of the request. Requests of one pod have the same number.
    std::size_t pod = 0;
    /// The group of the pod; empty = none.
    std::string group = {};
    /// No device may have a share of another pod of `group`.
    bool apart_from_group = false;

    friend bool operator==(const share_request&, const share_request&) = default;
};

} // namespace v0_1
} // namespace muster
