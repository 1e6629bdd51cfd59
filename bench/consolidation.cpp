// SPDX-License-Identifier: Apache-2.0
// Gangs that start where others move: consolidation.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "figures.hpp"
#include "muster_engine.hpp"
#include "random.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace consolidation_runs {
namespace {

constexpr std::size_t width = 4;
using cluster_state = muster::state<engine_traits<width>>;
constexpr std::int64_t devices = 8;

muster::pod<width> asking(std::int64_t of) {
    muster::pod<width> made;
    made.request[cpu] = 1000 * of;
    made.request[memory] = gibibyte;
    made.request[gpu] = of;
    made.request[pods] = 1;
    return made;
}

/// Nodes of 8 devices with one or two gangs of a single pod with a device each, such that whole
/// nodes for all members of the gangs that wait become free when the pods stand as close as they
/// can, and not one more.
class scattered_cluster {
public:
    scattered_cluster(std::size_t nodes, std::size_t gangs, std::size_t members,
                      std::uint64_t seed) {
        for (std::size_t at = 0; at < nodes; ++at) {
            muster::node<width> spec;
            spec.allocatable[cpu] = 64000;
            spec.allocatable[memory] = 512 * gibibyte;
            spec.allocatable[gpu] = devices;
            spec.allocatable[pods] = 110;
            applied(known_.upsert_node(static_cast<std::uint32_t>(at), spec));
        }
        const std::size_t packed = nodes - gangs * members;
        const std::size_t standing = packed * static_cast<std::size_t>(devices);
        random_numbers draw(seed);
        std::vector<std::uint32_t> places;
        for (std::size_t at = 0; at < nodes; ++at)
            places.push_back(static_cast<std::uint32_t>(at));
        for (std::size_t at = places.size(); at > 1; --at)
            std::swap(places[at - 1], places[static_cast<std::size_t>(
                                          draw.between(0, static_cast<std::int64_t>(at) - 1))]);
        for (std::size_t at = 0; at < standing; ++at) {
            add_gang(1, static_cast<std::uint32_t>(at));
            muster::pod<width> one = asking(1);
            one.phase = muster::pod_phase::running;
            applied(known_.upsert_pod(next_pod_++, next_gang_ - 1, one, places[at % nodes]));
        }
        // Of the nodes that are emptied all have one pod at least, the others two.
        const std::size_t pairs = standing - nodes;
        fewest_ = gangs * members + (pairs - packed);
        for (std::size_t at = 0; at < gangs; ++at) {
            add_gang(members, static_cast<std::uint32_t>(standing + at));
            for (std::size_t member = 0; member < members; ++member)
                applied(known_.upsert_pod(next_pod_++, next_gang_ - 1, asking(devices)));
        }
    }

    [[nodiscard]] cluster_state& known() noexcept { return known_; }
    /// How many pods have to move at least for all gangs.
    [[nodiscard]] std::size_t fewest() const noexcept { return fewest_; }

    /// Who moves goes, and somebody else comes for it.
    void carry_out(const muster::cycle_result& told) {
        for (const muster::decision& made : told.decisions)
            for (const auto& [pod, node] : made.moves) {
                const std::uint32_t gang = known_.key(known_[pod].gang);
                applied(known_.remove_pod(known_.key(pod)));
                applied(known_.upsert_pod(next_pod_++, gang, asking(1)));
            }
    }

private:
    void add_gang(std::size_t members, std::uint32_t created) {
        muster::gang<std::uint32_t> spec;
        spec.created = created;
        spec.tree = muster::single_role(static_cast<std::int64_t>(members));
        applied(known_.upsert_gang(next_gang_++, spec));
    }

    cluster_state known_{muster::kind_id{pods}};
    std::size_t fewest_ = 0;
    std::uint32_t next_gang_ = 0;
    std::uint32_t next_pod_ = 0;
};

double consolidate(std::size_t nodes, std::size_t gangs, std::size_t members, std::size_t rounds) {
    const muster::policy how{
        muster::best_fit{},        muster::priority_then_age{}, muster::priority_then_share{},
        muster::no_reservations{}, muster::surplus_at_once{},   muster::most_packed{},
        muster::no_eviction{},     muster::move_preemptible{}};
    std::vector<double> took;
    for (std::size_t round = 0; round < rounds; ++round) {
        scattered_cluster on(nodes, gangs, members, round + 1);
        muster::cycle_result result;
        took.push_back(stopwatch::time([&] { muster::cycle(on.known(), 0, how, {}, {}, result); }));
        if (result.counters.pods_nominated != gangs * members ||
            result.counters.pods_moved != on.fewest())
            fail("consolidation moves too many, or starts too few");
        on.carry_out(result);
        muster::cycle(on.known(), 1, how, {}, {}, result);
        if (result.counters.pods_placed != gangs * members + on.fewest())
            fail("somebody who was promised a place does not come");
    }
    return median(took);
}

} // namespace
} // namespace consolidation_runs

void add_consolidation(report& to, bool quick) {
    using namespace consolidation_runs;
    const std::size_t rounds = quick ? 5 : 15;
    to.at_most("consolidation for 41 gangs of 10, 540 pods move, 500 nodes", "ms",
               consolidate(500, 41, 10, rounds) / 1e6, 50.0);
}

} // namespace bench
