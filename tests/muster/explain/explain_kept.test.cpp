// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain_kept.hpp>
#include <support/builders.hpp>

namespace explain_explain_kept_test {

namespace {

using namespace muster;
using namespace muster::testing;

/// A node of four; a pod of one stands there, and two gangs of one pod wait: for four, and for two.
world_state four() {
    world made;
    add_node(made, "a", {4});
    for (const char* name : {"runs", "whole", "other", "small"})
        add_gang(made, name, single_role(1));
    add_pod(made, "runs-0", "runs", 0, {1});
    made.pods.back().on = "a";
    made.pods.back().spec.phase = pod_phase::running;
    add_pod(made, "whole-0", "whole", 0, {4});
    add_pod(made, "other-0", "other", 0, {4});
    add_pod(made, "small-0", "small", 0, {2});
    return to_state(made);
}

gang_index gang_called(const world_state& known, const char* name) {
    return known.find_gang(name)->index;
}

void keep(world_state& known, const char* owner, std::int64_t amount) {
    reservation<world_width> made;
    made.owner = *known.find_gang(owner);
    made.parts.push_back({known.find_node("a")->index, amounts({amount})});
    REQUIRE(known.reserve(std::move(made)));
}

std::vector<reason> reasons_of(world_state& known, const char* name) {
    return without_reservations(known).explain(gang_called(known, name));
}

} // namespace

TEST_CASE("a gang that would fit but for what is kept for others is told for whom") {
    world_state known = four();
    keep(known, "whole", 3);
    const auto found = reasons_of(known, "small");
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == reason_code::room_reserved);
    CHECK(found[0].kind == reason_kind::blocking);
    CHECK(found[0].owners == std::vector{gang_called(known, "whole")});
}

TEST_CASE("a gang that would not fit in any case is told what stops it, with all that is free") {
    world_state known = four();
    keep(known, "whole", 3);
    // The other's room is not its own; what is kept for itself is no hindrance.
    for (const char* name : {"other", "whole"}) {
        const auto found = reasons_of(known, name);
        REQUIRE(!found.empty());
        CHECK(found[0].code == reason_code::insufficient_resource);
        CHECK(found[0].amount_left == 3);
    }
}

TEST_CASE("those are named for whom room is kept together, and nobody without need") {
    world_state together = four();
    keep(together, "whole", 1);
    keep(together, "other", 1);
    // One of three is left; two would be, if either kept nothing.
    CHECK(reasons_of(together, "small")[0].owners ==
          std::vector{gang_called(together, "whole"), gang_called(together, "other")});

    world_state one = four();
    keep(one, "whole", 0);
    keep(one, "other", 2);
    CHECK(reasons_of(one, "small")[0].owners == std::vector{gang_called(one, "other")});
}

TEST_CASE("a gang that was told to wait and fits by now is told so, unless room is kept from it") {
    world_state known = four();
    static_cast<void>(cycle(known, 0));
    expect_applied(known.remove_pod("runs-0"));
    expect_applied(known.remove_pod("small-0"));
    CHECK(explain(known, gang_called(known, "whole")).front().code == reason_code::fits_by_now);
    CHECK(reasons_of(known, "whole").front().code == reason_code::fits_by_now);
    keep(known, "other", 0);
    CHECK(reasons_of(known, "whole").front().code == reason_code::fits_by_now);
    keep(known, "small", 1);
    const auto kept = reasons_of(known, "whole");
    REQUIRE(kept.size() == 1);
    CHECK(kept.front().code == reason_code::room_reserved);
}

TEST_CASE("afterwards as much is kept as before") {
    world_state known = four();
    keep(known, "whole", 2);
    keep(known, "other", 1);
    const auto free = [&] {
        return known.accounts().free(known.find_node("a")->index)[kind_id{0}];
    };
    CHECK(free() == 0);
    {
        without_reservations all(known);
        CHECK(free() == 3);
        static_cast<void>(all.explain(gang_called(known, "small")));
        CHECK(free() == 3);
    }
    CHECK(free() == 0);
    CHECK(known.reservations().size() == 2);
}

} // namespace explain_explain_kept_test
