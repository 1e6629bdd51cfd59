// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/model/pod_terms.hpp>

namespace muster::inline v0_1 {

/// How many pods are to stay available while others are told to go (Kubernetes:
/// PodDisruptionBudget). Available is a pod that runs, is ready, and is not on its way out. A pod
/// that is covered may be told to go as long as so many of all that are covered stay available,
/// itself not counted; a pod that does not run yet always may. A pod may be covered by several
/// budgets, which all hold, and a budget may cover pods of several gangs.
struct disruption_budget {
    pod_selector pods;
    /// Who reads percentages knows of how many: here it is a number.
    std::int64_t keeps = 0;
    /// Pods that run and are not ready may go even while fewer than that are available (Kubernetes:
    /// unhealthyPodEvictionPolicy is AlwaysAllow).
    bool frees_unready = false;

    [[nodiscard]] friend bool operator==(const disruption_budget&,
                                         const disruption_budget&) = default;
};

} // namespace muster::inline v0_1
