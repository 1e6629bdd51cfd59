// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/gpu_view.hpp>
#include <muster/policy/shared_gpus.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns the most frequent kinds of task among the running and waiting pods of the state, until
/// they are `percent` of the pods (see task_mix). Of shared GPUs a pod requests what it does on the
/// first node, in the order of keys, that shares GPUs with it. If it requests as many whole GPUs
/// there as of a column, the kind of task allows both models.
/// O(nodes × log stocks + shapes × (stocks + log shapes)) for so many different `node::devices`.
template<class Traits>
[[nodiscard]] task_mix typical_tasks(const cluster_state<Traits>& known, const gpu_view& view,
                                     std::int64_t percent) {
    std::vector<device_stock> stocks;
    std::set<device_stock> listed{device_stock::none};
    for (const node_index node : known.node_order())
        if (known[node].present)
            if (const device_stock has = known.accounts().devices(node); listed.insert(has).second)
                stocks.push_back(has);
    std::map<shared_gpu_task, std::int64_t> shares;
    const auto& shapes = known.shapes();
    for (std::size_t at = 0; at < shapes.size(); ++at) {
        const auto& row = shapes[shape_index{at}];
        if (row.users == 0)
            continue;
        const device_demand demand = known.constraint_sets()[row.where].value.claims.devices;
        // Systems that share GPUs can use the name of a column for the number of shares, so the
        // column says what a pod requests only if no node shares GPUs with it.
        shared_gpu_task task = view.task(row.request, device_stock::none, demand);
        for (const device_stock has : stocks) {
            if (demand == device_demand::none)
                break;
            shared_gpu_task shared = view.task(row.request, has, demand);
            if (shared.gpus == 0 || !shared.allows(gpu_view::shared_model))
                continue;
            if (shared.gpus == task.gpus && shared.milli == task.milli)
                shared.models |= task.models;
            task = shared;
            break;
        }
        shares[task] += static_cast<std::int64_t>(row.users);
    }
    std::vector<typical_task> kinds;
    for (const auto& [task, share] : shares)
        kinds.push_back({task, share});
    return task_mix(std::move(kinds), percent);
}

} // namespace v0_1
} // namespace muster
