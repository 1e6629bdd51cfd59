// SPDX-License-Identifier: Apache-2.0
#include <muster/sim/pod_lifetimes.hpp>

#include <doctest/doctest.h>

#include <limits>

namespace sim_pod_lifetimes_test {

using muster::codec::object_key;
using muster::sim::pod_lifetimes;

namespace {

pod_lifetimes of_queues() {
    muster::codec::manifests objects;
    muster::codec::queue_object queue;
    queue.metadata.key = {"t9k-system", "any"};
    objects.queues.push_back(queue);
    queue.metadata.key.name = "short";
    queue.max_duration = 100;
    objects.queues.push_back(queue);
    return pod_lifetimes(objects);
}

} // namespace

TEST_CASE("only pods of queues with a maxDuration have to go, at that age") {
    pod_lifetimes made = of_queues();
    CHECK_FALSE(made.longest("any"));
    CHECK_FALSE(made.longest("unknown"));
    CHECK(made.longest("short") == 100);
    CHECK_FALSE(made.limit({"ns", "a"}, "any", 5, 0));
    CHECK(made.limit({"ns", "a"}, "short", 5, 0) == 105);
    CHECK(made.limit({"ns", "b"}, "short", 7, 0) == 107);
    CHECK(made.take_due(104).empty());
    CHECK(made.take_due(105) == std::vector<object_key>{{"ns", "a"}});
    CHECK(made.take_due(105).empty());
    made.forget({"ns", "b"});
    CHECK(made.take_due(200).empty());
}

TEST_CASE("pods as important as the system's own, and those created at the end of time, stay") {
    pod_lifetimes made = of_queues();
    CHECK_FALSE(made.limit({"ns", "a"}, "short", 5, 2'000'000'000));
    CHECK(made.limit({"ns", "a"}, "short", 5, 1'999'999'999));
    CHECK_FALSE(made.limit({"ns", "b"}, "short", std::numeric_limits<std::int64_t>::max(), 0));
}

} // namespace sim_pod_lifetimes_test
