// SPDX-License-Identifier: Apache-2.0
// Two gangs ask for more than the cluster has: the older one starts whole, the other waits whole.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <muster/muster.hpp>

namespace {

// How many resource kinds amounts have room for; this cluster names two.
constexpr std::size_t width = 4;
using cluster = muster::state<muster::string_traits<width>>;

void expect_applied(muster::event_result what) {
    if (what == muster::event_result::applied)
        return;
    std::fputs("the cluster refused an event\n", stderr);
    std::exit(EXIT_FAILURE);
}

struct resource_kinds {
    muster::kind_table names;
    muster::kind_id cpu = *names.intern("cpu");
    muster::kind_id gpu = *names.intern("gpu");
};

void add_node(cluster& to, const resource_kinds& kinds, const char* key) {
    muster::node<width> machine;
    machine.allocatable[kinds.cpu] = 32'000; // cpu counts in thousandths
    machine.allocatable[kinds.gpu] = 8;
    expect_applied(to.upsert_node(key, machine));
}

void add_gang(cluster& to, const resource_kinds& kinds, const std::string& key,
              std::int64_t created, std::int64_t members) {
    muster::gang<std::string> group;
    group.created = created;
    group.tree = muster::single_role(members); // all of them or none
    expect_applied(to.upsert_gang(key, group));

    muster::pod<width> worker;
    worker.request[kinds.cpu] = 8'000;
    worker.request[kinds.gpu] = 4;
    for (std::int64_t rank = 0; rank < members; ++rank)
        expect_applied(to.upsert_pod(key + "-" + std::to_string(rank), key, worker));
}

} // namespace

int main() {
    const resource_kinds kinds;
    cluster known;
    add_node(known, kinds, "node-a");
    add_node(known, kinds, "node-b");
    add_gang(known, kinds, "train", 1, 3);
    add_gang(known, kinds, "tune", 2, 2);

    const std::int64_t now = 10;
    const muster::cycle_result result = muster::cycle(known, now);

    for (const muster::decision& made : result.decisions) {
        std::printf("%s\n", known.key(made.gang).c_str());
        for (const auto& [pod, node] : made.placements)
            std::printf("  start %s on %s\n", known.key(pod).c_str(), known.key(node).c_str());

        // Reasons are made on demand; a gang that starts has none.
        if (made.outcome.kind == muster::answer::admitted)
            continue;
        muster::explain_options options;
        options.kinds = &kinds.names;
        for (const muster::reason& why : muster::explain(known, made.gang, options))
            if (why.code == muster::reason_code::insufficient_resource)
                std::printf("  pending: it needs %lld of %s, and %lld are free\n",
                            static_cast<long long>(why.amount_needed),
                            kinds.names.name(*why.resource).c_str(),
                            static_cast<long long>(why.amount_left));
    }
}
