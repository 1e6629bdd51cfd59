// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <muster/resource/resources.hpp>
#include <muster/vocabulary/device_rule.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/taints.hpp>

namespace muster {
inline namespace v0_1 {

/// A node: its allocatable amounts, and the properties that decide which pods it accepts.
template<std::size_t Width>
struct node {
    resources<Width> allocatable{};
    label_set labels{};
    std::vector<taint> taints{};
    /// Cordoned: only pods that tolerate `unschedulable_taint_key` are placed.
    bool unschedulable = false;
    /// The devices to which `node_claims::devices` of its pods refers; see device_rule.
    device_stock devices = device_stock::none;
    /// Matched by `metadata.name` field selectors only; may be empty.
    std::string name{};

    friend bool operator==(const node&, const node&) = default;
};

} // namespace v0_1
} // namespace muster
