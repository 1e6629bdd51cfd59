// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/cycle/policy.hpp>

/// What each peer does, as policies of Muster.
namespace peer_cases {

/// Queues by fair share; packs; the minima of all gangs of a priority before their surplus, which
/// comes a member at a time, to the subgroup that has least. KAI's actions differ in whom a gang
/// that waits may have evicted.
template<muster::victim_rule Victims>
struct kai_profile : muster::policy<muster::best_fit, muster::minima_first<>,
                                    muster::fair_share_first, muster::no_reservations,
                                    muster::surplus_in_turn, muster::most_packed, Victims> {
    kai_profile() { this->surplus = {1, true}; }
};
using kai_allocate = kai_profile<muster::for_surplus_too<muster::await_terminating>>;
using kai_preempt =
    kai_profile<muster::for_surplus_too<muster::newest_first<muster::priority_preemption>>>;
using kai_reclaim =
    kai_profile<muster::for_surplus_too<muster::newest_first<muster::kai_reclaim<true>>>>;

/// Moves whoever may be evicted at all, for whom that may happen, too.
struct move_for_preemptible : muster::move_preemptible {
    static constexpr bool surplus_too = true;

    [[nodiscard]] std::optional<muster::victim_terms> operator()(const muster::gang_view& by,
                                                                 const muster::gang_view& of,
                                                                 std::int64_t now) const noexcept {
        return by.preemptible ? muster::move_preemptible::operator()(by, of, now) : std::nullopt;
    }
    [[nodiscard]] friend bool operator==(const move_for_preemptible&,
                                         const move_for_preemptible&) = default;
};
struct kai_consolidate
    : muster::policy<muster::best_fit, muster::minima_first<>, muster::fair_share_first,
                     muster::no_reservations, muster::surplus_in_turn, muster::most_packed,
                     muster::no_eviction, move_for_preemptible> {
    kai_consolidate() { this->surplus = {1, true}; }
};

/// Queues by priority, then by their share of what they are due; surplus a member at a time.
template<muster::victim_rule Victims>
using volcano_profile =
    muster::policy<muster::best_fit, muster::minima_first<>, muster::priority_then_due,
                   muster::no_reservations, muster::surplus_in_turn, muster::most_packed, Victims>;

/// The same rule, of which gangs keep their minima where Volcano's plugin `gang` guards them.
template<muster::victim_rule Rule>
struct above_minima : Rule {
    bool guarded = true;

    [[nodiscard]] std::optional<muster::victim_terms> operator()(const muster::gang_view& by,
                                                                 const muster::gang_view& of,
                                                                 std::int64_t now) const noexcept {
        auto terms = Rule::operator()(by, of, now);
        if (terms)
            terms->only_surplus = terms->only_surplus || guarded;
        return terms;
    }
    [[nodiscard]] friend bool operator==(const above_minima&, const above_minima&) = default;
};
using volcano_allocate = volcano_profile<muster::no_eviction>;
using volcano_preempt = volcano_profile<above_minima<muster::priority_preemption>>;
/// By what queues deserve in so many words, as the plugin `capacity` has it; and by their weights,
/// as `proportion` does.
using volcano_reclaim = volcano_profile<above_minima<muster::volcano_reclaim>>;
using volcano_reclaim_by_weight = volcano_profile<above_minima<muster::kai_reclaim<true>>>;

/// One queue, by priority and age.
using coscheduling_profile = muster::policy<>;

} // namespace peer_cases
