// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_sets.hpp>
#include <muster/apis/core/claims/pooled_devices.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Adds a part to a list: "a; b". Nothing if the part is empty.
inline void add_part(std::string& to, std::string_view part) {
    if (!to.empty() && !part.empty())
        to += "; ";
    to += part;
}

/// Returns why devices with taints are not counted: "not counted: 1 with taints that the request
/// does not tolerate". Empty if there are none.
[[nodiscard]] inline std::string tainted_text(std::size_t count) {
    return count == 0 ? std::string()
                      : "not counted: " + std::to_string(count) +
                            " with taints that the request does not tolerate";
}

/// Returns which pools give no devices although the class, and the request if there is one, select
/// some of their devices. Names the first pool and why it gives none, and counts the others: "pool
/// p of x.com gives no devices: 1 of 2 slices (+1 pool)". A pool is included if none of its devices
/// is known, or if a selector cannot be decided for one of them. Empty if there is no such pool.
/// O(devices of `pools` × selectors).
[[nodiscard]] inline std::string unusable_pools_text(const std::vector<unusable_pool>& pools,
                                                     const device_class& of_class,
                                                     const device_alternative* asked = nullptr) {
    const unusable_pool* first = nullptr;
    std::size_t count = 0;
    for (const unusable_pool& each : pools) {
        const selected_devices found = select_devices(each.devices, of_class, asked);
        if (!each.devices.empty() && found.devices.empty() && found.tainted.empty() &&
            found.undecided.empty())
            continue;
        first = first ? first : &each;
        ++count;
    }
    return first ? "pool " + first->name + " of " + first->driver +
                       " gives no devices: " + first->why + more_text(count - 1, "pool")
                 : std::string();
}

/// Returns which devices the requests cannot have although their selectors match: those with taints
/// that a request does not tolerate, and those of pools that give no devices. Empty if there are
/// none. `found`: the results of select_devices() in the order of the requests. Precondition: the
/// classes exist. O(devices of `pools` × selectors + tainted devices).
[[nodiscard]] inline std::string
uncounted_devices_text(const std::vector<const device_alternative*>& asked,
                       const std::vector<const selected_devices*>& found,
                       const device_catalog& catalog, const std::vector<unusable_pool>& pools) {
    device_set tainted;
    for (const selected_devices* const each : found)
        tainted.insert(tainted.end(), each->tainted.begin(), each->tainted.end());
    sort_devices(tainted);
    std::string of_pools;
    for (const device_alternative* const each : asked)
        if (of_pools.empty())
            of_pools = unusable_pools_text(
                pools, catalog.classes.find(each->class_name)->second->selectors, each);
    std::string text = tainted_text(tainted.size());
    add_part(text, of_pools);
    return text;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
