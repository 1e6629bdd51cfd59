// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
inline namespace v0_1 {

/// Amounts by resource: thousandths of cpu, units of all else.
using numa_amounts = std::map<std::string, std::int64_t, std::less<>>;

/// A policy of the kubelet's Topology Manager that rejects pods (TopologyAffinityError). The
/// policies `none` and `best-effort` reject no pod.
enum class numa_policy : std::uint8_t { single_numa_node, restricted };

/// The unit that the Topology Manager aligns: each container, or all containers of a pod together.
enum class numa_scope : std::uint8_t { container, pod };

/// What a NUMA zone has of a resource.
struct numa_supply {
    std::int64_t capacity = 0;
    std::int64_t allocatable = 0;
    std::int64_t available = 0;

    [[nodiscard]] friend bool operator==(const numa_supply&, const numa_supply&) = default;
};

struct numa_zone {
    /// Number of the NUMA node.
    std::int64_t id = 0;
    std::map<std::string, numa_supply, std::less<>> supplies;

    [[nodiscard]] friend bool operator==(const numa_zone&, const numa_zone&) = default;
};

/// The NUMA zones of a node whose kubelet rejects pods that it cannot align.
struct numa_zones {
    numa_policy policy = numa_policy::single_numa_node;
    numa_scope scope = numa_scope::container;
    /// By id, without duplicates.
    std::vector<numa_zone> zones;
    /// The zones are unknown: a pod that requests amounts to align is not admitted.
    bool closed = false;

    [[nodiscard]] friend bool operator==(const numa_zones&, const numa_zones&) = default;
};

/// The amounts of a pod that the kubelet aligns. They are positive.
struct numa_demand {
    /// The amounts of each container that has some, in the order in which the kubelet admits the
    /// containers: init containers first.
    std::vector<numa_amounts> containers;
    /// The amounts of the whole pod: the maximum of the sum of its containers and sidecars, and of
    /// the sum of each ordinary init container with the sidecars before it.
    numa_amounts together;
    /// One of `containers` is an ordinary init container. Containers after it reuse its amounts.
    bool has_init = false;

    [[nodiscard]] bool empty() const noexcept { return containers.empty(); }
};

/// True if the kubelet's Memory Manager serves the resource: memory and huge pages, which it aligns
/// together. O(1).
[[nodiscard]] constexpr bool is_numa_memory(std::string_view resource) noexcept {
    return resource == "memory" || resource.starts_with("hugepages-");
}

/// True if the kubelet of a node with these zones aligns something of the pod: its zones list a
/// resource that the pod requests, or are unknown. Other pods are admitted whatever else stands on
/// the node. O(requests × zones · log resources).
[[nodiscard]] inline bool aligns(const numa_zones& zones, const numa_demand& pod) {
    if (zones.closed)
        return !pod.empty();
    const auto is_listed = [&](const auto& asked) {
        return asked.second > 0 &&
               std::any_of(zones.zones.begin(), zones.zones.end(), [&](const numa_zone& zone) {
                   return zone.supplies.find(asked.first) != zone.supplies.end();
               });
    };
    const auto any = [&](const numa_amounts& amounts) {
        return std::any_of(amounts.begin(), amounts.end(), is_listed);
    };
    return zones.scope == numa_scope::pod
               ? any(pod.together)
               : std::any_of(pod.containers.begin(), pod.containers.end(), any);
}

} // namespace v0_1
} // namespace muster
