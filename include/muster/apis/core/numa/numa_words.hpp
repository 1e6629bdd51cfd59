// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/devices/numa_zones.hpp>
#include <muster/resource/quantity_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Which device demands are for room in NUMA zones. `none`: no demand. `all`: every demand, and for
/// nothing else. `some`: otherwise.
enum class numa_share : std::uint8_t { none, some, all };

/// Returns the numa_share of the pods. O(pods).
[[nodiscard]] inline numa_share numa_share_of(const volumes_of_pods& pods,
                                              const volume_plan& plan) {
    bool any = false;
    bool all = true;
    for (const auto& each : pods)
        if (const device_demand demand = each.second->devices; demand != device_demand::none) {
            any = any || plan.judge->aligned_of(demand) != nullptr;
            all = all && plan.judge->only_aligns(demand);
        }
    return !any ? numa_share::none : all ? numa_share::all : numa_share::some;
}

namespace detail {

/// Returns what the zones have available: "4 + 2". Empty if no zone lists the resource.
[[nodiscard]] inline std::string amounts_text(const numa_zones& of, const std::string& resource) {
    std::string text;
    bool is_listed = false;
    for (const numa_zone& zone : of.zones) {
        const auto has = zone.supplies.find(resource);
        is_listed = is_listed || has != zone.supplies.end();
        text +=
            (text.empty() ? "" : " + ") +
            (has == zone.supplies.end()
                 ? "0"
                 : quantity_text(has->second.available,
                                 resource == "cpu" ? quantity_scale::milli : quantity_scale::units,
                                 is_numa_memory(resource) ? quantity_format::binary_si
                                                          : quantity_format::decimal_si));
    }
    return is_listed ? text : std::string();
}

} // namespace detail

/// Returns what the NUMA zones of up to three nodes have available of the resources that the pods
/// request, with the policy: "a (single-numa-node): cpu 4 + 2", and the number of further nodes.
/// Empty if no node rejects pods that it cannot align. O(nodes × resources × zones).
[[nodiscard]] inline std::string numa_room_text(const volumes_of_pods& pods,
                                                const volume_plan& plan) {
    std::set<std::string> resources;
    for (const auto& each : pods)
        if (each.second->devices != device_demand::none)
            if (const numa_demand* const aligned = plan.judge->aligned_of(each.second->devices))
                for (const auto& amount : aligned->together)
                    resources.insert(amount.first);
    constexpr std::size_t most = 3;
    std::size_t nodes = 0;
    std::string text;
    for (const auto& [name, stock] : plan.stocks) {
        const numa_zones* const zones = plan.judge->zones_of(stock);
        if (!zones || nodes++ >= most)
            continue;
        text += (text.empty() ? "" : "; ") + name + " (" +
                (zones->policy == numa_policy::restricted ? "restricted" : "single-numa-node") +
                (zones->scope == numa_scope::pod ? ", whole pods)" : ")") +
                (zones->closed ? ": unknown" : "");
        std::string_view before = ": ";
        for (const std::string& resource : resources)
            if (const std::string amounts = detail::amounts_text(*zones, resource);
                !amounts.empty()) {
                text += before;
                text += resource + " " + amounts;
                before = ", ";
            }
    }
    return text + more_text(nodes - std::min(most, nodes), "node");
}

} // namespace codec
} // namespace v0_1
} // namespace muster
