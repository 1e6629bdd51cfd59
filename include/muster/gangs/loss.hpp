// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <muster/base/assert.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// What a translation could not carry over.
enum class loss_kind : std::uint8_t {
    /// The number of members that start together.
    total_minimum,
    /// How many of each role must be among them.
    role_minima,
    /// How many subgroups must reach their minima.
    subgroup_minima,
    /// Subgroups of subgroups.
    nesting,
    /// Parts become gangs of their own: one may start without the other.
    all_or_nothing,
    /// Members in several namespaces.
    namespaces,
    queue,
    priority,
    preemptibility,
    timeout,
    min_resources,
    /// A part of a device.
    device_share,
    topology_required,
    topology_preferred,
    /// Which members count towards a minimum, and what becomes of those that wait.
    matching,
    /// The order in which parts start.
    startup_order,
    /// What happens after the start: restarts, success rules, clean up.
    lifecycle,
    /// What the job's own controller puts into its pods, or makes for them: commands, files,
    /// claims.
    pod_contents,
    /// A name was shortened or changed to be legal there.
    name,
    /// Labels, annotations and owners of an object that the target makes none for.
    metadata,
};

/// Stable: what programs may compare.
[[nodiscard]] constexpr std::string_view to_text(loss_kind what) {
    switch (what) {
    case loss_kind::total_minimum:
        return "total-minimum";
    case loss_kind::role_minima:
        return "role-minima";
    case loss_kind::subgroup_minima:
        return "subgroup-minima";
    case loss_kind::nesting:
        return "nesting";
    case loss_kind::all_or_nothing:
        return "all-or-nothing";
    case loss_kind::namespaces:
        return "namespaces";
    case loss_kind::queue:
        return "queue";
    case loss_kind::priority:
        return "priority";
    case loss_kind::preemptibility:
        return "preemptibility";
    case loss_kind::timeout:
        return "timeout";
    case loss_kind::min_resources:
        return "min-resources";
    case loss_kind::device_share:
        return "device-share";
    case loss_kind::topology_required:
        return "topology-required";
    case loss_kind::topology_preferred:
        return "topology-preferred";
    case loss_kind::matching:
        return "matching";
    case loss_kind::startup_order:
        return "startup-order";
    case loss_kind::lifecycle:
        return "lifecycle";
    case loss_kind::pod_contents:
        return "pod-contents";
    case loss_kind::name:
        return "name";
    case loss_kind::metadata:
        return "metadata";
    }
    MUSTER_ASSERT(false, "all kinds of losses are above");
    return {};
}

/// One thing that was said in the source and cannot be said in the target.
struct loss {
    loss_kind what = loss_kind::total_minimum;
    std::string object; ///< kind namespace/name of the source
    std::string detail; ///< what was asked for, and what it becomes

    [[nodiscard]] friend bool operator==(const loss&, const loss&) = default;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
