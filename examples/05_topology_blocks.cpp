// SPDX-License-Identifier: Apache-2.0
// Levels of a network from a Boost.Graph tree of switches; gangs that must share a rack, or would
// like to, and what becomes of the free room.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

#include <muster/cluster/topology_graph.hpp>
#include <muster/muster.hpp>

namespace {

constexpr muster::kind_id gpu{0};
using cluster = muster::state<muster::string_traits<4>>;

const muster::topology fabric{{"block", "rack"}};
enum level : std::size_t { block, rack };

void expect_applied(muster::event_result what) {
    if (what != muster::event_result::applied)
        std::exit(EXIT_FAILURE);
}

/// Two blocks of two racks of three hosts with 8 GPUs each: spine, blocks, racks, hosts.
cluster build() {
    boost::adjacency_list<> switches;
    std::vector<std::string> names{"spine"};
    const auto below = [&](std::size_t above, const std::string& name) {
        names.push_back(name);
        const auto added = add_vertex(switches);
        add_edge(above, added, switches);
        return added;
    };
    const auto spine = add_vertex(switches);
    std::map<std::string, std::size_t> hosts;
    for (const char* of_block : {"east", "west"}) {
        const auto leaf = below(spine, of_block);
        for (const char* of_rack : {"1", "2"}) {
            const std::string name = of_block + std::string("-") + of_rack;
            const auto top_of_rack = below(leaf, name);
            for (const char* host : {"a", "b", "c"})
                hosts.emplace(name + host, below(top_of_rack, name + host));
        }
    }
    const auto places = muster::places_in_tree(switches, spine, fabric.levels.size(),
                                               [&](std::size_t at) { return names[at]; });
    cluster made;
    for (const auto& [name, vertex] : hosts) {
        muster::node<4> machine;
        machine.allocatable[gpu] = 8;
        muster::set_labels(machine.labels, fabric, places[vertex]);
        expect_applied(made.upsert_node(name, machine));
    }
    return made;
}

void submit(cluster& to, const std::string& name, int members, std::int64_t gpus,
            std::optional<std::size_t> required, std::optional<std::size_t> preferred) {
    muster::gang<std::string> group;
    group.created = static_cast<std::int64_t>(to.gang_keys().size());
    group.tree = muster::single_role(members);
    if (required || preferred)
        group.tree.constrain_topology(muster::vertex_index{0}, {fabric, required, preferred});
    expect_applied(to.upsert_gang(name, group));
    muster::pod<4> worker;
    worker.request[gpu] = gpus;
    for (int rank = 0; rank < members; ++rank)
        expect_applied(to.upsert_pod(name + "-" + std::to_string(rank), name, worker));
}

void plan(cluster& known) {
    for (const muster::decision& made : muster::cycle(known, 0).decisions) {
        std::printf("  %-10s", known.key(made.gang).c_str());
        std::map<std::string, int> on;
        for (const auto& [pod, node] : made.placements)
            ++on[known.key(node)];
        for (const auto& [node, count] : on)
            std::printf(" %s x%d", node.c_str(), count);
        if (on.empty())
            std::printf(made.outcome.kind == muster::answer::never ? " never" : " waits");
        std::printf("\n");
    }
    std::map<std::string, std::int64_t> free;
    for (const muster::node_index node : known.node_order())
        free[*known[node].spec.labels.find("rack")] += known.accounts().free(node)[gpu];
    std::printf("  free:     ");
    for (const auto& [name, amount] : free)
        std::printf(" %s %d", name.c_str(), static_cast<int>(amount));
    std::printf("\n");
}

} // namespace

int main() {
    cluster known = build();
    std::printf("one rack each, required\n");
    submit(known, "train", 4, 4, rack, std::nullopt);
    submit(known, "tune", 2, 4, rack, std::nullopt);
    plan(known);
    std::printf("a block required and a rack preferred; anywhere; one rack for the largest\n");
    submit(known, "wide", 5, 8, block, rack);
    submit(known, "batch", 2, 4, std::nullopt, std::nullopt);
    submit(known, "huge", 4, 8, rack, std::nullopt);
    plan(known);
}
