// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// When it is. Read once per turn of a loop and handed on.
[[nodiscard]] inline instant read_clock() {
    using std::chrono::duration_cast;
    using std::chrono::nanoseconds;
    return {
        duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(),
        duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

} // namespace kube
} // namespace v0_1
} // namespace muster
