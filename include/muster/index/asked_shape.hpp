// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/index/empty_cluster_room.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/constraints.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// What the finder keeps of a shape under a queue's node selector: the prepared query, the
/// predicate, and bounds on the room for it.
template<std::size_t Width, class Query>
struct asked_shape {
    static constexpr std::int64_t unknown = empty_cluster_room::unknown;
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    shape_index shape;
    std::uint64_t stamp = 0;
    std::optional<constraint_index> queue_nodes;
    std::uint64_t queue_stamp = 0;
    resources<Width> request;
    Query prepared;
    std::size_t predicate = 0;
    const node_claims* claims = nullptr;
    std::int64_t room = unknown;
    bool remembered = false;
    empty_cluster_room when_empty;
    std::uint32_t next = none;
};

/// All pairs of a shape and a queue's node selector that were asked for. Each pair has a number,
/// which does not change.
template<std::size_t Width, class Query>
class asked_shapes {
public:
    using asked = asked_shape<Width, Query>;

    [[nodiscard]] asked& operator[](std::uint32_t at) noexcept { return all_[at]; }
    [[nodiscard]] const asked& operator[](std::uint32_t at) const noexcept { return all_[at]; }
    [[nodiscard]] auto begin() noexcept { return all_.begin(); }
    [[nodiscard]] auto end() noexcept { return all_.end(); }
    [[nodiscard]] std::uint32_t number_of(const asked& about) const noexcept {
        return static_cast<std::uint32_t>(&about - all_.data());
    }

    /// Returns the entry of the shape under the selector, with these stamps. The entry has nothing
    /// prepared if the pair is new, or if the number of the shape or of the selector was reused
    /// since (a stamp differs). O(selectors that the shape was asked for with).
    [[nodiscard]] asked& find(shape_index shape, std::uint64_t stamp,
                              std::optional<constraint_index> queue_nodes,
                              std::uint64_t queue_stamp) {
        if (first_of_.size() <= shape.value())
            first_of_.resize(shape.value() + 1, asked::none);
        std::uint32_t at = first_of_[shape.value()];
        while (at != asked::none && all_[at].queue_nodes != queue_nodes)
            at = all_[at].next;
        if (at == asked::none) {
            at = static_cast<std::uint32_t>(all_.size());
            all_.push_back({});
            all_[at].next = std::exchange(first_of_[shape.value()], at);
        } else if (all_[at].stamp == stamp && all_[at].queue_stamp == queue_stamp) {
            return all_[at];
        }
        asked fresh;
        fresh.next = all_[at].next;
        fresh.remembered = all_[at].remembered;
        fresh.shape = shape;
        fresh.stamp = stamp;
        fresh.queue_nodes = queue_nodes;
        fresh.queue_stamp = queue_stamp;
        return all_[at] = fresh;
    }

private:
    sequence<asked> all_;
    /// Per shape: its first entry. The others follow by `next`.
    detail::sequence<std::uint32_t> first_of_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
