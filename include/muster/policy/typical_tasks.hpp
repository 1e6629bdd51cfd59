// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/gpu_view.hpp>
#include <muster/policy/shared_gpus.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns the kinds of task that the pods of the state are, running and waiting ones; see
/// task_mix. O(shapes log shapes).
template<class Traits>
[[nodiscard]] task_mix typical_tasks(const cluster_state<Traits>& known, const gpu_view& view,
                                     std::int64_t percent) {
    std::map<shared_gpu_task, std::int64_t> shares;
    const auto& shapes = known.shapes();
    for (std::size_t at = 0; at < shapes.size(); ++at) {
        const auto& row = shapes[shape_index{at}];
        if (row.users > 0)
            shares[view.task(row.request, device_stock::none,
                             known.constraint_sets()[row.where].value.claims.devices)] +=
                static_cast<std::int64_t>(row.users);
    }
    std::vector<typical_task> kinds;
    for (const auto& [task, share] : shares)
        kinds.push_back({task, share});
    return task_mix(std::move(kinds), percent);
}

} // namespace v0_1
} // namespace muster
