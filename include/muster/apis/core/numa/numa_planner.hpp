// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/core/numa/node_topology.hpp>
#include <muster/apis/core/numa/numa_text.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/devices/numa_zones.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Adds to a volume_plan the demands of pods for room in NUMA zones, and the zones of nodes whose
/// kubelet rejects pods that it cannot align. See admit_to_zones().
///
/// The room of a zone is what its NodeResourceTopology reports as available. The report
/// includes the pods that the kubelet started before it. The zones that these pods hold are
/// unknown, so evicting them frees no room in zones. Other standing pods, and pods that are placed
/// now, are demands: the kubelet must be able to admit all of them in any order. Kubernetes times
/// are whole seconds; a report includes a pod that started in the same second. If the time of a
/// report is unknown, it includes all standing pods.
///
/// Nodes without such an object, or whose policy rejects no pod, restrict no pod. If some node
/// restricts pods, standing pods with requests that its kubelet aligns are marked
/// (`volume_effects::is_aligned`): a pod that is moved could find no node that admits it.
class numa_planner {
public:
    /// The arguments must outlive the planner.
    numa_planner(std::span<const node_object* const> nodes, std::span<const pod_object* const> pods,
                 std::span<const node_topology_object* const> topologies)
        : nodes_(nodes), pods_(pods) {
        for (const node_topology_object* const each : topologies)
            if (each->zones)
                reports_.emplace(each->metadata.key.name, each);
    }

    /// Call after the planners of claims and of shared GPUs. O(pods + zones).
    void plan(volume_plan& into) && {
        std::set<std::string_view> present;
        for (const node_object* const node : nodes_)
            present.insert(node->metadata.key.name);
        std::erase_if(reports_, [&](const auto& each) { return !present.contains(each.first); });
        if (reports_.empty())
            return;
        for (const auto& [name, report] : reports_) {
            some_closed_ = some_closed_ || report->zones->closed;
            for (const numa_zone& zone : report->zones->zones)
                for (const auto& each : zone.supplies)
                    listed_.insert(each.first);
        }
        for (const pod_object* const pod : pods_)
            if (!pod->node.empty() && is_there(*pod) && !demand_of(*pod).empty())
                into.pods[pod->metadata.key].is_aligned = true;
        bool any_waits = false;
        for (const pod_object* const pod : pods_)
            if (pod->node.empty() && is_there(*pod))
                any_waits = add(*pod, into) || any_waits;
        if (!any_waits)
            return;
        for (const pod_object* const pod : pods_)
            if (!pod->node.empty() && is_there(*pod) && !is_reported(*pod))
                add(*pod, into);
        for (const auto& [name, report] : reports_) {
            device_stock& stock = into.stocks[std::string(name)];
            stock = into.judge->with_zones(stock, numa_text(*report->zones), *report->zones);
        }
    }

private:
    static bool is_there(const pod_object& pod) {
        return pod.phase != pod_phase::succeeded && pod.phase != pod_phase::failed;
    }

    /// True if the report of the pod's node includes the pod, or the node restricts no pod.
    [[nodiscard]] bool is_reported(const pod_object& pod) const {
        const auto found = reports_.find(pod.node);
        if (found == reports_.end() || !found->second->reported)
            return true;
        return pod.started && *pod.started <= *found->second->reported;
    }

    /// Returns what some kubelet may align of the pod's requests.
    [[nodiscard]] numa_demand demand_of(const pod_object& pod) const {
        numa_demand demand = pod.aligned;
        if (!some_closed_) {
            const auto is_other = [&](const auto& each) { return !listed_.contains(each.first); };
            std::erase_if(demand.together, is_other);
            for (numa_amounts& each : demand.containers)
                std::erase_if(each, is_other);
            std::erase_if(demand.containers, std::mem_fn(&numa_amounts::empty));
        }
        return demand;
    }

    /// Adds the pod's demand. Returns false if it has none.
    bool add(const pod_object& pod, volume_plan& into) const {
        numa_demand demand = demand_of(pod);
        if (demand.empty())
            return false;
        if (!into.judge)
            into.judge = std::make_shared<device_judge>(device_classes{});
        device_demand& number = into.pods[pod.metadata.key].devices;
        const std::string text = numa_text(demand);
        number = into.judge->with_zones(number, text, std::move(demand));
        return true;
    }

    std::span<const node_object* const> nodes_;
    std::span<const pod_object* const> pods_;
    /// The reports of nodes whose policy rejects pods, by node.
    std::map<std::string_view, const node_topology_object*> reports_;
    /// Resources that some zone lists.
    std::set<std::string_view> listed_;
    /// The resources of some node's zones are unknown.
    bool some_closed_ = false;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
