// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/base/compilation.hpp>
#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/any_policy.hpp>
#include <muster/cycle/cycle_options.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/policy.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {

/// Runs one scheduling cycle at time `now`, in the caller's unit. Asks waiting gangs in the order
/// of queues, and within a queue in the order of gangs. Starts each gang that fits, whole or not at
/// all, and commits its placements as assumed. Writes to `result`, whose memory is reused, the
/// answers that changed since the last cycle (in kind or gate) and those that place or evict pods,
/// in the order in which they were made.
///
/// Greedy placement is tried for every gang that is asked. If the cycle's budget ends before a gang
/// has had its full `budget::per_gang`, the gang is `undecided`, and the next cycle reserves a
/// share of its budget for the gang.
///
/// Equal state, `now`, policy and budget give an equal result, whatever the order of the events
/// that built the state. A state is at rest if nothing happened since the last cycle and that cycle
/// left no gang for the next one. At rest, no gang is asked again, even with another policy or
/// budget: an undecided gang is asked again when something happens.
///
/// O(1) at rest; otherwise a few nanoseconds for every waiting gang, plus the cost of
/// `admission::decide` for every gang whose answer may have changed.
template<class Traits>
void cycle(cluster_state<Traits>& cluster, std::int64_t now, const any_policy<Traits>& how,
           budget limit, cycle_options options, cycle_result& result);

/// The same with a `policy` of any types, which is converted.
template<class Traits, cycle_policy<Traits> Policy>
void cycle(cluster_state<Traits>& cluster, std::int64_t now, const Policy& how, budget limit,
           cycle_options options, cycle_result& result) {
    cycle(cluster, now, any_policy<Traits>(how), limit, options, result);
}

/// The same, returning a new result.
template<class Traits, cycle_policy<Traits> Policy = policy<>>
cycle_result cycle(cluster_state<Traits>& cluster, std::int64_t now, const Policy& how = {},
                   budget limit = {}, cycle_options options = {}) {
    cycle_result result;
    cycle(cluster, now, how, limit, options, result);
    return result;
}

/// Returns the result that `cycle` would give, and does not change the state. Copies the state:
/// O(state) more than `cycle`.
template<class Traits, cycle_policy<Traits> Policy = policy<>>
[[nodiscard]] cycle_result preview(const cluster_state<Traits>& cluster, std::int64_t now,
                                   const Policy& how = {}, budget limit = {},
                                   cycle_options options = {}) {
    cluster_state<Traits> copy = cluster;
    return cycle(copy, now, how, limit, options);
}

/// Updates the index with the changes since the last decision, so that the next decision need not.
/// For schedulers with spare time between events and decisions. Changes no answer. O(changes · log
/// nodes).
template<class Traits>
void catch_up(cluster_state<Traits>& cluster, const any_policy<Traits>& how);

template<class Traits, cycle_policy<Traits> Policy>
void catch_up(cluster_state<Traits>& cluster, const Policy& how) {
    catch_up(cluster, any_policy<Traits>(how));
}

/// Returns the size in bytes of the index that is kept with the state for this policy's score,
/// including its map of nodes, but not the records of the state. O(nodes / fan-out).
template<class Traits>
[[nodiscard]] std::size_t index_bytes(cluster_state<Traits>& cluster,
                                      const any_policy<Traits>& how);

template<class Traits, cycle_policy<Traits> Policy>
[[nodiscard]] std::size_t index_bytes(cluster_state<Traits>& cluster, const Policy& how) {
    return index_bytes(cluster, any_policy<Traits>(how));
}

/// Decides one gang immediately, whatever other gangs wait, and commits its placements as assumed
/// if it starts. For schedulers with an order of their own. Evicts no pods. `result` then contains
/// exactly one decision. Costs as much as `admission::decide`, and O(log nodes) for each node that
/// changed since the last call.
template<class Traits>
void start(cluster_state<Traits>& cluster, gang_index which, const any_policy<Traits>& how,
           budget limit, cycle_result& result);

/// The same with a `policy` of any types, which each call converts. Keep an `any_policy` if you
/// call start() for every gang.
template<class Traits, cycle_policy<Traits> Policy>
void start(cluster_state<Traits>& cluster, gang_index which, const Policy& how, budget limit,
           cycle_result& result) {
    start(cluster, which, any_policy<Traits>(how), limit, result);
}

} // namespace v0_1
} // namespace muster

#ifndef MUSTER_SEPARATE_COMPILATION
#include <muster/cycle/cycle_inl.hpp>
#endif
