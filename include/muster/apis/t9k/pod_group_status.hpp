// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_amounts.hpp>
#include <muster/base/timestamp.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What the status of a T9k PodGroup is made from.
struct group_standing {
    const pod_group_object* object = nullptr;
    /// All members, in the order of their names.
    std::vector<const pod_object*> members;
    /// Those of them that take room on a node.
    std::vector<const pod_object*> allocated;
    /// Enough members exist for every minimum.
    bool sufficient = false;
    /// Enough of them hold a node, or have succeeded.
    bool scheduled = false;
};

namespace detail {

/// 64 bits of a text: FNV-1a, then the finaliser of splitmix64, which spreads the last bytes.
[[nodiscard]] inline std::uint64_t status_hash(std::string_view text, std::uint64_t seed) {
    std::uint64_t value = 0xcbf29ce484222325ULL ^ seed;
    for (const char c : text) {
        value ^= static_cast<unsigned char>(c);
        value *= 0x100000001b3ULL;
    }
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31U);
}

/// A version 8 UUID (RFC 9562: made in the application's own way) for one change of a condition.
/// It depends on nothing but what changed, so that the same plan twice says the same.
[[nodiscard]] inline std::string transition_id(const std::string& uid, const std::string& type,
                                               const std::string& previous) {
    std::string text;
    for (const std::string* part : {&uid, &type, &previous})
        text += std::to_string(part->size()) + ':' + *part;
    std::uint64_t high = status_hash(text, 0);
    std::uint64_t low = status_hash(text, 0x9e3779b97f4a7c15ULL);
    high = (high & ~std::uint64_t{0xf000}) | 0x8000U;
    low = (low & ~(std::uint64_t{3} << 62U)) | (std::uint64_t{2} << 62U);
    std::string id;
    for (std::size_t digit = 0; digit < 32; ++digit) {
        if (digit == 8 || digit == 12 || digit == 16 || digit == 20)
            id += '-';
        const std::uint64_t half = digit < 16 ? high : low;
        id += "0123456789abcdef"[half >> (60U - 4U * (digit % 16U)) & 15U];
    }
    return id;
}

[[nodiscard]] inline boost::json::object condition_of(const pod_group_object& group, condition made,
                                                      timestamp now) {
    const auto before = std::ranges::find(group.conditions, made.type, &condition::type);
    const bool known = before != group.conditions.end();
    const bool same = known && before->is_true == made.is_true;
    made.changed = same && before->changed ? before->changed : now;
    if (same)
        made.transition_id = before->transition_id;
    if (made.transition_id.empty()) {
        const object_key& key = group.metadata.key;
        made.transition_id = transition_id(
            group.metadata.uid.empty() ? key.name_space + "/" + key.name : group.metadata.uid,
            made.type, known ? before->transition_id : "");
    }
    boost::json::object out;
    out["lastTransitionTime"] = time_text(*made.changed);
    if (!made.message.empty())
        out["message"] = made.message;
    out["reason"] = made.reason;
    out["status"] = made.is_true ? "True" : "False";
    out["transitionID"] = made.transition_id;
    out["type"] = made.type;
    return out;
}

} // namespace detail

/// As T9k writes `status` of a scheduler.tensorstack.dev/v1beta1 PodGroup.
[[nodiscard]] inline boost::json::object status_of(const group_standing& group, timestamp now) {
    const pod_group_object& object = *group.object;
    const bool ever =
        group.scheduled || std::ranges::any_of(object.conditions, [](const condition& one) {
            return one.type == "GroupScheduled" && one.is_true;
        });

    condition sufficient;
    sufficient.type = "SufficientGroupMember";
    sufficient.is_true = group.sufficient;
    sufficient.reason = group.sufficient ? "SufficientMemberPods" : "InsufficientMemberPod";
    if (!group.sufficient)
        sufficient.message = "Insufficient members in PodGroup, waiting for more";
    condition scheduled;
    scheduled.type = "GroupScheduled";
    scheduled.is_true = ever;
    scheduled.reason = ever ? "PodGroupScheduled" : "GroupNotScheduled";
    if (ever)
        scheduled.message = "Resources have been allocated to PodGroup";

    boost::json::object out;
    if (boost::json::object allocated = resource_list(sum_of(group.allocated)); !allocated.empty())
        out["allocated"] = std::move(allocated);
    boost::json::array conditions;
    conditions.push_back(detail::condition_of(object, std::move(sufficient), now));
    conditions.push_back(detail::condition_of(object, std::move(scheduled), now));
    out["conditions"] = std::move(conditions);
    for (const std::string_view phase : {"Pending", "Running", "Succeeded", "Failed", "Unknown"}) {
        const auto count = std::ranges::count_if(
            group.members, [&](const pod_object* pod) { return pod->api_phase == phase; });
        std::string name(phase);
        name.front() = static_cast<char>(name.front() - 'A' + 'a');
        if (count > 0)
            out[name] = count;
    }
    return out;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
