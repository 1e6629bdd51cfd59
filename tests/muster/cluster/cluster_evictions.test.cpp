// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"

namespace cluster_cluster_evictions_test {

namespace {

using namespace builders;
using namespace muster;

std::int64_t present_cpu(const cluster& in, const std::string& node) {
    return in.accounts().present(in.find_node(node)->index)[cpu];
}
std::int64_t future_cpu(const cluster& in, const std::string& node) {
    return in.accounts().future(in.find_node(node)->index)[cpu];
}

/// A node of 8 with a pod of 6 on it, and a gang of one pod of 5.
cluster full_node() {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", quota_of(10)));
    add_running(known, "old", 6, "n", "q");
    add_gang(known, "new", 1, 5, "q");
    return known;
}

TEST_CASE("a pod that was told to go takes its room until it is gone") {
    cluster known = full_node();
    ok(known.evict("old-0"));
    CHECK(free_cpu(known, "n") == 2);
    CHECK(present_cpu(known, "n") == 2);
    CHECK(future_cpu(known, "n") == 8);
    CHECK(used_cpu(known, "q") == 6);
    CHECK(known.accounts().queues().future().used(known.find_queue("q")->index)[cpu] == 0);
    CHECK_FALSE(known[known.find_pod("old-0")->index].alive());
    CHECK(known.evict("old-0") == event_result::unexpected);

    SUBCASE("reported gone") {
        ok(known.remove_pod("old-0"));
    }
    SUBCASE("reported ended") {
        ok(known.upsert_pod("old-0", "old", in_phase(pod_phase::failed, asking(6)), "n"));
    }
    CHECK(free_cpu(known, "n") == 8);
    CHECK(future_cpu(known, "n") == 8);
    CHECK(used_cpu(known, "q") == 0);
    CHECK(known.accounts().departures().empty());
}

TEST_CASE("a pod that is seen being deleted counts as one that was told to go") {
    cluster known = full_node();
    cluster::pod_type leaving = in_phase(pod_phase::running, asking(6));
    leaving.terminating = true;
    ok(known.upsert_pod("old-0", "old", leaving, "n"));
    CHECK(free_cpu(known, "n") == 2);
    CHECK(future_cpu(known, "n") == 8);

    cluster told = full_node();
    ok(told.evict("old-0"));
    CHECK(told.accounts() == known.accounts());
    ok(told.upsert_pod("old-0", "old", leaving, "n"));
    CHECK(told.accounts() == known.accounts());
}

TEST_CASE("a pod that was told to go and is seen as before still goes") {
    cluster known = full_node();
    ok(known.evict("old-0"));
    ok(known.upsert_pod("old-0", "old", in_phase(pod_phase::running, asking(6)), "n"));
    CHECK(future_cpu(known, "n") == 8);
    CHECK(known[known.find_pod("old-0")->index].evicted);
}

TEST_CASE("room is reserved for an expected gated pod, and no cycle places it") {
    cluster known = full_node();
    ok(known.evict("old-0"));
    ok(known.upsert_pod("guest", "guest", in_phase(pod_phase::gated, asking(5))));
    ok(known.expect("guest", "n"));
    CHECK(known.expect("guest", "n") == event_result::unexpected);
    CHECK(present_cpu(known, "n") == 2);
    CHECK(future_cpu(known, "n") == 3);
    ok(known.remove_pod("old-0"));
    CHECK(free_cpu(known, "n") == 3);
    const auto places = [&] {
        std::size_t placed = 0;
        for (const auto& made : muster::cycle(known, 0).decisions)
            placed += made.placements.size();
        return placed;
    };
    CHECK(places() == 0);
    CHECK(known[known.find_pod("guest")->index].nominated);

    SUBCASE("until it is gone") {
        ok(known.remove_pod("guest"));
    }
    SUBCASE("until it is observed without") {
        ok(known.upsert_pod("guest", "guest", in_phase(pod_phase::gated, asking(5))));
        CHECK_FALSE(known[known.find_pod("guest")->index].nominated);
    }
    CHECK(free_cpu(known, "n") == 8);
    CHECK(places() == 1);
}

TEST_CASE("an expected pod that is observed on its node is charged there") {
    cluster known = full_node();
    ok(known.upsert_pod("guest", "guest", in_phase(pod_phase::gated, asking(2))));
    ok(known.expect("guest", "n"));
    CHECK(present_cpu(known, "n") == 2);
    CHECK(future_cpu(known, "n") == 0);
    ok(known.upsert_pod("guest", "guest", in_phase(pod_phase::running, asking(2)), "n"));
    CHECK(present_cpu(known, "n") == 0);
    CHECK(future_cpu(known, "n") == 0);
    ok(known.remove_pod("guest"));
    CHECK(free_cpu(known, "n") == 2);
}

TEST_CASE("expect() accepts only a gated pod without a node, and only a known node") {
    cluster known = full_node();
    CHECK(known.expect("new-0", "n") == event_result::unexpected);
    CHECK(known.expect("old-0", "n") == event_result::unexpected);
    CHECK(known.expect("nobody", "n") == event_result::unexpected);
    ok(known.upsert_pod("guest", "guest", in_phase(pod_phase::gated, asking(2))));
    CHECK(known.expect("guest", "elsewhere") == event_result::unexpected);
}

TEST_CASE("a pod whose eviction was refused is a member again") {
    cluster known = full_node();
    const auto before = known.accounts();
    ok(known.evict("old-0"));
    ok(known.keep("old-0"));
    CHECK(known.accounts() == before);
    CHECK(known[known.find_pod("old-0")->index].holding());
    CHECK(known.keep("old-0") == event_result::unexpected);
}

TEST_CASE("who waits, is nominated or is not there cannot be told to go") {
    cluster known = full_node();
    CHECK(known.evict("new-0") == event_result::unexpected);
    CHECK(known.evict("nobody") == event_result::unexpected);
    ok(known.nominate("new-0", "n"));
    CHECK(known.evict("new-0") == event_result::unexpected);
}

TEST_CASE("a nominated pod takes room later and of the quota at once") {
    cluster known = full_node();
    ok(known.evict("old-0"));
    ok(known.nominate("new-0", "n"));
    CHECK(present_cpu(known, "n") == 2);
    CHECK(future_cpu(known, "n") == 3);
    CHECK(free_cpu(known, "n") == 2);
    CHECK(used_cpu(known, "q") == 6);
    CHECK(known.accounts().queues().future().used(known.find_queue("q")->index)[cpu] == 5);
    CHECK(known[gang_at(known, "new")].nominated == 1);
    CHECK(known.nominate("new-0", "n") == event_result::unexpected);

    SUBCASE("until it is forgotten") {
        ok(known.forget("new-0"));
        CHECK(future_cpu(known, "n") == 8);
        CHECK(known[gang_at(known, "new")].placeable == 1);
    }
    SUBCASE("until it is gone") {
        ok(known.remove_pod("new-0"));
        CHECK(future_cpu(known, "n") == 8);
    }
    SUBCASE("until it is deleted before it came") {
        cluster::pod_type leaving = asking(5);
        leaving.terminating = true;
        ok(known.upsert_pod("new-0", "new", leaving));
        CHECK(future_cpu(known, "n") == 8);
    }
    SUBCASE("and now once it is seen there") {
        ok(known.remove_pod("old-0"));
        ok(known.upsert_pod("new-0", "new", in_phase(pod_phase::running, asking(5)), "n"));
        CHECK(free_cpu(known, "n") == 3);
        CHECK(present_cpu(known, "n") == 3);
    }
    CHECK(known[gang_at(known, "new")].nominated == 0);
}

TEST_CASE("a nomination may ask for more than will be free, and nobody else fits there then") {
    cluster known = full_node();
    ok(known.nominate("new-0", "n"));
    CHECK(future_cpu(known, "n") == -3);
    CHECK(free_cpu(known, "n") == -3);
    CHECK(present_cpu(known, "n") == 2);
}

TEST_CASE("a queue's use moves with its gang, leaving and nominated members among it") {
    cluster known = full_node();
    ok(known.upsert_queue("r", quota_of(10)));
    ok(known.upsert_pod("old-1", "old", asking(1)));
    ok(known.evict("old-0"));
    ok(known.nominate("old-1", "n"));
    CHECK(used_cpu(known, "q") == 6);
    ok(known.upsert_gang("old", gang_of(1, "r")));
    CHECK(used_cpu(known, "q") == 0);
    CHECK(used_cpu(known, "r") == 6);
    CHECK(known.accounts().queues().future().used(known.find_queue("r")->index)[cpu] == 1);
    ok(known.remove_gang("old"));
    CHECK(used_cpu(known, "r") == 0);
}

TEST_CASE("when a gang finishes, who was told to go is gone and who was nominated waits") {
    cluster known = full_node();
    ok(known.upsert_pod("old-1", "old", asking(1)));
    ok(known.evict("old-0"));
    ok(known.nominate("old-1", "n"));
    ok(known.finish_gang("old"));
    CHECK(free_cpu(known, "n") == 8);
    CHECK(future_cpu(known, "n") == 8);
    CHECK(known[gang_at(known, "old")].placeable == 1);
}

TEST_CASE("a nominated gang is bound when all its members have room, and not before") {
    cluster known;
    ok(known.upsert_node("m", machine(8)));
    ok(known.upsert_node("n", machine(8)));
    add_running(known, "one", 6, "m");
    add_running(known, "two", 6, "n");
    add_gang(known, "new", 2, 8);
    ok(known.evict("one-0"));
    ok(known.evict("two-0"));
    ok(known.nominate("new-0", "m"));
    ok(known.nominate("new-1", "n"));
    CHECK(cycle(known, 0).counters.pods_placed == 0);
    CHECK(is(answered(known, "new"), answer::admitted));
    ok(known.remove_pod("one-0"));
    CHECK(cycle(known, 1).counters.pods_placed == 0);
    CHECK_FALSE(known[known.find_pod("new-0")->index].assumed);
    ok(known.remove_pod("two-0"));
    const cycle_result result = cycle(known, 2);
    REQUIRE(result.counters.pods_placed == 2);
    CHECK(result.decisions.front().placements.size() == 2);
    CHECK(known[known.find_pod("new-0")->index].assumed);
    CHECK(known[gang_at(known, "new")].nominated == 0);
    CHECK(free_cpu(known, "m") == 0);
    CHECK(present_cpu(known, "m") == 0);
}

TEST_CASE("nobody takes the room that is kept for a nominated gang") {
    cluster known = full_node();
    ok(known.evict("old-0"));
    ok(known.nominate("new-0", "n"));
    ok(known.remove_pod("old-0"));
    add_gang(known, "late", 1, 4);
    ok(known.upsert_gang("late", [] {
        auto first = gang_of(1);
        first.priority = 9;
        return first;
    }()));
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "late"), answer::waiting, gate::space));
    CHECK(node_of(known, "new-0") == "n");
    CHECK(known[known.find_pod("new-0")->index].assumed);
}

TEST_CASE("within a quota a nominated gang waits until who leaves has left") {
    cluster known;
    ok(known.upsert_node("m", machine(8)));
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", quota_of(6)));
    add_running(known, "old", 6, "n", "q");
    add_gang(known, "new", 1, 6, "q");
    ok(known.evict("old-0"));
    ok(known.nominate("new-0", "m"));
    CHECK(cycle(known, 0).counters.pods_placed == 0);
    ok(known.remove_pod("old-0"));
    CHECK(cycle(known, 1).counters.pods_placed == 1);
    CHECK(used_cpu(known, "q") == 6);
}

TEST_CASE("nominations are given up when they can lead nowhere, and their gang is asked anew") {
    cluster known;
    ok(known.upsert_node("m", machine(8)));
    ok(known.upsert_node("n", machine(8)));
    add_running(known, "old", 6, "n");
    add_gang(known, "new", 1, 5);
    ok(known.evict("old-0"));
    ok(known.nominate("new-0", "n"));
    SUBCASE("its node is cordoned") {
        cluster::node_type closed = machine(8);
        closed.unschedulable = true;
        ok(known.upsert_node("n", closed));
    }
    SUBCASE("its node is gone") {
        ok(known.remove_node("n"));
    }
    SUBCASE("who was to leave stays") {
        ok(known.keep("old-0"));
    }
    SUBCASE("somebody else came") {
        add_running(known, "other", 4, "n");
    }
    static_cast<void>(cycle(known, 0));
    CHECK(node_of(known, "new-0") == "m");
    CHECK(known[known.find_pod("new-0")->index].assumed);
}

TEST_CASE("a nominated gang that lost a member it needs waits again") {
    cluster known = full_node();
    ok(known.upsert_gang("new", gang_of(2, "q")));
    ok(known.upsert_pod("new-1", "new", asking(1)));
    ok(known.evict("old-0"));
    ok(known.nominate("new-0", "n"));
    ok(known.nominate("new-1", "n"));
    ok(known.remove_pod("new-1"));
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "new"), answer::waiting, gate::members));
    CHECK(known[gang_at(known, "new")].nominated == 0);
    CHECK(future_cpu(known, "n") == 8);
}

TEST_CASE("a port is free once who claims it has left, and a nominated pod waits for that") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    const auto claiming = [](pod_phase phase) {
        cluster::pod_type pod = in_phase(phase, asking(1));
        pod.where.claims.ports.push_back({"TCP", "", 80});
        return pod;
    };
    ok(known.upsert_gang("old", gang_of(1)));
    ok(known.upsert_pod("old-0", "old", claiming(pod_phase::running), "n"));
    ok(known.upsert_gang("new", gang_of(1)));
    ok(known.upsert_pod("new-0", "new", claiming(pod_phase::pending)));
    ok(known.evict("old-0"));
    CHECK(known.accounts().leaving_claims(known.find_node("n")->index).size() == 1);
    ok(known.nominate("new-0", "n"));
    CHECK(known.accounts().claims(known.find_node("n")->index).size() == 2);
    CHECK(cycle(known, 0).counters.pods_placed == 0);
    ok(known.remove_pod("old-0"));
    CHECK(cycle(known, 1).counters.pods_placed == 1);
    CHECK(known.accounts().claims(known.find_node("n")->index).size() == 1);
}

TEST_CASE("members beyond the minima of a nominated gang follow once it has come") {
    cluster known = full_node();
    ok(known.upsert_pod("new-1", "new", asking(1)));
    ok(known.evict("old-0"));
    ok(known.nominate("new-0", "n"));
    CHECK(cycle(known, 0).counters.pods_placed == 0);
    ok(known.remove_pod("old-0"));
    CHECK(cycle(known, 1).counters.pods_placed == 1);
    CHECK(cycle(known, 1).counters.pods_placed == 1);
    CHECK(node_of(known, "new-1") == "n");
}

} // namespace

} // namespace cluster_cluster_evictions_test
