// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Ceilings per resource kind, absent = unlimited; a ceiling of 0 is a ceiling. (In `resources`
/// absent means 0; neither type converts to the other.)
template<std::size_t Width>
class limits {
    static_assert(Width <= 64, "one bit per kind says whether it is limited");

public:
    static constexpr std::size_t width = Width;

    constexpr void set(kind_id kind, std::int64_t ceiling) noexcept {
        ceilings_[kind] = ceiling;
        limited_ |= std::uint64_t{1} << kind.value();
    }
    constexpr void clear(kind_id kind) noexcept {
        ceilings_[kind] = 0;
        limited_ &= ~(std::uint64_t{1} << kind.value());
    }

    [[nodiscard]] constexpr bool limited(kind_id kind) const noexcept {
        return ((limited_ >> kind.value()) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool any() const noexcept { return limited_ != 0; }
    [[nodiscard]] constexpr std::optional<std::int64_t> operator[](kind_id kind) const noexcept {
        return limited(kind) ? std::optional(ceilings_[kind]) : std::nullopt;
    }

    /// True if `used + request` is at or below every ceiling. Kinds that are not requested are not
    /// checked. O(width).
    [[nodiscard]] constexpr bool admits(const resources<Width>& used,
                                        const resources<Width>& request) const noexcept {
        for (std::size_t column = 0; column < Width; ++column) {
            const kind_id kind{column};
            if (!limited(kind) || request[kind] == 0)
                continue;
            std::int64_t total = 0;
            if (!checked_add(used[kind], request[kind], total) || total > ceilings_[kind])
                return false;
        }
        return true;
    }

    [[nodiscard]] friend constexpr bool operator==(const limits&, const limits&) = default;

private:
    resources<Width> ceilings_{};
    std::uint64_t limited_ = 0;
};

} // namespace v0_1
} // namespace muster
