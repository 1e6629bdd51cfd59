// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/policy/gang_order_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Orders by priority, the highest first, then by creation time, the oldest first.
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

/// Orders by priority plus age: each `per_point` units of time since creation count as one point of
/// priority. Ties by `priority_then_age`. All gangs age at the same rate, so the order of two gangs
/// never changes. Precondition: `per_point` is positive.
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

/// Orders by priority. Within a priority, gangs below their minima precede the surplus of other
/// gangs. Ties by `Then`. Use it with a `surplus_rule` that places surplus in separate turns.
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

/// Earliest deadline first (Liu and Layland, JACM 1973): orders by `start_by`. Gangs without a
/// `start_by` come last. Ties by `Then`.
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

/// Gangs whose `start_by` has passed come first, ordered by `start_by`; other gangs by `Then`
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
