// SPDX-License-Identifier: Apache-2.0
// Whole gangs for whole gangs: the smallest set of victims, members beyond a gang's minima first,
// and nothing evicted unless the one who asks then starts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <muster/muster.hpp>

namespace {

constexpr muster::kind_id gpu{0};
using cluster = muster::state<muster::string_traits<4>>;

void expect_applied(muster::event_result what) {
    if (what != muster::event_result::applied)
        std::exit(EXIT_FAILURE);
}

/// All of the usual policy but for who may be evicted.
struct preempting : muster::policy<> {
    muster::t9k_preemption victims{};
};

void submit(cluster& to, const std::string& name, const char* queue, std::int64_t priority,
            int members, int minimum) {
    muster::gang<std::string> group;
    group.queue = queue;
    group.priority = priority;
    group.created = static_cast<std::int64_t>(to.gang_keys().size());
    group.tree = muster::single_role(minimum);
    expect_applied(to.upsert_gang(name, group));
    muster::pod<4> worker;
    worker.request[gpu] = 4;
    for (int rank = 0; rank < members; ++rank)
        expect_applied(to.upsert_pod(name + "-" + std::to_string(rank), name, worker));
}

void plan(const char* title, cluster& known) {
    std::printf("%s\n", title);
    std::vector<std::string> leaving;
    std::vector<std::string> bound;
    for (const muster::decision& made : muster::cycle(known, 0, preempting{}).decisions) {
        std::printf("  %-8s %s", known.key(made.gang).c_str(),
                    made.placements.empty() ? "waits"
                    : made.nominated        ? "will start where others leave"
                                            : "starts");
        for (const muster::pod_index pod : made.evictions) {
            std::printf(" %s", known.key(pod).c_str());
            leaving.push_back(known.key(pod));
        }
        for (const auto& [pod, node] : made.placements)
            if (!made.nominated)
                bound.push_back(known.key(pod));
        if (made.short_after_evictions)
            std::printf(": evicting all it may would not be enough");
        std::printf("\n");
    }
    // What a cluster would report.
    for (const std::string& pod : bound)
        expect_applied(known.confirm_bound(pod));
    for (const std::string& pod : leaving)
        expect_applied(known.remove_pod(pod));
}

} // namespace

int main() {
    cluster known;
    for (const char* name : {"node-a", "node-b", "node-c", "node-d"}) {
        muster::node<4> machine;
        machine.allocatable[gpu] = 8;
        expect_applied(known.upsert_node(name, machine));
    }
    muster::queue<4> low;
    expect_applied(known.upsert_queue("low", low));
    muster::queue<4> high;
    high.priority = 1;
    high.quota.set(gpu, 24);
    expect_applied(known.upsert_queue("high", high));

    submit(known, "elastic", "low", 5, 5, 2); // three of its five pods are surplus
    submit(known, "rigid", "low", 0, 2, 2);
    submit(known, "solo", "low", 9, 1, 1);
    plan("the cluster fills", known);
    submit(known, "urgent", "high", 0, 3, 3);
    plan("three pods of a higher queue: the surplus is enough, no gang is broken", known);
    plan("they are gone", known);
    submit(known, "large", "high", 0, 2, 2);
    plan("two more: only a whole gang makes room, that of the lowest priority", known);
    plan("it is gone", known);
    submit(known, "greedy", "high", 0, 2, 2);
    plan("two more, beyond the quota of their own queue: nobody is evicted for them", known);
}
