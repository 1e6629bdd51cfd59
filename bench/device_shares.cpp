// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cycle/cycle.hpp>

#include "figures.hpp"
#include "muster_engine.hpp"
#include "random.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace device_share_runs {
namespace {

using namespace muster::codec;

constexpr std::size_t width = 4;
using cluster = muster::state<engine_traits<width>>;

constexpr std::size_t gang_size = 8;
constexpr std::int64_t gpu_memory = 16'384;
/// The requests of pods for one GPU, in percent of its memory and of its cores.
constexpr std::array<std::int64_t, 5> percents{25, 50, 60, 75, 100};

void must(bool held) {
    if (!held) {
        std::puts("the benchmark of shared GPUs has a cluster that is not as it should be");
        std::exit(1);
    }
}
void must(muster::event_result what) {
    must(what == muster::event_result::applied);
}

/// The judge that the programs use, with one kind of node (8 GPUs, HAMi's rules) and one demand for
/// each of `percents`.
struct shared_gpus {
    device_judge judge{{}};
    muster::device_stock stock;
    std::vector<muster::device_demand> demands;

    shared_gpus() {
        share_stock gpus;
        gpus.system = share_system::hami;
        for (int at = 0; at < 8; ++at) {
            muster::shared_device gpu;
            gpu.id = "gpu-" + std::to_string(at);
            gpu.memory = gpu_memory;
            gpu.cores = 100;
            gpu.slots = 10;
            gpus.devices.push_back(gpu);
        }
        stock = judge.with_shares(muster::device_stock::none, "node", gpus);
        for (const std::int64_t percent : percents) {
            muster::share_request request;
            request.count = 1;
            request.memory = muster::memory_amount{gpu_memory * percent / 100};
            request.cores = percent;
            share_demand demand;
            demand.asks[share_system::hami] = {request};
            demands.push_back(
                judge.with_shares(muster::device_demand::none, std::to_string(percent), demand));
        }
    }
};

struct outcome {
    std::size_t placed = 0;
    std::size_t refused = 0;
    double placing = 0;
    std::vector<double> refusals;
};

/// Submits gangs until `pods` pods are placed and `refusals` gangs are refused. `mixed`: the pods
/// of a gang have all demands in turn; otherwise they are equal. A refused gang is removed at once.
outcome run(std::size_t nodes, std::size_t pods, std::size_t refusals, bool mixed) {
    const shared_gpus gpus;
    cluster known;
    known.set_device_rule(muster::device_rule::of(gpus.judge));
    for (std::size_t at = 0; at < nodes; ++at) {
        muster::node<width> spec;
        spec.allocatable[0] = 96'000;
        spec.allocatable[1] = 768LL << 30;
        spec.allocatable[3] = 110;
        spec.devices = gpus.stock;
        must(known.upsert_node(static_cast<std::uint32_t>(at), spec));
    }
    static_cast<void>(muster::cycle(known, 0));
    random_numbers draw(1);
    muster::cycle_result result;
    outcome made;
    for (std::uint32_t key = 0; made.placed < pods || made.refusals.size() < refusals; ++key) {
        must(key < 100'000);
        muster::gang<std::uint32_t> group;
        group.tree = muster::single_role(gang_size);
        must(known.upsert_gang(key, group));
        const auto first = static_cast<std::size_t>(
            draw.between(0, static_cast<std::int64_t>(percents.size()) - 1));
        for (std::size_t number = 0; number < gang_size; ++number) {
            muster::pod<width> pod;
            pod.request[0] = 2'000;
            pod.request[1] = 8LL << 30;
            pod.request[3] = 1;
            pod.where.claims.devices =
                gpus.demands[mixed ? (first + number) % percents.size() : first];
            must(known.upsert_pod(static_cast<std::uint32_t>(key * gang_size + number), key, pod));
        }
        const auto from = stopwatch::begin();
        muster::cycle(known, 0, muster::policy<>{}, {}, {}, result);
        const double spent = stopwatch::nanoseconds(from, stopwatch::end());
        if (result.counters.pods_placed > 0) {
            // Pods after the first 10,000 only fill the cluster.
            if (made.placed < pods) {
                made.placing += spent;
                made.placed += result.counters.pods_placed;
            }
            continue;
        }
        made.refusals.push_back(spent);
        for (std::size_t number = 0; number < gang_size; ++number)
            must(known.remove_pod(static_cast<std::uint32_t>(key * gang_size + number)));
        must(known.remove_gang(key));
    }
    return made;
}

} // namespace
} // namespace device_share_runs

void add_device_shares(report& to, bool quick) {
    using namespace device_share_runs;
    const std::size_t nodes = quick ? 100 : 1'000;
    const std::size_t pods = nodes * 10;
    for (const bool mixed : {false, true}) {
        const outcome measured = run(nodes, pods, 50, mixed);
        const std::string what = "8 shared GPUs a node, " + size_text(nodes) +
                                 " nodes, gangs of 8 " + (mixed ? "with 5 demands" : "equal pods");
        const double placing = measured.placing / static_cast<double>(measured.placed);
        const double refusing = median(measured.refusals);
        if (quick || mixed) {
            to.orientation(what + ", placed", "ns/pod", placing);
            to.orientation(what + ", refused (p50)", "ns/gang", refusing);
        } else {
            to.at_most(what + ", placed", "ns/pod", placing, 3'000);
            to.at_most(what + ", refused (p50)", "ns/gang", refusing, 20'000);
        }
    }
}

} // namespace bench
