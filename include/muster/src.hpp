// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The definitions of the core, for one source of a program whose sources are all compiled with
/// `MUSTER_SEPARATE_COMPILATION`. `MUSTER_COMPILE_CORE(4)` in that source compiles the definitions
/// for states of four resource kinds. A program needs one such line for each number of kinds that
/// it uses. The CMake target `muster::core` consists of such sources.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/admission/explain_inl.hpp>
#include <muster/admission/explain_member_inl.hpp>
#include <muster/base/compilation.hpp>
#include <muster/cycle/cycle_inl.hpp>
#include <muster/model/cluster_state_inl.hpp>

#ifdef MUSTER_SEPARATE_COMPILATION
// Weak: a program may have several such sources. See <muster/base/compilation.hpp>.
extern "C" {
[[gnu::weak]] extern const char muster_core_and_header_only_sources_must_not_be_mixed = 0;
}
#endif

#define MUSTER_COMPILE_CORE(kinds)                                                                 \
    namespace muster::inline v0_1 {                                                                \
    MUSTER_STATE_OF(template, kinds)                                                               \
    template void cycle(cluster_state<core_traits<kinds>>&, std::int64_t,                          \
                        const any_policy<core_traits<kinds>>&, budget, cycle_options,              \
                        cycle_result&);                                                            \
    template bool detail::make_room(cluster_state<core_traits<kinds>>&, std::int64_t,              \
                                    const any_policy<core_traits<kinds>>&, budget, cycle_result&,  \
                                    detail::engine<core_traits<kinds>>&, bool);                    \
    template void start(cluster_state<core_traits<kinds>>&, gang_index,                            \
                        const any_policy<core_traits<kinds>>&, budget, cycle_result&);             \
    template void catch_up(cluster_state<core_traits<kinds>>&,                                     \
                           const any_policy<core_traits<kinds>>&);                                 \
    template std::size_t index_bytes(cluster_state<core_traits<kinds>>&,                           \
                                     const any_policy<core_traits<kinds>>&);                       \
    template std::vector<reason> detail::what_stops(const cluster_state<core_traits<kinds>>&,      \
                                                    gang_index, const explain_options&);           \
    template void detail::add_answered_too_early(const cluster_state<core_traits<kinds>>&,         \
                                                 gang_index, std::vector<reason>&);                \
    template std::vector<reason> explain(const cluster_state<core_traits<kinds>>&, gang_index,     \
                                         const explain_options&);                                  \
    template std::vector<reason> explain_member(const cluster_state<core_traits<kinds>>&,          \
                                                pod_index, const explain_options&);                \
    }
