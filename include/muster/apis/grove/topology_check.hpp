// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/grove/set.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Something that a set asks of its topology and cannot have.
struct grove_topology_fault {
    std::string field; ///< below spec.template
    std::string message;
};

namespace detail {

class grove_topology_check {
public:
    explicit grove_topology_check(const grove_topology& within) : within_(within) {}

    /// `parent` is where the nearest constraint around it requires to stay; returns where this one
    /// does.
    std::optional<std::size_t> look_at(const grove_packing& packing, const std::string& field,
                                       std::optional<std::size_t> parent) {
        const auto required = level(packing.required, field + ".pack.required");
        const auto preferred = level(packing.preferred, field + ".pack.preferred");
        for (const auto own : {required, preferred})
            if (own && parent && *own < *parent)
                faults_.push_back({field, "'" + within_.levels[*own].domain +
                                              "' is broader than '" +
                                              within_.levels[*parent].domain +
                                              "' around it (expected that or narrower)"});
        return required ? required : parent;
    }

    [[nodiscard]] std::vector<grove_topology_fault> done() && { return std::move(faults_); }

private:
    std::optional<std::size_t> level(std::string_view domain, const std::string& field) {
        if (domain.empty())
            return std::nullopt;
        const auto at = std::ranges::find(within_.levels, domain, &grove_topology::level::domain);
        if (at != within_.levels.end())
            return static_cast<std::size_t>(at - within_.levels.begin());
        std::string known;
        for (const grove_topology::level& each : within_.levels)
            known += " " + each.domain;
        faults_.push_back({field, "'" + std::string(domain) + "' is no domain of the topology '" +
                                      within_.name + "' (expected one of" + known + ")"});
        return std::nullopt;
    }

    const grove_topology& within_;
    std::vector<grove_topology_fault> faults_;
};

} // namespace detail

/// Domains that a topology does not have, and constraints that are broader than those around them:
/// a clique's within its scaling group's, that within the set's.
[[nodiscard]] inline std::vector<grove_topology_fault>
grove_topology_faults(const grove_set& set, const grove_topology& within) {
    detail::grove_topology_check check(within);
    const auto whole = check.look_at(set.packing, "topologyConstraint", std::nullopt);
    std::vector<std::optional<std::size_t>> groups;
    for (const grove_scaling_group& each : set.groups)
        groups.push_back(check.look_at(
            each.packing,
            "podCliqueScalingGroups[" + std::string(each.name) + "].topologyConstraint", whole));
    for (const grove_clique& each : set.cliques)
        static_cast<void>(check.look_at(
            each.packing, "cliques[" + std::string(each.name) + "].topologyConstraint",
            each.group ? groups[*each.group] : whole));
    return std::move(check).done();
}

} // namespace translate
} // namespace v0_1
} // namespace muster
