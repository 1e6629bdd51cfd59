// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace muster {
inline namespace v0_1 {

/// A dense index into the records of one state, one type per kind of record so that a node is
/// never taken for a pod. Indexes of removed records are used again; across calls keep a `handle`.
template<class Tag>
class index_of {
public:
    constexpr index_of() = default;
    constexpr explicit index_of(std::size_t value) noexcept
        : value_(static_cast<std::uint32_t>(value)) {}

    [[nodiscard]] constexpr std::size_t value() const noexcept { return value_; }
    [[nodiscard]] friend constexpr auto operator<=>(index_of, index_of) = default;

private:
    std::uint32_t value_ = 0;
};

/// An index and the generation of what stood there: a handle of a removed record is found stale
/// instead of naming the next one.
template<class Tag>
struct handle {
    index_of<Tag> index;
    std::uint32_t generation = 0;

    [[nodiscard]] friend constexpr bool operator==(handle, handle) = default;
};

using node_index = index_of<struct node_tag>;
using pod_index = index_of<struct pod_tag>;
using gang_index = index_of<struct gang_tag>;
using queue_index = index_of<struct queue_tag>;
/// A disruption budget.
using budget_index = index_of<struct budget_tag>;
/// A resource kind: a column of every amount vector.
using kind_id = index_of<struct kind_tag>;
/// A vertex of a gang's tree; the root is 0.
using vertex_index = index_of<struct vertex_tag>;
/// An interned set of placement constraints.
using constraint_index = index_of<struct constraint_tag>;
/// An interned topology, and a domain of it.
using topology_index = index_of<struct topology_tag>;
using domain_index = index_of<struct domain_tag>;
/// An interned request together with its placement constraints.
using shape_index = index_of<struct shape_tag>;

} // namespace v0_1
} // namespace muster
