// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/model/ledger.hpp>
#include <muster/plan/plan.hpp>

#include "../builders.hpp"

namespace {

using namespace builders;
using namespace muster;

TEST_CASE("what stands on a node is taken from its free amounts and charged to its queue") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", quota_of(10)));
    add_running(known, "g", 3, "n", "q");
    CHECK(free_cpu(known, "n") == 5);
    CHECK(used_cpu(known, "q") == 3);
    const auto queue = known.find_queue("q");
    CHECK(known.accounts().quota(queue->index)[cpu] == 10);
}

TEST_CASE("a gang without a queue is charged to none") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", quota_of(10)));
    add_running(known, "g", 3, "n");
    CHECK(free_cpu(known, "n") == 5);
    CHECK(used_cpu(known, "q") == 0);
}

TEST_CASE("free is negative when a node shrank under its pods") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    add_running(known, "g", 6, "n");
    ok(known.upsert_node("n", machine(4)));
    CHECK(free_cpu(known, "n") == -2);
    ok(known.remove_pod("g-0"));
    CHECK(free_cpu(known, "n") == 4);
}

TEST_CASE("emptied, a cluster has its nodes and quotas and nobody in them") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", quota_of(10)));
    ok(known.upsert_gang("g", gang_of(1, "q")));
    cluster::pod_type pod = in_phase(pod_phase::running, asking(3));
    pod.where.ports.push_back({"TCP", "", 80});
    ok(known.upsert_pod("p", "g", pod, "n"));
    const auto node = known.find_node("n")->index;
    const auto queue = known.find_queue("q")->index;
    CHECK(known.accounts().ports(node).size() == 1);

    const auto emptied = known.accounts().emptied();
    CHECK(emptied.free(node) == units(8));
    CHECK(emptied.allocatable(node) == units(8));
    CHECK(emptied.ports(node).empty());
    CHECK(emptied.used(queue) == amounts{});
    CHECK(emptied.quota(queue)[cpu] == 10);
    CHECK(free_cpu(known, "n") == 5);
}

TEST_CASE("taking and giving back is the identity, ports in any order among them") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_gang("g", gang_of(1)));
    const auto claiming = [](std::int32_t port) {
        cluster::pod_type pod = in_phase(pod_phase::running, asking(1));
        pod.where.ports.push_back({"TCP", "", port});
        return pod;
    };
    ok(known.upsert_pod("p80", "g", claiming(80), "n"));
    const auto before = known.accounts();
    ok(known.upsert_pod("p90", "g", claiming(90), "n"));
    ok(known.upsert_pod("p70", "g", claiming(70), "n"));
    CHECK_FALSE(known.accounts() == before);
    ok(known.remove_pod("p90"));
    ok(known.remove_pod("p70"));
    CHECK(known.accounts() == before);
}

} // namespace
