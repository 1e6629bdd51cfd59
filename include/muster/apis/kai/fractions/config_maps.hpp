// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/kai/fractions/pod_shares.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/object_metadata.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace kai_fractions {

/// Annotation with the prefix of the names of the ConfigMaps. KAI's admission webhook writes it,
/// and makes the container refer to the ConfigMaps, which is impossible once the pod exists.
inline constexpr std::string_view config_maps_key = "runai/shared-gpu-configmap";

} // namespace kai_fractions

/// The ConfigMaps from which the container of a fraction reads its GPUs.
struct kai_config_maps {
    /// The container refers to each key of this one.
    std::string by_key;
    /// The container imports it as a whole (`envFrom`).
    std::string imported;
    /// Why the pod names no ConfigMaps; empty if it names them.
    std::string missing;
};

/// Returns the ConfigMaps that a pod with a fraction names. `containers`: all containers of the
/// pod, init containers first. O(containers).
[[nodiscard]] inline kai_config_maps
kai_config_maps_of(const object_metadata& pod, const std::vector<container_resources>& containers) {
    const std::string* const prefix = pod.annotations.find(kai_fractions::config_maps_key);
    if (!prefix || prefix->empty())
        return {{},
                {},
                "annotation " + std::string(kai_fractions::config_maps_key) +
                    " is missing (expected the names of its ConfigMaps, as KAI's admission webhook "
                    "writes them)"};
    std::string place = "0";
    if (const std::string* const name = pod.annotations.find(kai_fractions::container_key)) {
        const auto found =
            std::find_if(containers.begin(), containers.end(),
                         [&](const container_resources& each) { return each.name == *name; });
        if (found == containers.end())
            return {{},
                    {},
                    "annotation " + std::string(kai_fractions::container_key) + ": " +
                        in_quotes(*name) + " is no container of the pod"};
        const auto starts_first = [](const container_resources& each) {
            return each.is_init || each.is_sidecar;
        };
        const auto first = starts_first(*found) ? containers.begin()
                                                : std::find_if_not(containers.begin(),
                                                                   containers.end(), starts_first);
        place = (starts_first(*found) ? "i" : "") + std::to_string(found - first);
    }
    const std::string name = *prefix + "-" + place;
    return {name, name + "-evar", {}};
}

/// Returns the part of each GPU that a share takes, as KAI writes it: `0.50`. A fraction is rounded
/// to hundredths, ties to the even digit; an amount of memory is rounded up to hundredths. At least
/// 0.01, where KAI writes 0.00: no container may use nothing.
[[nodiscard]] inline std::string kai_portion(const share_memory& share, std::int64_t gpu_memory) {
    std::int64_t hundredths = 100;
    if (const auto* const part = std::get_if<memory_part>(&share)) {
        const int128 scaled = int128{part->parts} * 200;
        const int128 doubled = scaled / part->of;
        const bool is_tie = scaled % part->of == 0 && doubled % 2 != 0;
        const int128 rounded = (doubled + 1) / 2;
        hundredths = saturate(is_tie && rounded % 2 != 0 ? rounded - 1 : rounded);
    } else if (const auto* const amount = std::get_if<memory_amount>(&share);
               amount && gpu_memory > 0) {
        hundredths = saturate((int128{amount->units} * 100 + gpu_memory - 1) / int128{gpu_memory});
    }
    hundredths = std::clamp<std::int64_t>(hundredths, 1, 100);
    const std::string rest = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + "." + (rest.size() < 2 ? "0" : "") + rest;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
