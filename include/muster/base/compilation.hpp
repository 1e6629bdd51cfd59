// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a program gets the core's definitions.
///  - Header-only (default): every header includes the definitions of what it declares.
///  - Separately: `MUSTER_SEPARATE_COMPILATION` is defined for all sources of the program. Headers
///    only declare, and the definitions are compiled once, in the library `muster::core` or in a
///    source that includes <muster/src.hpp>. Linking `muster::core` defines the macro; do not
///    define the macro for only some of the sources.
/// Sources of the two modes do not link together: the symbol below is thread-local in one mode
/// only.

#ifdef MUSTER_SEPARATE_COMPILATION

extern "C" {
extern const char muster_core_and_header_only_sources_must_not_be_mixed;
}
namespace muster {
inline namespace v0_1 {
namespace detail {
[[gnu::used]] static const char* const compiled_separately =
    &muster_core_and_header_only_sources_must_not_be_mixed;
} // namespace detail
} // namespace v0_1
} // namespace muster

#else

extern "C" {
[[gnu::used]] inline thread_local char muster_core_and_header_only_sources_must_not_be_mixed = 0;
}

#endif

/// Goes before definitions in `*_inl.hpp` of functions that are no templates. Compiled separately,
/// they are compiled whether or not their source calls them.
#ifdef MUSTER_SEPARATE_COMPILATION
#define MUSTER_DEFINED_ONCE [[gnu::used]] inline
#else
#define MUSTER_DEFINED_ONCE inline
#endif
