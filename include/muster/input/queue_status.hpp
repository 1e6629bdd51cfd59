// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_amounts.hpp>
#include <muster/base/checked.hpp>
#include <muster/input/membership.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What the status of a T9k Queue is made from.
struct queue_standing {
    /// Of its groups; a pod that names the queue and no group is a group of its own.
    std::vector<const pod_object*> pods;
    std::size_t groups = 0;
};

/// Every queue that groups name, as a cluster's objects stand. O(pods · log queues).
[[nodiscard]] inline std::map<std::string, queue_standing>
queue_standings(const manifests& objects, const group_map& groups) {
    std::map<std::string, queue_standing> standings;
    for (const auto& [key, facts] : groups) {
        queue_standing& of = standings[facts.queue];
        ++of.groups;
        for (const std::size_t at : facts.members)
            of.pods.push_back(&objects.pods[at]);
    }
    return standings;
}

/// As T9k writes `status` of a scheduler.tensorstack.dev/v1beta1 Queue: what its pods hold, whether
/// it is closed, whether it uses more than 90 % of its quota of some kind, how many groups it has
/// (pods without a group count as one each), and its pods by their phases. O(pods · kinds).
[[nodiscard]] inline boost::json::object status_of(const queue_object& queue,
                                                   const queue_standing& standing) {
    std::vector<const pod_object*> holding;
    for (const pod_object* pod : standing.pods)
        if (is_allocated(*pod))
            holding.push_back(pod);
    const named_amounts used = sum_of(holding);
    std::string pressed;
    for (const auto& [kind, quota] : queue.quota) {
        const auto known = used.find(kind);
        const int128 milli = kind == "pods"        ? static_cast<int128>(holding.size()) * 1000
                             : known == used.end() ? int128{0}
                                                   : known->second.milli;
        const int128 all = kind == "cpu" ? int128{quota} : static_cast<int128>(quota) * 1000;
        if (milli * 10 > all * 9)
            pressed += (pressed.empty() ? "" : ", ") + kind;
    }
    const auto condition_of = [](std::string_view type, bool is, std::string_view reason,
                                 std::string_view message) {
        return boost::json::object{{"type", type},
                                   {"status", is ? "True" : "False"},
                                   {"reason", reason},
                                   {"message", message}};
    };
    boost::json::array conditions;
    conditions.push_back(queue.closed
                             ? condition_of("QueueClosed", true, "QueueClosed", "Queue is closed")
                             : condition_of("QueueClosed", false, "QueueOpen", "Queue is open"));
    conditions.push_back(pressed.empty()
                             ? condition_of("ResourcePressure", false, "QueueHasNoResourcePressure",
                                            "Queue has sufficient resource quota")
                             : condition_of("ResourcePressure", true, "QueueHasResourcePressure",
                                            "Queue uses more than 90% of its quota of " + pressed));
    boost::json::object pods;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> phases{{
        {"Failed", "failed"},
        {"Pending", "pending"},
        {"Running", "running"},
        {"Succeeded", "succeeded"},
        {"Unknown", "unknown"},
    }};
    for (const auto& each : phases)
        pods[each.second] = std::ranges::count_if(
            standing.pods, [&](const pod_object* pod) { return pod->api_phase == each.first; });
    boost::json::object out;
    out["allocated"] = resource_list(used);
    out["conditions"] = std::move(conditions);
    out["podGroups"] = boost::json::object{{"total", standing.groups}};
    out["pods"] = std::move(pods);
    return out;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
