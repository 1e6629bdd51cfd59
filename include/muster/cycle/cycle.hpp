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

/// One scheduling cycle at time `now` (the caller's unit): asks the gangs in the order of queues
/// and within them, starts those that fit, whole or not at all, and commits what starts as
/// assumed. Answers into `result`, whose memory is used again: the answers that changed since the
/// last cycle (in kind or gate) or that place something, in the order in which they were made.
///
/// Every gang asked gets the greedy try. When the cycle's budget ends before a gang has had its
/// own, the gang is undecided, and the next cycle keeps its share for it.
///
/// The same state, now, policy and budget give the same result, whatever the order of the events
/// that built the state. A state at rest is at rest for any policy and budget: what they left
/// undecided is asked again when something happens. O(1) when nothing happened since the last
/// cycle; else a few nanoseconds for every gang that waits, plus what `admission::decide` costs for
/// every gang whose answer may have changed.
template<class Traits>
void cycle(cluster_state<Traits>& cluster, std::int64_t now, const any_policy<Traits>& how,
           budget limit, cycle_options options, cycle_result& result);

/// The same with a policy of other types.
template<class Traits, cycle_policy<Traits> Policy>
void cycle(cluster_state<Traits>& cluster, std::int64_t now, const Policy& how, budget limit,
           cycle_options options, cycle_result& result) {
    cycle(cluster, now, any_policy<Traits>(how), limit, options, result);
}

/// The same with a result of its own.
template<class Traits, cycle_policy<Traits> Policy = policy<>>
cycle_result cycle(cluster_state<Traits>& cluster, std::int64_t now, const Policy& how = {},
                   budget limit = {}, cycle_options options = {}) {
    cycle_result result;
    cycle(cluster, now, how, limit, options, result);
    return result;
}

/// The pure form: the same answers, and the state untouched. O(state) more than `cycle`.
template<class Traits, cycle_policy<Traits> Policy = policy<>>
[[nodiscard]] cycle_result preview(const cluster_state<Traits>& cluster, std::int64_t now,
                                   const Policy& how = {}, budget limit = {},
                                   cycle_options options = {}) {
    cluster_state<Traits> copy = cluster;
    return cycle(copy, now, how, limit, options);
}

/// Follows in the index what happened since the last decision, so that the next one need not: for
/// schedulers that have time to spare between events and decisions. Changes no answer.
/// O(changes · log nodes).
template<class Traits>
void catch_up(cluster_state<Traits>& cluster, const any_policy<Traits>& how);

template<class Traits, cycle_policy<Traits> Policy>
void catch_up(cluster_state<Traits>& cluster, const Policy& how) {
    catch_up(cluster, any_policy<Traits>(how));
}

/// Bytes of the index that is kept with the state for this policy's score, with its map of nodes;
/// the model's own records apart. O(nodes / fan-out).
template<class Traits>
[[nodiscard]] std::size_t index_bytes(cluster_state<Traits>& cluster,
                                      const any_policy<Traits>& how);

template<class Traits, cycle_policy<Traits> Policy>
[[nodiscard]] std::size_t index_bytes(cluster_state<Traits>& cluster, const Policy& how) {
    return index_bytes(cluster, any_policy<Traits>(how));
}

/// Decides one gang at once, whichever gangs wait besides, and commits it as assumed if it starts:
/// for schedulers that keep an order of their own. Evicts no pod. The answer is the only decision
/// in `result`. Costs what `admission::decide` does, and O(log nodes) for each node that changed
/// since the last call.
template<class Traits>
void start(cluster_state<Traits>& cluster, gang_index which, const any_policy<Traits>& how,
           budget limit, cycle_result& result);

/// The same with a policy of other types, which each call converts. Keep an `any_policy` if you
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
