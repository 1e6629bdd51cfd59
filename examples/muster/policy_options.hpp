// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/cycle/any_policy.hpp>
#include <muster/policy/binpack.hpp>

namespace cli {

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

/// Puts gangs below their minima before the surplus of all other gangs. `Then` orders ties.
template<muster::gang_order Then>
struct surplus_last {
    static constexpr bool timeless = muster::timeless_order<Then>;
    Then then{};

    [[nodiscard]] bool operator()(const muster::gang_rank& lhs, const muster::gang_rank& rhs,
                                  std::int64_t now) const noexcept {
        return lhs.surplus != rhs.surplus ? rhs.surplus : then(lhs, rhs, now);
    }
    [[nodiscard]] friend bool operator==(const surplus_last&, const surplus_last&) = default;
};

/// Evicts by priority in the gang's own queue, and by `Reclaim` in other queues.
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
    [[nodiscard]] friend bool operator==(const preempt_or_reclaim&,
                                         const preempt_or_reclaim&) = default;
};

/// KAI's rule: evicts strictly in the order of victims, also for surplus.
struct kai_victims
    : muster::after_min_runtime<preempt_or_reclaim<muster::reclaim_what_is_due<true>>> {
    static constexpr bool by_fair_share = true;
    static constexpr bool in_order = true;
    static constexpr bool surplus_too = true;

    [[nodiscard]] friend bool operator==(const kai_victims&, const kai_victims&) = default;
};

/// KAI's rule: moves pods only for preemptible gangs, also for the surplus of such gangs.
struct kai_consolidation : muster::move_preemptible {
    static constexpr bool timeless = true;
    static constexpr bool surplus_too = true;

    [[nodiscard]] std::optional<muster::victim_terms> operator()(const muster::contender& by,
                                                                 const muster::contender& of,
                                                                 std::int64_t now) const noexcept {
        return by.preemptible ? muster::move_preemptible::operator()(by, of, now) : std::nullopt;
    }
    [[nodiscard]] friend bool operator==(const kai_consolidation&,
                                         const kai_consolidation&) = default;
};

/// The default options of a scheduler.
struct profile {
    queue_order_kind queues = queue_order_kind::priority;
    preemption_kind victims = preemption_kind::none;
    bool consolidates = false;
    surplus_kind surplus = surplus_kind::at_once;
};

/// The options from which a policy is made.
struct policy_options {
    score_kind score = score_kind::best_fit;
    /// Weights of resource kinds by column, for the scores most_allocated and least_allocated.
    muster::binpack packing{};
    order_kind order = order_kind::priority;
    queue_order_kind queue_order = queue_order_kind::priority;
    surplus_kind surplus = surplus_kind::at_once;
    backfill_kind backfill = backfill_kind::none;
    /// The number of gangs that may start ahead of a waiting gang; empty = no limit.
    std::optional<std::int64_t> bypasses;
    preemption_kind preempt = preemption_kind::none;
    bool consolidate = false;
    /// Pods are moved only for preemptible gangs, also for the surplus of such gangs.
    bool consolidate_as_kai = false;

    /// Pods may be evicted.
    [[nodiscard]] bool evicts() const noexcept { return preempt != preemption_kind::none; }

    template<class Traits>
    [[nodiscard]] operator muster::any_policy<Traits>() const {
        muster::any_policy<Traits> made;
        made.score = score_of<Traits::width>();
        made.gangs = gang_order();
        made.queues = queues();
        made.reservations = reservations();
        if (surplus != surplus_kind::at_once)
            made.surplus = muster::surplus_in_turn{1, surplus == surplus_kind::level};
        set_victims(made.victims);
        if (consolidate && consolidate_as_kai)
            made.consolidation = kai_consolidation{};
        else if (consolidate)
            made.consolidation = muster::move_preemptible{};
        return made;
    }

    template<std::size_t Width>
    [[nodiscard]] muster::any_score<Width> score_of() const {
        muster::binpack weighed = packing;
        switch (score) {
        case score_kind::most_allocated:
            weighed.which = muster::binpack::strategy::most_allocated;
            return weighed;
        case score_kind::least_allocated:
            weighed.which = muster::binpack::strategy::least_allocated;
            return weighed;
        case score_kind::worst_fit:
            return muster::worst_fit{};
        case score_kind::first_fit:
            return muster::first_fit{};
        case score_kind::best_fit:
            break;
        }
        return muster::best_fit{};
    }

private:
    /// An hour of waiting counts as much as one point of priority. Times are in nanoseconds.
    static constexpr muster::aging by_the_hour{3'600'000'000'000};

    [[nodiscard]] muster::any_gang_order gang_order() const {
        const bool turns = surplus != surplus_kind::at_once;
        using shortest = muster::shortest_first<>;
        switch (order) {
        case order_kind::aging:
            if (turns)
                return surplus_last<muster::aging>{by_the_hour};
            return by_the_hour;
        case order_kind::shortest:
            if (turns)
                return surplus_last<shortest>{};
            return shortest{};
        case order_kind::priority:
            break;
        }
        if (turns)
            return muster::minima_first<>{};
        return muster::priority_then_age{};
    }
    [[nodiscard]] muster::any_queue_order queues() const {
        switch (queue_order) {
        case queue_order_kind::weighted:
            return muster::weighted_share{};
        case queue_order_kind::deserved:
            return muster::deserved_first{};
        case queue_order_kind::fair_share:
            return muster::fair_share_first{};
        case queue_order_kind::due:
            return muster::priority_then_due{};
        case queue_order_kind::borrowing:
            return muster::borrowing_last{};
        case queue_order_kind::priority:
            break;
        }
        return muster::priority_then_share{};
    }
    [[nodiscard]] muster::any_reservation_rule reservations() const {
        switch (backfill) {
        case backfill_kind::easy:
            return muster::easy_backfill{bypasses};
        case backfill_kind::conservative: {
            muster::conservative_backfill rule;
            rule.bypasses = bypasses;
            return rule;
        }
        case backfill_kind::none:
            break;
        }
        if (bypasses)
            return muster::bounded_bypass{*bypasses};
        return muster::no_reservations{};
    }
    template<class Slot>
    void set_victims(Slot& victims) const {
        using namespace muster;
        switch (preempt) {
        case preemption_kind::queues:
            victims = after_min_runtime<t9k_preemption>{};
            break;
        case preemption_kind::own_queue:
            victims = after_min_runtime<priority_preemption>{};
            break;
        case preemption_kind::both:
            victims = after_min_runtime<t9k_preemption>{{true}};
            break;
        case preemption_kind::reclaim_fair_share:
            victims = kai_victims{};
            break;
        case preemption_kind::reclaim_deserved:
            victims = after_min_runtime<preempt_or_reclaim<reclaim_between_leaves>>{};
            break;
        case preemption_kind::as_queues_say:
            victims = muster::as_queues_say{};
            break;
        case preemption_kind::none:
            victims = retry_affinity{};
            break;
        }
    }
};

} // namespace cli
