// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {

/// The phase of a pod, as observed.
enum class pod_phase : std::uint8_t {
    /// Waits for a node.
    pending,
    /// Has a scheduling gate: not a member yet.
    gated,
    /// Has a node, does not run yet.
    bound,
    running,
    succeeded,
    failed,
    unknown,
};

/// A member of a gang. Its gang and role never change.
template<std::size_t Width>
struct pod {
    vertex_index role{};
    resources<Width> request{};
    constraints where{};
    /// Creation time in the caller's unit; older goes first among equals.
    std::int64_t created = 0;
    /// When it started to run, in the caller's unit; absent = unknown, or not yet. With the gang's
    /// declared duration it says when it will have ended.
    std::optional<std::int64_t> started{};
    pod_phase phase = pod_phase::pending;
    /// Being deleted: no member any more, yet it occupies its node until it is gone.
    bool terminating = false;
    /// The labels by which terms of other pods select it, with the tenant of its gang.
    label_set labels{};
    /// False for one that runs but is known not to serve: no budget counts it as available
    /// (Kubernetes: its condition Ready is False).
    bool ready = true;
};

} // namespace v0_1
} // namespace muster
