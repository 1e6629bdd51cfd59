// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/adapter/writes.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Events at an API server, as a journal checker distinguishes them.
enum class api_action : std::uint8_t {
    created,  ///< a pod, with its gang
    prepared, ///< all volumes of a pod are bound
    ungated,
    bound,       ///< a pod to a node
    evicted,     ///< a pod is on its way out, by an order
    terminating, ///< the same, by another client
    removed,     ///< a pod
    running,
    succeeded,
    failed,
    refused_by_node, ///< a pod did not fit its node
    status,          ///< a gang's was written
    event,
    gang, ///< is new or changed
    gang_gone,
    node, ///< is new or changed
    node_gone,
    queue,   ///< is new or changed
    renewed, ///< the lease
};

/// One entry. `by` is the name of the client that gave the order or that holds the lease; empty for
/// all others.
struct api_entry {
    std::int64_t time = 0;
    api_action what{};
    std::string by{};
    std::string key{};
    std::string uid{};
    std::string node{};
    std::string gang{};
    /// Of an order: when it was sent.
    std::int64_t sent = 0;
    event_reason reason{};
    gang_status status{};
    /// Of a pod that was created what it asks for, of a node what it has, of a queue its quota with
    /// -1 for no limit.
    std::vector<std::int64_t> amounts{};
    /// Of a pod that was created: its role, and whether the schedulers under test are to bind it.
    std::size_t role = 0;
    bool ours = true;
    /// Of a gang.
    gang_tree tree{};
    std::string queue{};
};

/// Which order a fault is for.
enum class order_kind : std::uint8_t {
    any,
    prepare,
    ungate,
    bind,
    evict,
    status,
    event,
    where_is,
    is_current
};

/// What goes wrong with an order.
enum class fault_kind : std::uint8_t {
    none,
    refused,      ///< 403
    conflict,     ///< 409, although nothing is in the way
    too_many,     ///< 429
    unavailable,  ///< 503
    error,        ///< 500, nothing done
    lost_before,  ///< it never arrives, and no answer comes
    lost_after,   ///< it is carried out, and the answer is lost
    late,         ///< it is carried out after the client has given up waiting for the answer
    crash_before, ///< the client crashes, and the order never arrives
    crash_after,  ///< the client crashes, and the order is carried out
};

struct fault {
    fault_kind what = fault_kind::none;
    std::int64_t retry_after = 0;
};

/// A fault for orders of a kind: from the `first`-th on (counted from 1, those that fit the rule
/// alone), `times` of them.
struct fault_rule {
    order_kind of = order_kind::any;
    /// The pod or gang; empty = any.
    std::string key{};
    std::int64_t first = 1;
    std::int64_t times = 1;
    fault what{};
    std::int64_t seen = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
