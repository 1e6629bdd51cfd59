// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "random.hpp"
#include "stopwatch.hpp"

namespace bench {

/// Nanoseconds per round of a fixed integer kernel that lives in the first-level cache: a dependent
/// chain of multiplications, loads and unpredictable choices. Absolute figures of two machines
/// compare as these do. The best of several passes.
[[nodiscard]] inline double calibration_kernel() {
    constexpr std::size_t rounds = std::size_t{1} << 20;
    random_numbers draw(42);
    std::array<std::uint64_t, 2048> table{};
    for (std::uint64_t& each : table)
        each = draw.next();
    double best = std::numeric_limits<double>::max();
    volatile std::uint64_t sink = 0;
    for (int pass = 0; pass < 7; ++pass) {
        std::uint64_t state = 1;
        const double took = stopwatch::time([&] {
            for (std::size_t round = 0; round < rounds; ++round) {
                const std::uint64_t loaded = table[(state >> 32U) % table.size()];
                state = (state ^ loaded) * 0x9e37'79b9'7f4a'7c15U;
                if ((loaded & 1U) != 0)
                    state += loaded >> 7U;
            }
        });
        sink = sink + state;
        best = took < best ? took : best;
    }
    return best / static_cast<double>(rounds);
}

} // namespace bench
