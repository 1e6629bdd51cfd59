// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <muster/apis/kai/fractions/config_maps.hpp>
#include <muster/apis/kai/fractions/node_devices.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/document/transition_id.hpp>
#include <muster/kube/reservation_binder.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The GPUs that were chosen for a pod on a node of KAI.
struct chosen_gpus {
    /// Has no groups if the pod gets whole GPUs, or none.
    chosen_fraction fraction;
    /// The memory that the pod uses of each of its GPUs.
    share_memory memory = whole_memory{};
    /// Number of whole GPUs.
    std::size_t whole = 0;
};

/// The GPU groups of one node of KAI: groups that have a device, and groups that were chosen
/// earlier and whose reservation pod is not observed yet. Each of the latter holds an idle device,
/// so no GPU is counted as free twice.
class gpu_groups {
public:
    /// `ids`: of the devices, in their order; must outlive the object. `leaving`: groups that get
    /// no pods.
    gpu_groups(codec::share_stock on, const std::vector<std::string>& ids,
               const std::set<std::string>& leaving)
        : on_(std::move(on)), ids_(&ids) {
        if (on_.system != codec::share_system::kai)
            return;
        for (std::size_t at = 0; at < on_.devices.size() && at < ids.size(); ++at)
            if (leaving.contains(ids[at]))
                on_.devices[at].healthy = false;
    }

    [[nodiscard]] const codec::share_stock& stock() const noexcept { return on_; }

    /// Returns the shares that an earlier choice holds; the reference stays valid. If the node has
    /// too few devices by now, it serves no further pods.
    [[nodiscard]] const codec::share_demand& hold(const chosen_gpus& of) {
        codec::share_demand& made = holding_.emplace_back();
        const auto add = [&](std::optional<std::size_t> device) {
            if (!device) {
                for (shared_device& each : on_.devices)
                    each.healthy = false;
                return;
            }
            made.held.push_back(
                {*device, {1, units_of(of.memory, on_.devices[*device].memory), 0}, {}});
        };
        for (const std::string& group : of.fraction.groups)
            add(device_of(group));
        for (std::size_t each = 0; each < of.whole; ++each)
            add(take_idle());
        return made;
    }

    /// Returns the groups, or the number of whole GPUs, of these devices for a pod that requests
    /// them. An idle device gets a new group, whose name is different for each `attempt` to start
    /// the pod with this uid.
    [[nodiscard]] chosen_gpus name(const share_request& asked,
                                   const std::vector<std::size_t>& devices, const std::string& uid,
                                   const std::string& node, const std::string& attempt) {
        chosen_gpus made;
        made.memory = asked.memory;
        if (asked.needs_idle) {
            made.whole = devices.size();
            return made;
        }
        for (const std::size_t device : devices) {
            const std::string& id = (*ids_)[device];
            if (!id.starts_with(codec::kai_fractions::idle_prefix)) {
                made.fraction.groups.push_back(id);
            } else {
                std::string& group = new_groups_[device];
                if (group.empty())
                    group =
                        lifecycle::transition_id(uid, node, attempt + "/" + std::to_string(device));
                made.fraction.groups.push_back(group);
            }
            made.fraction.portion = codec::kai_portion(asked.memory, on_.devices[device].memory);
        }
        return made;
    }

private:
    [[nodiscard]] std::optional<std::size_t> device_of(const std::string& group) {
        for (std::size_t at = 0; at < ids_->size(); ++at)
            if ((*ids_)[at] == group)
                return at;
        for (const auto& [device, each] : new_groups_)
            if (each == group)
                return device;
        const auto device = take_idle();
        if (device)
            new_groups_[*device] = group;
        return device;
    }
    [[nodiscard]] std::optional<std::size_t> take_idle() {
        for (; next_idle_ < ids_->size(); ++next_idle_)
            if ((*ids_)[next_idle_].starts_with(codec::kai_fractions::idle_prefix))
                return next_idle_++;
        return std::nullopt;
    }

    codec::share_stock on_;
    const std::vector<std::string>* ids_;
    std::deque<codec::share_demand> holding_;
    /// The new groups of idle devices, by the position of the device.
    std::map<std::size_t, std::string> new_groups_;
    std::size_t next_idle_ = 0;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
