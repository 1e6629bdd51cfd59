// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// When the request of a pod counts.
enum class allocation : std::uint8_t {
    /// Now and later.
    allocated,
    /// Now only: the pod is terminating.
    releasing,
    /// Later only: the pod is nominated and starts when terminating pods have left.
    pipelined,
};

/// The amounts now, and the amounts once all terminating pods have left and all nominated pods have
/// started. Without such pods the two are equal.
template<std::size_t Width>
struct now_and_later {
    resources<Width> now;
    resources<Width> later;

    /// Both, from the lesser and `later - now`.
    [[nodiscard]] static constexpr now_and_later from_least(const resources<Width>& least,
                                                            const resources<Width>& gap) noexcept {
        return {least - lesser(gap, {}), least + greater(gap, {})};
    }
    [[nodiscard]] constexpr resources<Width> least() const noexcept { return lesser(now, later); }
    [[nodiscard]] constexpr resources<Width> gap() const noexcept { return later - now; }
};

} // namespace v0_1
} // namespace muster
