// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/cycle/agenda.hpp>
#include <muster/policy/gang_order.hpp>
#include <muster/policy/queue_order.hpp>

#include "../builders.hpp"

namespace {

using namespace builders;
using namespace muster;

template<class GangOrder = priority_then_age>
std::string order(cluster& known, const GangOrder& gangs = {}) {
    const priority_then_share queues;
    agenda<traits, GangOrder> asking;
    asking.rebuild(known, 0, gangs, false);
    asking.begin();
    std::string out;
    while (const agenda_line* line = asking.next(known, queues))
        out += known[line->entries[line->given - 1].gang].key + " ";
    return out;
}

void add(cluster& to, const std::string& gang, std::int64_t priority, std::int64_t created,
         std::optional<std::string> queue = {}) {
    cluster::gang_type spec = gang_of(1, std::move(queue));
    spec.priority = priority;
    spec.created = created;
    ok(to.upsert_gang(gang, spec));
}

void add_queue(cluster& to, const std::string& name, std::int64_t priority, std::int64_t quota) {
    cluster::queue_type spec = quota_of(quota);
    spec.priority = priority;
    ok(to.upsert_queue(name, spec));
}

struct newest_first {
    bool operator()(gang_rank lhs, gang_rank rhs, std::int64_t) const noexcept {
        return lhs.created > rhs.created;
    }
};

TEST_CASE("inside a queue gangs go by priority, then age, then name") {
    cluster known;
    add(known, "d", 1, 5);
    add(known, "c", 1, 5);
    add(known, "b", 1, 4);
    add(known, "a", 0, 0);
    add(known, "z", 100, 9);
    CHECK(order(known) == "z b c d a ");
}

TEST_CASE("another order of gangs is the caller's to give") {
    cluster known;
    add(known, "a", 9, 1);
    add(known, "b", 0, 2);
    CHECK(order(known) == "a b ");
    CHECK(order(known, newest_first{}) == "b a ");
}

TEST_CASE("queues go by priority, then dominant share, then name") {
    cluster known;
    ok(known.upsert_node("n", machine(99)));
    add_queue(known, "low", 1, 10);
    add_queue(known, "high", 2, 10);
    add_queue(known, "same", 1, 10);
    add_queue(known, "busy", 1, 10);
    for (const char* queue : {"low", "high", "same", "busy"})
        add(known, std::string("of-") + queue, 0, 0, queue);
    CHECK(order(known) == "of-high of-busy of-low of-same ");
    ok(known.upsert_pod("r", "of-busy", in_phase(pod_phase::running, asking(1)), "n"));
    CHECK(order(known) == "of-high of-low of-same of-busy ");
}

// A holds 3/6 and 5/8, B holds 3/8 and 1/2.
TEST_CASE("the queue with dominant share 1/2 goes before the one with 5/8") {
    cluster known;
    ok(known.upsert_node("n", machine(99, 99)));
    cluster::queue_type queue;
    queue.quota.set(cpu, 6);
    queue.quota.set(gpu, 8);
    ok(known.upsert_queue("a", queue));
    queue.quota.set(cpu, 8);
    queue.quota.set(gpu, 2);
    ok(known.upsert_queue("b", queue));
    for (const char* name : {"a", "b"}) {
        ok(known.upsert_gang(name, gang_of(1, name)));
        ok(known.upsert_gang(std::string("held-") + name, gang_of(1, name)));
    }
    ok(known.upsert_pod("ra", "held-a", in_phase(pod_phase::running, asking(3, 5)), "n"));
    ok(known.upsert_pod("rb", "held-b", in_phase(pod_phase::running, asking(3, 1)), "n"));
    CHECK(order(known) == "b held-b a held-a ");
}

TEST_CASE("a queue whose quota is 0 and used goes last of its priority") {
    cluster known;
    ok(known.upsert_node("n", machine(99)));
    add_queue(known, "a", 0, 10);
    add_queue(known, "b", 0, 10);
    add_running(known, "ga", 1, "n", "a");
    add_running(known, "gb", 9, "n", "b");
    CHECK(order(known) == "ga gb ");
    add_queue(known, "a", 0, 0);
    CHECK(order(known) == "gb ga ");
}

TEST_CASE("shares are compared anew after something started, and not before") {
    cluster known;
    ok(known.upsert_node("n", machine(99)));
    add_queue(known, "q", 0, 10);
    add_queue(known, "r", 0, 10);
    for (const char* gang : {"q1", "q2"})
        add(known, gang, 0, 0, "q");
    for (const char* gang : {"r1", "r2"})
        add(known, gang, 0, 0, "r");
    const priority_then_age gangs;
    const priority_then_share queues;
    agenda<traits, priority_then_age> asking;
    asking.rebuild(known, 0, gangs, false);
    asking.begin();
    const auto next = [&] {
        const agenda_line* line = asking.next(known, queues);
        return line ? known[line->entries[line->given - 1].gang].key : std::string("none");
    };
    CHECK(next() == "q1");
    ok(known.upsert_pod("p", "q1", in_phase(pod_phase::running, builders::asking(1)), "n"));
    asking.shares_moved();
    CHECK(next() == "r1");
    CHECK(next() == "r2");
    CHECK(next() == "q2");
    CHECK(next() == "none");
}

TEST_CASE("gangs without a queue stand before the queues of priority 0") {
    cluster known;
    add_queue(known, "aaa", 0, 10);
    add_queue(known, "top", 1, 10);
    add(known, "in-aaa", 0, 0, "aaa");
    add(known, "in-top", 0, 0, "top");
    add(known, "no-queue", 0, 0);
    CHECK(order(known) == "in-top no-queue in-aaa ");
}

TEST_CASE("the order does not depend on the order in which gangs and queues came") {
    cluster one;
    cluster other;
    add_queue(one, "q", 0, 10);
    add_queue(one, "r", 0, 10);
    add(one, "b", 0, 0, "r");
    add(one, "a", 0, 0, "q");
    add(one, "c", 0, 0, "q");
    add(other, "c", 0, 0, "q");
    add(other, "a", 0, 0, "q");
    add_queue(other, "r", 0, 10);
    add(other, "b", 0, 0, "r");
    add_queue(other, "q", 0, 10);
    CHECK(order(one) == order(other));
    CHECK(order(one) == "a c b ");
}

} // namespace
