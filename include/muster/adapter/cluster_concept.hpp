// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <muster/adapter/cluster_view.hpp>
#include <muster/adapter/instant.hpp>
#include <muster/adapter/sightings.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/vocabulary/traits.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// How good the view of a cluster is, after everything that had arrived was applied to it.
struct view_status {
    /// Every stream has been listed in full since this term began, the pods last or once more
    /// after all others, and all of that is in the view. Once true, it stays so while the term
    /// lasts: a later relist is applied as a whole when it is complete.
    bool synced = false;
    /// Something was told to the view in this call.
    bool changed = false;
    /// The steady time at which the view was last known to be whole: that of the call while every
    /// stream is open and none was silent for longer than the cluster itself finds suspicious; else
    /// the time at which the first of those that are not was last known to be well.
    std::int64_t as_of = 0;
    /// Number of times that leadership was gained; 0 = never. Without elections: 1.
    std::uint64_t term = 0;
};

/// A cluster that a `driver` runs against: the source of observed objects, and the target of
/// orders, whose results come later. No call blocks, whatever the network does. One thread makes
/// all calls. A model is free in its use of time, sockets and threads; the driver reads the time
/// only from `now`.
///
///   now()                  The current time.
///   observe(view)          Applies everything that arrived since the last call to the view.
///                          Returns how complete the view is then.
///                          - Each stream (nodes, queues, gangs, pods) in the order in which its
///                            objects changed; between streams in any order.
///                          - First listings and relists between `begin_listing` and
///                            `end_listing`, complete, in one call, never in halves. A relist
///                            because of a gap (HTTP 410, a lost watch) is reported as a relist,
///                            not as single events.
///                          - Intermediate states may be left out, the last one may not. Only the
///                            uid distinguishes successive objects of the same name.
///                          - Pods that have ended are reported until their objects are deleted.
///                          - Other schedulers' pods are reported too (`seen_pod::ours`).
///                          When a term begins, every stream is listed again, with reads that are
///                          no older than the term. `synced` is false until these are applied.
///   may_write()            True if this instance leads and may start a write now: never later than
///                          (start of the last successful renewal + renewal deadline) on the steady
///                          clock. The cluster checks this again before it sends an order, and
///                          answers `not_started` if it is false.
///   prepare, ungate, bind, evict, patch_status, record_event
///                          Accept orders for writes. The span is read before the call returns.
///                          Each order gets one result, in `take_results`: a model ends orders that
///                          take too long by its own deadline and answers `unknown`.
///                          - An order is carried out at most once. A model may retry only if the
///                            server certainly did nothing; it need not, since the driver retries.
///                          - A write has the uid as precondition. It never touches another object
///                            of that name.
///                          - Orders for different objects may overtake each other.
///   nominate               Optional. Accepts orders as the others do; an order is sent before
///                          a bind of the same pod.
///   where_is, is_current   Accept questions, answered in `take_results` by reads that see every
///                          write whose result was returned before the question. They do not
///                          depend on `may_write`.
///   would_change(gang, status)
///                          True if `patch_status` would change the gang's object as it was last
///                          observed. False if it would write nothing.
///   take_results(into)     Appends the results that have arrived since the last call.
///   ask_listing()          Asks for a fresh listing of nodes, pods and gangs, for a comparison.
///   take_listing(into)     Returns true and the listing once it has arrived, else false.
///   relist()               Lists everything again, because the view was found to be wrong.
///                          `observe` reports the lists as after a gap.
template<class Cluster>
concept cluster = state_traits<typename Cluster::traits> &&
    requires(Cluster& of, const Cluster& seen, cluster_view<typename Cluster::traits>& view,
             std::span<const prepare_order<typename Cluster::traits>> prepares,
             std::span<const ungate_order<typename Cluster::traits>> ungates,
             std::span<const bind_order<typename Cluster::traits>> binds,
             std::span<const evict_order<typename Cluster::traits>> evictions,
             std::span<const status_order<typename Cluster::traits>> statuses,
             std::span<const event_order<typename Cluster::traits>> events,
             std::span<const where_is_order<typename Cluster::traits>> pods,
             std::span<const is_current_order<typename Cluster::traits>> gangs,
             const typename Cluster::traits::gang_key& gang, const gang_status& status,
             std::vector<order_result<typename Cluster::traits>>& results,
             listing<typename Cluster::traits>& all) {
    { seen.now() } -> std::same_as<instant>;
    { of.observe(view) } -> std::same_as<view_status>;
    { seen.may_write() } -> std::same_as<bool>;
    of.prepare(prepares);
    of.ungate(ungates);
    of.bind(binds);
    of.evict(evictions);
    of.patch_status(statuses);
    of.record_event(events);
    of.where_is(pods);
    of.is_current(gangs);
    { seen.would_change(gang, status) } -> std::same_as<bool>;
    of.take_results(results);
    of.ask_listing();
    { of.take_listing(all) } -> std::same_as<bool>;
    of.relist();
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
