// SPDX-License-Identifier: Apache-2.0
// The main operations one by one, for those who know Google Benchmark; the table is bench_table.
#include <cstddef>
#include <cstdint>

#include <benchmark/benchmark.h>

#include "churn_run.hpp"

namespace {

using namespace bench;

/// The values of `best_fit`, by a score that is not known to be an order: nodes are scanned.
struct scanned_best_fit {
    [[nodiscard]] std::int64_t operator()(const muster::placement_weights<4>& weights,
                                          const muster::resources<4>& free,
                                          const muster::resources<4>& request) const noexcept {
        return muster::best_fit{}(weights, free, request);
    }
};
using run_type = churn_run<4, muster::best_fit>;

workload_options work_of(const benchmark::State& state) {
    workload_options work;
    work.nodes = static_cast<std::size_t>(state.range(0));
    work.requests = state.range(1) == 0 ? request_regime::catalogue : request_regime::random;
    return work;
}

gang_spec<4> eight_members() {
    role_spec<4> role{{2000, 8 * gibibyte, 0, 1}, 8, 8};
    return {{role}, no_pool};
}

/// More than any cluster here has.
gang_spec<4> too_many() {
    role_spec<4> role{{90000, 16 * gibibyte, 8, 1}, 64, 64};
    return {{role}, no_pool};
}

/// A cluster that is in use to 0.8.
template<class Run = run_type>
Run used_cluster(const workload_options& work) {
    Run run(make_nodes<4>(work));
    gang_stream<4> arriving(work);
    run.fill(arriving, 0.8);
    return run;
}

void set_time(benchmark::State& state, double nanoseconds) {
    state.SetIterationTime(nanoseconds * 1e-9);
}

void start_and_release(benchmark::State& state) {
    run_type run = used_cluster(work_of(state));
    for (auto each : state) {
        static_cast<void>(each);
        const std::uint32_t gang = run.engine().submit(eight_members());
        set_time(state, stopwatch::time([&] {
                     benchmark::DoNotOptimize(run.engine().start(gang));
                     run.engine().release(gang);
                 }));
        run.engine().forget(gang);
    }
    state.SetItemsProcessed(state.iterations() * 8);
}

void release(benchmark::State& state) {
    run_type run = used_cluster(work_of(state));
    for (auto each : state) {
        static_cast<void>(each);
        const std::uint32_t gang = run.engine().submit(eight_members());
        benchmark::DoNotOptimize(run.engine().start(gang));
        set_time(state, stopwatch::time([&] { run.engine().release(gang); }));
        run.engine().forget(gang);
    }
    state.SetItemsProcessed(state.iterations() * 8);
}

void refuse(benchmark::State& state) {
    run_type run = used_cluster(work_of(state));
    // No node keeps eight devices free.
    gang_spec<4> devices{{role_spec<4>{{10, gibibyte, 8, 1}, 1, 1000}}, no_pool};
    while (run.ask(devices).admitted) {
    }
    for (auto each : state) {
        static_cast<void>(each);
        const std::uint32_t gang = run.engine().submit(too_many());
        set_time(state,
                 stopwatch::time([&] { benchmark::DoNotOptimize(run.engine().start(gang)); }));
        run.engine().forget(gang);
    }
}

void cycle_at_rest(benchmark::State& state) {
    run_type run = used_cluster(work_of(state));
    gang_spec<4> devices{{role_spec<4>{{10, gibibyte, 8, 1}, 1, 1000}}, no_pool};
    while (run.ask(devices).admitted) {
    }
    for (int waiting = 0; waiting < 10000; ++waiting)
        static_cast<void>(run.engine().submit(too_many()));
    run.engine().cycle();
    for (auto each : state) {
        static_cast<void>(each);
        set_time(state, stopwatch::time([&] { run.engine().cycle(); }));
    }
}

/// Gangs of one role and 7 to 10 pods come and go, on so few nodes that a scan may be quicker.
template<class Score>
void on_few_nodes(benchmark::State& state) {
    const workload_options work = work_of(state);
    auto run = used_cluster<churn_run<4, Score>>(work);
    gang_stream<4> arriving(work);
    for (auto each : state) {
        static_cast<void>(each);
        gang_spec<4> gang;
        do
            gang = arriving.next();
        while (gang.members() < 7 || gang.members() > 10 || gang.roles.size() > 1);
        double took = 0.0;
        while (run.accounts().utilisation() >= 0.8 && !run.empty())
            took += run.release_oldest().nanoseconds;
        took += run.ask(gang).nanoseconds;
        if (!run.last().admitted && !run.empty())
            took += run.release_oldest().nanoseconds;
        set_time(state, took);
    }
}

void few_nodes(benchmark::internal::Benchmark* of) {
    of->ArgNames({"nodes", "random"})
        ->ArgsProduct({{8, 16, 32, 64, 128, 256, 1000}, {0, 1}})
        ->UseManualTime()
        ->MinTime(0.02);
}

void sizes(benchmark::internal::Benchmark* of) {
    of->ArgNames({"nodes", "random"})
        ->ArgsProduct({{1000, 10000, 100000}, {0, 1}})
        ->UseManualTime()
        ->MinTime(0.2);
}

BENCHMARK(start_and_release)->Apply(sizes);
BENCHMARK(release)->Apply(sizes);
BENCHMARK(refuse)->Apply(sizes);
BENCHMARK(on_few_nodes<muster::best_fit>)->Name("few_nodes_by_index")->Apply(few_nodes);
BENCHMARK(on_few_nodes<scanned_best_fit>)->Name("few_nodes_by_scan")->Apply(few_nodes);
BENCHMARK(cycle_at_rest)->Apply(sizes)->Unit(benchmark::kMicrosecond);

} // namespace

BENCHMARK_MAIN();
