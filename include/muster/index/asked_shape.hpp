// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/model/constraints.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {
namespace detail {

/// A shape under a queue's node selector, as the index is asked about it.
template<std::size_t Width, class Query>
struct asked_shape {
    static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    shape_index shape;
    std::uint64_t stamp = 0;
    std::optional<constraint_index> queue_nodes;
    std::uint64_t queue_stamp = 0;
    resources<Width> request;
    Query prepared;
    std::size_t predicate = 0;
    const std::vector<host_port>* ports = nullptr;
    std::int64_t room = unknown;
    bool remembered = false;
    /// The emptied cluster has room for at least and at most so many; and no node of those
    /// counted for more than `largest`.
    std::int64_t holds_least = 0;
    std::int64_t holds_most = unknown;
    std::int64_t largest = 0;
    std::uint32_t next = none;

    void forget_emptied() noexcept {
        holds_least = largest = 0;
        holds_most = unknown;
    }
};

} // namespace detail
} // namespace muster::inline v0_1
