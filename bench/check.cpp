// SPDX-License-Identifier: Apache-2.0
// Compares all placements of small runs and of a churn of 10,000 nodes, and measures nothing.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "check.hpp"
#include "churn.hpp"

namespace bench {

namespace {

/// Every gang of a small churn, by Muster twice and by A and A2.
template<std::size_t Width, placement_rule Rule = placement_rule::best_fit>
std::size_t check(const workload_options& work, double utilisation) {
    churn_options options;
    options.work = work;
    options.utilisation = utilisation;
    options.gangs = 150;
    options.repeats = 2;
    options.naive_gangs = options.gangs;
    options.flat_gangs = options.gangs;
    options.inlined_gangs = options.gangs;
    const churn_report run = run_churn<Width, Rule>(options);
    if (run.naive.gangs != options.gangs || run.flat.gangs != options.gangs)
        fail("not every gang was compared");
    if (run.naive.false_rejections != run.flat.false_rejections)
        fail("A and A2 refuse different gangs");
    return run.gangs;
}

/// Runs of all kinds; fails the program at the first difference.
void check_small_runs() {
    std::size_t gangs = 0;
    std::uint64_t seed = 1;
    for (const request_regime requests : {request_regime::catalogue, request_regime::random}) {
        for (const std::int32_t pools : {1, 10}) {
            for (const std::int64_t jitter : {0, 2}) {
                workload_options work;
                work.nodes = pools == 1 ? 131 : 203;
                work.requests = requests;
                work.memory_jitter_percent = jitter;
                work.pools = pools;
                work.seed = ++seed;
                work.largest_gang = 64;
                const double utilisation = jitter > 0 ? 0.99 : 0.8;
                gangs += check<4>(work, utilisation);
                gangs += check<4, placement_rule::first_fit>(work, utilisation);
                gangs += check<8>(work, utilisation);
                gangs += check<8, placement_rule::worst_fit>(work, utilisation);
            }
        }
    }
    // Large enough for whatever Muster does to large clusters.
    for (const request_regime requests : {request_regime::catalogue, request_regime::random}) {
        for (const std::int32_t pools : {1, 7}) {
            workload_options work;
            work.nodes = 3000;
            work.requests = requests;
            work.pools = pools;
            work.seed = ++seed;
            gangs += check<4>(work, 0.8);
            gangs += check<8, placement_rule::worst_fit>(work, 0.8);
            gangs += check<4, placement_rule::first_fit>(work, 0.99);
        }
    }
    std::printf("%zu gangs placed alike by Muster, A and A2\n", gangs);
}

} // namespace
} // namespace bench

int main(int count, char** values) {
    const bool quick = count == 2 && std::string_view(values[1]) == "--quick";
    if (count > 1 && !quick) {
        std::fputs("bench_check [--quick]\n", stderr);
        return 2;
    }
    bench::check_small_runs();
    bench::check_churn(1, quick ? 40'000 : 100'000);
    return EXIT_SUCCESS;
}
