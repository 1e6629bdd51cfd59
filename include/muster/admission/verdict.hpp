// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/admission/certificate.hpp>
#include <muster/model/answer.hpp>

namespace muster::inline v0_1 {

/// The outcome for one gang.
struct verdict {
    answer kind = answer::waiting;
    /// Where a gang that does not start was stopped.
    gate at = gate::none;
    /// Of a waiting gang: a placement in the emptied cluster is known to exist.
    bool could_start = false;
    /// Of a waiting or never gang that the search decided: the proof.
    std::optional<certificate> proof;
    /// Steps that the search took.
    std::int64_t steps = 0;
};

} // namespace muster::inline v0_1
