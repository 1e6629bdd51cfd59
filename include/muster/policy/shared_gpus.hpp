// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>

namespace muster {
inline namespace v0_1 {

inline constexpr std::size_t max_node_gpus = 16;
inline constexpr std::int32_t whole_gpu_milli = 1000;
/// Models of GPUs are numbers below this, so that a set of models is one word.
inline constexpr std::uint32_t max_gpu_models = 64;

/// What is left of one node whose GPUs can be shared. A small value: rules copy it to see what a
/// placement would leave.
struct shared_gpu_node {
    /// Thousandths of a CPU.
    std::int64_t cpu = 0;
    /// All GPUs of the node have this model; below `max_gpu_models`.
    std::uint32_t model = 0;
    /// GPUs of the node, used or not; at most `max_node_gpus`.
    std::uint32_t gpus = 0;
    /// Thousandths left of each GPU, from 0 to `whole_gpu_milli`; entries from `gpus` on are 0.
    std::array<std::int32_t, max_node_gpus> left{};

    [[nodiscard]] constexpr std::int64_t idle_milli() const noexcept {
        std::int64_t sum = 0;
        for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
            sum += left[gpu];
        return sum;
    }
    /// GPUs with at least `milli` left.
    [[nodiscard]] constexpr std::int32_t gpus_with(std::int32_t milli) const noexcept {
        std::int32_t count = 0;
        for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
            count += left[gpu] >= milli ? 1 : 0;
        return count;
    }

    [[nodiscard]] friend auto operator<=>(const shared_gpu_node&, const shared_gpu_node&) = default;
};

/// What one task requests: part of one GPU, or one or more whole ones.
struct shared_gpu_task {
    /// Thousandths of a CPU.
    std::int64_t cpu = 0;
    /// 0 for a task that needs no GPU.
    std::int32_t gpus = 0;
    /// Thousandths of each of the GPUs, from 1 to `whole_gpu_milli`; 0 without GPUs. Less than
    /// `whole_gpu_milli` only if `gpus` is 1.
    std::int32_t milli = 0;
    /// Bit m: GPUs of model m are allowed.
    std::uint64_t models = ~std::uint64_t{0};

    [[nodiscard]] constexpr bool allows(std::uint32_t model) const noexcept {
        return ((models >> model) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool shares_gpu() const noexcept {
        return gpus == 1 && milli < whole_gpu_milli;
    }
    [[nodiscard]] constexpr std::int64_t gpu_milli() const noexcept {
        return std::int64_t{gpus} * milli;
    }

    [[nodiscard]] friend auto operator<=>(const shared_gpu_task&, const shared_gpu_task&) = default;
};

/// True if the node has what the task requests. A task without GPUs needs only CPU. O(GPUs).
[[nodiscard]] constexpr bool fits(const shared_gpu_node& node,
                                  const shared_gpu_task& task) noexcept {
    if (node.cpu < task.cpu)
        return false;
    return task.gpus == 0 || (task.allows(node.model) && node.gpus_with(task.milli) >= task.gpus);
}

/// Returns the GPU with the least left that has at least `milli`; the first one if several tie, and
/// `node.gpus` if there is none. O(GPUs).
[[nodiscard]] constexpr std::uint32_t tightest_gpu(const shared_gpu_node& node,
                                                   std::int32_t milli) noexcept {
    std::uint32_t found = node.gpus;
    for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu)
        if (node.left[gpu] >= milli && (found == node.gpus || node.left[gpu] < node.left[found]))
            found = gpu;
    return found;
}

/// Returns the node with the task on it. A task that shares a GPU goes to `gpu`, any other to the
/// tightest ones, and `gpu` is ignored. Precondition: the task fits, and on that GPU.
/// O(GPUs of the node × GPUs of the task).
[[nodiscard]] constexpr shared_gpu_node with_task(shared_gpu_node node, const shared_gpu_task& task,
                                                  std::uint32_t gpu) noexcept {
    node.cpu -= task.cpu;
    if (task.shares_gpu()) {
        MUSTER_ASSERT(gpu < node.gpus && node.left[gpu] >= task.milli, "the GPU has too little");
        node.left[gpu] -= task.milli;
        return node;
    }
    for (std::int32_t count = 0; count < task.gpus; ++count) {
        const auto next = tightest_gpu(node, task.milli);
        MUSTER_ASSERT(next < node.gpus, "the node has too few GPUs");
        node.left[next] -= task.milli;
    }
    return node;
}

/// One kind of task, and how many of it the workload has (any unit, more than 0).
struct typical_task {
    shared_gpu_task task{};
    std::int64_t share = 0;

    [[nodiscard]] friend bool operator==(const typical_task&, const typical_task&) = default;
};

/// The kinds of task that a workload consists of, most frequent first.
class task_mix {
public:
    task_mix() = default;

    /// Keeps the most frequent kinds until they make up `percent` of the sum of shares. Kinds with
    /// equal shares are sorted by falling (cpu, milli, gpus, models). Precondition: kinds differ,
    /// and the shares sum up to less than 2^31. O(kinds log kinds).
    task_mix(std::vector<typical_task> kinds, std::int64_t percent) : kinds_(std::move(kinds)) {
        std::int64_t all = 0;
        for (const typical_task& kind : kinds_)
            all += kind.share;
        MUSTER_ASSERT(all < std::int64_t{1} << 31, "the shares are too large");
        std::sort(kinds_.begin(), kinds_.end(),
                  [](const typical_task& lhs, const typical_task& rhs) {
                      if (lhs.share != rhs.share)
                          return lhs.share > rhs.share;
                      if (lhs.task.cpu != rhs.task.cpu)
                          return lhs.task.cpu > rhs.task.cpu;
                      if (lhs.task.milli != rhs.task.milli)
                          return lhs.task.milli > rhs.task.milli;
                      return lhs.task > rhs.task;
                  });
        std::size_t kept = 0;
        while (kept < kinds_.size() && total_ * 100 < all * percent)
            total_ += kinds_[kept++].share;
        kinds_.resize(kept);
        left_out_ = all - total_;
    }

    [[nodiscard]] const std::vector<typical_task>& kinds() const noexcept { return kinds_; }
    /// The sum of the shares of `kinds()`.
    [[nodiscard]] std::int64_t total() const noexcept { return total_; }
    /// The sum of the shares of the kinds that were not kept.
    [[nodiscard]] std::int64_t left_out() const noexcept { return left_out_; }

    [[nodiscard]] friend bool operator==(const task_mix&, const task_mix&) = default;

private:
    std::vector<typical_task> kinds_;
    std::int64_t total_ = 0;
    std::int64_t left_out_ = 0;
};

/// The GPUs of all nodes, in thousandths of a GPU except for their number.
struct gpu_use {
    std::int64_t gpus = 0;
    std::int64_t idle_milli = 0;
    /// What a typical task cannot use of the idle part, on average, rounded down. All of it if
    /// there are no typical tasks.
    std::int64_t fragmented_milli = 0;

    [[nodiscard]] friend bool operator==(const gpu_use&, const gpu_use&) = default;
};

/// What a rule says of one task on one node.
struct gpu_choice {
    /// Higher is better.
    std::int64_t score = 0;
    /// For a task that shares a GPU: the GPU that it should go to.
    std::uint32_t gpu = 0;

    [[nodiscard]] friend bool operator==(const gpu_choice&, const gpu_choice&) = default;
};

} // namespace v0_1
} // namespace muster
