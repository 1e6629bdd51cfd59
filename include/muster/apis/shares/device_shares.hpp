// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/koordinator/devices/names.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A resource or annotation that requests a share of a device, or a particular device, from the
/// node agent of another scheduler. That agent gives a pod the devices that its own scheduler wrote
/// into the pod. Started by Muster, the pod would get no device or an arbitrary one, so it waits.
struct device_share {
    /// Name of the resource or annotation; one `*` in it matches any text.
    std::string_view key;
    std::string_view scheduler;

    [[nodiscard]] constexpr bool matches(std::string_view name) const noexcept {
        const std::size_t star = key.find('*');
        if (star == std::string_view::npos)
            return name == key;
        return name.size() >= key.size() - 1 && name.starts_with(key.substr(0, star)) &&
               name.ends_with(key.substr(star + 1));
    }
};

/// Koordinator's amounts are refused even if they are whole cards (multiples of 100): its nodes
/// assign the cards that koord-scheduler wrote into the pod and have no device plugin for them.
/// HAMi's names are the defaults of its chart, of version 2.10 and before.
inline constexpr std::array share_resources{
    device_share{"aliyun.com/gpu-core.percentage", "ACK"},
    device_share{"aliyun.com/gpu-mem", "ACK"},
    device_share{"amd.com/gpucores", "HAMi"},
    device_share{"amd.com/gpumem", "HAMi"},
    device_share{"cambricon.com/mlu.smlu.vcore", "HAMi"},
    device_share{"cambricon.com/mlu.smlu.vmemory", "HAMi"},
    device_share{"cambricon.com/vmlu", "HAMi"},
    device_share{"enflame.com/drs-gcu", "HAMi"},
    device_share{"enflame.com/gcu-core", "HAMi"},
    device_share{"enflame.com/gcu-memory", "HAMi"},
    device_share{"enflame.com/vgcu", "HAMi"},
    device_share{"enflame.com/vgcu-percentage", "HAMi"},
    device_share{"huawei.com/Ascend*-core", "HAMi"},
    device_share{"huawei.com/Ascend*-memory", "HAMi"},
    device_share{"hygon.com/dcucores", "HAMi"},
    device_share{"hygon.com/dcumem", "HAMi"},
    device_share{"hygon.com/dcunum", "HAMi"},
    device_share{"hygon.com/hcucores", "HAMi"},
    device_share{"hygon.com/hcumem", "HAMi"},
    device_share{"hygon.com/hcunum", "HAMi"},
    device_share{"iluvatar.ai/*-vgpu", "HAMi"},
    device_share{"iluvatar.ai/*.vCore", "HAMi"},
    device_share{"iluvatar.ai/*.vMem", "HAMi"},
    device_share{"iluvatar.ai/vcuda-core", "HAMi"},
    device_share{"iluvatar.ai/vcuda-memory", "HAMi"},
    device_share{"iluvatar.ai/vgpu", "HAMi"},
    device_share{"koordinator.sh/fpga", "Koordinator"},
    device_share{"koordinator.sh/gpu", "Koordinator"},
    device_share{"koordinator.sh/gpu-core", "Koordinator"},
    device_share{"koordinator.sh/gpu-memory", "Koordinator"},
    device_share{"koordinator.sh/gpu-memory-ratio", "Koordinator"},
    device_share{"koordinator.sh/gpu.shared", "Koordinator"},
    device_share{"koordinator.sh/rdma", "Koordinator"},
    device_share{"kunlunxin.com/vxpu", "HAMi"},
    device_share{"kunlunxin.com/vxpu-memory", "HAMi"},
    device_share{"metax-tech.com/sgpu", "HAMi"},
    device_share{"metax-tech.com/vcore", "HAMi"},
    device_share{"metax-tech.com/vmemory", "HAMi"},
    device_share{"mthreads.com/sgpu-core", "HAMi"},
    device_share{"mthreads.com/sgpu-memory", "HAMi"},
    device_share{"mthreads.com/vgpu", "HAMi"},
    device_share{"nvidia.com/gpucores", "HAMi"},
    device_share{"nvidia.com/gpumem", "HAMi"},
    device_share{"nvidia.com/gpumem-percentage", "HAMi"},
    device_share{"volcano.sh/gpu-memory", "Volcano"},
    device_share{"volcano.sh/gpu-number", "Volcano"},
    device_share{"volcano.sh/vgpu-*", "Volcano"},
};

inline constexpr std::array share_annotations{
    device_share{"alibabacloud.com/gpu-milli", "openb"},
    device_share{"gpu-fraction", "KAI"},
    device_share{"gpu-memory", "KAI"},
    device_share{"volcano.sh/numa-topology-policy", "Volcano"},
};

/// On nodes with the annotation, a resource that elsewhere counts whole devices counts shares that
/// the agent of a scheduler gives to the pods that this scheduler placed.
struct agent_node {
    std::string_view annotation;
    std::string_view resource;
    std::string_view scheduler;
};

inline constexpr std::array agent_nodes{
    agent_node{"hami.io/node-nvidia-register", "nvidia.com/gpu", "HAMi"},
};

/// Takes from a node the amounts that only agents of other schedulers give to pods.
inline void set_apart_agent_amounts(node_object& of) {
    for (const agent_node& each : agent_nodes)
        if (const auto listed = of.allocatable.find(std::string(each.resource));
            listed != of.allocatable.end() && of.metadata.annotations.find(each.annotation)) {
            of.agent_amounts.emplace(*listed);
            of.allocatable.erase(listed);
            of.of_agents.emplace(each.resource, each.scheduler);
        }
}

namespace detail {

/// Returns the entry of a resource, or nullptr if it is no share of a device.
[[nodiscard]] constexpr const device_share* find_share_resource(std::string_view name) noexcept {
    const auto found = std::ranges::find_if(
        share_resources, [&](const device_share& each) { return each.matches(name); });
    return found == share_resources.end() ? nullptr : &*found;
}

[[nodiscard]] constexpr bool is_share_resource(std::string_view name) noexcept {
    return find_share_resource(name) != nullptr;
}

/// Returns the field at the path as a reason names it, with the scheduler that serves the share.
[[nodiscard]] inline std::string share_text(const std::string& path, const device_share& share) {
    return path + " (only " + std::string(share.scheduler) + " serves it)";
}

/// Notes that the pod requests a share.
inline void note_share(std::string text, pod_object& pod) {
    pod.share_marks.push_back(text);
    pod.unsupported.push_back(std::move(text));
}

/// Notes the device shares that annotations request. The value `none` requests nothing.
inline void note_share_annotations(const object_metadata& metadata, pod_object& pod) {
    for (const device_share& each : share_annotations)
        if (const std::string* const value = metadata.annotations.find(each.key);
            value && *value != "none")
            note_share(share_text("metadata.annotations[" + std::string(each.key) + "]", each),
                       pod);
}

/// Notes the device shares among the requests of a container with these `resources`.
inline void note_share_resources(const named_amounts& amounts, const field& resources,
                                 pod_object& pod) {
    for (const auto& [name, amount] : amounts) {
        const device_share* const share = find_share_resource(name);
        if (amount.milli == 0 || share == nullptr)
            continue;
        object_reader object = resources.as_object();
        const field limits_at = object.optional("limits");
        const field requests_at = object.optional("requests");
        object_reader limits = limits_at.as_object();
        object_reader requests = requests_at.as_object();
        const field limit = limits.optional(name);
        note_share(
            share_text(limit.is_present() ? limit.path() : requests.optional(name).path(), *share),
            pod);
    }
}

} // namespace detail

/// True if shared GPUs can serve a request for the resource, or Koordinator gives its GPUs for it.
[[nodiscard]] constexpr bool is_gpu_resource(std::string_view name) noexcept {
    return name == "nvidia.com/gpu" || koordinator_devices::is_of_other_vendor(name) ||
           detail::is_share_resource(name);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
