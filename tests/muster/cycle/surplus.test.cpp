// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"

namespace cycle_surplus_test {

using namespace builders;
using namespace muster;

namespace {

/// KAI's and Volcano's way: a member at a time, those who lack their minima first.
using in_turn =
    policy<best_fit, minima_first<>, priority_then_share, no_reservations, surplus_in_turn>;

void add(cluster& to, const std::string& name, std::int64_t least, int members,
         std::int64_t priority = 0, std::int64_t created = 0,
         std::optional<std::string> queue = {}) {
    cluster::gang_type spec = gang_of(least, std::move(queue));
    spec.priority = priority;
    spec.created = created;
    ok(to.upsert_gang(name, spec));
    add_members(to, name, members, asking(1));
}

/// How many members of each gang stand.
std::map<std::string, int> standing_in(const cluster& known) {
    std::map<std::string, int> found;
    for (const auto& [key, which] : known.gang_keys()) {
        found[key] = 0;
        for (const pod_index member : known[which].members)
            found[key] += known[member].node ? 1 : 0;
    }
    return found;
}

using counts = std::map<std::string, int>;

} // namespace

TEST_CASE("surplus at once leaves nothing for those behind, in turns it waits for their minima") {
    const auto two = [] {
        cluster known;
        ok(known.upsert_node("n", machine(5)));
        add(known, "a", 1, 4);
        add(known, "b", 2, 3);
        return known;
    };
    cluster at_once = two();
    cycle(at_once, 0);
    CHECK(standing_in(at_once) == counts{{"a", 4}, {"b", 0}});
    cluster turns = two();
    cycle(turns, 0, in_turn{});
    CHECK(standing_in(turns) == counts{{"a", 3}, {"b", 2}});
}

/// One of both, as an option says.
struct either_way {
    bool turns = false;

    [[nodiscard]] bool takes_turns() const noexcept { return turns; }
    [[nodiscard]] surplus_request per_turn() const noexcept {
        return turns ? surplus_in_turn{}.per_turn() : surplus_at_once{}.per_turn();
    }
    friend bool operator==(either_way, either_way) = default;
};
static_assert(surplus_rule<either_way>);

TEST_CASE("a rule that is a choice between both does as it says of itself") {
    for (const bool turns : {false, true}) {
        CAPTURE(turns);
        cluster known;
        ok(known.upsert_node("n", machine(5)));
        add(known, "a", 1, 4);
        add(known, "b", 2, 3);
        policy<best_fit, minima_first<>, priority_then_share, no_reservations, either_way> how;
        how.surplus.turns = turns;
        cycle(known, 0, how);
        CHECK(standing_in(known) ==
              (turns ? counts{{"a", 3}, {"b", 2}} : counts{{"a", 4}, {"b", 0}}));
    }
}

TEST_CASE("the surplus of a higher priority still goes before lower minima") {
    cluster known;
    ok(known.upsert_node("n", machine(5)));
    add(known, "a", 1, 4, 7);
    add(known, "b", 2, 3);
    cycle(known, 0, in_turn{});
    CHECK(standing_in(known) == counts{{"a", 4}, {"b", 0}});
}

TEST_CASE("surplus of two queues comes in turns, as their shares stand") {
    cluster known;
    ok(known.upsert_node("n", machine(6)));
    ok(known.upsert_queue("p", quota_of(10)));
    ok(known.upsert_queue("q", quota_of(10)));
    add(known, "a", 1, 9, 0, 0, "p");
    add(known, "b", 1, 9, 0, 0, "q");
    cycle(known, 0, in_turn{});
    CHECK(standing_in(known) == counts{{"a", 3}, {"b", 3}});
}

TEST_CASE("what a gang gets in its turns is told turn by turn") {
    cluster known;
    ok(known.upsert_node("n", machine(3)));
    add(known, "a", 1, 3);
    const cycle_result result = cycle(known, 0, in_turn{});
    REQUIRE(result.decisions.size() == 3);
    for (const decision& made : result.decisions) {
        CHECK(made.outcome.kind == answer::admitted);
        CHECK(made.placements.size() == 1);
    }
    CHECK(cycle(known, 0, in_turn{}).decisions.empty());
}

TEST_CASE("a gang that runs gets its surplus once there is room") {
    cluster known;
    ok(known.upsert_node("n", machine(2)));
    add(known, "a", 1, 4);
    cycle(known, 0, in_turn{});
    CHECK(standing_in(known) == counts{{"a", 2}});
    ok(known.upsert_node("m", machine(1)));
    cycle(known, 0, in_turn{});
    CHECK(standing_in(known) == counts{{"a", 3}});
    add(known, "b", 1, 1);
    ok(known.upsert_node("m", machine(2)));
    cycle(known, 0, in_turn{});
    CHECK(standing_in(known) == counts{{"a", 3}, {"b", 1}});
}

TEST_CASE("level surplus goes to the subgroup that has least for what it needs") {
    cluster known;
    ok(known.upsert_node("n", machine(7)));
    gang_tree tree(0);
    const vertex_index one = tree.add(vertex_index{0}, 2);
    const vertex_index other = tree.add(vertex_index{0}, 1);
    ok(known.upsert_gang("a", gang_of(tree)));
    for (int at = 0; at < 6; ++at) {
        ok(known.upsert_pod("x" + std::to_string(at), "a", in_role(one, asking(1))));
        ok(known.upsert_pod("y" + std::to_string(at), "a", in_role(other, asking(1))));
    }
    in_turn how;
    how.surplus.level = true;
    cycle(known, 0, how);
    const auto in_role_of = [&](char role) {
        int found = 0;
        for (int at = 0; at < 6; ++at)
            found += node_of(known, role + std::to_string(at)).empty() ? 0 : 1;
        return found;
    };
    CHECK(in_role_of('x') == 5);
    CHECK(in_role_of('y') == 2);
}

TEST_CASE("strict order keeps surplus behind a gang that waits") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    cluster::queue_type strict = quota_of(100);
    strict.strict_order = true;
    ok(known.upsert_queue("q", strict));
    add(known, "a", 2, 4, 1, 0, "q");
    add(known, "b", 3, 3, 1, 1, "q");
    cycle(known, 0, in_turn{});
    CHECK(standing_in(known) == counts{{"a", 2}, {"b", 0}});
}

TEST_CASE("turns serve as one by one by hand: priority, minima before surplus, age, name") {
    std::mt19937_64 dice(5);
    const auto roll = [&](int most) {
        return static_cast<int>(dice() % static_cast<std::uint64_t>(most + 1));
    };
    for (int round = 0; round < 3'000; ++round) {
        struct line {
            std::string name;
            int least, members, priority, created, have = 0;
            bool gave_up = false;
        };
        std::vector<line> gangs;
        cluster known;
        int room = roll(12);
        ok(known.upsert_node("n", machine(room)));
        const int count = 1 + roll(4);
        const int step = 1 + roll(2);
        for (int at = 0; at < count; ++at) {
            const int members = 1 + roll(4);
            gangs.push_back({std::string(1, static_cast<char>('a' + at)), roll(members), members,
                             roll(1), roll(1)});
            add(known, gangs.back().name, gangs.back().least, members, gangs.back().priority,
                gangs.back().created);
        }
        in_turn how;
        how.surplus.most = step;
        cycle(known, 0, how);

        std::vector<bool> asked(gangs.size(), false);
        for (;;) {
            line* best = nullptr;
            const auto rank = [&](const line& of) {
                const bool surplus = asked[static_cast<std::size_t>(&of - gangs.data())];
                return std::tuple(-of.priority, surplus, of.created, of.name);
            };
            for (line& each : gangs)
                if (!each.gave_up && (!best || rank(each) < rank(*best)))
                    best = &each;
            if (!best)
                break;
            auto&& was_asked = asked[static_cast<std::size_t>(best - gangs.data())];
            const int want =
                was_asked ? std::min({step, best->members - best->have, room}) : best->least;
            if (want > room || (was_asked && want == 0)) {
                best->gave_up = true;
                continue;
            }
            was_asked = true;
            best->have += want;
            room -= want;
        }
        counts expected;
        for (const line& each : gangs)
            expected[each.name] = each.have;
        REQUIRE(standing_in(known) == expected);
    }
}

} // namespace cycle_surplus_test
