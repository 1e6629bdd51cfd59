// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <muster/adapter/sightings.hpp>
#include <muster/vocabulary/answer.hpp>
#include <muster/vocabulary/traits.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Identifies an order and its result. The driver chooses it and never uses it twice.
using ticket = std::uint64_t;

/// What became of an order.
enum class outcome : std::uint8_t {
    /// It is so: the server said that it did it. Of a question: yes.
    applied,
    /// Bind: the pod is assigned to a node already, this one or another (HTTP 409 "already
    /// assigned"). Other writes: the object changed meanwhile. Nothing was done.
    conflict,
    /// There is no such object (404). Nothing was done.
    gone,
    /// There is one of that name, with another uid (409 "UID in precondition"). Nothing was done.
    replaced,
    /// Bind: the pod has scheduling gates (409 "has non-empty .spec.schedulingGates"). Nothing was
    /// done.
    gated,
    /// The server will not do it however often it is asked (other 4xx: 400, 403, 413, 422).
    /// Nothing was done.
    refused,
    /// The server was too busy, and certainly did nothing (429, 503), or could not be connected to.
    transient,
    /// `may_write` was false when its turn came: no byte of it was sent.
    not_started,
    /// The order may have been carried out: the answer was lost, late or inconclusive (500, 502,
    /// 504, a connection that broke after the first byte was sent).
    unknown,
};

/// What became of the order with that ticket. Each order has one result, sooner or later.
template<class Traits>
struct order_result {
    ticket of = 0;
    outcome what = outcome::unknown;
    /// The server asked for that much time before it is asked again (Retry-After), in nanoseconds.
    std::optional<std::int64_t> retry_after{};
    /// Of `where_is`, when applied: the node that the pod is assigned to; absent = none.
    std::optional<typename Traits::node_key> on{};
    /// What the server said, for people; may stay empty.
    std::string message{};
};

/// Take the scheduler's own gate off a pod that has this uid. One that has none is `applied`.
template<class Traits>
struct ungate_order {
    ticket of = 0;
    typename Traits::pod_key pod{};
    object_uid uid;
};

/// Order to bind the volumes of the pod with this uid for a node, and to get its device claims
/// allocated there, before the pod is bound. All members of a gang that need it are ordered at
/// once. The result is `applied` once all of that is done, which may take minutes, `refused` if
/// some of it cannot be done or takes too long, and `not_started` if the pod is no longer to start
/// there. Volumes that were bound stay bound; devices are released.
template<class Traits>
struct prepare_order {
    ticket of = 0;
    typename Traits::pod_key pod{};
    object_uid uid;
    typename Traits::node_key node{};
};

/// Assign a pod that has this uid to a node.
template<class Traits>
struct bind_order {
    ticket of = 0;
    typename Traits::pod_key pod{};
    object_uid uid;
    typename Traits::node_key node{};
};

/// Why a pod is evicted.
enum class eviction_cause : std::uint8_t {
    /// Its gang never reached its minima, and cannot be completed.
    never_completed,
    /// Its gang was below its minima for longer than its policy allows.
    stale,
    /// For a gang of higher rank.
    preempted,
    /// To run elsewhere, so that another gang fits.
    moved,
    /// It is older than its queue lets pods get.
    too_old,
};

/// Evict a pod that has this uid. `applied` when it is on its way out, or out, by whomever.
template<class Traits>
struct evict_order {
    ticket of = 0;
    typename Traits::pod_key pod{};
    object_uid uid;
    eviction_cause why{};
};

/// How a gang stands, as observed: nothing in it comes from intent. What is not in here (text,
/// dialect) is for the cluster to add.
struct gang_status {
    /// Its minima were reached once. Never taken back.
    bool reached = false;
    /// Of what is observed, its minima are reached now.
    bool holds_minima = false;
    /// Members that count (`pod_record::alive`).
    std::int64_t alive = 0;
    /// Of them, those that have a node, or have succeeded.
    std::int64_t holding = 0;
    std::int64_t running = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    /// Members that have no node and want one, those of a gang that is held back among them.
    std::int64_t waiting = 0;
    /// While some wait: what the last decision said of them. `admitted` while their binds are on
    /// their way.
    std::optional<answer> verdict{};
    gate at = gate::none;
    /// The gang starts without the members that wait: the last decision found no node for them.
    bool surplus_waits = false;
    /// At `gate::volumes`, or with `surplus_waits`: only volumes and claims that are not ready
    /// hold members back.
    bool lacks_volumes = false;
    /// Set while the gang is held back after a failure: the outcome of the failed order. Then
    /// `verdict` is absent, and `message` is that of the failure.
    std::optional<outcome> held_after{};
    /// What is to be said of all that to people; may stay empty.
    std::string message{};

    [[nodiscard]] friend bool operator==(const gang_status&, const gang_status&) = default;
};

/// Order to write the node to which a pod is nominated until other pods have left it; without a
/// node, to remove the nomination. Informs other schedulers and autoscalers.
template<class Traits>
struct nominate_order {
    ticket of = 0;
    typename Traits::pod_key pod{};
    object_uid uid;
    std::optional<typename Traits::node_key> node{};
};

/// Write how a gang stands into its object that has this uid (or, where it has none, wherever the
/// cluster keeps such things).
template<class Traits>
struct status_order {
    ticket of = 0;
    typename Traits::gang_key gang{};
    object_uid uid;
    gang_status status;
};

/// What happened to a gang.
enum class event_reason : std::uint8_t {
    /// Members were bound, as many as `count` says.
    bound,
    /// A bind failed for good; `message` says why.
    bind_failed,
    /// It waits, and not for the reason that it waited for before.
    waiting,
    /// Members are evicted, as many as `count` says.
    evicted,
};

/// Tell people what happened to a gang.
template<class Traits>
struct event_order {
    ticket of = 0;
    typename Traits::gang_key gang{};
    object_uid uid;
    event_reason reason{};
    std::int64_t count = 0;
    gate at = gate::none;
    eviction_cause why{};
    std::string message{};
};

/// A question about one pod, to be answered by the server itself and not from any cache: is there
/// one with this uid (else `gone` or `replaced`), and where is it assigned?
template<class Traits>
struct where_is_order {
    ticket of = 0;
    typename Traits::pod_key pod{};
    object_uid uid;
};

/// A question about a gang's object, to be answered by the server itself: is it as the view had it
/// at the last `observe` (`applied`), has it changed (`conflict`: the view is to follow soon), or
/// is it `gone` or `replaced`? A gang without an object is `applied` at once.
template<class Traits>
struct is_current_order {
    ticket of = 0;
    typename Traits::gang_key gang{};
    object_uid uid;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
