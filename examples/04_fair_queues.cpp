// SPDX-License-Identifier: Apache-2.0
// A tree of queues that share a cluster by weight, over time: a team that had it to itself for a
// day gives way to the one that comes, at once by what both use now, and for longer when past use
// is held against it, of which half is forgotten with every half-life.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include <muster/muster.hpp>

namespace {

constexpr std::size_t width = 4;
constexpr muster::kind_id gpu{0};
using cluster = muster::state<muster::string_traits<width>>;

void expect_applied(muster::event_result what) {
    if (what != muster::event_result::applied)
        std::exit(EXIT_FAILURE);
}

struct team {
    const char* queue;
    const char* parent;
    std::int64_t weight;
    std::int64_t comes; // the hour from which on it always has jobs waiting
    muster::decayed_usage<width> lately{12, 0};
    int submitted = 0;
};

void describe(cluster& to, const team& one) {
    cluster::queue_type spec;
    spec.weight = one.weight;
    for (std::size_t kind = 0; kind < width; ++kind)
        spec.past_use[muster::kind_id{kind}] = one.lately.mean(muster::kind_id{kind});
    expect_applied(to.upsert_queue(one.queue, spec, std::string(one.parent)));
}

/// Two nodes for one hour.
void submit(cluster& to, team& by, std::int64_t now) {
    const std::string name = by.queue + std::string("-") + std::to_string(1000 + by.submitted++);
    muster::gang<std::string> group;
    group.queue = by.queue;
    group.created = now;
    group.tree = muster::single_role(2);
    expect_applied(to.upsert_gang(name, group));
    muster::pod<width> worker;
    worker.request[gpu] = 8;
    for (const char* rank : {"-0", "-1"})
        expect_applied(to.upsert_pod(name + rank, name, worker));
}

template<class QueueOrder>
void replay(const char* title, QueueOrder order) {
    muster::policy<muster::best_fit, muster::priority_then_age, QueueOrder> how;
    how.queues = order;
    cluster known;
    for (int node = 10; node < 22; ++node) {
        muster::node<width> machine;
        machine.allocatable[gpu] = 8;
        expect_applied(known.upsert_node("node-" + std::to_string(node), machine));
    }
    expect_applied(known.upsert_queue("research", {}));
    team teams[] = {{"speech", "research", 1, 0}, {"vision", "research", 2, 24}};
    std::printf("%s\n  node-hours, up to    speech  vision\n", title);
    std::map<std::string, int> nodes;
    std::map<std::string, std::string> running; // the gangs, and whose they are
    for (std::int64_t hour = 0; hour < 72; ++hour) {
        for (team& one : teams) {
            const auto found = known.find_queue(one.queue);
            if (found)
                one.lately.update(hour, known.accounts().used(found->index));
            describe(known, one);
        }
        for (const auto& [name, queue] : running)
            expect_applied(known.finish_gang(name));
        running.clear();
        for (team& one : teams)
            for (int job = 0; hour >= one.comes && job < 6; ++job)
                submit(known, one, hour);
        for (const muster::decision& made : muster::cycle(known, hour, how).decisions) {
            if (made.placements.empty())
                continue;
            const std::string& queue = known.key(*known[made.gang].queue);
            running.emplace(known.key(made.gang), queue);
            nodes[queue] += 2;
        }
        if (hour % 12 == 11) {
            std::printf("            hour %2d  %8d  %6d\n", static_cast<int>(hour + 1),
                        nodes["speech"], nodes["vision"]);
            nodes.clear();
        }
    }
}

} // namespace

int main() {
    replay("by use now, for the weight", muster::weighted_share{});
    replay("by use lately, half of it forgotten every 12 hours", muster::least_past_use{});
}
