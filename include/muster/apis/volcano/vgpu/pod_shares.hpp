// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/shares/share_list_text.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace volcano_vgpu {

inline constexpr std::string_view ids_key = "volcano.sh/vgpu-ids-new";
inline constexpr std::string_view to_allocate_key = "volcano.sh/devices-to-allocate";
inline constexpr std::string_view node_key = "volcano.sh/vgpu-node";
inline constexpr std::string_view time_key = "volcano.sh/vgpu-time";
inline constexpr std::string_view bind_time_key = "volcano.sh/bind-time";
inline constexpr std::string_view phase_key = "volcano.sh/bind-phase";

} // namespace volcano_vgpu

/// Returns `namespace/name` of the pod's PodGroup; empty if the annotations name none.
[[nodiscard]] inline std::string volcano_group_of(const object_metadata& pod) {
    for (const std::string_view key :
         {translate::keys::volcano_group, translate::keys::volcano_own_group})
        if (const std::string* const name = pod.annotations.find(key); name && !name->empty())
            return pod.key.name_space + "/" + *name;
    return {};
}

/// Reads the devices that Volcano gave to a pod. Returns nullopt if the pod has none. If the list
/// cannot be read, `unread` is set: the free devices of the pod's node are unknown, so it must not
/// give any. Unlike in Volcano, each container of a pod on the same device counts. O(annotation).
[[nodiscard]] inline std::optional<pod_shares> read_volcano_vgpu_pod(const object_metadata& pod,
                                                                     diagnostics& out) {
    const metadata_text at(pod, "pod", volcano_vgpu::ids_key, out);
    if (!at.is_present())
        return std::nullopt;
    pod_shares read;
    read.pod = pod.key.name_space + "/" + pod.key.name;
    read.group = volcano_group_of(pod);
    if (const std::string* const node = pod.annotations.find(volcano_vgpu::node_key))
        read.node = *node;
    if (const std::string wrong = detail::read_share_list(at.text(), read.shares); !wrong.empty()) {
        read.shares.clear();
        read.unread = at.text_of(wrong);
        at.warning(wrong);
    }
    return read;
}

/// Returns the annotations that hand devices over to Volcano's vGPU device plugin, as Volcano
/// writes them on the Binding. `with_request`: positions of the containers with requests, in the
/// order of the pod; the list has no entry for other containers. `seconds`: Unix time. O(containers
/// × shares).
[[nodiscard]] inline share_marks volcano_vgpu_marks(const std::vector<chosen_share>& shares,
                                                    const std::vector<std::size_t>& with_request,
                                                    const std::string& node, std::int64_t seconds) {
    std::string list;
    for (std::size_t index = 0; index < with_request.size(); ++index)
        list += (index == 0 ? "" : ";") +
                detail::share_list_text(shares, with_request[index], "NVIDIA", true);
    share_marks marks;
    const auto set = [&](std::string_view key, std::string text) {
        marks.annotations.emplace(key, std::move(text));
    };
    set(volcano_vgpu::node_key, node);
    set(volcano_vgpu::time_key, std::to_string(seconds));
    set(volcano_vgpu::ids_key, list);
    set(volcano_vgpu::to_allocate_key, list);
    set(volcano_vgpu::phase_key, "allocating");
    set(volcano_vgpu::bind_time_key, std::to_string(seconds));
    return marks;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
