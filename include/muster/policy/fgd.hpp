// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <muster/index/offered_node.hpp>
#include <muster/index/placement_score.hpp>
#include <muster/policy/fragmentation.hpp>
#include <muster/policy/gpu_view.hpp>
#include <muster/policy/shared_gpus.hpp>

namespace muster {
inline namespace v0_1 {

/// Prefers the node on which the pod fragments GPUs the least: FGD's score (ATC'23), from 0 to 99
/// (see fragmentation_score), for the kinds of task in `mix`. Without a mix all nodes are equal.
/// The score assumes that a pod which shares a GPU gets the best GPU of the node; the system of the
/// node chooses the actual devices. Scans all nodes; O(kinds of task × GPUs²) per node.
struct fgd {
    gpu_view view{};
    std::shared_ptr<const task_mix> mix{};

    template<std::size_t Width>
    [[nodiscard]] std::int64_t operator()(const offered_node<Width>& offered) const noexcept {
        if (!mix || mix->total() == 0)
            return 0;
        const shared_gpu_node node =
            view.node(offered.capacity, offered.free, offered.devices, offered.held);
        const shared_gpu_task task =
            view.task(offered.request, offered.devices, offered.pod.claims.devices);
        // A pod can fit where the view is too coarse for it, e.g. on a part of two GPUs.
        return fits(node, task) ? fragmentation_score(*mix, node, task).score : 0;
    }

    /// Compares the mixes by value, not by address. O(kinds of task).
    [[nodiscard]] friend bool operator==(const fgd& lhs, const fgd& rhs) {
        return lhs.view == rhs.view &&
               (lhs.mix == rhs.mix || (lhs.mix && rhs.mix && *lhs.mix == *rhs.mix));
    }
};

static_assert(placement_score<fgd, 4>);

} // namespace v0_1
} // namespace muster
