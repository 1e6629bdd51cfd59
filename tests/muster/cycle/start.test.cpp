// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../builders.hpp"

namespace cycle_start_test {

namespace {

using namespace builders;
using namespace muster;

using names = std::vector<std::string>;

struct fixture {
    cluster known;
    cycle_result result;

    const decision& start(const std::string& gang) {
        muster::start(known, gang_at(known, gang), policy<>{}, {}, result);
        REQUIRE(result.decisions.size() == 1);
        CHECK(result.decisions.front().gang == gang_at(known, gang));
        return result.decisions.front();
    }
};

// ---- one gang out of turn ----------------------------------------------------------------------

TEST_CASE_FIXTURE(fixture, "one gang starts out of turn, and those ahead of it are not asked") {
    ok(known.upsert_node("n", machine(4)));
    cluster::gang_type urgent = gang_of(1);
    urgent.priority = 9;
    ok(known.upsert_gang("urgent", urgent));
    add_members(known, "urgent", 1, asking(3));
    add_gang(known, "g", 2, 1);
    const decision& made = start("g");
    CHECK(made.outcome.kind == answer::admitted);
    CHECK(made.placements.size() == 2);
    CHECK(node_of(known, "g-1") == "n");
    CHECK(known[known.find_pod("g-0")->index].assumed);
    CHECK(result.counters.asked == 1);
    CHECK(result.counters.pods_placed == 2);
    CHECK(result.counters.admitted == 1);
    CHECK_FALSE(answered(known, "urgent").is_known);
    CHECK(started(known, cycle(known, 0)).empty());
    CHECK(is(answered(known, "urgent"), answer::waiting, gate::space));
    ok(known.finish_gang("g"));
    CHECK(started(known, cycle(known, 0)) == names{"urgent"});
}

TEST_CASE_FIXTURE(fixture,
                  "a gang that is refused out of turn holds nothing, and is proven to wait") {
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 3, "n");
    add_gang(known, "g", 2, 2);
    const auto before = known.accounts();
    const decision& made = start("g");
    CHECK(made.outcome.kind == answer::waiting);
    CHECK(made.outcome.at == gate::space);
    CHECK(made.outcome.could_start);
    CHECK(made.outcome.proof);
    CHECK(made.placements.empty());
    CHECK(known.accounts() == before);
    CHECK(result.counters.waiting == 1);
    ok(known.remove_pod("r-0"));
    CHECK(start("g").outcome.kind == answer::admitted);
}

TEST_CASE_FIXTURE(fixture, "cycles and starts out of turn go together, in any order") {
    ok(known.upsert_node("n", machine(8)));
    add_running(known, "r", 6, "n");
    for (const char* gang : {"a", "b", "c"})
        add_gang(known, gang, 1, 3);
    CHECK(started(known, cycle(known, 0)).empty());
    CHECK(start("b").outcome.kind == answer::waiting);
    ok(known.remove_pod("r-0"));
    CHECK(start("c").outcome.kind == answer::admitted);
    // 5 are left, and a is first in turn.
    CHECK(started(known, cycle(known, 0)) == names{"a"});
    CHECK(is(answered(known, "b"), answer::waiting, gate::space));
    ok(known.finish_gang("c"));
    CHECK(started(known, cycle(known, 0)) == names{"b"});
}

TEST_CASE_FIXTURE(fixture,
                  "a gang that has all it wants is admitted again, and nothing is placed") {
    ok(known.upsert_node("n", machine(8)));
    add_gang(known, "g", 2, 3);
    CHECK(start("g").placements.size() == 2);
    const decision& again = start("g");
    CHECK(again.outcome.kind == answer::admitted);
    CHECK(again.placements.empty());
    CHECK(free_cpu(known, "n") == 2);
}

// ---- results -----------------------------------------------------------------------------------

std::string placed(const cluster& in, const cycle_result& result) {
    std::string out;
    for (const decision& made : result.decisions)
        for (const placement& one : made.placements)
            out += in.key(one.pod) + "@" + in.key(one.node) + " ";
    return out;
}

struct three_gangs : fixture {
    three_gangs() {
        ok(known.upsert_node("n", machine(9)));
        for (const char* gang : {"a", "b", "c"})
            add_gang(known, gang, 2, 1);
    }
    static constexpr const char* all = "a-0@n a-1@n b-0@n b-1@n c-0@n c-1@n ";
};

TEST_CASE_FIXTURE(three_gangs, "a result's copy keeps its placements when the original goes on") {
    cycle(known, 0, policy<>{}, {}, {}, result);
    const cycle_result copy = result;
    cycle_result assigned;
    assigned = result;
    CHECK(placed(known, result) == all);
    add_gang(known, "d", 2, 1);
    cycle(known, 0, policy<>{}, {}, {}, result);
    CHECK(placed(known, result) == "d-0@n d-1@n ");
    CHECK(placed(known, copy) == all);
    CHECK(placed(known, assigned) == all);
    CHECK(copy.counters.pods_placed == 6);
    CHECK(assigned.decisions.front().placements.data() != copy.decisions.front().placements.data());
}

TEST_CASE_FIXTURE(three_gangs, "a result's copy keeps its placements when the original is gone") {
    cycle_result copy;
    {
        const cycle_result original = cycle(known, 0);
        copy = original;
    }
    CHECK(placed(known, copy) == all);
    const cycle_result copy_of_copy = copy;
    copy = {};
    CHECK(placed(known, copy_of_copy) == all);
}

TEST_CASE_FIXTURE(three_gangs, "a result that is moved takes its placements along") {
    cycle_result original = cycle(known, 0);
    const cycle_result moved = std::move(original);
    CHECK(placed(known, moved) == all);
}

TEST_CASE_FIXTURE(three_gangs, "a result whose decisions are rearranged can still be copied") {
    cycle_result original = cycle(known, 0);
    std::swap(original.decisions.front(), original.decisions.back());
    original.decisions.erase(original.decisions.begin() + 1);
    const cycle_result copy = original;
    CHECK(placed(known, copy) == "c-0@n c-1@n a-0@n a-1@n ");
}

// ---- policies ----------------------------------------------------------------------------------

struct by_policy {
    cluster known;

    by_policy() {
        ok(known.upsert_node("a", machine(8)));
        ok(known.upsert_node("b", machine(4)));
        ok(known.upsert_node("c", machine(16)));
        add_running(known, "r", 1, "a");
    }
    template<class Score>
    std::string next(const std::string& gang, const Score& score) {
        add_gang(known, gang, 1, 2);
        static_cast<void>(cycle(known, 0, policy<Score>{score, {}, {}}));
        return node_of(known, gang + "-0");
    }
};

/// Not an order that an index keeps: the node with just so much left.
struct aims_at {
    std::int64_t left;
    std::int64_t operator()(const placement_weights<traits::width>&, const amounts& free,
                            const amounts& request) const noexcept {
        const std::int64_t off = free[cpu] - request[cpu] - left;
        return off < 0 ? off : -off;
    }
    friend bool operator==(const aims_at&, const aims_at&) = default;
};

TEST_CASE_FIXTURE(by_policy, "each policy gives its own answers on the same state, by turns") {
    CHECK(next("g0", best_fit{}) == "b");  // 7 4 16
    CHECK(next("g1", worst_fit{}) == "c"); // 7 2 16
    CHECK(next("g2", first_fit{}) == "a"); // 7 2 14
    CHECK(next("g3", best_fit{}) == "b");  // 5 2 14
    CHECK(next("g4", worst_fit{}) == "c"); // 5 0 14
    CHECK(next("g5", best_fit{}) == "a");  // 5 0 12
    CHECK(next("g6", first_fit{}) == "a"); // 3 0 12
    CHECK(next("g7", first_fit{}) == "c"); // 1 0 12
}

TEST_CASE_FIXTURE(by_policy, "policies of one type that differ in value decide each by its own") {
    CHECK(next("g0", aims_at{14}) == "c"); // 7 4 16
    CHECK(next("g1", aims_at{2}) == "b");  // 7 4 14
    CHECK(next("g2", aims_at{12}) == "c"); // 7 2 14
    CHECK(next("g3", aims_at{0}) == "b");  // 7 2 12
    CHECK(next("g4", aims_at{5}) == "a");  // 7 0 12
}

TEST_CASE_FIXTURE(by_policy, "who waited under one policy starts under another when room comes") {
    add_gang(known, "g", 1, 16);
    ok(known.upsert_pod("r-c", "r", in_phase(pod_phase::running, asking(1)), "c"));
    CHECK(started(known, cycle(known, 0)).empty());
    CHECK(started(known, cycle(known, 0, policy<worst_fit>{})).empty());
    ok(known.remove_pod("r-c"));
    CHECK(started(known, cycle(known, 0, policy<first_fit>{})) == names{"g"});
}

struct newest_first {
    bool operator()(gang_rank lhs, gang_rank rhs, std::int64_t) const noexcept {
        return lhs.created > rhs.created;
    }
};

TEST_CASE("another order of gangs on the same state asks in that order") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 4, "n");
    for (const int at : {0, 1, 2}) {
        cluster::gang_type group = gang_of(1);
        group.created = at;
        const std::string name = "g" + std::to_string(at);
        ok(known.upsert_gang(name, group));
        add_members(known, name, 1, asking(2));
    }
    CHECK(started(known, cycle(known, 0)).empty());
    ok(known.upsert_pod("r-0", "r", in_phase(pod_phase::running, asking(2)), "n"));
    CHECK(started(known, cycle(known, 0, policy<best_fit, newest_first>{})) == names{"g2"});
    ok(known.remove_pod("r-0"));
    CHECK(started(known, cycle(known, 0)) == names{"g0"});
}

} // namespace

} // namespace cycle_start_test
