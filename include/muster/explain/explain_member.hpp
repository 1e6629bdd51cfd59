// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/explain/explain.hpp>
#include <muster/vocabulary/reason.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns why a waiting member of a gang that meets its minima is not placed: the reasons as if
/// the member were a gang of its own with the topology constraints of its gang. Amounts and roles
/// are those of the one pod. Returns `fits_by_now` if no constraint blocks the member. If the
/// member's volumes are not ready, that comes first, followed by what would block the member if
/// they were ready.
template<class Traits>
[[nodiscard]] std::vector<reason> explain_member(const cluster_state<Traits>& cluster,
                                                 pod_index pod,
                                                 const explain_options& options = {});

} // namespace v0_1
} // namespace muster

#ifndef MUSTER_SEPARATE_COMPILATION
#include <muster/explain/explain_member_inl.hpp>
#endif
