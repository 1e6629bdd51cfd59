// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/cycle/policy.hpp>

/// What each peer does, as policies of Muster.
namespace peer_cases {

/// Queues by fair share; packs; the minima of all gangs of a priority before their surplus, which
/// comes a member at a time, to the subgroup that has least.
struct kai_profile
    : muster::policy<muster::best_fit, muster::minima_first<>, muster::fair_share_first,
                     muster::no_reservations, muster::surplus_in_turn> {
    kai_profile() { surplus = {1, true}; }
};

/// Queues by priority, then by their share of what they are due; surplus a member at a time.
using volcano_profile =
    muster::policy<muster::best_fit, muster::minima_first<>, muster::priority_then_due,
                   muster::no_reservations, muster::surplus_in_turn>;

/// One queue, by priority and age.
using coscheduling_profile = muster::policy<>;

} // namespace peer_cases
