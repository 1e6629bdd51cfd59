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

/// Weights beyond this are input errors: shares with weights are compared exactly.
inline constexpr std::int64_t largest_weight = std::numeric_limits<std::uint32_t>::max();

/// A queue: its limits, its rank, and the tenants that may use it. Queues form a tree; the fields
/// apply to the pods of the queue and of all queues below it, unless stated otherwise. The table in
/// policy/README.md maps the queues of other schedulers to these fields.
template<std::size_t Width>
struct queue {
    /// The ceiling at its own level, which binds whatever its children's say (T9k: quota, KAI:
    /// limit, Volcano: capability, Kueue: nominalQuota + borrowingLimit).
    limits<Width> quota{};
    /// Quota for non-preemptible pods (`gang::preemptible` is false) of this queue and of all
    /// queues below it (KAI: quota).
    limits<Width> non_preemptible_quota{};
    /// Up to that its use is rightfully its own, beyond it is borrowed and may be reclaimed. Of an
    /// absent kind nothing can be reclaimed (KAI: quota, Volcano: deserved, Kueue: nominalQuota;
    /// T9k has none).
    limits<Width> deserved{};
    /// Kept for it even while unused: nothing that its siblings can take (Volcano: guarantee,
    /// Kueue: nominalQuota − lendingLimit; KAI and T9k have none).
    resources<Width> guarantee{};
    /// Its part of what its siblings leave over, 0 to `largest_weight` (KAI: overQuotaWeight,
    /// Volcano: weight, Kueue: fairSharing.weight).
    std::int64_t weight = 1;
    /// What it used on average in the past, as far as that is held against it still, with all
    /// queues below it (`decayed_usage::mean`). It serves orders of queues; nothing is charged.
    resources<Width> past_use{};
    std::int64_t priority = 0;
    /// Its pods may be evicted for others (T9k: preemptible, Volcano: reclaimable). Of its own pods
    /// alone.
    bool preemptible = true;
    /// How long a gang of it, or of a queue below it, runs before more than its surplus may be
    /// evicted for a gang of its own queue, and for one of another, in the caller's unit; absent =
    /// as the queue above it says (KAI: preemptMinRuntime, reclaimMinRuntime).
    std::optional<std::int64_t> preempt_min_runtime{};
    std::optional<std::int64_t> reclaim_min_runtime{};
    /// Whose room its gangs may take under a rule that leaves it to queues: of its own queue, and
    /// of others what these use beyond what they deserve (Kueue: preemption.withinClusterQueue and
    /// .reclaimWithinCohort).
    preemption_scope within_queue = preemption_scope::never;
    preemption_scope within_cohort = preemption_scope::never;
    /// Maximum priority of gangs of other queues that may be evicted for a gang that makes this
    /// queue borrow; they must also have a lower priority than that gang. Absent = none (Kueue:
    /// preemption.borrowWithinCohort).
    std::optional<std::int64_t> borrow_within_cohort{};
    /// No new gangs; those that already hold something may complete.
    bool closed = false;
    /// A gang that does not fit blocks those behind it. Of its own gangs alone.
    bool strict_order = false;
    /// Tenants that may use the queue; absent = none, a selector without requirements = all.
    /// Applies only to gangs of this queue, not of queues below it.
    std::optional<label_selector> tenants = label_selector{};
    /// Nodes that its pods may use; no requirement = all. Requirements of all queues on the way up
    /// count.
    label_selector nodes{};

    friend bool operator==(const queue&, const queue&) = default;
};

} // namespace v0_1
} // namespace muster
