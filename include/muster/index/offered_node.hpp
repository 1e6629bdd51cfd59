// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <muster/base/id.hpp>
#include <muster/index/weights.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {

/// A node that a pod fits, as a score looks at it. It holds references, for the time of one call.
template<std::size_t Width>
struct offered_node {
    node_index node;
    /// The allocatable amounts of the node, and what of them is free.
    const resources<Width>& capacity;
    const resources<Width>& free;
    /// By how much each kind counts when amounts are compared.
    const placement_weights<Width>& weights;
    /// What the pod requests and which nodes it may use.
    const resources<Width>& request;
    const constraints& pod;
    /// The gang of the pod. Null only if a node is asked about for no gang.
    const gang<queue_index>* of = nullptr;
};

} // namespace v0_1
} // namespace muster
