// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>
#include <muster/policy/shared_gpus.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns how many such tasks the node has GPUs and CPU for if no two of them share a GPU; 0 for a
/// task without GPUs. O(GPUs).
[[nodiscard]] constexpr std::int64_t gpu_places(const shared_gpu_node& node,
                                                const shared_gpu_task& task) noexcept {
    if (task.gpus == 0 || node.cpu < task.cpu || !task.allows(node.model))
        return 0;
    std::int64_t places = node.gpus_with(task.milli);
    if (task.gpus > 1)
        places /= task.gpus;
    // Divides only if CPU is what limits the places.
    return places * task.cpu <= node.cpu ? places : node.cpu / task.cpu;
}

/// Returns the kinds of task for which places are kept: those of the mix, and for tasks that are
/// not typical, one per shape of node that needs all of an unused node of that shape. What is not
/// known of them is assumed: each shape is as likely. `empty` has the nodes as they are without
/// tasks, or one of each shape. Shares are those of the mix times the number of shapes. O(nodes log
/// nodes + kinds).
[[nodiscard]] inline std::vector<typical_task>
kinds_with_places(const task_mix& mix, std::span<const shared_gpu_node> empty) {
    std::vector<shared_gpu_task> shapes;
    for (const shared_gpu_node& node : empty)
        if (node.gpus > 0)
            shapes.push_back({node.cpu, static_cast<std::int32_t>(node.gpus), whole_gpu_milli,
                              std::uint64_t{1} << node.model});
    std::sort(shapes.begin(), shapes.end());
    shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
    std::vector<typical_task> kinds = mix.kinds();
    for (typical_task& kind : kinds)
        kind.share *= static_cast<std::int64_t>(shapes.size());
    for (const shared_gpu_task& shape : shapes)
        if (mix.left_out() > 0)
            kinds.push_back({shape, mix.left_out()});
    return kinds;
}

/// What a place is worth, per kind: its share of all kinds, divided by its GPUs and by the places
/// that all nodes have for it. Kinds with few places for their share are dear: those that need
/// scarce models, whole nodes, or much CPU per GPU.
class place_prices {
public:
    place_prices() = default;

    /// Prices of kinds that have `places[k]` places on all nodes, in units of 2^-48; at most 1.
    /// Precondition: shares are not negative, and sum up to less than 2^47. O(kinds).
    place_prices(std::span<const typical_task> kinds, std::span<const std::int64_t> places) {
        MUSTER_ASSERT(places.size() == kinds.size(), "one number per kind");
        std::int64_t total = 0;
        for (const typical_task& kind : kinds)
            total += kind.share;
        for (std::size_t index = 0; index < places.size(); ++index) {
            const shared_gpu_task& task = kinds[index].task;
            if (task.gpus == 0 || kinds[index].share == 0)
                continue;
            const int128 divisor =
                static_cast<int128>(total) * task.gpus * std::max<std::int64_t>(places[index], 1);
            const int128 price = (static_cast<int128>(kinds[index].share) << 48) / divisor;
            priced_.push_back({task, static_cast<std::int64_t>(price)});
        }
    }

    /// The sum of the prices of a node's places. Below 2^53. O(kinds × GPUs).
    [[nodiscard]] std::int64_t value(const shared_gpu_node& node) const noexcept {
        std::int64_t sum = 0;
        for (const priced_task& kind : priced_)
            sum += kind.price * gpu_places(node, kind.task);
        return sum;
    }

private:
    struct priced_task {
        shared_gpu_task task{};
        std::int64_t price = 0;
    };
    std::vector<priced_task> priced_;
};

/// Scores the node by the value of the places that the task takes from other tasks there: 0 if it
/// takes none, else the lost value, negated. A task that shares a GPU goes to the GPU on which
/// least is lost; to the tightest, if several tie, and then to the first. Preconditions: the task
/// fits, and `value` is `prices.value(node)`. O(kinds × GPUs × candidate GPUs).
[[nodiscard]] inline gpu_choice places_lost_score(const place_prices& prices,
                                                  const shared_gpu_node& node, std::int64_t value,
                                                  const shared_gpu_task& task) noexcept {
    if (!task.shares_gpu())
        return {prices.value(with_task(node, task, 0)) - value, 0};
    gpu_choice best{0, node.gpus};
    for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu) {
        if (node.left[gpu] < task.milli)
            continue;
        const auto same = [&](std::uint32_t other) { return node.left[other] == node.left[gpu]; };
        bool seen = false;
        for (std::uint32_t other = 0; other < gpu; ++other)
            seen = seen || same(other);
        if (seen)
            continue;
        const std::int64_t score = prices.value(with_task(node, task, gpu)) - value;
        if (best.gpu == node.gpus || score > best.score ||
            (score == best.score && node.left[gpu] < node.left[best.gpu]))
            best = {score, gpu};
    }
    return best;
}

} // namespace v0_1
} // namespace muster
