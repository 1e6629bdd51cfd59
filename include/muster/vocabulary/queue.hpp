// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/preemption_scope.hpp>

namespace muster {
inline namespace v0_1 {

/// Weights above this are input errors: weighted shares are compared exactly.
inline constexpr std::int64_t largest_weight = std::numeric_limits<std::uint32_t>::max();

/// A queue: its limits, its rank, and the tenants that may use it. Queues form a tree; unless
/// stated otherwise, a field applies to the pods of the queue and of all queues below it. The table
/// in policy/README.md maps the queues of other schedulers to these fields.
template<std::size_t Width>
struct queue {
    /// Maximum use (T9k: quota, KAI: limit, Volcano: capability, Kueue: nominalQuota +
    /// borrowingLimit). It applies whatever the quotas of queues below it are.
    limits<Width> quota{};
    /// Maximum use by non-preemptible pods (`gang::preemptible` is false) (KAI: quota).
    limits<Width> non_preemptible_quota{};
    /// Use beyond this amount is borrowed and may be reclaimed by other queues, as far as the
    /// victim rule allows. Nothing can be reclaimed of a kind that is absent here (KAI: quota,
    /// Volcano: deserved, Kueue: nominalQuota; T9k has none).
    limits<Width> deserved{};
    /// Reserved for the queue even while unused: its siblings cannot use it (Volcano: guarantee,
    /// Kueue: nominalQuota − lendingLimit; KAI and T9k have none).
    resources<Width> guarantee{};
    /// Its share, relative to its siblings, of what they leave over, 0 to `largest_weight` (KAI:
    /// overQuotaWeight, Volcano: weight, Kueue: fairSharing.weight).
    std::int64_t weight = 1;
    /// Decayed average of past use (`decayed_usage::mean`), for queue orders. It is not charged.
    resources<Width> past_use{};
    std::int64_t priority = 0;
    /// Its pods may be evicted for other gangs (T9k: preemptible, Volcano: reclaimable). Does not
    /// apply to queues below it.
    bool preemptible = true;
    /// Minimum run time, in the caller's unit, before more than a gang's surplus may be evicted for
    /// a gang of the same queue (preempt) or of another queue (reclaim); absent = as the parent
    /// says (KAI: preemptMinRuntime, reclaimMinRuntime).
    std::optional<std::int64_t> preempt_min_runtime{};
    std::optional<std::int64_t> reclaim_min_runtime{};
    /// Which gangs its gangs may preempt, if the victim rule leaves that to queues: gangs of the
    /// same queue, and gangs of queues that use more than they deserve (Kueue:
    /// preemption.withinClusterQueue and .reclaimWithinCohort).
    preemption_scope within_queue = preemption_scope::never;
    preemption_scope within_cohort = preemption_scope::never;
    /// Maximum priority of gangs of other queues that may be evicted for a gang that makes this
    /// queue borrow; their priority must also be lower than that gang's. Absent = no such
    /// evictions (Kueue: preemption.borrowWithinCohort).
    std::optional<std::int64_t> borrow_within_cohort{};
    /// No new gangs start; gangs that already hold resources may complete.
    bool closed = false;
    /// A gang that does not fit blocks the gangs behind it. Does not apply to queues below it.
    bool strict_order = false;
    /// Tenants that may use the queue; absent = none, a selector without requirements = all.
    /// Does not apply to queues below it.
    std::optional<label_selector> tenants = label_selector{};
    /// Nodes that its pods may use; no requirements = all.
    label_selector nodes{};

    friend bool operator==(const queue&, const queue&) = default;
};

} // namespace v0_1
} // namespace muster
