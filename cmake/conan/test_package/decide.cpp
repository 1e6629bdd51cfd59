// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <muster/muster.hpp>

/// One gang of two pods starts on one node.
int main() {
    muster::state<muster::string_traits<4>> known;
    constexpr auto applied = muster::event_result::applied;
    muster::node<4> machine;
    machine.allocatable[muster::kind_id{0}] = 2;
    muster::pod<4> worker;
    worker.request[muster::kind_id{0}] = 1;
    const bool ok = known.upsert_node("node", machine) == applied &&
                    known.upsert_gang("gang", {.tree = muster::single_role(2)}) == applied &&
                    known.upsert_pod("pod-0", "gang", worker) == applied &&
                    known.upsert_pod("pod-1", "gang", worker) == applied;
    const auto cycle = muster::cycle(known, 0);
    const bool starts = cycle.decisions.size() == 1 && cycle.decisions[0].placements.size() == 2;
    const auto& [major, minor, patch] = muster::library_version;
    std::printf("muster %d.%d.%d: the gang %s\n", major, minor, patch, starts ? "starts" : "waits");
    return ok && starts ? 0 : 1;
}
