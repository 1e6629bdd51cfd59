// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/apis/core/objects.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

struct run_options {
    /// When the run begins; the newest time in the input, or the earliest creation of a job where
    /// that is later, without.
    std::optional<codec::timestamp> now;
    /// How long it goes on at most, in nanoseconds.
    std::int64_t until = std::int64_t{7} * 86'400 * 1'000'000'000;
    budget limit{};
    /// Running and ReplicaFailure keep their last value at a job's end, as in T9k's own sample.
    bool sample_conditions = false;
};

} // namespace sim
} // namespace v0_1
} // namespace muster
