// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/policy/gang_order_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// The higher priority first, then the older.
struct priority_then_age {
    static constexpr bool timeless = true;

    [[nodiscard]] constexpr bool operator()(gang_rank lhs, gang_rank rhs,
                                            std::int64_t) const noexcept {
        if (lhs.priority != rhs.priority)
            return lhs.priority > rhs.priority;
        return lhs.created < rhs.created;
    }

    [[nodiscard]] friend constexpr bool operator==(priority_then_age,
                                                   priority_then_age) noexcept = default;
};

/// Waiting counts: every `per_point` units of time in line weigh as much as a point of priority.
/// Since all age alike, the order of two gangs never changes. `per_point` is positive.
struct aging {
    static constexpr bool timeless = true;

    std::int64_t per_point = 3600;

    [[nodiscard]] constexpr bool operator()(gang_rank lhs, gang_rank rhs,
                                            std::int64_t now) const noexcept {
        const int128 left = static_cast<int128>(lhs.priority) * per_point - lhs.created;
        const int128 right = static_cast<int128>(rhs.priority) * per_point - rhs.created;
        return left != right ? left > right : priority_then_age{}(lhs, rhs, now);
    }

    [[nodiscard]] friend constexpr bool operator==(aging, aging) noexcept = default;
};

/// Among gangs of one priority those that lack their minima go before the surplus of others; equals
/// by `Then`. For a `surplus_rule` with turns of its own.
template<gang_order Then = priority_then_age>
struct minima_first {
    static constexpr bool timeless = timeless_order<Then>;

    [[no_unique_address]] Then then{};

    [[nodiscard]] constexpr bool operator()(gang_rank lhs, gang_rank rhs,
                                            std::int64_t now) const noexcept {
        if (lhs.priority != rhs.priority)
            return lhs.priority > rhs.priority;
        return lhs.surplus != rhs.surplus ? rhs.surplus : then(lhs, rhs, now);
    }

    [[nodiscard]] friend constexpr bool operator==(minima_first, minima_first) noexcept = default;
};

/// The earliest `start_by` first; gangs without one come after all others. Equals by `Then`.
/// Earliest deadline first (Liu and Layland, JACM 1973).
template<gang_order Then = priority_then_age>
struct earliest_deadline {
    static constexpr bool timeless = timeless_order<Then>;

    [[no_unique_address]] Then then{};

    [[nodiscard]] constexpr bool operator()(gang_rank lhs, gang_rank rhs,
                                            std::int64_t now) const noexcept {
        return lhs.start_by != rhs.start_by ? lhs.start_by < rhs.start_by : then(lhs, rhs, now);
    }

    [[nodiscard]] friend constexpr bool operator==(earliest_deadline,
                                                   earliest_deadline) noexcept = default;
};

/// Gangs whose `start_by` has passed go first, in the order of `start_by`; all others by `Then`
/// (Volcano's plugin `sla`).
template<gang_order Then = priority_then_age>
struct overdue_first {
    [[no_unique_address]] Then then{};

    [[nodiscard]] constexpr bool operator()(gang_rank lhs, gang_rank rhs,
                                            std::int64_t now) const noexcept {
        const bool left = lhs.start_by < now;
        const bool right = rhs.start_by < now;
        if (left != right)
            return left;
        return left && lhs.start_by != rhs.start_by ? lhs.start_by < rhs.start_by
                                                    : then(lhs, rhs, now);
    }

    [[nodiscard]] friend constexpr bool operator==(overdue_first, overdue_first) noexcept = default;
};

/// Shortest remaining time first (Schrage, Operations Research 1968): the declared duration minus
/// the time since the first running member started. Gangs without a declared duration come last.
/// Ties by `Then`.
template<gang_order Then = priority_then_age>
struct shortest_first {
    [[no_unique_address]] Then then{};

    [[nodiscard]] constexpr bool operator()(gang_rank lhs, gang_rank rhs,
                                            std::int64_t now) const noexcept {
        const std::int64_t left = lhs.remaining(now);
        const std::int64_t right = rhs.remaining(now);
        return left != right ? left < right : then(lhs, rhs, now);
    }

    [[nodiscard]] friend constexpr bool operator==(shortest_first,
                                                   shortest_first) noexcept = default;
};

static_assert(gang_order<priority_then_age> && gang_order<aging> &&
              gang_order<earliest_deadline<>> && gang_order<overdue_first<>> &&
              gang_order<shortest_first<>>);
static_assert(!gang_order<int>);
static_assert(timeless_order<aging> && !timeless_order<overdue_first<>> &&
              !timeless_order<shortest_first<>>);

} // namespace v0_1
} // namespace muster
