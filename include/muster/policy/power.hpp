// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <muster/base/checked.hpp>
#include <muster/index/offered_node.hpp>
#include <muster/index/placement_score.hpp>
#include <muster/policy/gpu_view.hpp>
#include <muster/policy/shared_gpus.hpp>

namespace muster {
inline namespace v0_1 {

/// Power of the parts of a node, in watts. A GPU needs `gpu_busy` as soon as a pod has any part of
/// it. CPUs are counted in packages of `package_cpu` thousandths; a package needs `package_busy` as
/// soon as any of it is requested.
struct node_watts {
    std::int64_t gpu_idle = 30;
    std::int64_t gpu_busy = 250;
    std::int64_t package_idle = 15;
    std::int64_t package_busy = 120;
    /// Positive.
    std::int64_t package_cpu = 32'000;

    [[nodiscard]] friend bool operator==(const node_watts&, const node_watts&) = default;
};

/// Returns the power of a node with `cpu` thousandths of CPU in total, in watts. O(GPUs).
[[nodiscard]] constexpr std::int64_t power_of(const node_watts& watts, std::int64_t cpu,
                                              const shared_gpu_node& node) noexcept {
    const std::int64_t used = cpu > node.cpu ? cpu - node.cpu : 0;
    const std::int64_t busy = used / watts.package_cpu + (used % watts.package_cpu > 0 ? 1 : 0);
    const std::int64_t idle = node.cpu / watts.package_cpu;
    int128 sum = int128{busy} * watts.package_busy + int128{idle} * watts.package_idle;
    for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu)
        sum += node.left[gpu] < whole_gpu_milli ? watts.gpu_busy : watts.gpu_idle;
    return saturate(sum);
}

/// Prefers the node whose power the pod raises the least, so that GPUs and CPU packages that are in
/// use are filled first (PWR, CCGrid 2025). The score is the rise in watts, negated. `watts` counts
/// for all nodes. A pod that shares a GPU is assumed to get the tightest GPU that it fits.
/// Scans all nodes; O(GPUs²) per node.
struct power {
    gpu_view view{};
    node_watts watts{};

    template<std::size_t Width>
    [[nodiscard]] std::int64_t operator()(const offered_node<Width>& offered) const noexcept {
        const shared_gpu_node node =
            view.node(offered.capacity, offered.free, offered.devices, offered.held);
        const shared_gpu_task task =
            view.task(offered.request, offered.devices, offered.pod.claims.devices);
        // A pod can fit where the view is too coarse for it, e.g. on a part of two GPUs.
        if (!fits(node, task))
            return std::numeric_limits<std::int64_t>::min();
        const std::int64_t cpu = offered.capacity[view.cpu];
        const shared_gpu_node after = with_task(node, task, tightest_gpu(node, task.milli));
        return power_of(watts, cpu, node) - power_of(watts, cpu, after);
    }

    [[nodiscard]] friend bool operator==(const power&, const power&) = default;
};

static_assert(placement_score<power, 4>);

} // namespace v0_1
} // namespace muster
