// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/base/checked.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The nodes that a waiting pod could use if these were empty, as far as a plan knows. Pods that
/// could use none must not keep devices from others.
class possible_nodes {
public:
    /// `plan` has the effects of the pods' volumes and allocated claims. The arguments must outlive
    /// this.
    possible_nodes(std::span<const node_object* const> nodes, const volume_plan& plan)
        : nodes_(nodes), plan_(&plan) {
        for (const node_object* const each : nodes) {
            node<1>& made = views_.emplace_back();
            made.name = each->metadata.key.name;
            made.labels = each->metadata.labels;
            made.taints = each->taints;
            made.unschedulable = each->unschedulable;
        }
    }

    /// True if the pod waits for something else than nodes and devices: a volume, a gate, or a
    /// field that is not modelled.
    [[nodiscard]] bool is_held(const pod_object& pod) const {
        const volume_effects* const effects = plan_->find(pod.metadata.key);
        const auto is_unsupported = [&](const std::string& each) {
            return std::ranges::find(pod.share_marks, each) == pod.share_marks.end();
        };
        return (effects && (!effects->waits.empty() || !effects->unmodelled.empty())) ||
               pod.where.unsupported || (!pod.gates.empty() && !pod.schedulers_gate) ||
               std::ranges::any_of(pod.unsupported, is_unsupported);
    }

    /// True if the node, by its position, meets the pod's constraints, reaches its volumes and has
    /// allocatable what the pod requests. Resources that the node does not list are not compared.
    /// Precondition: the pod is not held. O(constraints + resources).
    [[nodiscard]] bool suits(const pod_object& pod, std::size_t at) const {
        if (failed_filters(pod.where, views_[at]) != node_filter_none)
            return false;
        for (const auto& [kind, asked] : pod.requests) {
            const auto listed = nodes_[at]->allocatable.find(kind);
            const int128 units =
                kind == "cpu" ? int128{asked.milli} : (int128{asked.milli} + 999) / 1000;
            if (listed != nodes_[at]->allocatable.end() && units > listed->second)
                return false;
        }
        const volume_effects* const effects = plan_->find(pod.metadata.key);
        return !effects || std::ranges::all_of(effects->reach, [&](const volume_reach& each) {
            return std::ranges::any_of(
                each.any_of, [&](const node_term& term) { return term.matches(views_[at]); });
        });
    }

private:
    std::span<const node_object* const> nodes_;
    const volume_plan* plan_;
    std::vector<node<1>> views_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
