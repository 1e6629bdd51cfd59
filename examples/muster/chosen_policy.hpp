// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/cycle/policy.hpp>
#include <muster/policy/binpack.hpp>

namespace cli {

// The policies of the library behind one type each, chosen at run time, so that everything below
// is compiled once per width.

enum class score_kind : std::uint8_t {
    best_fit,
    worst_fit,
    first_fit,
    most_allocated,
    least_allocated
};
enum class order_kind : std::uint8_t { priority, aging, shortest };
enum class queue_order_kind : std::uint8_t {
    priority,
    weighted,
    deserved,
    fair_share,
    due,
    borrowing
};
/// When members beyond the minima of a gang are placed.
enum class surplus_kind : std::uint8_t { at_once, in_turn, level };
enum class preemption_kind : std::uint8_t {
    none,
    queues,
    own_queue,
    both,
    reclaim_fair_share,
    reclaim_deserved,
    as_queues_say
};
enum class backfill_kind : std::uint8_t { none, easy, conservative };

struct chosen_score {
    score_kind which = score_kind::best_fit;
    /// Of what is most or least allocated.
    muster::binpack packing{};

    template<std::size_t Width>
    std::int64_t operator()(const muster::placement_weights<Width>& weights,
                            const muster::resources<Width>& capacity,
                            const muster::resources<Width>& free,
                            const muster::resources<Width>& request) const noexcept {
        switch (which) {
        case score_kind::most_allocated:
        case score_kind::least_allocated:
            return packing(weights, capacity, free, request);
        case score_kind::worst_fit:
            return muster::worst_fit{}(weights, free, request);
        case score_kind::first_fit:
            return muster::first_fit{}(weights, free, request);
        case score_kind::best_fit:
            break;
        }
        return muster::best_fit{}(weights, free, request);
    }

    [[nodiscard]] std::optional<muster::placement_order> kept_order() const noexcept {
        switch (which) {
        case score_kind::most_allocated:
        case score_kind::least_allocated:
            return std::nullopt;
        case score_kind::worst_fit:
            return muster::worst_fit::order;
        case score_kind::first_fit:
            return muster::first_fit::order;
        case score_kind::best_fit:
            break;
        }
        return muster::best_fit::order;
    }

    friend bool operator==(const chosen_score&, const chosen_score&) = default;
};

struct chosen_order {
    order_kind which = order_kind::priority;
    /// Of `aging`, in nanoseconds.
    std::int64_t per_point = 3'600'000'000'000;
    /// As `minima_first`: of one priority those that lack their minima go before others' surplus.
    bool minima_first = false;

    bool operator()(const muster::gang_rank& lhs, const muster::gang_rank& rhs,
                    std::int64_t now) const noexcept {
        if (minima_first && lhs.priority == rhs.priority && lhs.surplus != rhs.surplus)
            return rhs.surplus;
        switch (which) {
        case order_kind::aging:
            return muster::aging{per_point}(lhs, rhs, now);
        case order_kind::shortest:
            return muster::shortest_first<>{}(lhs, rhs, now);
        case order_kind::priority:
            break;
        }
        return muster::priority_then_age{}(lhs, rhs, now);
    }

    friend bool operator==(const chosen_order&, const chosen_order&) = default;
};

struct chosen_queue_order {
    queue_order_kind which = queue_order_kind::priority;

    [[nodiscard]] bool by_fair_share() const noexcept {
        return which == queue_order_kind::fair_share || which == queue_order_kind::due;
    }

    [[nodiscard]] bool counts_next_gang() const noexcept {
        return which == queue_order_kind::fair_share || which == queue_order_kind::borrowing;
    }

    bool operator()(const muster::queue_rank& lhs, const muster::queue_rank& rhs) const noexcept {
        switch (which) {
        case queue_order_kind::weighted:
            return muster::weighted_share{}(lhs, rhs);
        case queue_order_kind::deserved:
            return muster::deserved_first{}(lhs, rhs);
        case queue_order_kind::fair_share:
            return muster::fair_share_first{}(lhs, rhs);
        case queue_order_kind::due:
            return muster::priority_then_due{}(lhs, rhs);
        case queue_order_kind::borrowing:
            return muster::borrowing_last{}(lhs, rhs);
        case queue_order_kind::priority:
            break;
        }
        return muster::priority_then_share{}(lhs, rhs);
    }
};

struct chosen_reservations {
    backfill_kind which = backfill_kind::none;
    std::optional<std::int64_t> bypasses;

    [[nodiscard]] std::size_t planned() const noexcept {
        switch (which) {
        case backfill_kind::easy:
            return muster::easy_backfill{}.planned();
        case backfill_kind::conservative:
            return muster::conservative_backfill{}.planned();
        case backfill_kind::none:
            break;
        }
        return 0;
    }
    [[nodiscard]] std::optional<std::int64_t> patience() const noexcept { return bypasses; }

    friend bool operator==(const chosen_reservations&, const chosen_reservations&) = default;
};

struct chosen_surplus {
    surplus_kind which = surplus_kind::at_once;

    [[nodiscard]] bool takes_turns() const noexcept { return which != surplus_kind::at_once; }
    [[nodiscard]] muster::surplus_wish per_turn() const noexcept {
        if (!takes_turns())
            return muster::surplus_at_once{}.per_turn();
        return muster::surplus_in_turn{1, which == surplus_kind::level}.per_turn();
    }

    friend bool operator==(const chosen_surplus&, const chosen_surplus&) = default;
};

/// Of its own queue by priority, of others what `Reclaim` gives.
template<muster::victim_rule Reclaim>
struct preempt_or_reclaim {
    static constexpr bool none = false;
    static constexpr bool timeless = true;

    [[nodiscard]] std::optional<muster::victim_terms> operator()(const muster::contender& by,
                                                                 const muster::contender& of,
                                                                 std::int64_t now) const noexcept {
        return of.queue == by.queue ? muster::priority_preemption{}(by, of, now)
                                    : Reclaim{}(by, of, now);
    }
    friend bool operator==(const preempt_or_reclaim&, const preempt_or_reclaim&) = default;
};

/// Who has not run for as long as its queues say keeps its minima.
struct chosen_victims {
    static constexpr bool none = false;
    static constexpr bool timeless = false;
    preemption_kind which = preemption_kind::none;

    [[nodiscard]] bool spares_all() const noexcept { return which == preemption_kind::none; }
    [[nodiscard]] bool by_fair_share() const noexcept {
        return which == preemption_kind::reclaim_fair_share;
    }
    /// KAI's.
    [[nodiscard]] bool in_order() const noexcept {
        return which == preemption_kind::reclaim_fair_share;
    }
    [[nodiscard]] bool for_surplus() const noexcept { return in_order(); }
    [[nodiscard]] std::optional<muster::victim_terms> operator()(const muster::contender& by,
                                                                 const muster::contender& of,
                                                                 std::int64_t now) const noexcept {
        using namespace muster;
        switch (which) {
        case preemption_kind::queues:
            return after_min_runtime<t9k_preemption>{}(by, of, now);
        case preemption_kind::own_queue:
            return after_min_runtime<priority_preemption>{}(by, of, now);
        case preemption_kind::both:
            return after_min_runtime<t9k_preemption>{{true}}(by, of, now);
        case preemption_kind::reclaim_fair_share:
            return after_min_runtime<preempt_or_reclaim<reclaim_what_is_due<true>>>{}(by, of, now);
        case preemption_kind::reclaim_deserved:
            return after_min_runtime<preempt_or_reclaim<reclaim_between_leaves>>{}(by, of, now);
        case preemption_kind::as_queues_say:
            return as_queues_say{}(by, of, now);
        case preemption_kind::none:
            break;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::int64_t> next_change(const muster::contender& of,
                                                          std::int64_t now) const noexcept {
        return muster::after_min_runtime<muster::await_leavers>{}.next_change(of, now);
    }

    friend bool operator==(const chosen_victims&, const chosen_victims&) = default;
};

struct chosen_consolidation {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    bool on = false;
    /// For gangs alone that may be evicted themselves, and for their surplus, too.
    bool as_kai = false;

    [[nodiscard]] bool spares_all() const noexcept { return !on; }
    [[nodiscard]] bool for_surplus() const noexcept { return as_kai; }
    [[nodiscard]] std::optional<muster::victim_terms> operator()(const muster::contender& by,
                                                                 const muster::contender& of,
                                                                 std::int64_t now) const noexcept {
        return on && (by.preemptible || !as_kai) ? muster::move_preemptible{}(by, of, now)
                                                 : std::nullopt;
    }
    [[nodiscard]] std::optional<std::int64_t> kept_until(std::int64_t) const noexcept {
        return std::nullopt;
    }

    friend bool operator==(const chosen_consolidation&, const chosen_consolidation&) = default;
};

/// What a scheduler does by default, as far as options say it.
struct profile {
    queue_order_kind queues = queue_order_kind::priority;
    preemption_kind victims = preemption_kind::none;
    bool consolidates = false;
    surplus_kind surplus = surplus_kind::at_once;
};

struct chosen_policy {
    chosen_score score{};
    chosen_order gangs{};
    chosen_queue_order queues{};
    chosen_reservations reservations{};
    chosen_surplus surplus{};
    muster::most_packed domains{};
    chosen_victims victims{};
    chosen_consolidation consolidation{};
};

} // namespace cli
