// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <muster/base/id.hpp>
#include <muster/index/weights.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/device_rule.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {

/// A node that a pod fits, as it is passed to a score. It holds references that are valid during
/// the call.
template<std::size_t Width>
struct offered_node {
    node_index node;
    /// The allocatable amounts of the node, and its free amounts.
    const resources<Width>& capacity;
    const resources<Width>& free;
    /// The weight of each kind when amounts are compared.
    const placement_weights<Width>& weights;
    /// The pod's request, and the constraints on its node.
    const resources<Width>& request;
    const constraints& pod;
    /// The gang of the pod. Null only if the score is computed for no gang.
    const gang<queue_index>* of = nullptr;
    /// The devices of the node, and the demands held there (see device_rule).
    device_stock devices = device_stock::none;
    std::span<const device_demand> held{};
};

} // namespace v0_1
} // namespace muster
