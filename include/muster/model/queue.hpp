// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/model/labels.hpp>
#include <muster/resource/limits.hpp>

namespace muster::inline v0_1 {

/// A queue: the ceiling on what its pods hold, its rank, and who may use it.
template<std::size_t Width>
struct queue {
    limits<Width> quota{};
    std::int64_t priority = 0;
    /// No new gangs; those that already hold something may complete.
    bool closed = false;
    /// A gang that does not fit blocks those behind it.
    bool strict_order = false;
    /// Tenants that may use the queue; absent = nobody, a selector without requirements =
    /// everybody.
    std::optional<label_selector> tenants = label_selector{};
    /// Nodes that the queue's pods may use; no requirement = all.
    label_selector nodes{};
};

} // namespace muster::inline v0_1
