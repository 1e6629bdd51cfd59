// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/devices/share_order.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// PCIe roots by name. Koordinator compares the names only, not the NUMA nodes.
using pcie_roots = std::set<std::string_view>;

/// Returns the known roots of the devices. O(n log n).
[[nodiscard]] inline pcie_roots roots_of(std::span<const std::size_t> indices,
                                         std::span<const shared_device> devices) {
    pcie_roots roots;
    for (const std::size_t index : indices)
        if (!devices[index].pcie.empty())
            roots.insert(devices[index].pcie);
    return roots;
}

/// Returns the devices that the filter of a partner accepts (`filtered`), in the order in which
/// they are tried: first one of each root, then the second of each, and so on; then those at other
/// roots. Within these groups the partner's order applies. Devices that cannot serve the partner
/// count, too. O(n log n).
[[nodiscard]] inline std::vector<std::size_t> partner_order(const share_request& partner,
                                                            std::vector<std::size_t> filtered,
                                                            const pcie_roots& roots,
                                                            std::span<const shared_device> devices,
                                                            const std::vector<share_use>& uses) {
    std::vector<std::size_t> sorted = std::move(filtered);
    sort_devices(sorted, devices, uses, partner, partner.order);
    std::map<std::string_view, std::size_t> seen;
    std::vector<std::size_t> rank(devices.size(), devices.size());
    for (const std::size_t index : sorted)
        if (roots.contains(devices[index].pcie))
            rank[index] = seen[devices[index].pcie]++;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::size_t lhs, std::size_t rhs) { return rank[lhs] < rank[rhs]; });
    return sorted;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
