// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Asks the memory ahead for what is to be read, or written, soon.
inline void prefetch_to_read(const void* what) noexcept {
    __builtin_prefetch(what);
    // Without it GCC takes a function that only does this for one that does nothing, and drops it.
    asm volatile("");
}
inline void prefetch_to_write(const void* what) noexcept {
    __builtin_prefetch(what, 1);
    asm volatile("");
}

} // namespace detail
} // namespace v0_1
} // namespace muster
