// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/assert.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/reason.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// One constraint that a reason can name.
struct named_constraint {
    reason_code code = reason_code::insufficient_resource;
    std::optional<kind_id> kind;
    /// Index into `gang_members::topology`.
    std::size_t together = 0;

    void set(constraints_in_force& force, bool on) const noexcept {
        const std::uint64_t bit = kind ? std::uint64_t{1} << kind->value() : 0;
        switch (code) {
        case reason_code::insufficient_resource:
            force.resources = on ? force.resources | bit : force.resources & ~bit;
            break;
        case reason_code::quota_exceeded:
            force.quotas = on ? force.quotas | bit : force.quotas & ~bit;
            break;
        case reason_code::node_selector_mismatch:
            force.selector = on;
            break;
        case reason_code::volume_out_of_reach:
            force.volumes = on;
            break;
        case reason_code::untolerated_taint:
            force.taints = on;
            break;
        case reason_code::node_unschedulable:
            force.cordon = on;
            break;
        case reason_code::topology_fragmented: {
            const std::uint64_t which = std::uint64_t{1} << std::min<std::size_t>(together, 63);
            force.topologies = on ? force.topologies | which : force.topologies & ~which;
            break;
        }
        case reason_code::host_port_taken:
            force.ports = on;
            break;
        case reason_code::devices_taken:
            force.devices = on;
            break;
        default:
            MUSTER_ASSERT(false, "not a constraint");
        }
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
