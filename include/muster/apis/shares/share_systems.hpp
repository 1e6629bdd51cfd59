// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/hami/node_register.hpp>
#include <muster/apis/hami/pod_requests.hpp>
#include <muster/apis/hami/pod_shares.hpp>
#include <muster/apis/kai/fractions/pod_shares.hpp>
#include <muster/apis/koordinator/devices/pod_marks.hpp>
#include <muster/apis/koordinator/devices/pod_requests.hpp>
#include <muster/apis/koordinator/devices/pod_shares.hpp>
#include <muster/apis/openb/pod_requests.hpp>
#include <muster/apis/openb/pod_shares.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/apis/volcano/vgpu/node_register.hpp>
#include <muster/apis/volcano/vgpu/pod_requests.hpp>
#include <muster/apis/volcano/vgpu/pod_shares.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

[[nodiscard]] inline std::set<share_system> all_share_systems() {
    return {share_system::hami, share_system::volcano, share_system::koordinator, share_system::kai,
            share_system::openb};
}

/// Returns what the pod requests of shared GPUs on a node of the system. O(containers).
[[nodiscard]] inline pod_share_requests
read_share_requests(share_system system, const pod_object& pod, diagnostics& out) {
    if (pod.share_containers.empty())
        return {};
    switch (system) {
    case share_system::hami:
        return read_hami_requests(pod.metadata, pod.share_containers, {}, out);
    case share_system::volcano:
        return read_volcano_vgpu_requests(pod.metadata, pod.share_containers, {});
    case share_system::koordinator:
        return read_koordinator_requests(pod.metadata, pod.share_containers,
                                         kai_fractions::gpu_resource, out);
    case share_system::kai:
        return read_kai_requests(pod.metadata, pod.share_containers, kai_order::pack, out);
    case share_system::openb:
        break;
    }
    return read_openb_requests(pod.metadata, pod.share_containers, out);
}

/// Returns the annotation that lists the devices of a standing pod. Precondition: the system is not
/// KAI.
[[nodiscard]] constexpr std::string_view list_key_of(share_system system) noexcept {
    switch (system) {
    case share_system::hami:
        return hami::allocated_key;
    case share_system::volcano:
        return volcano_vgpu::ids_key;
    case share_system::koordinator:
        return koordinator_devices::allocated_key;
    case share_system::openb:
        return openb::index_key;
    case share_system::kai:
        break;
    }
    return {};
}

/// Returns what a pod on a node of the system holds, by its annotations; nullopt if they list no
/// devices. Always nullopt for KAI, where it depends on all pods of the node: see kai_devices().
/// O(annotations).
[[nodiscard]] inline std::optional<pod_shares>
read_held_shares(share_system system, const pod_object& pod, diagnostics& out) {
    switch (system) {
    case share_system::hami:
        return read_hami_pod(pod.metadata, out);
    case share_system::volcano:
        return read_volcano_vgpu_pod(pod.metadata, out);
    case share_system::koordinator:
        return read_koordinator_pod(pod.metadata, out);
    case share_system::openb:
        return read_openb_pod(pod.metadata, out);
    case share_system::kai:
        break;
    }
    return std::nullopt;
}

/// True if both nodes, or both versions of a node, have the same registers of GPUs, and labels that
/// give them the same partitions. O(annotations).
[[nodiscard]] inline bool same_registers(const object_metadata& lhs, const object_metadata& rhs) {
    for (const std::string_view key :
         {hami::register_key, hami::cordon_key, hami::links_key, volcano_vgpu::register_key}) {
        const std::string* const one = lhs.annotations.find(key);
        const std::string* const other = rhs.annotations.find(key);
        if ((one == nullptr) != (other == nullptr) || (one && *one != *other))
            return false;
    }
    for (const std::string_view key :
         {koordinator_devices::partition_policy_label, koordinator_devices::vendor_label,
          koordinator_devices::model_label}) {
        const std::string* const one = lhs.labels.find(key);
        const std::string* const other = rhs.labels.find(key);
        if ((one == nullptr) != (other == nullptr) || (one && *one != *other))
            return false;
    }
    return true;
}

/// Returns the annotations of a Binding that hand GPUs over to the agent of a node. `chosen`: for
/// each request of the pod, the indices of its devices; `instances` and `functions`: the positions
/// of its instances and virtual functions on them, empty if there are none. `seconds`: Unix time.
/// `gpus`: the node's present Device, if the system is Koordinator. Then there are no annotations
/// if a chosen device is no longer there or changed. O(shares × devices). Preconditions: the system
/// is not KAI; for Koordinator, `functions` is of the shape of `chosen`.
[[nodiscard]] inline share_marks
handover_marks(share_system system, const pod_share_requests& asked, const std::string& node,
               const std::vector<shared_device>& devices,
               const std::vector<std::vector<std::size_t>>& chosen, std::int64_t seconds,
               const koordinator_device_object* gpus,
               const std::vector<std::vector<std::size_t>>& instances = {},
               const std::vector<std::vector<std::size_t>>& functions = {}) {
    if (system == share_system::koordinator)
        return gpus ? koordinator_marks(asked, devices, chosen, functions, *gpus) : share_marks{};
    const std::vector<chosen_share> shares = chosen_shares(asked, devices, chosen, 0, instances);
    if (system == share_system::hami)
        return hami_marks(shares, asked.containers, node, seconds);
    if (system == share_system::openb)
        return openb_marks(shares);
    std::vector<std::size_t> with_request;
    for (const container_share& each : asked.requests)
        with_request.push_back(each.container);
    return volcano_vgpu_marks(shares, with_request, node, seconds);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
