// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "../builders.hpp"

namespace cluster_cluster_reservations_test {

namespace {

using namespace builders;
using namespace muster;

struct one_waits {
    cluster known;

    one_waits() {
        ok(known.upsert_node("n", machine(8)));
        ok(known.upsert_node("m", machine(8)));
        ok(known.upsert_queue("q", quota_of(10)));
        add_gang(known, "g", 1, 6, "q");
    }

    [[nodiscard]] reservation<traits::width> keeping(std::int64_t on_n, std::int64_t on_m,
                                                     std::int64_t of_quota) const {
        reservation<traits::width> made;
        made.owner = {gang_at(known, "g"), known[gang_at(known, "g")].generation};
        made.parts = {{known.find_node("n")->index, units(on_n)},
                      {known.find_node("m")->index, units(on_m)}};
        made.queue = known.find_queue("q")->index;
        made.quota = units(of_quota);
        return made;
    }
};

TEST_CASE_FIXTURE(one_waits,
                  "what is kept for a gang is not free, and is again when it is lifted") {
    const ledger<traits::width> before = known.accounts();
    REQUIRE(known.reserve(keeping(6, 9, 4)));
    CHECK(free_cpu(known, "n") == 2);
    CHECK(free_cpu(known, "m") == -1);
    CHECK(known.accounts().used(known.find_queue("q")->index)[cpu] == 4);
    known.suspend_reservation(0);
    CHECK(known.accounts() == before);
    known.resume_reservation(0);
    CHECK(free_cpu(known, "m") == -1);
    const auto epoch = known.release_epoch();
    CHECK(known.lift_reservations().size() == 1);
    CHECK(known.reservations().empty());
    CHECK(known.accounts() == before);
    CHECK(known.release_epoch() != epoch);
}

TEST_CASE_FIXTURE(one_waits, "a reservation beyond all numbers is refused and keeps nothing") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    const ledger<traits::width> before = known.accounts();
    add_running(known, "r", 2, "m");
    const ledger<traits::width> with_r = known.accounts();
    CHECK_FALSE(known.reserve(keeping(6, top, 4)));
    CHECK(known.accounts() == with_r);
    CHECK(known.reservations().empty());
    CHECK(before != with_r);
}

TEST_CASE_FIXTURE(one_waits, "a gang's reservation can be dropped alone") {
    REQUIRE(known.reserve(keeping(6, 0, 0)));
    known.drop_reservation(gang_at(known, "g"));
    CHECK(known.reservations().empty());
    CHECK(free_cpu(known, "n") == 8);
}

TEST_CASE("a pod ends when it has run as long as its gang declares") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    cluster::gang_type group = gang_of(1);
    group.duration = 10;
    ok(known.upsert_gang("g", group));
    cluster::pod_type pod = asking(1);
    ok(known.upsert_pod("g-0", "g", pod));
    const pod_index which = known.find_pod("g-0")->index;
    CHECK_FALSE(known.ends(which));
    pod.phase = pod_phase::running;
    ok(known.upsert_pod("g-0", "g", pod, "n"));
    CHECK_FALSE(known.ends(which)); // nobody saw when it started
    pod.started = 5;
    ok(known.upsert_pod("g-0", "g", pod, "n"));
    CHECK(known.ends(which) == 15);
    pod.started.reset();
    ok(known.upsert_pod("g-0", "g", pod, "n"));
    CHECK(known.ends(which) == 15); // who tells no start does not take back the one known
    group.duration = std::numeric_limits<std::int64_t>::max();
    ok(known.upsert_gang("g", group));
    CHECK(known.ends(which) == std::numeric_limits<std::int64_t>::max());
}

} // namespace

} // namespace cluster_cluster_reservations_test
