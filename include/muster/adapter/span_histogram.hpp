// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace muster::inline v0_1 {
namespace adapter {

/// How often a span of time fell below each of some bounds, as Prometheus counts it.
template<std::size_t Bounds>
class span_histogram {
public:
    /// Ascending, in nanoseconds.
    explicit constexpr span_histogram(const std::array<std::int64_t, Bounds>& bounds)
        : bounds_(bounds) {}

    void observe(std::int64_t span) noexcept {
        std::size_t at = 0;
        while (at < Bounds && span > bounds_[at])
            ++at;
        ++counts_[at];
        sum_ += span;
    }

    [[nodiscard]] const std::array<std::int64_t, Bounds>& bounds() const noexcept {
        return bounds_;
    }
    /// Of each bound those up to it and beyond the one before, and last those beyond all.
    [[nodiscard]] const std::array<std::uint64_t, Bounds + 1>& counts() const noexcept {
        return counts_;
    }
    [[nodiscard]] std::int64_t sum() const noexcept { return sum_; }

private:
    std::array<std::int64_t, Bounds> bounds_;
    std::array<std::uint64_t, Bounds + 1> counts_{};
    std::int64_t sum_ = 0;
};

} // namespace adapter
} // namespace muster::inline v0_1
