// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// When what a pod is charged with counts.
enum class tenure : std::uint8_t {
    /// Now and later.
    lasting,
    /// Now only: the pod is on its way out.
    leaving,
    /// Later only: the pod comes when others have left.
    nominated,
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
        now_and_later both{least, least};
        for (std::size_t column = 0; column < Width; ++column) {
            both.later[column] += std::max<std::int64_t>(0, gap[column]);
            both.now[column] -= std::min<std::int64_t>(0, gap[column]);
        }
        return both;
    }
    [[nodiscard]] constexpr resources<Width> least() const noexcept {
        resources<Width> out;
        for (std::size_t column = 0; column < Width; ++column)
            out[column] = std::min(now[column], later[column]);
        return out;
    }
    [[nodiscard]] constexpr resources<Width> gap() const noexcept {
        resources<Width> out;
        for (std::size_t column = 0; column < Width; ++column)
            out[column] = later[column] - now[column];
        return out;
    }
};

} // namespace v0_1
} // namespace muster
