// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The use of one device during a search.
struct share_use {
    share_amounts amounts;
    std::vector<device_sharer> sharers;
    /// By position in the device's virtual functions, whether it is in use.
    std::vector<bool> functions;
};

/// Returns `used` of `total` in billionths; 0 if the total is 0.
[[nodiscard]] constexpr int128 used_part(std::int64_t used, std::int64_t total) noexcept {
    return total == 0 ? 0 : static_cast<int128>(used) * 1'000'000'000 / total;
}

/// HAMi's load of a device: 0 unless slots, memory and cores are counted. O(1).
[[nodiscard]] constexpr int128 load_of(const shared_device& device, const share_amounts& used,
                                       const load_weights& weights) noexcept {
    const std::int64_t slots = device.slots.value_or(0);
    const std::int64_t cores = device.cores.value_or(0);
    if (slots == 0 || cores == 0 || device.memory == 0)
        return 0;
    return used_part(used.slots, slots) * weights.slots +
           used_part(used.cores, cores) * weights.cores +
           used_part(used.memory, device.memory) * weights.memory;
}

/// Returns the value by which a key sorts the device; smaller values come first. Precondition: the
/// request is well formed. O(1).
[[nodiscard]] inline int128 value_of(device_key key, const shared_device& device,
                                     const share_amounts& used, const share_request& request,
                                     std::size_t index) noexcept {
    const auto percent = [&] {
        const int128 sum =
            static_cast<int128>(used.memory) + units_of(request.memory, device.memory);
        return device.memory == 0 ? int128{0} : std::min<int128>(100, sum * 100 / device.memory);
    };
    switch (key) {
    case device_key::index_up:
        return static_cast<int128>(index);
    case device_key::index_down:
        return -static_cast<int128>(index);
    case device_key::numa_up:
        return device.numa.value_or(0);
    case device_key::numa_down:
        return -static_cast<int128>(device.numa.value_or(0));
    case device_key::in_use_up:
        return used == share_amounts{} ? 0 : 1;
    case device_key::in_use_down:
        return used == share_amounts{} ? 1 : 0;
    case device_key::memory_up:
        return used.memory;
    case device_key::memory_down:
        return -static_cast<int128>(used.memory);
    case device_key::percent_up:
        return percent();
    case device_key::percent_down:
        return -percent();
    case device_key::slots_up:
        return used.slots;
    case device_key::slots_down:
        return -static_cast<int128>(used.slots);
    case device_key::load_up:
        return load_of(device, used, request.weights);
    case device_key::load_down:
        return -load_of(device, used, request.weights);
    }
    return 0;
}

/// Sorts indices of devices by the keys of `order`, for a request. O(n log n) for n indices.
inline void sort_devices(std::vector<std::size_t>& indices, std::span<const shared_device> devices,
                         const std::vector<share_use>& uses, const share_request& request,
                         const device_order& order) {
    struct entry {
        std::array<int128, 3> keys;
        std::size_t index;
    };
    std::vector<entry> entries;
    entries.reserve(indices.size());
    for (const std::size_t index : indices) {
        entry made{{}, index};
        for (std::size_t key = 0; key < made.keys.size(); ++key)
            made.keys[key] =
                value_of(order[key], devices[index], uses[index].amounts, request, index);
        entries.push_back(made);
    }
    std::sort(entries.begin(), entries.end(), [](const entry& lhs, const entry& rhs) {
        return lhs.keys != rhs.keys ? lhs.keys < rhs.keys : lhs.index < rhs.index;
    });
    for (std::size_t at = 0; at < indices.size(); ++at)
        indices[at] = entries[at].index;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
