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
    /// Search steps for each question that is asked on the way.
    std::int64_t steps = std::int64_t{1} << 18;
    /// The kinds' names, by whose order kinds are listed; by column without.
    const kind_table* kinds = nullptr;
    /// The cluster that is asked about. By default the one of the last answer: the empty one for
    /// `never`, else what is free now.
    std::optional<certificate_scope> scope{};
    /// In clusters of at least so many nodes, nodes that are alike are looked at as groups. That is
    /// faster, and answers more questions within the same steps.
    std::size_t group_from = 32;
};

namespace detail {

/// What stops the gang, on the present state: empty for one that fits, whatever it was answered.
template<class Traits>
[[nodiscard]] std::vector<reason> what_stops(const cluster_state<Traits>& cluster, gang_index which,
                                             const explain_options& options);

/// The reason of a gang that nothing stops, and that waits nevertheless.
template<class Traits>
void add_answered_too_early(const cluster_state<Traits>& cluster, gang_index which,
                            std::vector<reason>& found);

} // namespace detail

/// Why a gang does not start, on the present state: never empty for a gang that waits, in a fixed
/// order (blocking, blocking together, contributing; each by `reason_code`, kinds by name). Empty
/// for a gang that fits, unless it waits nevertheless. Not part of a decision: it is made on
/// demand. If volumes of members are not ready, that comes first, and then what would block the
/// gang if they were, as far as that is proven.
///
/// Cost: O(nodes) once, to group nodes that are alike for the gang; then, for every constraint that
/// the gang has, and as many again for those that block only together, O(groups) where bounds
/// decide, else a fit search.
template<class Traits>
[[nodiscard]] std::vector<reason> explain(const cluster_state<Traits>& cluster, gang_index which,
                                          const explain_options& options = {});

} // namespace v0_1
} // namespace muster

#ifndef MUSTER_SEPARATE_COMPILATION
#include <muster/explain/explain_inl.hpp>
#endif
