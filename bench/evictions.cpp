// SPDX-License-Identifier: Apache-2.0
// Gangs that start in the room of others: preemption and reclaiming.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "figures.hpp"
#include "muster_engine.hpp"
#include "preempting.hpp"
#include "random.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace evictions_runs {
namespace {

constexpr std::size_t width = 4;
using cluster_state = muster::state<engine_traits<width>>;

/// Nodes of 8 devices, full of gangs whose members ask for one device each, and gangs that come and
/// may have their room.
class crowded_cluster {
public:
    crowded_cluster(std::size_t nodes, std::size_t members, std::uint64_t seed) : nodes_(nodes) {
        for (std::size_t at = 0; at < nodes; ++at) {
            muster::node<width> spec;
            spec.allocatable[cpu] = 64000;
            spec.allocatable[memory] = 512 * gibibyte;
            spec.allocatable[gpu] = 8;
            spec.allocatable[pods] = 110;
            applied(known_.upsert_node(static_cast<std::uint32_t>(at), spec));
        }
        random_numbers draw(seed);
        std::vector<std::uint32_t> places;
        for (std::size_t at = 0; at < nodes * 8; ++at)
            places.push_back(static_cast<std::uint32_t>(at / 8));
        for (std::size_t at = places.size(); at > 1; --at)
            std::swap(places[at - 1], places[static_cast<std::size_t>(
                                          draw.between(0, static_cast<std::int64_t>(at) - 1))]);
        for (std::size_t at = 0; at < places.size(); at += members) {
            const std::size_t end = std::min(places.size(), at + members);
            run_gang({places.begin() + static_cast<std::ptrdiff_t>(at),
                      places.begin() + static_cast<std::ptrdiff_t>(end)});
        }
    }

    [[nodiscard]] cluster_state& known() noexcept { return known_; }

    void add_queue(std::uint32_t key, std::int64_t priority, std::int64_t deserved) {
        muster::queue<width> spec;
        spec.priority = priority;
        spec.deserved.set(muster::kind_id{gpu}, deserved);
        applied(known_.upsert_queue(key, spec));
    }

    /// A gang of the first queue that runs on those nodes.
    void run_gang(const std::vector<std::uint32_t>& on) {
        const std::uint32_t number = next_gang_++;
        muster::gang<std::uint32_t> spec;
        spec.queue = 0;
        spec.created = number;
        spec.tree = muster::single_role(static_cast<std::int64_t>(on.size()));
        applied(known_.upsert_gang(number, spec));
        muster::pod<width> member = asking(1);
        member.phase = muster::pod_phase::running;
        for (const std::uint32_t node : on)
            applied(known_.upsert_pod(next_pod_++, number, member, node));
    }

    /// A gang of the second queue that waits.
    std::uint32_t submit(std::size_t members, std::int64_t devices) {
        const std::uint32_t number = next_gang_++;
        muster::gang<std::uint32_t> spec;
        spec.queue = 1;
        spec.created = number;
        spec.tree = muster::single_role(static_cast<std::int64_t>(members));
        applied(known_.upsert_gang(number, spec));
        for (std::size_t at = 0; at < members; ++at)
            applied(known_.upsert_pod(next_pod_++, number, asking(devices)));
        return number;
    }

    /// Everybody of the gang is gone.
    void remove(std::uint32_t gang) {
        const auto& record = known_[known_.find_gang(gang)->index];
        std::vector<std::uint32_t> members;
        for (const muster::pod_index member : record.members)
            members.push_back(known_.key(member));
        for (const std::uint32_t member : members)
            applied(known_.remove_pod(member));
        applied(known_.remove_gang(gang));
    }

private:
    [[nodiscard]] static muster::pod<width> asking(std::int64_t devices) {
        muster::pod<width> made;
        made.request[cpu] = 1000 * devices;
        made.request[memory] = gibibyte;
        made.request[gpu] = devices;
        made.request[pods] = 1;
        return made;
    }

    cluster_state known_{muster::kind_id{pods}};
    std::size_t nodes_;
    std::uint32_t next_gang_ = 0;
    std::uint32_t next_pod_ = 0;
};

/// Gang after gang preempts as many as it has members; then it is gone and others stand there.
std::vector<double> preempt_once(std::size_t nodes, std::size_t members, std::size_t rounds) {
    crowded_cluster on(nodes, members, 1);
    on.add_queue(0, 1, 0);
    on.add_queue(1, 2, 0);
    const auto how = preempting(muster::t9k_preemption{});
    muster::cycle_result result;
    muster::cycle(on.known(), 0, how, {}, {}, result);
    std::vector<double> took;
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::uint32_t gang = on.submit(members, 1);
        took.push_back(stopwatch::time([&] { muster::cycle(on.known(), 0, how, {}, {}, result); }));
        if (result.counters.pods_nominated != members || result.counters.pods_evicted != members)
            fail("a gang does not preempt what it needs");
        std::vector<std::uint32_t> nodes_left;
        std::vector<std::uint32_t> gone;
        for (const muster::decision& made : result.decisions)
            for (const muster::pod_index pod : made.evictions) {
                nodes_left.push_back(on.known().key(*on.known()[pod].node));
                gone.push_back(on.known().key(on.known()[pod].gang));
            }
        std::sort(gone.begin(), gone.end());
        gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
        for (const std::uint32_t each : gone)
            on.remove(each);
        muster::cycle(on.known(), 0, how, {}, {}, result);
        if (result.counters.pods_placed != members)
            fail("a gang that was nominated does not come");
        on.remove(gang);
        on.run_gang(nodes_left);
        muster::cycle(on.known(), 0, how, {}, {}, result);
    }
    return took;
}

/// KAI's reclaims: all devices are held by single pods of one queue.
double reclaim(std::size_t nodes, std::size_t members, std::int64_t deserved, bool starts,
               std::size_t rounds) {
    std::vector<double> took;
    const auto how = preempting(muster::reclaim_above_deserved{});
    for (std::size_t round = 0; round < rounds; ++round) {
        crowded_cluster on(nodes, 1, round + 1);
        on.add_queue(0, 1, deserved);
        on.add_queue(1, 1, static_cast<std::int64_t>(nodes) * 8);
        muster::cycle_result result;
        muster::cycle(on.known(), 0, how, {}, {}, result);
        static_cast<void>(on.submit(members, 8));
        took.push_back(stopwatch::time([&] { muster::cycle(on.known(), 0, how, {}, {}, result); }));
        if (result.counters.pods_evicted != (starts ? members * 8 : 0))
            fail("reclaiming takes too little or too much");
        if (!starts &&
            (result.decisions.size() != 1 || !result.decisions.front().short_after_evictions))
            fail("a refusal to reclaim says not what is short");
    }
    return median(took);
}

} // namespace
} // namespace evictions_runs

void add_evictions(report& to, bool quick) {
    using namespace evictions_runs;
    const std::size_t rounds = quick ? 100 : 300;
    // The least of three runs for every gang: other work on the machine shows in single ones.
    const auto preempt = [](std::size_t nodes, std::size_t members, std::size_t count) {
        std::vector<double> least = preempt_once(nodes, members, count);
        for (int again = 0; again < 2; ++again) {
            const std::vector<double> more = preempt_once(nodes, members, count);
            for (std::size_t at = 0; at < count; ++at)
                least[at] = std::min(least[at], more[at]);
        }
        return least;
    };
    const std::vector<double> small = preempt(1000, 100, rounds);
    to.at_most("preemption by gangs of 100, 1k nodes, p99", "us", percentile(small, 0.99) / 1e3,
               1000.0);
    to.orientation("preemption by gangs of 100, 1k nodes, p50", "us", median(small) / 1e3);
    const std::vector<double> large = preempt(10000, 1000, quick ? 30 : rounds);
    to.at_most("preemption by gangs of 1,000, 10k nodes, p99", "us", percentile(large, 0.99) / 1e3,
               1000.0);
    to.orientation("preemption by gangs of 1,000, 10k nodes, p50", "us", median(large) / 1e3);

    for (const std::size_t nodes : {std::size_t{100}, std::size_t{1000}}) {
        const std::string of = ", " + size_text(nodes) + " nodes";
        const auto all = static_cast<std::int64_t>(nodes) * 8;
        const double refused = reclaim(nodes, 10, all - 79, false, quick ? 5 : 15);
        const double taken = reclaim(nodes, nodes / 2, all / 2, true, quick ? 5 : 15);
        if (nodes == 1000) {
            to.at_most("refusal to reclaim for a device too few" + of, "us", refused / 1e3, 1000.0);
            to.at_most("reclaiming half the cluster" + of, "ms", taken / 1e6, 20.0);
        } else {
            to.orientation("refusal to reclaim for a device too few" + of, "us", refused / 1e3);
            to.orientation("reclaiming half the cluster" + of, "ms", taken / 1e6);
        }
    }
}

} // namespace bench
