// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <muster/cluster/ledger.hpp>
#include <muster/plan/plan.hpp>

#include "../builders.hpp"

namespace cluster_ledger_test {

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
    pod.where.claims.ports.push_back({"TCP", "", 80});
    ok(known.upsert_pod("p", "g", pod, "n"));
    const auto node = known.find_node("n")->index;
    const auto queue = known.find_queue("q")->index;
    CHECK(known.accounts().claims(node).size() == 1);

    const auto emptied = known.accounts().emptied();
    CHECK(emptied.free(node) == units(8));
    CHECK(emptied.allocatable(node) == units(8));
    CHECK(emptied.claims(node).empty());
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
        pod.where.claims.ports.push_back({"TCP", "", port});
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

// ---- what changed ------------------------------------------------------------------------------

/// What changed since the last time, with what changed of it.
std::vector<std::string> changed(cluster& known) {
    std::vector<std::string> seen;
    known.tentative().take_changed([&](node_index node, node_change what) {
        seen.push_back(known.key(node) + (what == node_change::properties ? " properties"
                                          : what == node_change::size     ? " size"
                                                                          : " amounts"));
    });
    std::sort(seen.begin(), seen.end());
    return seen;
}

using lines = std::vector<std::string>;

TEST_CASE("nodes that changed are handed over once, with what changed of them") {
    cluster known;
    for (const char* node : {"a", "b", "c"})
        ok(known.upsert_node(node, machine(8)));
    CHECK(changed(known) == lines{"a properties", "b properties", "c properties"});
    CHECK(changed(known).empty());
    add_running(known, "r", 1, "b");
    ok(known.upsert_pod("r-1", "r", in_phase(pod_phase::running, asking(1)), "b"));
    CHECK(changed(known) == lines{"b amounts"});
    ok(known.remove_pod("r-0"));
    ok(known.upsert_node("c", machine(9)));
    CHECK(changed(known) == lines{"b amounts", "c size"});
    CHECK(changed(known).empty());
}

TEST_CASE("of a node whose amounts and properties changed the properties are told") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    static_cast<void>(changed(known));
    cluster::node_type labelled = machine(8);
    labelled.labels = {{"pool", "p"}};
    SUBCASE("amounts first") {
        add_running(known, "r", 1, "n");
        ok(known.upsert_node("n", labelled));
    }
    SUBCASE("properties first") {
        ok(known.upsert_node("n", labelled));
        add_running(known, "r", 1, "n");
        ok(known.upsert_node("n", labelled));
    }
    SUBCASE("and the size") {
        ok(known.upsert_node("n", labelled));
        labelled.allocatable = units(9);
        ok(known.upsert_node("n", labelled));
    }
    CHECK(changed(known) == lines{"n properties"});
}

TEST_CASE("of a node whose amounts and size changed the size is told") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    static_cast<void>(changed(known));
    SUBCASE("amounts first") {
        add_running(known, "r", 1, "n");
        ok(known.upsert_node("n", machine(9)));
    }
    SUBCASE("size first") {
        ok(known.upsert_node("n", machine(7)));
        add_running(known, "r", 1, "n");
    }
    CHECK(changed(known) == lines{"n size"});
}

TEST_CASE("a node is another when it goes, comes back, is cordoned, tainted or labelled") {
    cluster known;
    const auto seen = [&](const cluster::node_type& spec) {
        ok(known.upsert_node("n", spec));
        return changed(known);
    };
    const lines other = {"n properties"};
    cluster::node_type spec = machine(8);
    CHECK(seen(spec) == other);
    ok(known.remove_node("n"));
    CHECK(changed(known) == other);
    CHECK(seen(spec) == other);
    spec.unschedulable = true;
    CHECK(seen(spec) == other);
    spec.taints.push_back({"k", "v", taint_effect::no_schedule});
    CHECK(seen(spec) == other);
    spec.labels = {{"pool", "p"}};
    CHECK(seen(spec) == other);
    spec.name = "host";
    CHECK(seen(spec) == other);
    CHECK(seen(spec).empty());
}

TEST_CASE("what was placed tentatively and undone is a change, and nothing is lost") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    add_gang(known, "g", 1, 3);
    static_cast<void>(changed(known));
    {
        // A plan keeps the address of the claims until it is committed or undone.
        const node_claims none;
        plan<traits::width> tentative(known.tentative());
        CHECK(tentative.try_place(known.find_pod("g-0")->index, known.find_node("n")->index,
                                  units(3), none, {}));
    }
    CHECK(free_cpu(known, "n") == 8);
    CHECK(changed(known) == lines{"n amounts"});
}

TEST_CASE("those that look ahead see the changes and leave them") {
    cluster known;
    ok(known.upsert_node("a", machine(8)));
    ok(known.upsert_node("b", machine(8)));
    std::size_t seen = 0;
    known.accounts().for_each_changed([&](node_index) { ++seen; });
    CHECK(seen == 2);
    CHECK(changed(known).size() == 2);
    known.accounts().for_each_changed([&](node_index) { ++seen; });
    CHECK(seen == 2);
}

TEST_CASE("a node that an event named and that is taken back is no change") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", {}));
    add_running(known, "r", top, "elsewhere", "q");
    static_cast<void>(changed(known));
    CHECK(known.upsert_pod("r-1", "r", in_phase(pod_phase::running, asking(1)), "new") ==
          event_result::out_of_range);
    CHECK_FALSE(known.find_node("new"));
    CHECK(changed(known).empty());
    add_running(known, "s", 1, "n");
    CHECK(changed(known) == lines{"n amounts"});
}

// ---- the largest node --------------------------------------------------------------------------

TEST_CASE("the largest node is known by the power of two above it") {
    cluster known;
    CHECK_FALSE(known.accounts().largest(0));
    const auto largest_of = [](std::int64_t cpus) {
        cluster one;
        ok(one.upsert_node("n", machine(cpus)));
        return one.accounts().largest(0);
    };
    CHECK_FALSE(largest_of(0));
    CHECK(largest_of(1) == 0);
    CHECK(largest_of(2) == 1);
    CHECK(largest_of(3) == 2);
    CHECK(largest_of(4) == 2);
    CHECK(largest_of(5) == 3);
    CHECK(largest_of(largest_allocatable) ==
          std::bit_width(static_cast<std::uint64_t>(largest_allocatable - 1)));
}

TEST_CASE("the largest node is forgotten when it shrinks or goes, and another is the largest") {
    cluster known;
    ok(known.upsert_node("small", machine(4)));
    ok(known.upsert_node("large", machine(100, 8)));
    ok(known.upsert_node("twin", machine(128)));
    CHECK(known.accounts().largest(0) == 7);
    CHECK(known.accounts().largest(1) == 3);
    ok(known.upsert_node("large", machine(16, 1)));
    CHECK(known.accounts().largest(0) == 7);
    CHECK(known.accounts().largest(1) == 0);
    ok(known.remove_node("twin"));
    CHECK(known.accounts().largest(0) == 4);
    ok(known.remove_node("large"));
    CHECK(known.accounts().largest(0) == 2);
    CHECK_FALSE(known.accounts().largest(1));
    ok(known.remove_node("small"));
    CHECK_FALSE(known.accounts().largest(0));
}

TEST_CASE("pods do not bear on which node is the largest") {
    cluster known;
    ok(known.upsert_node("n", machine(100)));
    add_running(known, "r", 90, "n");
    add_running(known, "s", 900, "unknown");
    CHECK(known.accounts().largest(0) == 7);
}

} // namespace

} // namespace cluster_ledger_test
