// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/vocabulary/answer.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {

/// The outcome for one gang.
struct verdict {
    answer kind = answer::waiting;
    /// Where a gang that does not start was stopped.
    gate at = gate::none;
    /// Of a waiting gang: a placement in the empty cluster is known to exist.
    bool could_start = false;
    /// Of a gang that waits for room or quota, or never fits: the proof. Absent if a gate stopped
    /// the gang before the search.
    std::optional<certificate> proof;
    /// Steps that the search took.
    std::int64_t steps = 0;
};

} // namespace v0_1
} // namespace muster
