// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The definitions of the core, for one source of a program whose sources are all compiled with
/// `MUSTER_SEPARATE_COMPILATION`. `MUSTER_COMPILE_CORE(4)` in that source compiles the definitions
/// for states of four resource kinds. A program needs one such line for each number of kinds that
/// it uses. The CMake target `muster::core` consists of such sources.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/base/compilation.hpp>
#include <muster/cluster/cluster_state_inl.hpp>
#include <muster/cycle/cycle_inl.hpp>
#include <muster/explain/explain_inl.hpp>
#include <muster/explain/explain_member_inl.hpp>

#ifdef MUSTER_SEPARATE_COMPILATION
// Weak: a program may have several such sources. See <muster/base/compilation.hpp>.
extern "C" {
[[gnu::weak]] extern const char muster_core_and_header_only_sources_must_not_be_mixed = 0;
}
#endif

/// For states of so many kinds.
#define MUSTER_COMPILE_CORE(kinds)                                                                 \
    namespace muster {                                                                             \
    inline namespace v0_1 {                                                                        \
    MUSTER_STATE_OF(template, kinds)                                                               \
    }                                                                                              \
    }                                                                                              \
    MUSTER_COMPILE_CORE_OF(core_traits<kinds>)

/// For states whose traits also set the shape of the index: `core_traits<KINDS, FANOUT,
/// THRESHOLDS>`. A program with such states also needs the line above for their number of kinds.
#define MUSTER_COMPILE_CORE_OF(...)                                                                \
    namespace muster {                                                                             \
    inline namespace v0_1 {                                                                        \
    template class cluster_state<__VA_ARGS__>;                                                     \
    template void cycle(cluster_state<__VA_ARGS__>&, std::int64_t, const any_policy<__VA_ARGS__>&, \
                        budget, cycle_options, cycle_result&);                                     \
    template bool detail::make_room(cluster_state<__VA_ARGS__>&, std::int64_t,                     \
                                    const any_policy<__VA_ARGS__>&, budget, cycle_result&,         \
                                    detail::cycle_context<__VA_ARGS__>&, bool);                    \
    template void start(cluster_state<__VA_ARGS__>&, gang_index, const any_policy<__VA_ARGS__>&,   \
                        budget, cycle_result&);                                                    \
    template void catch_up(cluster_state<__VA_ARGS__>&, const any_policy<__VA_ARGS__>&);           \
    template std::size_t index_bytes(cluster_state<__VA_ARGS__>&, const any_policy<__VA_ARGS__>&); \
    template std::vector<reason> detail::stopping_reasons(const cluster_state<__VA_ARGS__>&,       \
                                                          gang_index, const explain_options&);     \
    template void detail::add_fits_by_now(const cluster_state<__VA_ARGS__>&, gang_index,           \
                                          std::vector<reason>&);                                   \
    template std::vector<reason> explain(const cluster_state<__VA_ARGS__>&, gang_index,            \
                                         const explain_options&);                                  \
    template std::vector<reason> explain_member(const cluster_state<__VA_ARGS__>&, pod_index,      \
                                                const explain_options&);                           \
    }                                                                                              \
    }
