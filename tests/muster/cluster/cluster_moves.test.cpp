// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"

namespace cluster_cluster_moves_test {

namespace {

using namespace builders;
using namespace muster;

std::int64_t present_cpu(const cluster& in, const std::string& node) {
    return in.accounts().present(in.find_node(node)->index)[cpu];
}
std::int64_t future_cpu(const cluster& in, const std::string& node) {
    return in.accounts().future(in.find_node(node)->index)[cpu];
}

/// Two nodes of 8; a gang of two that run on the first, three each, in a queue that they fill.
cluster two_nodes() {
    cluster known;
    for (const char* node : {"a", "b"})
        ok(known.upsert_node(node, machine(8)));
    ok(known.upsert_queue("q", quota_of(6)));
    ok(known.upsert_gang("pair", gang_of(2, "q")));
    for (const char* pod : {"pair-0", "pair-1"})
        ok(known.upsert_pod(pod, "pair", in_phase(pod_phase::running, asking(3)), "a"));
    return known;
}

TEST_CASE("a pod that moves takes its room now and that of its place later, and its quota once") {
    cluster known = two_nodes();
    ok(known.move("pair-0", "b"));
    CHECK(present_cpu(known, "a") == 2);
    CHECK(future_cpu(known, "a") == 5);
    CHECK(present_cpu(known, "b") == 8);
    CHECK(future_cpu(known, "b") == 5);
    CHECK(free_cpu(known, "b") == 5);
    CHECK(used_cpu(known, "q") == 6);
    CHECK(known.migrations() == 1);

    ok(known.remove_pod("pair-0"));
    CHECK(free_cpu(known, "a") == 5);
    CHECK(free_cpu(known, "b") == 5);
    CHECK(used_cpu(known, "q") == 6);
}

TEST_CASE("whoever comes for a pod that was moved gets the place, and the gang holds all along") {
    cluster known = two_nodes();
    ok(known.move("pair-0", "b"));
    std::string fresh;
    SUBCASE("under another key, before it is gone") {
        fresh = "pair-2";
        ok(known.upsert_pod(fresh, "pair", asking(3)));
        // The queue is full until then.
        CHECK(cycle(known, 1).counters.pods_placed == 0);
        CHECK(known[known.find_pod(fresh)->index].nominated);
        ok(known.remove_pod("pair-0"));
    }
    SUBCASE("under another key") {
        fresh = "pair-2";
        ok(known.remove_pod("pair-0"));
        CHECK(cycle(known, 1).counters.pods_placed == 0);
        ok(known.upsert_pod(fresh, "pair", asking(3)));
    }
    SUBCASE("under its own key") {
        fresh = "pair-0";
        ok(known.remove_pod("pair-0"));
        ok(known.upsert_pod(fresh, "pair", asking(3)));
    }
    static_cast<void>(cycle(known, 2));
    CHECK(known.migrations() == 0);
    CHECK(node_of(known, fresh) == "b");
    CHECK(known[known.find_pod(fresh)->index].assumed);
    CHECK(free_cpu(known, "b") == 5);
    CHECK(used_cpu(known, "q") == 6);
}

TEST_CASE("another kind of member does not get a place, and is placed as any other") {
    cluster known = two_nodes();
    ok(known.upsert_queue("q", quota_of(12)));
    ok(known.move("pair-0", "b"));
    ok(known.upsert_pod("other", "pair", asking(2)));
    CHECK(cycle(known, 1).counters.pods_placed == 1);
    CHECK(known.migrations() == 1);
}

TEST_CASE("a place is given up when it can lead nowhere") {
    cluster known = two_nodes();
    SUBCASE("the pod stays") {
        ok(known.move("pair-0", "b"));
        ok(known.keep("pair-0"));
        CHECK(used_cpu(known, "q") == 6);
    }
    SUBCASE("its time is over") {
        ok(known.move("pair-0", "b", 5));
        static_cast<void>(cycle(known, 1));
        static_cast<void>(cycle(known, 4));
        CHECK(known.migrations() == 1);
        static_cast<void>(cycle(known, 5));
    }
    SUBCASE("the gang is no more") {
        ok(known.move("pair-0", "b"));
        ok(known.remove_gang("pair"));
    }
    SUBCASE("the gang has done its work") {
        ok(known.move("pair-0", "b"));
        ok(known.finish_gang("pair"));
    }
    SUBCASE("the node is closed") {
        ok(known.move("pair-0", "b"));
        cluster::node_type closed = machine(8);
        closed.unschedulable = true;
        ok(known.upsert_node("b", closed));
        static_cast<void>(cycle(known, 1));
    }
    SUBCASE("the node is smaller now") {
        ok(known.move("pair-0", "b"));
        ok(known.upsert_node("b", machine(2)));
        static_cast<void>(cycle(known, 1));
        ok(known.upsert_node("b", machine(8)));
    }
    SUBCASE("the pod has succeeded") {
        ok(known.move("pair-0", "b"));
        ok(known.upsert_pod("pair-0", "pair", in_phase(pod_phase::succeeded, asking(3)), "a"));
        static_cast<void>(cycle(known, 1));
    }
    SUBCASE("its role is no more") {
        ok(known.move("pair-0", "b"));
        ok(known.remove_pod("pair-0"));
        ok(known.remove_pod("pair-1"));
        gang_tree roles;
        roles.add(vertex_index{0}, 1);
        ok(known.upsert_gang("pair", gang_of(roles, "q")));
    }
    CHECK(known.migrations() == 0);
    CHECK(free_cpu(known, "b") == 8);
}

TEST_CASE("places of a gang that only its pods name go with the last of them") {
    cluster known;
    for (const char* node : {"a", "b"})
        ok(known.upsert_node(node, machine(8)));
    ok(known.upsert_pod("one", "loose", in_phase(pod_phase::running, asking(3)), "a"));
    ok(known.move("one", "b"));
    ok(known.remove_pod("one"));
    CHECK(known.migrations() == 0);
    CHECK_FALSE(known.find_gang("loose"));
    CHECK(free_cpu(known, "b") == 8);
}

TEST_CASE("who waits, has no other node or is not there cannot be told to move") {
    cluster known = two_nodes();
    add_gang(known, "new", 1, 1);
    CHECK(known.move("new-0", "b") == event_result::unexpected);
    CHECK(known.move("nobody", "b") == event_result::unexpected);
    CHECK(known.move("pair-0", "nowhere") == event_result::unexpected);
    CHECK(known.move("pair-0", "a") == event_result::unexpected);
    ok(known.move("pair-0", "b"));
    CHECK(known.move("pair-0", "b") == event_result::unexpected);
}

TEST_CASE("a place goes to another queue with its gang") {
    cluster known = two_nodes();
    ok(known.upsert_queue("p", quota_of(10)));
    ok(known.move("pair-0", "b"));
    ok(known.upsert_gang("pair", gang_of(2, "p")));
    CHECK(used_cpu(known, "q") == 0);
    CHECK(used_cpu(known, "p") == 6);
    ok(known.remove_pod("pair-0"));
    CHECK(used_cpu(known, "p") == 6);
    ok(known.remove_gang("pair"));
    CHECK(used_cpu(known, "p") == 0);
}

} // namespace

} // namespace cluster_cluster_moves_test
