// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/hami/pod_requests.hpp>
#include <muster/apis/kai/fractions/node_devices.hpp>
#include <muster/apis/koordinator/devices/names.hpp>
#include <muster/apis/koordinator/devices/pod_requests.hpp>
#include <muster/apis/openb/pod_requests.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/apis/volcano/vgpu/pod_requests.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The number of devices of one type that a standing pod requests, and the number that its
/// annotations list. If it lists fewer than it requests, it is unknown which devices of the type it
/// uses.
struct device_tally {
    std::int64_t requested = 0;
    std::int64_t listed = 0;

    friend bool operator==(const device_tally&, const device_tally&) = default;
};

/// Numbers of devices by `shared_device::type`; an empty type = GPUs.
using device_tallies = std::map<std::string, device_tally, std::less<>>;

namespace detail {

/// Returns the number of devices that each container of a pod of HAMi requests; 1 if the amounts of
/// the container are malformed. O(containers).
[[nodiscard]] inline std::vector<std::int64_t> hami_counts(const pod_object& pod) {
    std::vector<std::int64_t> counts;
    for (const container_resources& each : pod.share_containers) {
        std::vector<std::string> wrong;
        const auto request = read_hami_container(each, {}, !pod.metadata.uid.empty(), wrong);
        counts.push_back(request ? request->count : wrong.empty() ? 0 : 1);
    }
    return counts;
}

/// Returns the number of devices of all requests, at least 1 if some are not modelled. O(requests).
[[nodiscard]] inline std::int64_t least_count(const pod_share_requests& of) {
    std::int64_t sum = 0;
    for (const container_share& each : of.requests)
        sum = saturating_add(sum, each.request.count);
    return std::max<std::int64_t>(sum, of.empty() ? 0 : 1);
}

/// Adds the least number of devices of each type that a pod of Koordinator requests.
inline void add_koordinator_counts(const pod_object& pod, device_tallies& to) {
    for (const std::string& type :
         koordinator_types(pod.share_containers, kai_fractions::gpu_resource))
        to[type == koordinator_devices::gpu_type ? std::string() : type].requested = 1;
    diagnostics aside(0);
    const auto add = [&](const share_request& each) {
        std::int64_t& requested = to[each.filter.type].requested;
        requested = std::max(requested, each.count);
    };
    for (const container_share& each : read_koordinator_requests(pod.metadata, pod.share_containers,
                                                                 kai_fractions::gpu_resource, aside)
                                           .requests) {
        add(each.request);
        for (const share_request& partner : each.request.partners)
            add(partner);
    }
}

/// The devices that a pod lists, by type and position of the container.
using listed_counts = std::map<std::string, std::map<std::size_t, std::int64_t>, std::less<>>;

/// Counts the devices that a pod lists; see tally_devices(). O(shares × devices).
[[nodiscard]] inline listed_counts count_listed(const std::vector<held_share>& shares,
                                                std::span<const shared_device> devices,
                                                bool hides_devices) {
    listed_counts made;
    std::set<std::pair<std::size_t, std::string_view>> seen;
    for (const held_share& each : shares) {
        const auto device = std::ranges::find(devices, each.device, &shared_device::id);
        const bool is_known = device != devices.end();
        if (!is_known && !hides_devices)
            continue;
        const bool is_new = seen.emplace(each.container, each.device).second;
        if (!is_new && !(is_known && device->is_partitioned))
            continue;
        // Only ids of Koordinator have a `/`, after the type.
        const std::size_t slash = each.device.find('/');
        const std::string type = is_known                     ? device->type
                                 : slash == std::string::npos ? std::string()
                                                              : each.device.substr(0, slash);
        ++made[type][each.container];
    }
    return made;
}

[[nodiscard]] inline std::int64_t sum_of(const std::map<std::size_t, std::int64_t>& counts) {
    std::int64_t sum = 0;
    for (const auto& [container, count] : counts)
        sum += count;
    return sum;
}

/// Compares the requests of HAMi with the list of a pod. Earlier versions of HAMi do not list init
/// containers, so the positions in the list count only if an init container requests devices.
/// O(containers).
[[nodiscard]] inline device_tally tally_hami(const pod_object& pod,
                                             const std::map<std::size_t, std::int64_t>& listed) {
    const std::vector<std::int64_t> counts = hami_counts(pod);
    device_tally made;
    std::int64_t in_place = 0;
    bool has_init_requests = false;
    for (std::size_t at = 0; at < counts.size(); ++at) {
        made.requested = saturating_add(made.requested, counts[at]);
        has_init_requests =
            has_init_requests || (pod.share_containers[at].is_init && counts[at] > 0);
        if (const auto found = listed.find(at); found != listed.end())
            in_place += std::min(found->second, counts[at]);
    }
    made.listed = has_init_requests ? in_place : sum_of(listed);
    return made;
}

} // namespace detail

/// Returns, by type, the number of devices that a standing pod requests and the number that its
/// annotations list. `listed`: nullptr = the pod has no list. `devices`: the devices of the pod's
/// node. `hides_devices`: the node may have devices that cannot be read; only then does a listed
/// device count that is not among `devices`. A device counts once for each container, a partitioned
/// device as often as it is listed. Precondition: the system is not KAI, whose pods list no
/// devices. O(shares × devices + containers).
[[nodiscard]] inline device_tallies tally_devices(share_system system, const pod_object& pod,
                                                  const pod_shares* listed,
                                                  std::span<const shared_device> devices,
                                                  bool hides_devices) {
    device_tallies made;
    if (pod.share_containers.empty() && pod.share_marks.empty())
        return made;
    const detail::listed_counts counts =
        listed ? detail::count_listed(listed->shares, devices, hides_devices)
               : detail::listed_counts{};
    const auto gpus = counts.find("");
    const std::map<std::size_t, std::int64_t> none;
    const std::map<std::size_t, std::int64_t>& listed_gpus =
        gpus == counts.end() ? none : gpus->second;
    diagnostics aside(0);
    switch (system) {
    case share_system::hami:
        made[""] = detail::tally_hami(pod, listed_gpus);
        break;
    case share_system::koordinator:
        detail::add_koordinator_counts(pod, made);
        for (auto& [type, tally] : made)
            if (const auto found = counts.find(type); found != counts.end())
                tally.listed = detail::sum_of(found->second);
        break;
    case share_system::volcano:
        made[""] = {
            detail::least_count(read_volcano_vgpu_requests(pod.metadata, pod.share_containers, {})),
            detail::sum_of(listed_gpus)};
        break;
    case share_system::openb:
        made[""] = {detail::least_count(
                        detail::read_openb_amounts(pod.metadata, pod.share_containers, aside)),
                    detail::sum_of(listed_gpus)};
        break;
    case share_system::kai:
        break;
    }
    return made;
}

/// Returns how many positions at the start of a standing pod's list of devices belong to init
/// containers, which run one after the other. Returns 0 if the shares of all containers add up:
/// positions in the list are not those of containers (Volcano), need not be (HAMi, if no init
/// container requests devices), or the pod has sidecars. O(containers).
[[nodiscard]] inline std::size_t listed_init_containers(share_system system,
                                                        const pod_object& pod) {
    if (system != share_system::hami)
        return 0;
    const std::vector<std::int64_t> counts = detail::hami_counts(pod);
    std::size_t init_containers = 0;
    bool has_requests = false;
    for (std::size_t at = 0; at < counts.size(); ++at) {
        const container_resources& each = pod.share_containers[at];
        if (each.is_sidecar)
            return 0;
        init_containers += each.is_init ? 1U : 0U;
        has_requests = has_requests || (each.is_init && counts[at] > 0);
    }
    return has_requests ? init_containers : 0;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
