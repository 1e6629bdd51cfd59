// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace kai_fractions {

inline constexpr std::string_view gpu_resource = "nvidia.com/gpu";
inline constexpr std::string_view memory_label = "nvidia.com/gpu.memory";
inline constexpr std::string_view mig_label = "node-role.kubernetes.io/mig-enabled";
/// Namespace of the reservation pods, each of which holds a GPU for its sharers.
inline constexpr std::string_view reservation_namespace = "kai-resource-reservation";
/// Annotation in which the agent in a reservation pod writes the index or UUID of its GPU.
inline constexpr std::string_view gpu_key = "run.ai/reserve_for_gpu_index";
/// Annotation of the reservation pods that Muster makes. Its value is the name of the scheduler.
inline constexpr std::string_view reserved_by = "muster.dev/reserved-by";
/// Prefix of the ids of idle GPUs. No group has it, as the value of a label has no `/`.
inline constexpr std::string_view idle_prefix = "idle/";
/// Maximum number of GPUs of a node; larger amounts are capped, as they can only be a mistake.
inline constexpr std::int64_t most_gpus = 1024;

} // namespace kai_fractions

/// What a standing pod holds of the GPUs of its node.
struct kai_pod {
    /// `namespace/name` of the pod.
    std::string pod;
    /// The groups of its shares, without duplicates.
    std::vector<std::string> groups;
    /// The memory that it holds of each of these GPUs; absent = the pod has no shares.
    std::optional<share_memory> share;
    /// Number of whole GPUs.
    std::int64_t whole = 0;
    /// The pod is a reservation pod: it holds a GPU for the sharers of its group.
    bool is_reservation = false;
    /// The GPU of a reservation pod can be given to pods although it has no sharers: Muster made
    /// the reservation pod, and the pod is not ending.
    bool awaits_sharers = false;
    /// The text with which a reservation pod names its GPU; empty = it names none.
    std::string gpu;
    /// The pod has ended or is being deleted. Its GPU can be given to another pod while the sharers
    /// of its group still use it.
    bool is_ending = false;
    /// The pod has ended, and holds no GPU.
    bool has_ended = false;
    /// Why the GPUs of the pod are unknown; empty = they are known.
    std::string unread;
};

/// True if the text is the index or the UUID of one GPU or of one partition (MIG) of a GPU.
[[nodiscard]] inline bool names_kai_gpu(std::string_view text) noexcept {
    constexpr std::string_view digits = "0123456789";
    constexpr std::size_t most_digits = 9;
    if (!text.empty() && text.size() <= most_digits)
        if (text.find_first_not_of(digits) == std::string_view::npos)
            return true;
    constexpr std::size_t prefix = 4;
    return (text.starts_with("GPU-") || text.starts_with("MIG-")) && text.size() > prefix &&
           text.find_first_not_of(
               "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-/", prefix) ==
               std::string_view::npos;
}

namespace detail {

/// The GPUs of groups, as reservation pods name them.
struct kai_reserved {
    /// The groups whose GPU is known: a reservation pod that is not ending names it, and no
    /// reservation pod of another group names the same one.
    std::set<std::string_view> known;
    /// By group, why no pod can get the GPU that its reservation pod names.
    std::map<std::string_view, std::string> faults;
};

/// Returns what the reservation pods name. O(pods × groups × log pods).
[[nodiscard]] inline kai_reserved reserved_by_kai_pods(const std::vector<kai_pod>& pods) {
    std::set<std::string_view> shared;
    for (const kai_pod& pod : pods)
        if (!pod.is_reservation)
            shared.insert(pod.groups.begin(), pod.groups.end());
    std::map<std::string_view, std::set<std::string_view>> groups_of;
    for (const kai_pod& pod : pods)
        for (const std::string& group : pod.groups)
            if (pod.is_reservation && !pod.gpu.empty() &&
                (!pod.is_ending || shared.contains(group)))
                groups_of[pod.gpu].insert(group);
    kai_reserved made;
    for (const kai_pod& pod : pods)
        for (const std::string& group : pod.groups) {
            if (!pod.is_reservation || pod.gpu.empty() || pod.is_ending)
                continue;
            const std::set<std::string_view>& all = groups_of.at(pod.gpu);
            const auto other =
                std::ranges::find_if(all, [&](std::string_view each) { return each != group; });
            if (!names_kai_gpu(pod.gpu))
                made.faults.emplace(group, "its reservation pod names " + in_quotes(pod.gpu) +
                                               " (expected the index or UUID of a GPU)");
            else if (other != all.end())
                made.faults.emplace(group, "its reservation pod names GPU " + pod.gpu +
                                               ", as that of group " + std::string(*other) +
                                               " does");
            else
                made.known.insert(group);
        }
    return made;
}

/// Makes the device of a group unhealthy if the group can get no pods. Warns if the group has a
/// fault, or has sharers although its GPU is unknown. `awaited`: the groups without sharers that
/// can get pods.
inline void close_kai_groups(node_shares& to, const object_metadata& node,
                             const std::vector<kai_pod>& pods,
                             const std::set<std::string_view>& awaited, diagnostics& out) {
    const kai_reserved reserved = reserved_by_kai_pods(pods);
    for (shared_device& each : to.devices) {
        const bool has_sharers = each.used.slots > 0;
        std::string why;
        if (const auto fault = reserved.faults.find(each.id); fault != reserved.faults.end())
            why = fault->second;
        else if (has_sharers && !reserved.known.contains(each.id))
            why = "it has sharers, and no reservation pod on the node names its GPU (expected "
                  "annotation " +
                  std::string(kai_fractions::gpu_key) + ")";
        // KAI deletes its reservation pods when they have no sharers.
        each.healthy = why.empty() && (has_sharers || awaited.contains(each.id));
        if (!why.empty())
            report(out, severity::warning, node.where, {"metadata"},
                   "node " + node.key.name + ": GPU group " + each.id + " gets no pods: " + why);
    }
}

} // namespace detail

/// Returns the memory of each GPU of a node in MiB, rounded down to a multiple of 100. A label of
/// 1048576 or more is in bytes. Without a label the memory is 100, as in KAI, so that a fraction
/// becomes a percentage.
[[nodiscard]] inline std::int64_t kai_gpu_memory(const object_metadata& node, diagnostics& out) {
    constexpr std::int64_t without_label = 100;
    constexpr std::int64_t mib = 1024 * 1024;
    const metadata_text at(node, "node", kai_fractions::memory_label, out, "labels");
    if (!at.is_present())
        return without_label;
    const auto number =
        detail::whole_number(at.text(), 0, std::numeric_limits<std::int64_t>::max());
    if (!number) {
        at.warning(
            in_quotes(at.text()) +
            " is not an amount of memory (expected a whole number of MiB); it counts as 100");
        return without_label;
    }
    const std::int64_t memory = *number < mib ? *number : *number / mib;
    return memory - memory % 100;
}

/// Returns the GPUs of a node of KAI: one device for each group of sharers, with the group as its
/// id; one for each GPU that a pod uses alone; and the idle ones. The id of an idle device starts
/// with `idle_prefix`; when a pod shares it, a new group replaces the id. `allocatable`: amount of
/// nvidia.com/gpu. KAI has no hardware ids: kubelet assigns a GPU to the reservation pod.
/// A group gets pods only if its reservation pod names a GPU that no other group has and is not
/// ending, or awaits its first sharer; otherwise the pods would get another GPU than the sharers
/// have. Warns of groups that get no pods. O(pods × groups × devices).
[[nodiscard]] inline node_shares kai_devices(const object_metadata& node, std::int64_t allocatable,
                                             const std::vector<kai_pod>& pods, diagnostics& out) {
    node_shares made{node.key.name, {}, {}};
    const std::int64_t memory = kai_gpu_memory(node, out);
    const auto device = [&](std::string id) {
        shared_device one;
        one.id = std::move(id);
        one.memory = memory;
        return one;
    };
    const auto count = std::clamp<std::int64_t>(allocatable, 0, kai_fractions::most_gpus);
    const std::string* const mig = node.labels.find(kai_fractions::mig_label);
    if (mig && detail::go_boolean(*mig).value_or(false))
        made.blocked =
            "node " + node.key.name + " has GPUs with partitions (MIG), which are not modelled";
    std::int64_t whole = 0;
    std::set<std::string_view> awaited;
    for (const kai_pod& pod : pods) {
        if (pod.has_ended)
            continue;
        if (!pod.unread.empty() && made.blocked.empty())
            made.blocked = pod.unread;
        whole = saturating_add(whole, pod.whole);
        for (const std::string& group : pod.groups) {
            if (pod.awaits_sharers)
                awaited.insert(group);
            shared_device* found = made.find(group);
            if (found == nullptr) {
                made.devices.push_back(device(group));
                found = &made.devices.back();
            }
            if (!pod.share)
                continue;
            found->used.slots = saturating_add(found->used.slots, 1);
            found->used.memory = saturating_add(found->used.memory, units_of(*pod.share, memory));
        }
    }
    detail::close_kai_groups(made, node, pods, awaited, out);
    const auto groups = static_cast<std::int64_t>(made.devices.size());
    whole = std::min(whole, kai_fractions::most_gpus);
    for (std::int64_t index = 0; index < whole; ++index) {
        made.devices.push_back(device("whole/" + std::to_string(index)));
        made.devices.back().used = {1, memory, 0};
        made.devices.back().healthy = false;
    }
    for (std::int64_t index = 0; index < count - groups - whole; ++index)
        made.devices.push_back(
            device(std::string(kai_fractions::idle_prefix) + std::to_string(index)));
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
