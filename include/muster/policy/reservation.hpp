// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/policy/reservation_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// No reservations: a gang that fits starts. Gangs may starve behind an endless stream of smaller
/// ones.
struct no_reservations {
    [[nodiscard]] constexpr std::size_t planned() const noexcept { return 0; }
    [[nodiscard]] constexpr std::optional<std::int64_t> patience() const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend constexpr bool operator==(no_reservations, no_reservations) = default;
};

/// EASY backfill: the first gang that waits has its start planned, and the others may go before it
/// as long as they do not delay that (Lifka, The ANL/IBM SP Scheduling System, JSSPP 1995). Where
/// what runs declares no durations there is nothing to plan from, and patience decides.
struct easy_backfill {
    std::optional<std::int64_t> bypasses{};

    [[nodiscard]] constexpr std::size_t planned() const noexcept { return 1; }
    [[nodiscard]] constexpr std::optional<std::int64_t> patience() const noexcept {
        return bypasses;
    }
    [[nodiscard]] friend constexpr bool operator==(easy_backfill, easy_backfill) = default;
};

/// Conservative backfill: plans the starts of the first `depth` waiting gangs, each so that it
/// delays no gang before it.
struct conservative_backfill {
    std::size_t depth = 16;
    std::optional<std::int64_t> bypasses{};

    [[nodiscard]] constexpr std::size_t planned() const noexcept { return depth; }
    [[nodiscard]] constexpr std::optional<std::int64_t> patience() const noexcept {
        return bypasses;
    }
    [[nodiscard]] friend constexpr bool operator==(conservative_backfill,
                                                   conservative_backfill) = default;
};

/// Without durations: so many may pass a waiting gang, then room is kept for it as it comes free.
struct bounded_bypass {
    std::int64_t bypasses = 64;

    [[nodiscard]] constexpr std::size_t planned() const noexcept { return 0; }
    [[nodiscard]] constexpr std::optional<std::int64_t> patience() const noexcept {
        return bypasses;
    }
    [[nodiscard]] friend constexpr bool operator==(bounded_bypass, bounded_bypass) = default;
};

static_assert(reservation_rule<no_reservations> && reservation_rule<easy_backfill> &&
              reservation_rule<conservative_backfill> && reservation_rule<bounded_bypass>);
static_assert(!reservation_rule<int>);

} // namespace v0_1
} // namespace muster
