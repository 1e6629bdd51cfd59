// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>
#include <muster/policy/shared_gpus.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns the fragmentation F of a node, in thousandths of a GPU times `mix.total()`: what a task
/// that is drawn from the mix cannot use of the GPUs left, on average. A kind that does not fit the
/// node, or needs no GPU, can use nothing; any other uses the GPUs with at least its `milli` left.
/// Exact. Source: FGD, USENIX ATC'23. O(kinds × GPUs).
[[nodiscard]] inline std::int64_t fragmentation(const task_mix& mix,
                                                const shared_gpu_node& node) noexcept {
    const std::int64_t idle = node.idle_milli();
    if (idle == 0)
        return 0;
    std::int64_t sum = 0;
    for (const typical_task& kind : mix.kinds()) {
        std::int64_t unusable = idle;
        if (kind.task.gpus > 0 && fits(node, kind.task)) {
            unusable = 0;
            for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu)
                unusable += node.left[gpu] < kind.task.milli ? node.left[gpu] : 0;
        }
        sum += kind.share * unusable;
    }
    return sum;
}

namespace fragmentation_detail {

/// Fractional bits of the thresholds.
inline constexpr int threshold_bits = 40;

/// threshold[s - 1] = ln(s / (100 - s)) for s = 1..99, rounded to a multiple of 2^-40. 100 times
/// the logistic function of x is at least s if and only if x is at least that logarithm.
[[nodiscard]] constexpr std::array<std::int64_t, 99> logistic_thresholds() noexcept {
    constexpr int bits = 100;
    std::array<int128, 100> logarithm{};
    for (std::size_t number = 1; number < 99; ++number) {
        // ln(n + 1) - ln(n) = 2 (z + z^3 / 3 + z^5 / 5 + …), z = 1 / (2n + 1).
        const auto inverse = static_cast<int128>(2 * number + 1);
        int128 power = (int128{2} << bits) / inverse;
        int128 sum = 0;
        for (int exponent = 1; power > 0; exponent += 2) {
            sum += power / exponent;
            power /= inverse * inverse;
        }
        logarithm[number + 1] = logarithm[number] + sum;
    }
    std::array<std::int64_t, 99> found{};
    for (std::size_t score = 51; score < 100; ++score) {
        const int128 exact = logarithm[score] - logarithm[100 - score];
        const int128 half = int128{1} << (bits - threshold_bits - 1);
        found[score - 1] = static_cast<std::int64_t>((exact + half) >> (bits - threshold_bits));
        found[99 - score] = -found[score - 1];
    }
    return found;
}

inline constexpr std::array<std::int64_t, 99> thresholds = logistic_thresholds();

} // namespace fragmentation_detail

/// Returns ⌊100 / (1 + e^-x)⌋, where x is by how many GPUs F falls: `decrease` is in the unit of
/// `fragmentation`, x = decrease / (1000 × total). Integer arithmetic: the result is the same on
/// all machines, and exact unless x is within 2^-40 of a point where the result changes (x = 0 is
/// exact, and gives 50). O(1).
[[nodiscard]] constexpr std::int64_t logistic_score(std::int64_t decrease,
                                                    std::int64_t total) noexcept {
    using namespace fragmentation_detail;
    MUSTER_ASSERT(total > 0, "a mix without tasks");
    const int128 scaled = static_cast<int128>(decrease) << threshold_bits;
    const int128 unit = static_cast<int128>(total) * whole_gpu_milli;
    const auto reached =
        std::partition_point(thresholds.begin(), thresholds.end(),
                             [&](std::int64_t threshold) { return unit * threshold <= scaled; });
    return reached - thresholds.begin();
}

/// Returns FGD's score of the node for the task, from 0 to 99: `logistic_score` of how far F falls
/// by the placement; for a task that shares a GPU, that of its best GPU there (the first one, if
/// several tie). Preconditions: the task fits; the mix is not empty.
/// O(kinds × GPUs × candidate GPUs).
[[nodiscard]] inline gpu_choice fragmentation_score(const task_mix& mix,
                                                    const shared_gpu_node& node,
                                                    const shared_gpu_task& task) noexcept {
    const std::int64_t before = fragmentation(mix, node);
    const auto score_on = [&](std::uint32_t gpu) {
        return logistic_score(before - fragmentation(mix, with_task(node, task, gpu)), mix.total());
    };
    if (!task.shares_gpu())
        return {score_on(0), 0};
    gpu_choice best{-1, 0};
    for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu) {
        if (node.left[gpu] < task.milli)
            continue;
        const std::int64_t score = score_on(gpu);
        if (score > best.score)
            best = {score, gpu};
    }
    return best;
}

} // namespace v0_1
} // namespace muster
