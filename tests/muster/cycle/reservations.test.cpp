// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/random.hpp>
#include <support/environment.hpp>

#include "../builders.hpp"

namespace cycle_reservations_test {

namespace {

using namespace builders;
using namespace muster;

using names = std::vector<std::string>;

template<reservation_rule Rule>
using with = policy<best_fit, priority_then_age, priority_then_share, Rule>;

void add(cluster& to, const std::string& name, int count, std::int64_t cpus, std::int64_t created,
         std::optional<std::int64_t> duration = {}, std::optional<std::string> queue = {}) {
    cluster::gang_type group = gang_of(count, std::move(queue));
    group.created = created;
    group.duration = duration;
    ok(to.upsert_gang(name, group));
    add_members(to, name, count, asking(cpus));
}

void end(cluster& in, const std::string& name) {
    ok(in.finish_gang(name));
}

// ---- planned starts ----------------------------------------------------------------------------

struct easy {
    cluster known;
    with<easy_backfill> how;

    easy() {
        ok(known.upsert_node("n", machine(4)));
        add(known, "running", 1, 2, 0, 10);
        CHECK(started(known, cycle(known, 0, how)) == names{"running"});
        add(known, "head", 1, 4, 1);
    }
};

TEST_CASE_FIXTURE(easy, "who would delay the first in line does not start, though there is room") {
    add(known, "long", 1, 2, 2);
    CHECK(started(known, cycle(known, 1, how)).empty());
    CHECK(is(answered(known, "long"), answer::waiting, gate::space));
    CHECK(known.reservations().size() == 1);
    CHECK(known.reservations()[0].start == 10);
    end(known, "running");
    CHECK(started(known, cycle(known, 10, how)) == names{"head"});
    // The long one is the first now, but nobody knows when the head will have ended.
    CHECK(known.reservations().empty());
}

TEST_CASE_FIXTURE(easy, "who has ended by then goes ahead") {
    add(known, "too-long", 1, 2, 2, 10);
    add(known, "just-in-time", 1, 2, 3, 9);
    CHECK(started(known, cycle(known, 1, how)) == names{"just-in-time"});
}

TEST_CASE_FIXTURE(easy, "who fits beside what is planned goes ahead, however long") {
    ok(known.upsert_node("other", machine(2)));
    add(known, "long", 1, 2, 2);
    CHECK(started(known, cycle(known, 1, how)) == names{"long"});
    CHECK(node_of(known, "long-0") == "other");
}

TEST_CASE("the start of a gang that its queue's quota for non-preemptible pods keeps is planned") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    cluster::queue_type queue;
    queue.non_preemptible_quota = quota_of(2).quota;
    ok(known.upsert_queue("q", queue));
    const with<easy_backfill> how;
    for (const std::string name : {"running", "head"}) {
        add(known, name, 1, 2, name == "head" ? 1 : 0, 100, "q");
        auto spec = known.spec_of(gang_at(known, name));
        spec.preemptible = false;
        ok(known.upsert_gang(name, spec));
        static_cast<void>(cycle(known, 0, how));
    }
    CHECK(is(answered(known, "head"), answer::waiting, gate::quota));
    REQUIRE(known.reservations().size() == 1);
    CHECK(known.reservations()[0].start == 100);
}

TEST_CASE_FIXTURE(easy, "without the rule whoever fits starts") {
    add(known, "long", 1, 2, 2);
    CHECK(started(known, cycle(known, 1)) == names{"long"});
}

TEST_CASE_FIXTURE(easy, "nothing is kept for a gang that is gone") {
    add(known, "long", 1, 2, 2);
    CHECK(started(known, cycle(known, 1, how)).empty());
    ok(known.remove_pod("head-0"));
    ok(known.remove_gang("head"));
    CHECK(started(known, cycle(known, 2, how)) == names{"long"});
    CHECK(known.reservations().empty());
}

TEST_CASE_FIXTURE(easy, "a preview plans the same and keeps nothing") {
    add(known, "long", 1, 2, 2);
    CHECK(started(known, preview(known, 1, how)).empty());
    CHECK(known.reservations().empty());
    CHECK(started(known, cycle(known, 1, how)).empty());
}

TEST_CASE_FIXTURE(easy, "who starts on its own time has its own room") {
    static_cast<void>(cycle(known, 1, how));
    CHECK(known.reservations().size() == 1);
    ok(known.upsert_node("large", machine(4)));
    cycle_result result;
    start(known, gang_at(known, "head"), how, budget{}, result);
    CHECK(result.decisions.front().outcome.kind == answer::admitted);
    CHECK(known.reservations().empty());
}

TEST_CASE("one behind the first may be delayed by EASY, and is not by conservative backfill") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_node("small", machine(2)));
    add(known, "r1", 1, 4, 0, 10);
    add(known, "r2", 1, 1, 0, 5);
    const with<easy_backfill> first;
    CHECK(started(known, cycle(known, 0, first)).size() == 2);
    add(known, "head", 1, 4, 1, 10); // at 10 on n
    add(known, "next", 1, 2, 2, 10); // at 5 on small
    add(known, "long", 1, 1, 3, 100);
    cluster other = known;
    CHECK(started(known, cycle(known, 1, first)) == names{"long"});
    CHECK(started(other, cycle(other, 1, with<conservative_backfill>{})).empty());
    CHECK(other.reservations().size() == 3);
    CHECK(other.reservations()[1].start == 5);
    CHECK(other.reservations()[2].start == 15);
}

TEST_CASE("room in the queue's quota is planned as room on nodes is") {
    cluster known;
    ok(known.upsert_node("n", machine(100)));
    ok(known.upsert_queue("q", quota_of(4)));
    const with<easy_backfill> how;
    add(known, "running", 1, 2, 0, 10, "q");
    CHECK(started(known, cycle(known, 0, how)) == names{"running"});
    add(known, "head", 1, 4, 1, {}, "q");
    add(known, "long", 1, 2, 2, {}, "q");
    add(known, "short", 1, 2, 3, 5, "q");
    add(known, "elsewhere", 1, 2, 4);
    CHECK(started(known, cycle(known, 1, how)) == names{"elsewhere", "short"});
}

// Virtual time: everybody runs as long as declared. In the order of arrival the first in line is
// never told a later start than before, and starts no later than told.
template<class Rule>
std::string broken_promise(std::uint64_t seed) {
    testing::random chance(seed);
    cluster known;
    const int nodes = static_cast<int>(chance.between(1, 4));
    for (int at = 0; at < nodes; ++at)
        ok(known.upsert_node("n" + std::to_string(at), machine(chance.between(2, 6), 2)));
    with<Rule> how;
    std::multimap<std::int64_t, std::string> ends;
    std::map<std::string, std::int64_t> promised;
    int arrived = 0;
    for (std::int64_t now = 0; now < 60; ++now) {
        while (!ends.empty() && ends.begin()->first <= now) {
            end(known, ends.begin()->second);
            ends.erase(ends.begin());
        }
        for (std::int64_t more = chance.between(0, 2); more > 0 && arrived < 30; --more) {
            const std::string name = "g" + std::to_string(100 + arrived++);
            cluster::gang_type group = gang_of(static_cast<int>(chance.between(1, 3)));
            group.created = arrived;
            group.duration = chance.between(1, 12);
            ok(known.upsert_gang(name, group));
            add_members(known, name, static_cast<int>(group.tree[0].min_member),
                        asking(chance.between(1, 4), chance.between(0, 1)));
        }
        const cycle_result result = cycle(known, now, how);
        for (const decision& made : result.decisions) {
            if (made.placements.empty())
                continue;
            const std::string& name = known.key(made.gang);
            if (const auto told = promised.find(name); told != promised.end() && now > told->second)
                return name + " started at " + std::to_string(now) + ", not " +
                       std::to_string(told->second);
            ends.emplace(now + *known[made.gang].spec.duration, name);
        }
        if (!known.reservations().empty()) {
            const auto& each = known.reservations().front();
            const std::string& name = known.key(each.owner.index);
            const auto told = promised.find(name);
            if (told != promised.end() && *each.start > told->second)
                return name + " is told " + std::to_string(*each.start) + " after " +
                       std::to_string(told->second);
            promised[name] = *each.start;
        }
    }
    return {};
}

TEST_CASE_TEMPLATE("the first in line starts no later than planned", Rule, easy_backfill,
                   conservative_backfill) {
    for (std::uint64_t seed = 1; seed <= testing::part_of(300); ++seed) {
        const std::string fault = broken_promise<Rule>(seed);
        CHECK_MESSAGE(fault.empty(), "seed " << seed << ": " << fault);
    }
}

// ---- patience ----------------------------------------------------------------------------------

/// One gang that takes the whole cluster, or all of its queue's quota, against a stream of small
/// ones of which each runs for three cycles; returns how many started before it, or nothing when it
/// does not start.
std::optional<int> starts_before(std::int64_t max_bypasses, bool by_quota) {
    cluster known;
    for (int at = 0; at < 4; ++at)
        ok(known.upsert_node("n" + std::to_string(at), machine(by_quota ? 100 : 4)));
    if (by_quota)
        ok(known.upsert_queue("q", quota_of(16)));
    const auto queue = by_quota ? std::optional<std::string>("q") : std::nullopt;
    const with<bounded_bypass> how{{}, {}, {}, {max_bypasses}};
    std::vector<std::vector<std::string>> running(3);
    int before = 0;
    for (int turn = 0; turn < 200; ++turn) {
        for (const std::string& name : running[static_cast<std::size_t>(turn % 3)])
            end(known, name);
        running[static_cast<std::size_t>(turn % 3)].clear();
        for (int more = 0; more < 3; ++more)
            add(known, "s" + std::to_string(1000 + 3 * turn + more), 1, 2, turn + 2, {}, queue);
        if (turn == 2)
            add(known, "all", 4, 4, 3, {}, queue);
        const cycle_result result = cycle(known, turn, how);
        for (const std::string& name : started(known, result)) {
            if (name == "all")
                return before;
            before += turn >= 2 ? 1 : 0;
            running[static_cast<std::size_t>(turn % 3)].push_back(name);
        }
    }
    return std::nullopt;
}

TEST_CASE("a gang that needs everything starts against an endless stream of small ones") {
    for (const bool by_quota : {false, true}) {
        CAPTURE(by_quota);
        for (const std::int64_t max_bypasses : {0, 1, 5, 20}) {
            const auto before = starts_before(max_bypasses, by_quota);
            REQUIRE(before);
            // Those that start in the cycle in which patience ends are still let through.
            CHECK(*before <= max_bypasses + 3);
        }
        CHECK_FALSE(starts_before(1'000'000, by_quota));
    }
}

TEST_CASE("room is kept where least is in the way, and nowhere else") {
    cluster known;
    ok(known.upsert_node("busy", machine(8)));
    ok(known.upsert_node("quiet", machine(8)));
    add_running(known, "r1", 8, "busy");
    add_running(known, "r2", 1, "quiet");
    add(known, "head", 1, 8, 0);
    const with<bounded_bypass> how{{}, {}, {}, {0}};
    CHECK(started(known, cycle(known, 0, how)).empty());
    add(known, "small", 1, 1, 1);
    CHECK(started(known, cycle(known, 1, how)).empty());
    ok(known.remove_pod("r1-0"));
    CHECK(started(known, cycle(known, 2, how)) == names{"head", "small"});
    CHECK(node_of(known, "head-0") == "busy");
}

} // namespace

} // namespace cycle_reservations_test
