// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bench {

/// splitmix64: the same numbers on every machine. No expression may draw two of them, as their
/// order would be unspecified.
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept {
        state_ += 0x9e37'79b9'7f4a'7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d0'49bb'1331'11ebU;
        return mixed ^ (mixed >> 31U);
    }

    /// Uniform in [low, high].
    std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        const auto range = static_cast<std::uint64_t>(high - low) + 1;
        return low + static_cast<std::int64_t>(next() % range);
    }

    bool percent(std::int64_t chance) noexcept { return between(1, 100) <= chance; }

    /// Uniform in (0, 1].
    double fraction() noexcept { return static_cast<double>((next() >> 11U) + 1) * 0x1.0p-53; }

private:
    std::uint64_t state_;
};

} // namespace bench
