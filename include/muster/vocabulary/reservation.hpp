// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Room reserved for a gang that waits.
template<std::size_t Width>
struct reservation {
    /// The reserved amount of a node: at most what the gang needs there. It is above the free
    /// amount if other pods must leave first.
    struct part {
        node_index node;
        resources<Width> amount;

        [[nodiscard]] friend bool operator==(const part&, const part&) = default;
    };

    handle<gang_tag> owner;
    /// Planned start of the gang; absent = once the pods that occupy its room have left, at an
    /// unknown time.
    std::optional<std::int64_t> start;
    std::vector<part> parts;
    /// The owner's queue, and the reserved part of its quota.
    std::optional<queue_index> queue;
    resources<Width> quota;

    [[nodiscard]] friend bool operator==(const reservation&, const reservation&) = default;
};

} // namespace v0_1
} // namespace muster
