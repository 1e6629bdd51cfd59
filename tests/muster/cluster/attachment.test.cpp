// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <utility>

#include <muster/cluster/attachment.hpp>

#include "../builders.hpp"

namespace cluster_attachment_test {

namespace {

using namespace builders;
using namespace muster;

/// Counts those that live.
struct counted {
    int* alive;
    int value;

    counted(int& living, int what) : alive(&living), value(what) { ++*alive; }
    counted(counted&&) = delete;
    counted& operator=(counted&&) = delete;
    ~counted() { --*alive; }
};

TEST_CASE("nothing is found where nothing was attached") {
    attachment place;
    CHECK(place.find<int>() == nullptr);
}

TEST_CASE("what is attached is found by its own type alone") {
    attachment place;
    place.emplace<int>(7);
    CHECK(place.find<int>());
    CHECK(*place.find<int>() == 7);
    CHECK(place.find<unsigned>() == nullptr);
    CHECK(place.find<const int>() == nullptr);
    CHECK(place.find<counted>() == nullptr);
}

TEST_CASE("what is attached goes when another takes its place, and with the place") {
    int alive = 0;
    {
        attachment place;
        place.emplace<counted>(alive, 1);
        place.emplace<counted>(alive, 2);
        CHECK(alive == 1);
        CHECK(place.find<counted>()->value == 2);
        place.emplace<int>(3);
        CHECK(alive == 0);
        CHECK(place.find<counted>() == nullptr);
        place.emplace<counted>(alive, 4);
        CHECK(alive == 1);
    }
    CHECK(alive == 0);
}

TEST_CASE("a copy starts without what is attached, and the original keeps it") {
    int alive = 0;
    attachment place;
    place.emplace<counted>(alive, 1);
    attachment copy = place;
    CHECK(copy.find<counted>() == nullptr);
    CHECK(place.find<counted>());
    CHECK(alive == 1);
    copy.emplace<counted>(alive, 2);
    copy = place;
    CHECK(copy.find<counted>() == nullptr);
    CHECK(alive == 1);
    CHECK(place.find<counted>()->value == 1);
}

TEST_CASE("who is moved to keeps what is attached, and who is moved from has it no more") {
    int alive = 0;
    attachment place;
    const counted* const made = &place.emplace<counted>(alive, 1);
    attachment next = std::move(place);
    CHECK(next.find<counted>() == made);
    CHECK(place.find<counted>() == nullptr);
    attachment last;
    last.emplace<counted>(alive, 2);
    last = std::move(next);
    CHECK(last.find<counted>() == made);
    CHECK(next.find<counted>() == nullptr);
    CHECK(alive == 1);
    place.emplace<int>(5);
    CHECK(*place.find<int>() == 5);
}

TEST_CASE("a state that is copied decides as the original, and one that is moved goes on") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 3, "n");
    add_gang(known, "g", 1, 2);
    CHECK(started(known, cycle(known, 0)).empty());
    cluster copy = known;
    cluster moved = std::move(known);
    for (cluster* each : {&copy, &moved}) {
        ok(each->remove_pod("r-0"));
        CHECK(started(*each, cycle(*each, 0)) == std::vector<std::string>{"g"});
        CHECK(node_of(*each, "g-0") == "n");
    }
    cluster assigned;
    ok(assigned.upsert_node("m", machine(9)));
    add_gang(assigned, "other", 1, 2);
    static_cast<void>(cycle(assigned, 0));
    assigned = copy;
    add_gang(assigned, "h", 1, 2);
    CHECK(started(assigned, cycle(assigned, 0)) == std::vector<std::string>{"h"});
    CHECK(node_of(assigned, "h-0") == "n");
}

} // namespace

} // namespace cluster_attachment_test
