// SPDX-License-Identifier: Apache-2.0
#include <muster/problem/quota_tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/testing/random.hpp>

#include "../builders.hpp"

namespace problem_quota_tally_test {

namespace {

using namespace muster;
using namespace builders;

/// A queue at the root, two below it, two below each of these, with ceilings now and then.
cluster some_queues(testing::random& draw) {
    cluster known;
    ok(known.upsert_node("n", machine(1000)));
    for (int at = 0; at < 7; ++at) {
        cluster::queue_type spec;
        if (draw.percent(60))
            spec.quota = quota_of(draw.between(0, 12)).quota;
        const auto parent =
            at == 0 ? std::nullopt : std::optional("q" + std::to_string((at - 1) / 2));
        ok(known.upsert_queue("q" + std::to_string(at), spec, parent));
    }
    for (int at = 0; at < 6; ++at)
        add_running(known, "g" + std::to_string(at), draw.between(1, 4), "n",
                    "q" + std::to_string(draw.between(3, 6)));
    return known;
}

} // namespace

TEST_CASE("quotas admit what they would admit if the pods that are taken were gone") {
    testing::random draw(5);
    int fits = 0;
    for (int round = 0; round < 300; ++round) {
        const cluster known = some_queues(draw);
        const queue_charge charge(
            known.find_queue("q" + std::to_string(draw.between(3, 6)))->index);
        const amounts amount = units(draw.between(1, 6));
        quota_tally<core_of<traits>> tally;
        REQUIRE(tally.begin(known, charge, amount, false));
        std::vector<std::string> gone;
        for (int step = 0; step < 8; ++step) {
            const std::string pod = "g" + std::to_string(draw.between(0, 5)) + "-0";
            const auto at = std::ranges::find(gone, pod);
            if (at != gone.end()) {
                tally.put_back(known.find_pod(pod)->index);
                gone.erase(at);
            } else {
                tally.take(known.find_pod(pod)->index);
                gone.push_back(pod);
            }
            cluster without = known;
            for (const std::string& each : gone)
                ok(without.remove_pod(each));
            const bool admits = without.accounts().admits(charge, amount);
            // What fits now still does when more have left.
            CHECK((tally.fits() == admits || known.accounts().admits(charge, amount)));
            fits += admits ? 1 : 0;
        }
    }
    CHECK(fits > 300);
}

TEST_CASE(
    "where something is guaranteed quotas are not counted, unless they admit the amount now") {
    cluster known;
    ok(known.upsert_queue("q", quota_of(4)));
    const queue_charge charge(known.find_queue("q")->index);
    quota_tally<core_of<traits>> tally;
    CHECK(tally.begin(known, charge, units(4), true));
    CHECK(tally.fits());
    CHECK(!tally.begin(known, charge, units(5), true));
    CHECK(tally.begin(known, charge, units(5), false));
    CHECK(!tally.fits());
}

TEST_CASE("quotas are counted for a non-preemptible gang unless they limit such gangs apart") {
    cluster known;
    ok(known.upsert_queue("root", quota_of(4)));
    ok(known.upsert_queue("q", {}, "root"));
    const queue_charge charge(known.find_queue("q")->index, true);
    quota_tally<core_of<traits>> tally;
    CHECK(tally.begin(known, charge, units(4), false));
    CHECK(!tally.counts());
    CHECK(tally.begin(known, charge, units(5), false));
    CHECK(tally.counts());
    CHECK(!tally.fits());
    cluster::queue_type limited = quota_of(4);
    limited.non_preemptible_quota.set(cpu, 4);
    ok(known.upsert_queue("root", limited));
    CHECK(tally.begin(known, charge, units(4), false));
    CHECK(!tally.begin(known, charge, units(5), false));
    CHECK(tally.begin(known, queue_charge(charge.queue), units(5), false));
}

TEST_CASE("an amount that leaves a queue counts like the pods that use it") {
    testing::random draw(6);
    for (int round = 0; round < 100; ++round) {
        const cluster known = some_queues(draw);
        const queue_charge charge(
            known.find_queue("q" + std::to_string(draw.between(3, 6)))->index);
        quota_tally<core_of<traits>> pods;
        REQUIRE(pods.begin(known, charge, units(draw.between(1, 6)), false));
        quota_tally<core_of<traits>> amounts = pods;
        for (int at = 0; at < 6; ++at) {
            const pod_index pod = known.find_pod("g" + std::to_string(at) + "-0")->index;
            pods.take(pod);
            amounts.take(known[known[pod].gang].queue, known.request(pod));
            CHECK(pods.fits() == amounts.fits());
        }
    }
}

} // namespace problem_quota_tally_test
