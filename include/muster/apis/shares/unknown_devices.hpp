// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/shares/listed_devices.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/apis/shares/share_systems.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Makes the devices of a type unhealthy. Returns false if there are none.
inline bool close_type(std::span<shared_device> devices, std::string_view type) {
    bool has_devices = false;
    for (shared_device& each : devices)
        if (each.type == type) {
            has_devices = true;
            each.healthy = false;
        }
    return has_devices;
}

} // namespace detail

/// Makes the devices of a node unhealthy if it is unknown which of them a standing pod uses, with a
/// warning that names the pod and the node. If the pod requests more devices of a type than it
/// lists, these are the devices of the type. If its list is of another node or cannot be read,
/// these are all devices; a list that cannot be read gets no further warning. `listed`: nullopt =
/// the pod has no list. `devices`: the devices of the pod's node. `hides_devices`: see
/// tally_devices(). Precondition: the system is not KAI. O(shares × devices + containers).
inline void close_unknown_devices(share_system system, const pod_object& pod,
                                  const std::optional<pod_shares>& listed,
                                  std::span<shared_device> devices, bool hides_devices,
                                  diagnostics& out) {
    const metadata_text at(pod.metadata, "pod", list_key_of(system), out);
    const bool is_elsewhere = listed && !listed->node.empty() && listed->node != pod.node;
    if (is_elsewhere || (listed && !listed->unread.empty())) {
        for (shared_device& each : devices)
            each.healthy = false;
        if (is_elsewhere && listed->unread.empty())
            at.warning("the devices are those of node " + listed->node +
                       ", but the pod is on node " + pod.node + ", which gives none");
        return;
    }
    for (const auto& [type, tally] :
         tally_devices(system, pod, listed ? &*listed : nullptr, devices, hides_devices))
        if (tally.listed < tally.requested && detail::close_type(devices, type))
            at.warning("the pod requests " + std::to_string(tally.requested) + " and lists " +
                       std::to_string(tally.listed) + " of the " +
                       (type.empty() ? "GPUs" : type + " devices") + " of node " + pod.node +
                       "; which ones it uses is unknown, so the node gives none");
}

} // namespace codec
} // namespace v0_1
} // namespace muster
