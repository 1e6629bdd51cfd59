// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Zone and region labels of volumes and nodes: the deprecated key and its replacement.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 2> zone_labels{{
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
}};

/// Splits the value of a zone label. Two underscores separate several zones.
[[nodiscard]] inline std::vector<std::string> zones_in(std::string_view value) {
    std::vector<std::string> zones;
    for (std::size_t at = 0; at <= value.size();) {
        const std::size_t end = std::min(value.find("__", at), value.size());
        zones.emplace_back(value.substr(at, end - at));
        at = end + 2;
    }
    return zones;
}

[[nodiscard]] inline label_requirement requirement(std::string_view key, label_operator op,
                                                   std::vector<std::string> values = {}) {
    label_requirement made;
    made.key = key;
    made.op = op;
    made.values = std::move(values);
    return made;
}

} // namespace detail

/// Returns the nodes that the zone and region labels of a volume allow, or nullopt if the volume
/// has no such label (Kubernetes VolumeZone). A node is allowed if it has a matching value for each
/// of these labels, or has no zone or region label at all. A deprecated label of the volume also
/// matches the replacement label of a node that lacks the deprecated one.
[[nodiscard]] inline std::optional<std::vector<node_term>> zone_terms(const volume_object& of) {
    using detail::requirement;
    std::vector<node_term> terms(1);
    for (const auto& [old_key, key] : detail::zone_labels)
        for (const std::string_view own : {old_key, key}) {
            const std::string* const value = of.metadata.labels.find(own);
            if (!value)
                continue;
            const std::vector<std::string> zones = detail::zones_in(*value);
            std::vector<node_term> extended;
            for (node_term& each : terms) {
                if (own == old_key) {
                    node_term renamed = each;
                    renamed.labels.requirements.push_back(
                        requirement(old_key, label_operator::does_not_exist));
                    renamed.labels.requirements.push_back(
                        requirement(key, label_operator::in, zones));
                    extended.push_back(std::move(renamed));
                }
                each.labels.requirements.push_back(requirement(own, label_operator::in, zones));
                extended.push_back(std::move(each));
            }
            terms = std::move(extended);
        }
    if (terms.front().labels.requirements.empty())
        return std::nullopt;
    node_term without;
    for (const auto& [old_key, key] : detail::zone_labels)
        for (const std::string_view each : {old_key, key})
            without.labels.requirements.push_back(
                requirement(each, label_operator::does_not_exist));
    terms.push_back(std::move(without));
    return terms;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
