// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/reason.hpp>

namespace muster {
inline namespace v0_1 {

struct explain_options {
    /// Step limit of each search.
    std::int64_t steps = std::int64_t{1} << 18;
    /// Names of kinds; reasons list kinds in the order of names. Null: in the order of columns.
    const kind_table* kinds = nullptr;
    /// The cluster to check against (default: that of the last answer, i.e. the empty cluster for
    /// `never`, otherwise what is free now).
    std::optional<certificate_scope> scope{};
    /// In clusters of at least this many nodes, nodes that are alike are checked as groups. That is
    /// faster, and decides more within the same steps.
    std::size_t group_from = 32;
};

namespace detail {

/// Returns what stops the gang in the current state. Empty for a gang that fits, whatever its last
/// answer is.
template<class Traits>
[[nodiscard]] std::vector<reason> stopping_reasons(const cluster_state<Traits>& cluster,
                                                   gang_index which,
                                                   const explain_options& options);

/// Adds `reason_code::fits_by_now` if nothing stops the gang, but its last answer is that it waits.
template<class Traits>
void add_fits_by_now(const cluster_state<Traits>& cluster, gang_index which,
                     std::vector<reason>& found);

} // namespace detail

/// Returns why a gang does not start in the current state. Never empty for a gang that waits; empty
/// for a gang that fits, unless its last answer is that it waits. The order is fixed: blocking,
/// blocking together, contributing; within these by `reason_code`, kinds by name. If volumes of
/// members are not ready, that comes first, followed by what would block the gang if they were
/// ready, as far as that is proven. Cycles do not compute reasons.
///
/// Cost: O(nodes) once, to group nodes that are alike for the gang. Then, for every constraint of
/// the gang, and once more for every constraint that blocks only together with others: O(groups) if
/// bounds decide, otherwise a fit search.
template<class Traits>
[[nodiscard]] std::vector<reason> explain(const cluster_state<Traits>& cluster, gang_index which,
                                          const explain_options& options = {});

} // namespace v0_1
} // namespace muster

#ifndef MUSTER_SEPARATE_COMPILATION
#include <muster/explain/explain_inl.hpp>
#endif
