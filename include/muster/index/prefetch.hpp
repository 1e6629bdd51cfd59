// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Prefetches memory that will soon be read, or written.
inline void prefetch_to_read(const void* what) noexcept {
    __builtin_prefetch(what);
    // Without this GCC treats a function that only prefetches as one without effects, and drops
    // calls of it.
    asm volatile("");
}
inline void prefetch_to_write(const void* what) noexcept {
    __builtin_prefetch(what, 1);
    asm volatile("");
}

} // namespace detail
} // namespace v0_1
} // namespace muster
