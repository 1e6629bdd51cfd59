// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {

/// Room kept for a gang that waits.
template<std::size_t Width>
struct reservation {
    /// What nobody else may take of a node: never more than the gang needs there, and more than is
    /// free where somebody stands in its way.
    struct part {
        node_index node;
        resources<Width> amount;

        [[nodiscard]] friend bool operator==(const part&, const part&) = default;
    };

    handle<gang_tag> owner;
    /// When the gang is planned to start; absent = as soon as those in its way have gone, which
    /// nobody knows.
    std::optional<std::int64_t> start;
    std::vector<part> parts;
    /// The owner's queue, and what nobody else may take of its quota.
    std::optional<queue_index> queue;
    resources<Width> quota;

    [[nodiscard]] friend bool operator==(const reservation&, const reservation&) = default;
};

} // namespace muster::inline v0_1
