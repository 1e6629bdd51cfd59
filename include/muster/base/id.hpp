// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace muster {
inline namespace v0_1 {

/// A dense index into the records of one state. Each kind of record has its own index type, so a
/// node index does not convert to a pod index. Indices of removed records are reused: across
/// events, keep a `handle`.
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

/// An index or nothing, in the room of an index. Use it in records of which there are many; it has
/// what `std::optional<index_of<Tag>>` has, and converts from and to it. The greatest value of an
/// index means no record.
template<class Tag>
class optional_index {
public:
    using value_type = index_of<Tag>;

    constexpr optional_index() noexcept = default;
    constexpr optional_index(std::nullopt_t) noexcept {}
    constexpr optional_index(value_type value) noexcept : value_(value) {}
    constexpr optional_index(const std::optional<value_type>& from) noexcept
        : value_(from.value_or(none)) {}

    [[nodiscard]] constexpr operator std::optional<value_type>() const noexcept {
        return has_value() ? std::optional(value_) : std::nullopt;
    }
    [[nodiscard]] constexpr bool has_value() const noexcept { return value_ != none; }
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] constexpr const value_type& operator*() const noexcept { return value_; }
    [[nodiscard]] constexpr const value_type* operator->() const noexcept { return &value_; }
    constexpr void reset() noexcept { value_ = none; }

    [[nodiscard]] friend constexpr bool operator==(optional_index, optional_index) = default;
    [[nodiscard]] friend constexpr bool operator==(optional_index lhs, value_type rhs) noexcept {
        return lhs.value_ == rhs;
    }

private:
    static constexpr value_type none{std::numeric_limits<std::uint32_t>::max()};
    value_type value_ = none;
};

/// An index and the generation of its record. After the record is removed the handle is stale, and
/// does not refer to a new record at the same index.
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
/// An interned topology.
using topology_index = index_of<struct topology_tag>;
/// A domain of a topology.
using domain_index = index_of<struct domain_tag>;
/// An interned pair of a request and placement constraints.
using shape_index = index_of<struct shape_tag>;

} // namespace v0_1
} // namespace muster
