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
#include <muster/model/traits.hpp>

namespace muster::inline v0_1 {
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
    /// Moves whenever leadership was gained, again or anew; 0 = never so far. Without elections: 1.
    std::uint64_t term = 0;
};

/// A cluster that a `driver` runs against: a source of sightings, and a place to send orders to,
/// which answer later. Nothing in it waits: every call returns at once, whatever the network does.
/// One thread calls it. What a model does with time, sockets and threads is its own affair; all a
/// driver knows of time is `now`.
///
///   now()                  When it is.
///   observe(view)          Tells the view everything that arrived since the last call, and how
///                          good the view is then.
///                          - Each stream (nodes, queues, gangs, pods) in the order in which its
///                            objects changed; between streams in any order.
///                          - First listings and relists between `begin_listing` and
///                            `end_listing`, complete, in one call, never in halves. A relist
///                            because of a gap (HTTP 410, a lost watch) is told as that, not as
///                            single events.
///                          - Intermediate states may be left out, the last may not. Objects of
///                            one name that follow each other are told apart by their uids alone.
///                          - Pods that have ended are told until their objects are gone.
///                          - Other schedulers' pods are told too (`seen_pod::ours`).
///                          When a term begins, every stream is listed again, with reads that are
///                          no older than the term, and `synced` is false until they are told.
///   may_write()            Leads, and may start a write at this moment: never after
///                          (last renewal that succeeded, counted from when it was sent, +
///                          renewal deadline) on the steady clock. The cluster asks that itself
///                          again when an order's turn comes to be sent, and answers `not_started`
///                          if not.
///   prepare, ungate, bind, evict, patch_status, record_event
///                          Take orders for writes. The span is read before the call returns. Each
///                          order has one result, in `take_results`, sooner or later: a model ends
///                          what takes too long by a deadline of its own and answers `unknown`.
///                          - An order is carried out at most once. A model may ask again by
///                            itself only where the server certainly did nothing, and does not
///                            need to: the driver retries.
///                          - A write has the uid as precondition. It never touches another object
///                            of that name.
///                          - Orders for different objects may overtake each other.
///   nominate               Optional: takes orders whose results are no matter, before the binds
///                          of the same pods.
///   where_is, is_current   Take questions, answered in the same way, by reads that see every write
///                          whose result was given before the question was asked. `may_write` is
///                          no matter.
///   would_change(gang, status)
///                          What `patch_status` would write differs from what the gang's object
///                          said when it was seen last. False where nothing would be written.
///   take_results(into)     Appends the results that have arrived since the last call.
///   ask_listing()          Asks for a fresh listing of nodes, pods and gangs, for a comparison.
///   take_listing(into)     True, and the listing, once it has arrived; false at most times.
///   relist()               The view was found to be wrong: lists everything again, to be told by
///                          `observe` as after a gap.
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
} // namespace muster::inline v0_1
