// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {

/// The number of pods that must stay available during evictions (Kubernetes: PodDisruptionBudget).
/// A pod is available if it runs, is ready and is not terminating. A selected pod may be evicted if
/// enough of the other selected pods stay available; a pod that does not run yet may always be
/// evicted. If several budgets select a pod, all of them apply. A budget may select pods of several
/// gangs.
struct disruption_budget {
    pod_selector pods;
    /// An absolute number. The reader of a budget converts percentages.
    std::int64_t keeps = 0;
    /// Pods that run and are not ready may be evicted even if fewer than `keeps` pods are available
    /// (Kubernetes: unhealthyPodEvictionPolicy is AlwaysAllow).
    bool frees_unready = false;

    [[nodiscard]] friend bool operator==(const disruption_budget&,
                                         const disruption_budget&) = default;
};

} // namespace v0_1
} // namespace muster
