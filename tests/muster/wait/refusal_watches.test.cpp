// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"

namespace wait_refusal_watches_test {

namespace {

using namespace builders;
using namespace muster;

using names = std::vector<std::string>;

/// Two roles of two pods of 2 each find room for three of the four, and each role alone for its
/// own. A third node is full of pods of 1.
struct contended {
    cluster known;
    cycle_result result;

    contended() {
        ok(known.upsert_node("a", machine(4)));
        ok(known.upsert_node("b", machine(3)));
        ok(known.upsert_node("full", machine(8)));
        for (const char* name : {"r0", "r1", "r2", "r3"})
            add_running(known, name, 1, "full");
        add_running(known, "rest", 4, "full");
        gang_tree roles(0);
        const vertex_index first = roles.add({}, 2);
        const vertex_index second = roles.add({}, 2);
        ok(known.upsert_gang("g", gang_of(roles)));
        for (const char* name : {"g-0", "g-1"})
            ok(known.upsert_pod(name, "g", in_role(first, asking(2))));
        for (const char* name : {"g-2", "g-3"})
            ok(known.upsert_pod(name, "g", in_role(second, asking(2))));
        run();
        CHECK(is(answered(known, "g"), answer::waiting, gate::space));
    }

    void run() { cycle(known, 0, policy<>{}, budget{}, {}, result); }
    void leave(const char* name) {
        ok(known.remove_pod(std::string(name) + "-0"));
        ok(known.remove_gang(name));
        run();
    }
};

TEST_CASE_FIXTURE(contended, "a gang of two roles is asked when its proof can hold no longer") {
    leave("r0"); // 1 free carries nobody
    CHECK(result.counters.asked == 0);
    leave("r1");
    CHECK(result.counters.asked == 1);
    CHECK(started(known, result) == names{"g"});
}

TEST_CASE_FIXTURE(contended, "room that came and went leaves the proof as it was") {
    leave("r0");
    add_running(known, "s", 1, "full");
    run();
    leave("r1"); // 1 free again
    CHECK(started(known, result).empty());
    leave("r2");
    CHECK(started(known, result) == names{"g"});
}

TEST_CASE_FIXTURE(contended, "a node that is new has asked whom it can carry members of") {
    ok(known.upsert_node("c", machine(1)));
    run();
    CHECK(result.counters.asked == 0);
    ok(known.upsert_node("d", machine(2)));
    run();
    CHECK(started(known, result) == names{"g"});
}

TEST_CASE_FIXTURE(contended, "a node that grew has asked whom it can carry more members of") {
    ok(known.upsert_node("a", machine(5))); // still two of 2
    run();
    CHECK(result.counters.asked == 0);
    ok(known.upsert_node("b", machine(4)));
    run();
    CHECK(started(known, result) == names{"g"});
}

TEST_CASE_FIXTURE(contended, "a node that shrank has everybody asked whether they ever start") {
    ok(known.upsert_node("full", machine(6)));
    run();
    CHECK(result.counters.asked == 1);
    CHECK(is(answered(known, "g"), answer::waiting, gate::space));
    ok(known.upsert_node("full", machine(1)));
    run();
    CHECK(is(answered(known, "g"), answer::never, gate::space));
    ok(known.upsert_node("full", machine(8)));
    run();
    CHECK(is(answered(known, "g"), answer::waiting, gate::space));
}

TEST_CASE_FIXTURE(contended, "a node that went has everybody asked whether they ever start") {
    ok(known.remove_node("full"));
    run();
    CHECK(result.counters.asked == 1);
    CHECK(is(answered(known, "g"), answer::never, gate::space));
}

TEST_CASE_FIXTURE(contended, "a cordon asks nobody, and its end whom the node can carry") {
    cluster::node_type closed = machine(2);
    closed.unschedulable = true;
    ok(known.upsert_node("c", closed));
    run();
    CHECK(result.counters.asked == 0);
    closed.allocatable = units(3);
    ok(known.upsert_node("c", closed));
    run();
    CHECK(result.counters.asked == 0);
    ok(known.upsert_node("c", machine(3)));
    run();
    CHECK(started(known, result) == names{"g"});
}

TEST_CASE_FIXTURE(contended, "a taint that goes lets a gang of two roles start") {
    cluster::node_type tainted = machine(2);
    tainted.taints.push_back({"k", "v", taint_effect::no_schedule});
    ok(known.upsert_node("c", tainted));
    run();
    CHECK(result.counters.asked == 0);
    ok(known.upsert_node("c", machine(2)));
    run();
    CHECK(started(known, result) == names{"g"});
}

TEST_CASE_FIXTURE(contended, "a node larger than any before makes the index and its memos anew") {
    ok(known.upsert_node("large", machine(1)));
    run();
    CHECK(result.counters.asked == 0);
    add_running(known, "most", 62, "large");
    ok(known.upsert_node("large", machine(64)));
    run();
    CHECK(started(known, result) == names{"g"});
}

TEST_CASE_FIXTURE(contended, "a queue that changed has everybody asked") {
    ok(known.upsert_queue("q", {}));
    run();
    CHECK(result.counters.asked == 1);
}

TEST_CASE_FIXTURE(contended, "the memo of a gang that went does not serve the one in its place") {
    for (const char* name : {"g-0", "g-1", "g-2", "g-3"})
        ok(known.remove_pod(name));
    ok(known.remove_gang("g"));
    run();
    ok(known.upsert_gang("h", gang_of(3)));
    add_members(known, "h", 3, asking(2));
    leave("r0");
    CHECK(started(known, result) == names{"h"});
}

TEST_CASE("a proof whose constraints nobody has any more serves nobody") {
    cluster known;
    cluster::node_type pool = machine(3);
    pool.labels = {{"pool", "p"}};
    ok(known.upsert_node("a", pool));
    ok(known.upsert_node("b", pool));
    add_running(known, "r", 2, "b");
    cluster::queue_type strict;
    strict.strict_order = true;
    ok(known.upsert_queue("q", strict));
    gang_tree roles(0);
    const vertex_index first = roles.add({}, 1);
    const vertex_index second = roles.add({}, 1);
    ok(known.upsert_gang("g", gang_of(roles, "q")));
    cluster::pod_type picky = asking(2);
    picky.where.selector = label_is("pool", "p");
    ok(known.upsert_pod("g-0", "g", in_role(first, picky)));
    ok(known.upsert_pod("g-1", "g", in_role(second, picky)));
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::waiting, gate::space));

    cluster::gang_type ahead = gang_of(2, "q");
    ahead.priority = 9;
    ok(known.upsert_gang("ahead", ahead));
    add_members(known, "ahead", 2, asking(3));
    ok(known.upsert_pod("g-0", "g", in_role(first, asking(2))));
    ok(known.upsert_pod("g-1", "g", in_role(second, asking(2))));
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::waiting, gate::order));
    ok(known.upsert_pod("r-0", "r", in_phase(pod_phase::running, asking(1)), "b"));
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::waiting, gate::order));
    ok(known.remove_pod("r-0"));
    CHECK(started(known, cycle(known, 0)) == names{"ahead"});
}

} // namespace

} // namespace wait_refusal_watches_test
