// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
/// The same numbers from the same seed everywhere, which the distributions of `<random>` do not
/// promise.
class random {
public:
    explicit random(std::uint64_t seed) noexcept : state_(seed) {}

    [[nodiscard]] std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31U);
    }

    /// One of low, ..., high. The bias of the remainder is below 2^-50 for the ranges used here.
    [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        const auto count = static_cast<std::uint64_t>(high - low) + 1;
        return low + static_cast<std::int64_t>(next() % count);
    }
    [[nodiscard]] std::size_t below(std::size_t count) noexcept {
        return static_cast<std::size_t>(next() % count);
    }
    [[nodiscard]] bool percent(std::int64_t chance) noexcept { return between(0, 99) < chance; }

    template<class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t at = items.size(); at > 1; --at)
            std::swap(items[at - 1], items[below(at)]);
    }

private:
    std::uint64_t state_;
};

} // namespace testing
} // namespace v0_1
} // namespace muster
