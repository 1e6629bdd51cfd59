// SPDX-License-Identifier: Apache-2.0
#include <muster/sim/grove_kubelet.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

namespace sim_grove_kubelet_test {

using muster::codec::object_key;
using muster::sim::grove_kubelet;

namespace {

constexpr std::int64_t second = 1'000'000'000;

boost::json::object pod(const std::string& clique, const std::string& host,
                        const std::string& policy = "Always", const std::string& after = "") {
    return boost::json::parse(
               R"({"metadata": {"labels": {"grove.io/podgang": "g", "grove.io/podclique": ")" +
               clique + R"("}}, "spec": {"hostname": ")" + host + R"(", "restartPolicy": ")" +
               policy + R"(", "initContainers": [{"name": "grove-initc", "args": [)" + after +
               "]}]}}")
        .as_object();
}

const object_key a{"ns", "a"};
const object_key b{"ns", "b"};

} // namespace

TEST_CASE("a pod starts when enough pods of the PodCliques before it are ready") {
    grove_kubelet all;
    all.add(a, 0, pod("c-0-router", "c-0-router-0"));
    all.add(b, 0, pod("c-0-model", "c-0-model-0", "Always", R"("--podcliques=c-0-router:1")"));
    all.place(b);
    CHECK(all.awaited(b) == "c-0-router");
    CHECK_FALSE(all.next_to_start());
    CHECK(all.at(b).waited);
    all.place(a);
    CHECK_FALSE(all.at(a).waited);
    REQUIRE(all.next_to_start() == a);
    all.start(a, 0, {});
    REQUIRE(all.next_to_start() == b);
    all.start(b, 0, 5 * second);
    CHECK_FALSE(all.next_to_start());
    CHECK(all.next() == 5 * second);
    // Elsewhere a PodClique of the name counts for nothing.
    const object_key other{"elsewhere", "b"};
    all.add(other, 1, pod("c-0-model", "x", "Always", R"("--podcliques=c-0-router:1")"));
    all.place(other);
    CHECK(all.awaited(other) == "c-0-router");
}

TEST_CASE("a restartPolicy decides whether the end of its process is that of the pod") {
    grove_kubelet all;
    const auto ends = [&](const std::string& policy, bool well) {
        all.add(a, 0, pod("c", "h", policy));
        return all.ends_for_good(a, well);
    };
    CHECK(ends("Never", true));
    CHECK(ends("Never", false));
    CHECK(ends("OnFailure", true));
    CHECK_FALSE(ends("OnFailure", false));
    CHECK_FALSE(ends("Always", true));
}

TEST_CASE("what crashes starts again at once, then later each time, up to five minutes") {
    grove_kubelet all;
    all.add(a, 0, pod("c", "h"));
    all.place(a);
    std::vector<std::int64_t> delays;
    std::int64_t now = 0;
    for (int round = 0; round < 8; ++round) {
        CHECK(all.next_attempt(a) == round);
        all.start(a, now, second);
        now += second;
        REQUIRE(all.take_due(now) == a);
        CHECK_FALSE(all.waits(a));
        delays.push_back(all.crash(a, 3, now) / second);
        CHECK(all.waits(a));
        now += delays.back() * second;
        REQUIRE(all.take_due(now) == a);
    }
    CHECK(delays == std::vector<std::int64_t>{0, 10, 20, 40, 80, 160, 300, 300});
    const auto status = all.status(a);
    CHECK(status.at("phase") == "Running");
    CHECK(status.at("conditions").at(0).at("status") == "False");
    CHECK(status.at("containerStatuses").at(0).at("lastState").at("terminated").at("exitCode") ==
          3);
}

TEST_CASE("attempts are counted on over pods that are made anew, and nothing else is kept") {
    grove_kubelet all;
    all.add(a, 0, pod("c", "h"));
    all.place(a);
    all.start(a, 0, 5 * second);
    all.forget(a);
    all.add(a, 0, pod("c", "h"));
    CHECK(all.next_attempt(a) == 1);
    // The end of the pod that had the name before is not this one's.
    CHECK_FALSE(all.take_due(5 * second));
}

TEST_CASE("nothing ends on a node that is out of sight until it is back") {
    grove_kubelet all;
    all.add(a, 0, pod("c", "h"));
    all.place(a);
    all.start(a, 0, 5 * second);
    all.see(a, true, second);
    CHECK(all.status(a).at("phase") == "Unknown");
    CHECK_FALSE(all.take_due(5 * second));
    all.see(a, false, 7 * second);
    CHECK(all.take_due(7 * second) == a);
}

} // namespace sim_grove_kubelet_test
