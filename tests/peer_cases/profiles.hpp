// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/cycle/policy.hpp>

/// What each peer does, as policies of Muster.
namespace peer_cases {

/// Packs; the minima of all gangs of a priority before their surplus, which comes a member at a
/// time, to the subgroup that has least.
struct kai_profile {
    muster::best_fit score{};
    muster::minima_first<> gangs{};
    muster::fair_share_first queues{};
    muster::no_reservations reservations{};
    muster::surplus_in_turn surplus{1, true};
};

/// Spreads no more than it packs in these tests; surplus a member at a time.
struct volcano_profile {
    muster::best_fit score{};
    muster::minima_first<> gangs{};
    muster::priority_then_due queues{};
    muster::no_reservations reservations{};
    muster::surplus_in_turn surplus{};
};

/// One queue, by priority and age.
struct coscheduling_profile : muster::policy<> {};

} // namespace peer_cases
