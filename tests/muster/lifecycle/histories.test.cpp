// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include <support/settings.hpp>

#include "random_world.hpp"

namespace lifecycle_histories_test {

using namespace lifecycle_test;
using muster::translate::t9k_kind;

/// Runs histories of a kind, prints how often each event happened in each phase, and judges.
void judge(t9k_kind kind, std::uint64_t usual) {
    const std::uint64_t seed = muster::testing::random_seed();
    const std::uint64_t cases = muster::testing::case_count(usual);
    const events_of_kind may{kind != t9k_kind::beam,
                             kind == t9k_kind::pytorch || kind == t9k_kind::deepspeed};
    coverage seen{};
    std::size_t faults = 0;
    for (std::uint64_t i = 0; i < cases; ++i) {
        const std::uint64_t case_seed = seed * 1'000'003 + i;
        const std::string fault = kind == t9k_kind::generic
                                      ? random_world(case_seed, seen).run()
                                      : random_world(kind, case_seed, seen).run();
        if (!fault.empty() && ++faults < 4)
            std::printf("job history, case seed %llu: %s\n",
                        static_cast<unsigned long long>(case_seed), fault.c_str());
    }
    std::printf("histories of %s: %llu from MUSTER_SEED=%llu, %zu with a fault; events by phase:\n",
                std::string(to_text(kind)).c_str(), static_cast<unsigned long long>(cases),
                static_cast<unsigned long long>(seed), faults);
    std::printf("%-10s", "");
    for (const char* each : event_names)
        std::printf(" %10s", each);
    std::size_t empty = 0;
    std::size_t impossible = 0;
    for (std::size_t row = 0; row < phase_names.size(); ++row) {
        std::printf("\n%-10s", phase_names[row]);
        for (std::size_t column = 0; column < event_count; ++column) {
            const std::size_t count = seen[row][column];
            const bool legal = is_legal(row, static_cast<event>(column), may);
            std::printf(" %10s", legal ? std::to_string(count).c_str() : "-");
            empty += legal && count == 0 ? 1 : 0;
            impossible += legal ? 0 : count;
        }
    }
    std::printf("\n");
    CHECK(faults == 0);
    CHECK(impossible == 0);
    if (cases >= usual)
        CHECK(empty == 0);
}

TEST_CASE("random histories of GenericJobs are answered as a slow model answers them") {
    judge(t9k_kind::generic, 10'000);
}

TEST_CASE("so are those of the other kinds, by their masters and rules") {
    for (const t9k_kind kind :
         {t9k_kind::tensorflow, t9k_kind::pytorch, t9k_kind::xgboost, t9k_kind::mpi,
          t9k_kind::colossal_ai, t9k_kind::deepspeed, t9k_kind::beam}) {
        CAPTURE(std::string(to_text(kind)));
        judge(kind, 2'000);
    }
}

} // namespace lifecycle_histories_test
