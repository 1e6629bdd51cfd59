// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace bench {

/// A clock cheap enough to time one gang: the time stamp counter on x86, calibrated against
/// steady_clock; steady_clock elsewhere. What reading it costs is measured and taken off.
class stopwatch {
public:
    using ticks = std::uint64_t;

    [[nodiscard]] static ticks begin() noexcept {
#if defined(__x86_64__)
        __builtin_ia32_lfence();
        const ticks now = __builtin_ia32_rdtsc();
        __builtin_ia32_lfence();
        return now;
#else
        return steady();
#endif
    }

    /// Waits for what was timed to have run.
    [[nodiscard]] static ticks end() noexcept {
#if defined(__x86_64__)
        unsigned int processor = 0;
        const ticks now = __builtin_ia32_rdtscp(&processor);
        __builtin_ia32_lfence();
        return now;
#else
        return steady();
#endif
    }

    [[nodiscard]] static double nanoseconds(ticks from, ticks to) noexcept {
        static const calibration measured = calibrate();
        const ticks elapsed = to - from;
        return elapsed <= measured.overhead
                   ? 0.0
                   : static_cast<double>(elapsed - measured.overhead) * measured.nanoseconds;
    }

    template<class What>
    [[nodiscard]] static double time(What&& what) {
        const ticks from = begin();
        what();
        return nanoseconds(from, end());
    }

private:
    struct calibration {
        /// Per tick.
        double nanoseconds = 1.0;
        ticks overhead = 0;
    };

    [[nodiscard]] static ticks steady() noexcept {
        return static_cast<ticks>(std::chrono::steady_clock::now().time_since_epoch() /
                                  std::chrono::nanoseconds(1));
    }

    [[nodiscard]] static calibration calibrate() noexcept {
        calibration found;
        found.overhead = ~ticks{0};
        for (int round = 0; round < 1000; ++round) {
            const ticks from = begin();
            found.overhead = std::min(found.overhead, end() - from);
        }
        const ticks real_from = steady();
        const ticks from = begin();
        while (steady() - real_from < 50'000'000) {
        }
        const ticks to = end();
        found.nanoseconds =
            static_cast<double>(steady() - real_from) / static_cast<double>(to - from);
        return found;
    }
};

} // namespace bench
