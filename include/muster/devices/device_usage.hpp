// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include <muster/devices/device_slice.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {

/// The devices that claims hold.
struct device_usage {
    /// Devices that one claim holds. Admin access does not count.
    std::set<device_id> whole;
    /// Devices that several claims can share, and what these consume together, by the published
    /// name of the capacity. A shared device without capacities has an empty map.
    std::map<device_id, std::map<std::string, quantity>> shared;

    [[nodiscard]] bool holds(const device_id& id) const {
        return whole.contains(id) || shared.contains(id);
    }
};

} // namespace v0_1
} // namespace muster
