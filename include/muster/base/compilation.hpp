// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a program gets the core's definitions.
///  - Header-only (default): every header includes the definitions of what it declares.
///  - Separately: `MUSTER_SEPARATE_COMPILATION` is defined for all of the program's sources,
///  headers
///    only declare, and the definitions are compiled once, in the library `muster::core` or in a
///    source that includes <muster/src.hpp>. Link `muster::core`; do not define it by hand in one
///    source of many.
/// Sources of both kinds do not link together: the linker finds the symbol below as thread-local in
/// one and not in the other.

#ifdef MUSTER_SEPARATE_COMPILATION

extern "C" {
extern const char muster_core_and_header_only_sources_must_not_be_mixed;
}
namespace muster::inline v0_1::detail {
[[gnu::used]] static const char* const compiled_separately =
    &muster_core_and_header_only_sources_must_not_be_mixed;
}

#else

extern "C" {
[[gnu::used]] inline thread_local char muster_core_and_header_only_sources_must_not_be_mixed = 0;
}

#endif
