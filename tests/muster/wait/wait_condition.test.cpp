// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include <muster/cluster/state.hpp>
#include <muster/wait/wait_condition.hpp>

namespace wait_wait_condition_test {

namespace {

using namespace muster;

/// What a finder says of one watched shape.
struct watched_room {
    std::int64_t room = 0;
    bool holds = true;
    bool too_small = true;

    [[nodiscard]] std::int64_t room_seen(std::uint32_t) const { return room; }
    [[nodiscard]] bool known_to_fit(std::uint32_t, std::int64_t) const { return holds; }
    [[nodiscard]] bool known_too_small(std::uint32_t, std::int64_t) const { return too_small; }
};
struct kept_leaves {
    bool kept = true;
    [[nodiscard]] bool holds(gang_index) const { return kept; }
};

/// One gang that waits in a queue, and what a cycle sees.
struct waiting_gang {
    state<string_traits<4>> known;
    gang_index gang;
    watched_room finder;
    kept_leaves leaves;

    waiting_gang() {
        REQUIRE(known.upsert_queue("q", {}) == event_result::applied);
        muster::gang<std::string> group;
        group.tree = single_role(1);
        group.queue = "q";
        REQUIRE(known.upsert_gang("g", group) == event_result::applied);
        REQUIRE(known.upsert_pod("g-0", "g", {}) == event_result::applied);
        gang = known.find_gang("g")->index;
    }
    void could_start(bool could) {
        last_verdict last;
        last.is_known = true;
        last.kind = answer::waiting;
        last.could_start = could;
        known.answered(gang, last);
    }
    [[nodiscard]] bool ended(const wait_condition& until, const cluster_changes& changes) {
        return until.ended(known, gang, changes, finder, leaves);
    }
};

constexpr cluster_changes nothing{};
constexpr cluster_changes release{true, false, false, false};
constexpr cluster_changes gain{true, true, false, false};
constexpr cluster_changes loss{true, true, true, false};
constexpr cluster_changes queue_moved{false, false, false, true};

TEST_CASE("a condition of nothing ends at once, and a queue object ends every condition") {
    waiting_gang one;
    CHECK(one.ended(wait_condition::asked_again(), nothing));
    CHECK(one.ended(wait_condition{}, nothing));
    CHECK(wait_condition{}.is_open());
    for (const wait_condition& until : {wait_condition::own_event(), wait_condition::any_release(),
                                        wait_condition::room(0, 1, true), wait_condition::leaf()}) {
        CHECK(!until.is_open());
        CHECK(!one.ended(until, nothing));
        CHECK(one.ended(until, queue_moved));
    }
}

TEST_CASE("what is given back ends an answer that nothing proves, and none that a gate gave") {
    waiting_gang one;
    CHECK(one.ended(wait_condition::any_release(), release));
    CHECK(!one.ended(wait_condition::own_event(), loss));
}

TEST_CASE("a room that is too small holds until it reaches what is needed") {
    waiting_gang one;
    one.could_start(true);
    const wait_condition until = wait_condition::room(0, 4, true);
    one.finder.room = 3;
    CHECK(!one.ended(until, release));
    one.finder.room = 4;
    CHECK(!one.ended(until, nothing));
    CHECK(one.ended(until, release));
}

TEST_CASE("a proof of one leaf holds as long as the leaf does") {
    waiting_gang one;
    one.could_start(true);
    CHECK(!one.ended(wait_condition::leaf(), release));
    one.leaves.kept = false;
    CHECK(one.ended(wait_condition::leaf(), release));
}

TEST_CASE("whether a gang could ever start is asked anew after a loss, or if it never could") {
    waiting_gang one;
    one.could_start(true);
    CHECK(!one.ended(wait_condition::leaf(), gain));
    CHECK(one.ended(wait_condition::leaf(), loss));
    one.could_start(false);
    CHECK(one.ended(wait_condition::leaf(), gain));
}

TEST_CASE("the room of the only class tells whether a gang could ever start") {
    waiting_gang one;
    one.could_start(true);
    wait_condition until = wait_condition::room(0, 4, true);
    CHECK(!one.ended(until, loss));
    one.finder.holds = false;
    CHECK(one.ended(until, loss));
    until.set_never(true);
    CHECK(!one.ended(until, loss));
    one.finder.too_small = false;
    CHECK(one.ended(until, loss));
    one.finder = {};
    CHECK(one.ended(wait_condition::room(0, 4, false), loss));
}

TEST_CASE("pods that come and a use of quota end an answer beside its proof") {
    waiting_gang one;
    wait_condition until = wait_condition::own_event();
    until.wait_for_pods(one.known.population().epoch());
    CHECK(!until.has_new_pods(one.known));
    CHECK(!one.ended(until, nothing));
    pod<4> other;
    other.phase = pod_phase::running;
    REQUIRE(one.known.upsert_node("n", {}) == event_result::applied);
    REQUIRE(one.known.upsert_pod("h-0", "h", other, "n") == event_result::applied);
    CHECK(until.has_new_pods(one.known));
    CHECK(one.ended(until, nothing));

    until = wait_condition::any_release();
    until.wait_for_quota(one.known.use_epoch(*one.known[one.gang].queue));
    CHECK(!one.ended(until, nothing));
    until.wait_for_quota(one.known.use_epoch(*one.known[one.gang].queue) + 1);
    CHECK(one.ended(until, nothing));
}

TEST_CASE("a proof can be replaced or dropped, and a gang that is asked again stays so") {
    waiting_gang one;
    one.could_start(true);
    wait_condition until = wait_condition::room(0, 4, true);
    CHECK(!one.ended(until, release));
    until.drop_proof();
    CHECK(one.ended(until, release));
    until.replace_proof(wait_condition::own_event());
    CHECK(!one.ended(until, release));
    until.replace_proof(wait_condition::asked_again());
    until.drop_proof();
    CHECK(one.ended(until, nothing));
}

} // namespace

} // namespace wait_wait_condition_test
