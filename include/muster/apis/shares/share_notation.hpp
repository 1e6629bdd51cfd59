// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/kai/fractions/pod_shares.hpp>
#include <muster/apis/openb/pod_requests.hpp>
#include <muster/apis/shares/device_shares.hpp>
#include <muster/apis/shares/share_demand.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Returns the system whose scheduler serves a device_share; nullopt if its notation is not read.
[[nodiscard]] constexpr std::optional<share_system>
share_system_named(std::string_view scheduler) noexcept {
    return scheduler == "HAMi"          ? std::optional(share_system::hami)
           : scheduler == "Volcano"     ? std::optional(share_system::volcano)
           : scheduler == "Koordinator" ? std::optional(share_system::koordinator)
           : scheduler == "KAI"         ? std::optional(share_system::kai)
           : scheduler == "openb"       ? std::optional(share_system::openb)
                                        : std::nullopt;
}

[[nodiscard]] inline bool shares_by_kai(const object_metadata& pod) {
    return pod.annotations.find(kai_fractions::fraction_key) ||
           pod.annotations.find(kai_fractions::memory_key) ||
           pod.labels.find(kai_fractions::group_label);
}
[[nodiscard]] inline bool shares_by_openb(const object_metadata& pod) {
    return pod.annotations.find(openb::milli_key) != nullptr;
}

/// Returns the systems in whose notations a pod requests shares of GPUs. Plain GPUs belong to no
/// notation. O(containers × resources).
[[nodiscard]] inline std::set<share_system>
notations_of(const object_metadata& pod, const std::vector<container_resources>& containers) {
    std::set<share_system> used;
    for (const container_resources& container : containers)
        for (const named_amounts* const list :
             {&container.amounts.requests, &container.amounts.limits})
            for (const auto& each : *list)
                if (const auto* const share = detail::find_share_resource(each.first))
                    if (const auto system = share_system_named(share->scheduler))
                        used.insert(*system);
    if (shares_by_kai(pod))
        used.insert(share_system::kai);
    if (shares_by_openb(pod))
        used.insert(share_system::openb);
    return used;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
