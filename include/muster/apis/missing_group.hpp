// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <muster/apis/grove/names.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_keys.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

[[nodiscard]] inline std::string missing_group_text(std::string_view kind, const object_key& group,
                                                    std::string_view version,
                                                    const std::string& mark) {
    return "there is no " + std::string(kind) + " " + group.name + " of " + std::string(version) +
           " in namespace " + group.name_space + ": " + mark + " names it";
}

} // namespace detail

/// Returns what is missing if no object is the group of T9k's that the label of a pod names.
[[nodiscard]] inline std::string missing_t9k_group_text(const object_key& group) {
    return detail::missing_group_text("PodGroup", group, "scheduler.tensorstack.dev/v1beta1",
                                      "label " + std::string(translate::keys::t9k_group));
}

/// Returns what is missing if no object in the namespace is the group that a pod claims: "there is
/// no PodGroup g of scheduling.volcano.sh/v1beta1 in namespace n: annotation
/// scheduling.k8s.io/group-name names it".
[[nodiscard]] inline std::string missing_group_text(const translate::gang_claim& claim,
                                                    const std::string& name_space) {
    using translate::gang_api;
    namespace keys = translate::keys;
    const object_key group{name_space, claim.group};
    const std::string key(claim.key);
    const std::string label = "label " + key;
    const std::string annotation = "annotation " + key;
    switch (claim.api) {
    case gang_api::t9k:
        return missing_t9k_group_text(group);
    case gang_api::coscheduling:
        return detail::missing_group_text("PodGroup", group,
                                          claim.key == keys::plugins_group
                                              ? "scheduling.x-k8s.io/v1alpha1"
                                              : "scheduling.sigs.k8s.io/v1alpha1",
                                          claim.key == keys::koord_name ? annotation : label);
    case gang_api::volcano:
        return detail::missing_group_text("PodGroup", group, "scheduling.volcano.sh/v1beta1",
                                          annotation);
    case gang_api::kai:
        return detail::missing_group_text("PodGroup", group, "scheduling.run.ai/v2alpha2",
                                          annotation);
    case gang_api::workload: {
        const std::size_t slash = claim.group.find('/');
        if (slash == std::string::npos)
            return detail::missing_group_text("PodGroup", group,
                                              "scheduling.k8s.io/v1alpha2 or later", key);
        return detail::missing_group_text(
            "pod group " + claim.group.substr(slash + 1) + " in Workload",
            {name_space, claim.group.substr(0, slash)}, "scheduling.k8s.io/v1alpha1", key);
    }
    case gang_api::grove:
        return detail::missing_group_text("PodGang", group, translate::grove::scheduler_api_version,
                                          label);
    case gang_api::kueue:
    case gang_api::none:
        break;
    }
    return "there is no group " + claim.group + " in namespace " + name_space + ": " + key +
           " names it";
}

} // namespace codec
} // namespace v0_1
} // namespace muster
