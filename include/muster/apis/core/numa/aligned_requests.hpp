// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/request_reader.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/numa_zones.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

[[nodiscard]] inline int128 milli_of(const named_amounts& amounts, const char* kind) {
    const auto found = amounts.find(kind);
    return found == amounts.end() ? 0 : found->second.milli;
}

/// True if every container has limits of cpu and memory, and requests as much.
[[nodiscard]] inline bool is_guaranteed(std::span<const container_resources> containers) {
    return std::ranges::all_of(containers, [](const container_resources& each) {
        const named_amounts requests = with_defaults(each.amounts);
        return std::ranges::all_of(std::initializer_list<const char*>{"cpu", "memory"},
                                   [&](const char* kind) {
                                       const int128 limit = milli_of(each.amounts.limits, kind);
                                       return limit > 0 && milli_of(requests, kind) == limit;
                                   });
    });
}

/// Returns the amounts of a container that the kubelet aligns.
[[nodiscard]] inline numa_amounts aligned_amounts(const container_resources& container,
                                                  bool is_guaranteed) {
    numa_amounts made;
    for (const auto& [kind, amount] : with_defaults(container.amounts)) {
        if (amount.milli <= 0)
            continue;
        const bool is_cpu = kind == "cpu";
        const bool aligns = is_cpu || is_numa_memory(kind)
                                ? is_guaranteed && (!is_cpu || amount.milli % 1000 == 0)
                                : kind.find('/') != std::string::npos;
        const int128 units = is_cpu ? amount.milli : (amount.milli + 999) / 1000;
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        if (aligns)
            made.emplace(kind, units > int128{most} ? most : static_cast<std::int64_t>(units));
    }
    return made;
}

} // namespace detail

/// Returns what the kubelet aligns of a pod's requests. In a Guaranteed pod that is the cpu of
/// containers with a whole number of CPUs (static CPU Manager), memory and huge pages (static
/// Memory Manager); in every pod it is extended resources (device plugins). A node whose zones list
/// such a resource has the manager of it. `containers`: init containers first. If the pod has
/// pod-level resources, its cpu and memory are not aligned, which is Kubernetes' default up
/// to 1.36. Amounts are in thousandths of cpu and in units of all other resources. O(containers).
[[nodiscard]] inline numa_demand aligned_requests(std::span<const container_resources> containers,
                                                  bool has_pod_level) {
    numa_demand made;
    const bool guaranteed = !has_pod_level && detail::is_guaranteed(containers);
    numa_amounts running;
    for (const container_resources& each : containers) {
        numa_amounts amounts = detail::aligned_amounts(each, guaranteed);
        if (amounts.empty())
            continue;
        made.has_init = made.has_init || each.is_init;
        numa_amounts beside = running;
        for (const auto& [kind, amount] : amounts) {
            std::int64_t& sum = beside[kind];
            sum = saturating_add(sum, amount);
            std::int64_t& most = made.together[kind];
            most = std::max(most, sum);
        }
        if (!each.is_init)
            running = std::move(beside);
        made.containers.push_back(std::move(amounts));
    }
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
