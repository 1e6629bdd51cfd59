// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/cycle/backlog.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/policy/gang_order.hpp>
#include <muster/policy/queue_order.hpp>
#include <muster/testing/random.hpp>
#include <support/environment.hpp>

#include "../builders.hpp"

namespace cycle_agenda_test {

namespace {

using namespace builders;
using namespace muster;

template<class GangOrder = priority_then_age, class QueueOrder = priority_then_share>
std::string order(cluster& known, const GangOrder& gangs = {}, const QueueOrder& queues = {}) {
    backlog<core_of<traits>> asking;
    asking.rebuild(known, 0, gangs, false);
    asking.begin(known, queues);
    std::string out;
    while (const queue_backlog* line = asking.next(0, gangs))
        out += known.key(line->entries[line->at].gang) + " ";
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
    backlog<core_of<traits>> asking;
    asking.rebuild(known, 0, gangs, false);
    asking.begin(known, queues);
    const auto next = [&] {
        const queue_backlog* line = asking.next(0, gangs);
        return line ? known.key(line->entries[line->at].gang) : std::string("none");
    };
    CHECK(next() == "q1");
    ok(known.upsert_pod("p", "q1", in_phase(pod_phase::running, builders::asking(1)), "n"));
    asking.shares_moved(known, known.find_queue("q")->index, queues);
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

using plain_agenda = backlog<core_of<traits>>;

// ---- a tree of queues --------------------------------------------------------------------------

void add_child(cluster& to, const std::string& name, const std::string& parent,
               std::int64_t priority, std::int64_t quota) {
    cluster::queue_type spec = quota_of(quota);
    spec.priority = priority;
    ok(to.upsert_queue(name, spec, parent));
}

TEST_CASE("queues are compared with their siblings, level by level") {
    cluster known;
    add_queue(known, "a", 0, 10);
    add_queue(known, "b", 1, 10);
    add_child(known, "a1", "a", 9, 10);
    add_child(known, "a2", "a", 8, 10);
    add_child(known, "b1", "b", 0, 10);
    add_child(known, "b2", "b", 1, 10);
    for (const char* queue : {"a1", "a2", "b1", "b2"})
        add(known, std::string("of-") + queue, 0, 0, queue);
    CHECK(order(known) == "of-b2 of-b1 of-a1 of-a2 ");
}

TEST_CASE("an inner queue is judged by all that is used below it") {
    cluster known;
    ok(known.upsert_node("n", machine(99)));
    for (const char* queue : {"a", "b"}) {
        add_queue(known, queue, 0, 10);
        add_child(known, std::string(queue) + "1", queue, 0, 10);
        add_child(known, std::string(queue) + "2", queue, 0, 10);
        add(known, std::string("of-") + queue + "1", 0, 0, std::string(queue) + "1");
    }
    add_running(known, "r", 3, "n", "a2");
    CHECK(order(known) == "of-b1 of-a1 r ");
    add_running(known, "s", 4, "n", "b2");
    CHECK(order(known) == "of-a1 r of-b1 s ");
}

TEST_CASE("an inner queue below which nobody is left is passed over") {
    cluster known;
    add_queue(known, "a", 9, 10);
    add_child(known, "a1", "a", 0, 10);
    add_child(known, "a2", "a", 0, 10);
    add_queue(known, "b", 0, 10);
    add(known, "of-b", 0, 0, "b");
    CHECK(order(known) == "of-b ");
    add(known, "of-a2", 0, 0, "a2");
    CHECK(order(known) == "of-a2 of-b ");
}

TEST_CASE("gangs of an inner queue itself stand as a child with its rank and their own use") {
    cluster known;
    ok(known.upsert_node("n", machine(99)));
    add_queue(known, "a", 5, 10);
    add_child(known, "above", "a", 6, 10);
    add_child(known, "below", "a", 4, 10);
    add_child(known, "same", "a", 5, 10);
    for (const char* queue : {"a", "above", "below", "same"})
        add(known, std::string("of-") + queue, 0, 0, queue);
    CHECK(order(known) == "of-above of-a of-same of-below ");
    add_running(known, "r", 1, "n", "same");
    CHECK(order(known) == "of-above of-a of-same r of-below ");
    add_running(known, "s", 2, "n", "a");
    CHECK(order(known) == "of-above of-same r of-a s of-below ");
}

TEST_CASE("after a start only what is above it is compared anew, and comes out as if all were") {
    testing::random chance(11);
    for (int world = 0; world < 60; ++world) {
        cluster known;
        ok(known.upsert_node("n", machine(1'000'000)));
        std::vector<std::string> queues;
        for (std::size_t at = 0; at < 12; ++at) {
            queues.push_back(std::to_string(chance.below(90)) + "-" + std::to_string(at));
            cluster::queue_type spec = quota_of(chance.between(5, 20));
            spec.priority = chance.between(0, 1);
            spec.weight = chance.between(0, 3);
            spec.deserved.set(cpu, chance.between(0, 9));
            ok(known.upsert_queue(queues.back(), spec,
                                  at > 2 && chance.percent(80)
                                      ? std::optional(queues[chance.below(at)])
                                      : std::nullopt));
        }
        for (int at = 0; at < 60; ++at)
            add(known, "g" + std::to_string(at), 0, chance.between(0, 9),
                chance.percent(90) ? std::optional(queues[chance.below(12)]) : std::nullopt);
        const auto check = [&](const auto& order) {
            cluster lived = known;
            plain_agenda asking;
            asking.rebuild(lived, 0, priority_then_age{}, false);
            asking.begin(lived, order);
            std::vector<std::string> passed;
            while (const queue_backlog* line = asking.next(0, priority_then_age{})) {
                const auto gang = line->entries[line->at].gang;
                const auto queue = lived[gang].queue;
                passed.push_back(lived.key(gang));
                // The same from the state as it is now, those passed aside.
                cluster copy = known;
                for (const std::string& each : passed)
                    if (each != passed.back())
                        ok(copy.remove_gang(each));
                for (const auto& [key, which] : lived.pod_keys()) {
                    const std::string other = "of " + key;
                    ok(copy.upsert_gang(other, lived.spec_of(lived[which].gang)));
                    ok(copy.upsert_pod(key, other, lived.spec_of(which), "n"));
                }
                plain_agenda anew;
                anew.rebuild(copy, 0, priority_then_age{}, false);
                anew.begin(copy, order);
                const queue_backlog* should = anew.next(0, priority_then_age{});
                while (should && copy.key(should->entries[should->at].gang).rfind("of ", 0) == 0)
                    should = anew.next(0, priority_then_age{});
                CHECK(should);
                CHECK(copy.key(should->entries[should->at].gang) == passed.back());
                if (!chance.percent(40))
                    continue;
                ok(lived.upsert_pod(
                    "p" + passed.back(), passed.back(),
                    in_phase(pod_phase::running, builders::asking(chance.between(1, 4))), "n"));
                asking.shares_moved(lived, queue, order);
            }
            CHECK(passed.size() == 60);
        };
        check(priority_then_share{});
        check(weighted_share{});
        check(deserved_first{});
    }
}

// ---- following changes -------------------------------------------------------------------------

std::string turns(plain_agenda& asking, cluster& known) {
    const priority_then_age gangs;
    const priority_then_share queues;
    asking.begin(known, queues);
    std::string out;
    while (const queue_backlog* line = asking.next(0, gangs))
        out += known.key(line->entries[line->at].gang) + " ";
    return out;
}

/// An agenda that follows, beside one that is made anew from a copy of the state each time.
struct followed {
    cluster known;
    plain_agenda asking;
    testing::random chance{3};
    std::size_t made = 0;
    std::vector<std::string> gangs;

    followed() {
        ok(known.upsert_node("n", machine(9)));
        for (const char* queue : {"q", "r", "s"})
            add_queue(known, queue, 0, 10);
        for (int at = 0; at < 60; ++at)
            come();
        asking.rebuild(known, 0, priority_then_age{}, false);
    }
    [[nodiscard]] std::optional<std::string> some_queue() {
        static constexpr const char* names[] = {"q", "r", "s"};
        const std::size_t which = chance.below(4);
        return which == 3 ? std::nullopt : std::optional<std::string>(names[which]);
    }
    void come() {
        // Names that stand before and behind those that are there.
        gangs.push_back(std::to_string(chance.below(1000)) + "-" + std::to_string(made++));
        add(known, gangs.back(), chance.between(0, 3), chance.between(0, 5), some_queue());
    }
    void happen() {
        const std::size_t at = chance.below(gangs.size());
        switch (chance.below(5)) {
        case 0:
            come();
            break;
        case 1:
            if (gangs.size() < 30)
                return;
            ok(known.remove_gang(gangs[at]));
            gangs.erase(gangs.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        case 2:
            // It stays where it is, and is to be asked again.
            ok(known.upsert_gang(gangs[at], known.spec_of(gang_at(known, gangs[at]))));
            break;
        default:
            add(known, gangs[at], chance.between(0, 3), chance.between(0, 5), some_queue());
            break;
        }
    }
    void compare() {
        asking.update(known, 0, priority_then_age{});
        cluster copy = known;
        plain_agenda anew;
        anew.rebuild(copy, 0, priority_then_age{}, false);
        CHECK(turns(asking, known) == turns(anew, copy));
    }
};

TEST_CASE_FIXTURE(followed, "an agenda that follows a few changes is as one made anew") {
    for (std::uint64_t turns_left = testing::part_of(100); turns_left > 0; --turns_left) {
        for (std::int64_t events = chance.between(0, 3); events > 0; --events)
            happen();
        compare();
    }
}

TEST_CASE_FIXTURE(followed, "an agenda that follows many changes is as one made anew") {
    for (std::uint64_t turns_left = testing::part_of(20); turns_left > 0; --turns_left) {
        for (std::int64_t events = chance.between(50, 300); events > 0; --events)
            happen();
        compare();
    }
}

TEST_CASE("a gang that comes where another went stands by its own name") {
    cluster known;
    ok(known.upsert_node("n", machine(2)));
    add_running(known, "r", 2, "n");
    add_gang(known, "a", 1, 2);
    add_gang(known, "m", 1, 2);
    CHECK(started(known, cycle(known, 0)).empty());
    ok(known.remove_pod("a-0"));
    ok(known.remove_gang("a"));
    add_gang(known, "z", 1, 2);
    ok(known.remove_pod("r-0"));
    CHECK(started(known, cycle(known, 0)) == std::vector<std::string>{"m"});
}

TEST_CASE_FIXTURE(followed, "a gang that something happened to is open again, the others are not") {
    for (queue_backlog& line : asking.lines())
        for (pending_gang& entry : line.entries)
            entry.until = wait_condition::any_release();
    const std::string changed = gangs[7];
    ok(known.upsert_pod("member", changed, builders::asking(1)));
    asking.update(known, 0, priority_then_age{});
    std::vector<std::string> open;
    for (const queue_backlog& line : asking.lines())
        for (const pending_gang& entry : line.entries)
            if (entry.until.is_open())
                open.push_back(known.key(entry.gang));
    CHECK(open == std::vector<std::string>{changed});
}

TEST_CASE_FIXTURE(followed, "a gang that has all it wants leaves the agenda, and comes back") {
    const std::string gang = gangs[7];
    const auto in_it = [&] {
        asking.update(known, 0, priority_then_age{});
        return (" " + turns(asking, known)).find(" " + gang + " ") != std::string::npos;
    };
    CHECK(in_it());
    last_verdict all_it_wants;
    all_it_wants.is_known = true;
    all_it_wants.kind = answer::admitted;
    // As a cycle does: it answers, and marks the entry as done.
    known.answered(gang_at(known, gang), all_it_wants);
    for (queue_backlog& line : asking.lines())
        for (pending_gang& entry : line.entries)
            if (entry.gang == gang_at(known, gang))
                line.any_done = entry.done = true;
    CHECK_FALSE(in_it());
    ok(known.upsert_pod("member", gang, builders::asking(1)));
    CHECK(in_it());
}

} // namespace

} // namespace cycle_agenda_test
