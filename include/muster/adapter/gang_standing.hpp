// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/adapter/cluster_view.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/base/id.hpp>
#include <muster/explain/gate_reason.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// How a gang stands by what was seen of it, whatever was decided or is on its way.
template<class Traits>
struct gang_standing {
    gang_status status;
    /// Members of ours that stand on nodes and have not ended.
    std::vector<pod_index> standing;
    /// It has pods and may be judged: its object is there and well-formed.
    bool judged = false;
};

/// O(members · log pods).
template<class Traits>
[[nodiscard]] gang_standing<Traits> standing_of(const cluster_view<Traits>& view,
                                                gang_index which) {
    const auto& known = view.known();
    const auto& group = known[which];
    gang_standing<Traits> found;
    gang_status& status = found.status;
    std::vector<std::int64_t> counts(group.spec.tree.size(), 0);
    std::int64_t unplaced = 0;
    std::int64_t without_volumes = 0;
    for (const pod_index member : group.members) {
        const auto& record = known[member];
        if (record.migration_target)
            continue;
        const auto* const facts = view.find_pod(known.key(member));
        if (facts == nullptr)
            continue;
        if (facts->phase == pod_phase::failed)
            ++status.failed;
        if (record.terminating || record.evicted || facts->phase == pod_phase::failed)
            continue;
        const bool waits = facts->phase == pod_phase::pending && !facts->on;
        if (facts->phase == pod_phase::gated && !facts->on)
            continue;
        ++status.alive;
        status.waiting += waits ? 1 : 0;
        if (waits && record.placeable()) {
            ++unplaced;
            without_volumes += known.where(member).value.volume_not_ready ? 1 : 0;
        }
        if (waits)
            continue;
        ++status.holding;
        status.running += facts->phase == pod_phase::running ? 1 : 0;
        status.succeeded += facts->phase == pod_phase::succeeded ? 1 : 0;
        if (record.role.value() < counts.size())
            ++counts[record.role.value()];
        if (facts->phase != pod_phase::succeeded && facts->ours)
            found.standing.push_back(member);
    }
    found.judged = group.present && group.spec.fault == gang_fault::none;
    status.holds_minima =
        found.judged && status.holding > 0 && reaches_minima(group.spec.tree, counts);
    const auto* const facts = view.find_gang(known.key(which));
    status.reached = facts != nullptr && (facts->reached || status.holds_minima);
    if (status.waiting > 0 && group.last.is_known) {
        status.verdict = group.last.kind;
        status.at = group.last.at;
        // Until the next cycle nothing is decided of what has changed.
        status.surplus_waits = status.at == gate::none && status.verdict == answer::admitted &&
                               !group.dirty && status.holds_minima && unplaced > 0;
        status.lacks_volumes =
            status.surplus_waits ? unplaced == without_volumes : status.at == gate::volumes;
    }
    return found;
}

} // namespace adapter
} // namespace v0_1
} // namespace muster
