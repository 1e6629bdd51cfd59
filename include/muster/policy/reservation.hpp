// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/policy/reservation_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// No reservations: a gang that fits starts. A gang may starve if smaller gangs keep arriving.
struct no_reservations {
    [[nodiscard]] constexpr std::size_t planned() const noexcept { return 0; }
    [[nodiscard]] constexpr std::optional<std::int64_t> max_bypasses() const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend constexpr bool operator==(no_reservations, no_reservations) = default;
};

/// EASY backfill (Lifka, The ANL/IBM SP Scheduling System, JSSPP 1995): plans the start of the
/// first waiting gang. Other gangs may start before it if they do not delay the planned start. If
/// pods without a declared duration are in the way, no start can be planned, and `bypasses`
/// applies: the number of gangs that may start ahead before room is reserved; absent = no limit.
struct easy_backfill {
    std::optional<std::int64_t> bypasses{};

    [[nodiscard]] constexpr std::size_t planned() const noexcept { return 1; }
    [[nodiscard]] constexpr std::optional<std::int64_t> max_bypasses() const noexcept {
        return bypasses;
    }
    [[nodiscard]] friend constexpr bool operator==(easy_backfill, easy_backfill) = default;
};

/// Conservative backfill: plans the starts of the first `depth` waiting gangs, each without delay
/// to the gangs before it. `bypasses`: as for `easy_backfill`.
struct conservative_backfill {
    std::size_t depth = 16;
    std::optional<std::int64_t> bypasses{};

    [[nodiscard]] constexpr std::size_t planned() const noexcept { return depth; }
    [[nodiscard]] constexpr std::optional<std::int64_t> max_bypasses() const noexcept {
        return bypasses;
    }
    [[nodiscard]] friend constexpr bool operator==(conservative_backfill,
                                                   conservative_backfill) = default;
};

/// Needs no declared durations: once `bypasses` gangs have started ahead of a waiting gang, room
/// that comes free is reserved for that gang.
struct bounded_bypass {
    std::int64_t bypasses = 64;

    [[nodiscard]] constexpr std::size_t planned() const noexcept { return 0; }
    [[nodiscard]] constexpr std::optional<std::int64_t> max_bypasses() const noexcept {
        return bypasses;
    }
    [[nodiscard]] friend constexpr bool operator==(bounded_bypass, bounded_bypass) = default;
};

static_assert(reservation_rule<no_reservations> && reservation_rule<easy_backfill> &&
              reservation_rule<conservative_backfill> && reservation_rule<bounded_bypass>);
static_assert(!reservation_rule<int>);

} // namespace v0_1
} // namespace muster
