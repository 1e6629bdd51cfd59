// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/hami/mig_profiles.hpp>
#include <muster/apis/shares/share_list_text.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace hami {

inline constexpr std::string_view node_key = "hami.io/vgpu-node";
inline constexpr std::string_view time_key = "hami.io/vgpu-time";
inline constexpr std::string_view allocated_key = "hami.io/vgpu-devices-allocated";
inline constexpr std::string_view to_allocate_key = "hami.io/vgpu-devices-to-allocate";
inline constexpr std::string_view phase_key = "hami.io/bind-phase";
inline constexpr std::string_view bind_time_key = "hami.io/bind-time";

} // namespace hami

/// Reads the devices that HAMi gave to a pod. Returns nullopt if the pod has none: neither a list
/// of devices nor instances. If the list cannot be read, `unread` is set: the free devices of the
/// pod's node are unknown, so it must not give any. If the instances of the pod cannot be read, the
/// devices that they are on are known from the list, and must not give any; without a list,
/// `unread` is set. O(annotations).
[[nodiscard]] inline std::optional<pod_shares> read_hami_pod(const object_metadata& pod,
                                                             diagnostics& out) {
    const metadata_text at(pod, "pod", hami::allocated_key, out);
    const metadata_text instances(pod, "pod", hami::mig_allocations_key, out);
    if (!at.is_present() && instances.text().empty())
        return std::nullopt;
    pod_shares read;
    read.pod = pod.key.name_space + "/" + pod.key.name;
    if (const std::string* const node = pod.annotations.find(hami::node_key))
        read.node = *node;
    if (const std::string wrong = detail::read_share_list(at.text(), read.shares); !wrong.empty()) {
        read.shares.clear();
        read.unread = at.text_of(wrong);
        at.warning(wrong);
    }
    if (const std::string wrong = read_mig_allocations(instances.text(), read.instances);
        !wrong.empty()) {
        instances.warning(wrong);
        if (!at.is_present())
            read.unread = instances.text_of(wrong);
    }
    return read;
}

/// Returns the annotations that hand devices over to HAMi's device plugin. If they are on a
/// Binding, the API server writes the devices and the node into the pod in one step. `containers`:
/// number of the pod's containers, including init containers. `seconds`: Unix time. O(containers ×
/// shares).
[[nodiscard]] inline share_marks hami_marks(const std::vector<chosen_share>& shares,
                                            std::size_t containers, const std::string& node,
                                            std::int64_t seconds) {
    std::string list;
    for (std::size_t container = 0; container < containers; ++container)
        list += detail::share_list_text(shares, container, "NVIDIA", false) + ";";
    share_marks marks;
    const auto set = [&](std::string_view key, std::string text) {
        marks.annotations.emplace(key, std::move(text));
    };
    set(hami::node_key, node);
    set(hami::time_key, std::to_string(seconds));
    set(hami::allocated_key, list);
    set(hami::to_allocate_key, list);
    // Empty without instances: HAMi would count those that the pod has from an earlier attempt.
    set(hami::mig_allocations_key, mig_allocations_text(shares, containers));
    set(hami::phase_key, "allocating");
    set(hami::bind_time_key, std::to_string(seconds));
    return marks;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
