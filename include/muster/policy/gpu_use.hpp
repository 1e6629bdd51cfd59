// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/fragmentation.hpp>
#include <muster/policy/gpu_view.hpp>
#include <muster/policy/shared_gpus.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns the use of the GPUs of all nodes as they are now, cordoned ones included.
/// O(nodes log nodes + nodes that differ × kinds × GPUs).
template<class Traits>
[[nodiscard]] gpu_use use_of_gpus(const cluster_state<Traits>& known, const gpu_view& view,
                                  const task_mix& mix) {
    std::map<shared_gpu_node, std::int64_t> alike;
    const auto& accounts = known.accounts();
    for (const node_index node : known.node_order())
        if (known[node].present)
            ++alike[view.node(accounts.allocatable(node), accounts.free(node),
                              accounts.devices(node), accounts.claims(node).devices())];
    int128 gpus = 0;
    int128 idle = 0;
    int128 fragments = 0;
    for (const auto& [node, count] : alike) {
        gpus += int128{node.gpus} * count;
        idle += int128{node.idle_milli()} * count;
        fragments += int128{fragmentation(mix, node)} * count;
    }
    return {saturate(gpus), saturate(idle),
            saturate(mix.total() > 0 ? fragments / mix.total() : idle)};
}

} // namespace v0_1
} // namespace muster
