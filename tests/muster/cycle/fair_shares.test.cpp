// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/cycle/fair_shares.hpp>

#include "../builders.hpp"

namespace cycle_fair_shares_test {

using namespace builders;
using namespace muster;

namespace {

cluster::queue_type deserving(std::int64_t cpus, std::int64_t weight = 1) {
    cluster::queue_type made;
    made.deserved.set(cpu, cpus);
    made.weight = weight;
    return made;
}

std::int64_t due(const cluster& known, const std::string& queue) {
    fair_shares<core_of<traits>> shares;
    shares.compute(known);
    return shares[known.find_queue(queue)->index][cpu];
}

} // namespace

TEST_CASE("queues are due what they deserve and their part of the rest, as far as they want it") {
    cluster known;
    ok(known.upsert_node("n", machine(10)));
    ok(known.upsert_queue("a", deserving(2, 1)));
    ok(known.upsert_queue("b", deserving(2, 3)));
    ok(known.upsert_queue("c", deserving(5)));
    add_gang(known, "x", 9, 1, "a");
    add_gang(known, "y", 9, 1, "b");
    add_running(known, "z", 1, "n", "c");
    // c wants 1 of its 5; 5 are left for a and b, 1 to 3.
    CHECK(due(known, "a") == 3);
    CHECK(due(known, "b") == 6);
    CHECK(due(known, "c") == 1);
}

TEST_CASE("children divide what their parent is due") {
    cluster known;
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_queue("p", deserving(6)));
    ok(known.upsert_queue("q", deserving(3)));
    ok(known.upsert_queue("a", deserving(1), "p"));
    ok(known.upsert_queue("b", deserving(1), "p"));
    add_gang(known, "x", 9, 1, "a");
    add_gang(known, "y", 2, 1, "b");
    add_gang(known, "z", 9, 1, "q");
    CHECK(due(known, "p") == 6);
    CHECK(due(known, "q") == 3);
    CHECK(due(known, "a") == 4);
    CHECK(due(known, "b") == 2);
}

TEST_CASE("nobody is due more than its quota") {
    cluster known;
    ok(known.upsert_node("n", machine(9)));
    cluster::queue_type bounded = deserving(1);
    bounded.quota.set(cpu, 3);
    ok(known.upsert_queue("a", bounded));
    ok(known.upsert_queue("b", deserving(1)));
    add_gang(known, "x", 9, 1, "a");
    add_gang(known, "y", 9, 1, "b");
    CHECK(due(known, "a") == 3);
    CHECK(due(known, "b") == 6);
}

TEST_CASE("who is within what it deserves goes before those that borrow, whatever the names") {
    cluster known;
    ok(known.upsert_node("n", machine(6)));
    ok(known.upsert_queue("a", deserving(1)));
    ok(known.upsert_queue("b", deserving(3)));
    add_running(known, "r", 2, "n", "a");
    add_running(known, "s", 1, "n", "b");
    add_gang(known, "x", 2, 1, "a");
    add_gang(known, "y", 2, 1, "b");
    CHECK(started(known,
                  cycle(known, 0, policy{best_fit{}, priority_then_age{}, fair_share_first{}})) ==
          std::vector<std::string>{"y"});
}

namespace {

std::vector<std::string> started_by_fair_share(cluster& known) {
    return started(known,
                   cycle(known, 0, policy{best_fit{}, priority_then_age{}, fair_share_first{}}));
}

} // namespace

TEST_CASE("of a kind that queues deserve without a bound the share is one of all there is") {
    cluster known;
    ok(known.upsert_node("n", machine(100, 2)));
    cluster::queue_type devices;
    devices.deserved.set(gpu, 2);
    ok(known.upsert_queue("a", devices));
    ok(known.upsert_queue("b", devices));
    ok(known.upsert_gang("r", gang_of(1, "a")));
    ok(known.upsert_pod("r-0", "r", in_phase(pod_phase::running, asking(1, 1)), "n"));
    for (const char* name : {"x", "y"}) {
        ok(known.upsert_gang(name, gang_of(1, name == std::string("x") ? "a" : "b")));
        add_members(known, name, 1, asking(1, 1));
    }
    // Of the cpus that they want both would have all.
    CHECK(started_by_fair_share(known) == std::vector<std::string>{"y"});
}

TEST_CASE("of equal shares with the next gang the smaller one without it goes first") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("a", deserving(4)));
    ok(known.upsert_queue("b", deserving(4)));
    add_running(known, "others", 5, "n");
    add_running(known, "r", 1, "n", "a");
    add_gang(known, "x", 1, 1, "a");
    add_gang(known, "y", 1, 2, "b");
    CHECK(started_by_fair_share(known) == std::vector<std::string>{"y"});
}

TEST_CASE("of equal shares the queue that is due less goes first") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("a", deserving(4)));
    ok(known.upsert_queue("b", deserving(2)));
    add_running(known, "others", 6, "n");
    add_gang(known, "x", 1, 2, "a");
    add_gang(known, "y", 1, 1, "b");
    CHECK(started_by_fair_share(known) == std::vector<std::string>{"y"});
}

TEST_CASE("nobody is due more than its quota, whatever it deserves") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    cluster::queue_type bounded = deserving(6);
    bounded.quota.set(cpu, 3);
    ok(known.upsert_queue("a", bounded));
    ok(known.upsert_queue("b", deserving(4)));
    add_running(known, "others", 7, "n");
    add_gang(known, "x", 1, 1, "a");
    add_gang(known, "y", 1, 1, "b");
    // 1 of 3 and 1 of 4.
    CHECK(started_by_fair_share(known) == std::vector<std::string>{"y"});
}

} // namespace cycle_fair_shares_test
