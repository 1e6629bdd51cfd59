// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/input/membership.hpp>

namespace cli {

/// Where the plan puts pods.
using placements = std::map<muster::codec::object_key, std::string>;

/// What a plan breaks, judged from the objects alone and by none of the code that made it: a node
/// or a queue that holds more than it has, a node that the pod may not use, a port given twice, a
/// pod moved, part of a group. Pods that are `gone` take no room and are no members any more; a
/// group may lose some or all, but not be left below its minimum.
[[nodiscard]] std::vector<std::string>
violations_of(const muster::codec::manifests& objects,
              const std::map<muster::codec::group_key, muster::codec::group_facts>& groups,
              const placements& placed, const std::string& queue_namespace,
              const std::set<muster::codec::object_key>& gone = {});

} // namespace cli
