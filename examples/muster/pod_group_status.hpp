// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/base/timestamp.hpp>
#include <muster/codec/objects.hpp>

namespace cli {

/// What the status of a PodGroup is made from, as the plan leaves it.
struct group_standing {
    const muster::codec::pod_group_object* object = nullptr;
    /// All members, in the order of their names.
    std::vector<const muster::codec::pod_object*> members;
    /// Those of them that take room on a node.
    std::vector<const muster::codec::pod_object*> allocated;
    /// Enough members exist for every minimum.
    bool sufficient = false;
    /// Enough of them hold a node, or have succeeded.
    bool scheduled = false;
};

/// As T9k writes `status` of a scheduler.tensorstack.dev/v1beta1 PodGroup.
[[nodiscard]] boost::json::object status_of(const group_standing& group,
                                            muster::codec::timestamp now);

using muster::time_text;

} // namespace cli
