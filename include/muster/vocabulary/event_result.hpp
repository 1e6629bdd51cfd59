// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace muster {
inline namespace v0_1 {

/// The result of an event. If it is not `applied`, the state is unchanged.
enum class [[nodiscard]] event_result : std::uint8_t{
    applied,
    /// An amount is negative, an allocatable is above `largest_allocatable`, a weight is negative
    /// or above `largest_weight`, or a sum would overflow.
    out_of_range,
    /// The gang or role of a pod cannot change: delete the pod and create it again.
    immutable,
    /// No such pod, or not in a phase in which this can happen to it.
    unexpected,
    /// The role is no leaf of the gang's tree.
    no_such_role,
    /// The queue named as parent is the queue itself, or is below it.
    circular,
};

} // namespace v0_1
} // namespace muster
