// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/index/emptied_room.hpp>
#include <muster/model/constraints.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {
namespace detail {

/// A shape under a queue's node selector, as the index is asked about it.
template<std::size_t Width, class Query>
struct asked_shape {
    static constexpr std::int64_t unknown = emptied_room::unknown;
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
    emptied_room emptied;
    std::uint32_t next = none;
};

} // namespace detail
} // namespace muster::inline v0_1
