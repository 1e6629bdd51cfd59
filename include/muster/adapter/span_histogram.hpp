// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// A histogram of time spans with fixed bounds, for Prometheus.
template<std::size_t Bounds>
class span_histogram {
public:
    /// `bounds`: upper bounds in nanoseconds, ascending.
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
    /// Counts per bucket, not cumulative: spans above the previous bound and up to this one. The
    /// last bucket counts spans above all bounds.
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
} // namespace v0_1
} // namespace muster
