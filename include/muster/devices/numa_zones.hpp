// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// What the Topology Manager aligns as one: each container, or all containers of a pod.
enum class numa_scope : std::uint8_t { container, pod };

/// What a NUMA zone has of a resource.
struct numa_supply {
    std::int64_t capacity = 0;
    std::int64_t allocatable = 0;
    std::int64_t available = 0;
};

struct numa_zone {
    /// Number of the NUMA node.
    std::int64_t id = 0;
    std::map<std::string, numa_supply, std::less<>> supplies;
};

/// The NUMA zones of a node whose kubelet rejects pods that it cannot align.
struct numa_zones {
    numa_policy policy = numa_policy::single_numa_node;
    numa_scope scope = numa_scope::container;
    /// By id, without duplicates.
    std::vector<numa_zone> zones;
    /// The zones are unknown: no pod is admitted that requests amounts to align.
    bool closed = false;
};

/// What a pod requests that the kubelet aligns. Amounts are positive.
struct numa_demand {
    /// Of each container with such amounts, in the order in which the kubelet admits them: init
    /// containers first.
    std::vector<numa_amounts> containers;
    /// Of the whole pod: the maximum of what its containers and sidecars request together, and of
    /// what each ordinary init container requests with the sidecars before it.
    numa_amounts together;
    /// One of `containers` is an ordinary init container. Containers after it reuse its amounts.
    bool has_init = false;

    [[nodiscard]] bool empty() const noexcept { return containers.empty(); }
};

/// True if the resource is served by the kubelet's Memory Manager, which aligns all of them
/// together. O(1).
[[nodiscard]] constexpr bool is_numa_memory(std::string_view resource) noexcept {
    return resource == "memory" || resource.starts_with("hugepages-");
}

} // namespace v0_1
} // namespace muster
