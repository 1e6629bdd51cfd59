// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/kubelets.hpp>

#include <string>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

TEST_CASE("a kubelet runs what fits and refuses what does not, whoever bound it") {
    asking server;
    kubelets nodes(server.store);
    server.node("n", "2");
    for (const char* name : {"a", "b", "c"}) {
        REQUIRE(server.pod(name).code == 201);
        REQUIRE(server.bind(name, "n").code == 201);
    }
    CHECK(nodes.step());
    CHECK(server.field(pods + "/a", {"status", "phase"}) == "Running");
    CHECK(server.field(pods + "/b", {"status", "phase"}) == "Running");
    CHECK(server.field(pods + "/c", {"status", "phase"}) == "Failed");
    CHECK(server.field(pods + "/c", {"status", "reason"}) == "OutOfcpu");
    CHECK(nodes.refused() == 1);
    CHECK_FALSE(nodes.step());
    REQUIRE(server.remove(pods + "/a").code == 200);
    CHECK(nodes.step());
    CHECK(server.get(pods + "/a").code == 404);
    REQUIRE(server.pod("d").code == 201);
    REQUIRE(server.bind("d", "n").code == 201);
    nodes.step();
    CHECK(server.field(pods + "/d", {"status", "phase"}) == "Running");
}

TEST_CASE("a pod ends after the time and with the code that it names") {
    asking server;
    kubelets nodes(server.store);
    server.node("n", "4");
    const auto lasting = [](const std::string& seconds, const std::string& code) {
        return R"(,"annotations":{"muster.dev/run-seconds":")" + seconds +
               R"(","muster.dev/exit-code":")" + code + "\"}";
    };
    REQUIRE(server.pod("good", "1", "", lasting("10", "0")).code == 201);
    REQUIRE(server.pod("bad", "1", "", lasting("20", "3")).code == 201);
    for (const char* name : {"good", "bad"})
        REQUIRE(server.bind(name, "n").code == 201);
    nodes.step();
    CHECK(nodes.next() == server.store.time() + 10'000'000'000);
    server.pass(9);
    CHECK_FALSE(nodes.step());
    server.pass(1);
    CHECK(nodes.step());
    CHECK(server.field(pods + "/good", {"status", "phase"}) == "Succeeded");
    CHECK(nodes.running() == 1);
    server.pass(10);
    nodes.step();
    const json::object pod = server.get(pods + "/bad").body;
    CHECK(text_at(pod, {"status", "phase"}) == "Failed");
    CHECK(integer_at(array_at(pod, {"status", "containerStatuses"})->at(0).as_object(),
                     {"state", "terminated", "exitCode"}) == 3);
    CHECK_FALSE(nodes.next());
}

TEST_CASE(
    "of a list of times and codes each pod of a name takes its own entry, the last for good") {
    asking server;
    kubelets nodes(server.store);
    server.node("n", "4");
    const auto ends = [&](const std::string& owner, std::int64_t after) {
        const std::string metadata =
            R"(,"annotations":{"muster.dev/run-seconds":"30, 10","muster.dev/exit-code":"3, 0"},)"
            R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"job","uid":")" +
            owner + "\"}]";
        REQUIRE(server.pod("a", "1", "", metadata).code == 201);
        REQUIRE(server.bind("a", "n").code == 201);
        nodes.step();
        server.pass(after - 1);
        CHECK_FALSE(nodes.step());
        server.pass(1);
        nodes.step();
        const std::string phase = server.field(pods + "/a", {"status", "phase"});
        REQUIRE(server.remove(pods + "/a", R"({"gracePeriodSeconds":0})").code == 200);
        return phase;
    };
    CHECK(ends("one", 30) == "Failed");
    CHECK(ends("one", 10) == "Succeeded");
    CHECK(ends("one", 10) == "Succeeded");
    CHECK(ends("two", 30) == "Failed");
}

TEST_CASE("a pod that was deleted and made again is another one") {
    asking server;
    kubelets nodes(server.store);
    server.node("n", "1");
    REQUIRE(server.pod("a").code == 201);
    REQUIRE(server.bind("a", "n").code == 201);
    nodes.step();
    REQUIRE(server.remove(pods + "/a", R"({"gracePeriodSeconds":0})").code == 200);
    REQUIRE(server.pod("a").code == 201);
    REQUIRE(server.bind("a", "n").code == 201);
    nodes.step();
    CHECK(server.field(pods + "/a", {"status", "phase"}) == "Running");
    CHECK(nodes.running() == 1);
}

TEST_CASE("nobody runs a pod on a node that does not exist") {
    asking server;
    kubelets nodes(server.store);
    REQUIRE(server.pod("a").code == 201);
    REQUIRE(server.bind("a", "ghost").code == 201);
    CHECK_FALSE(nodes.step());
    CHECK(server.field(pods + "/a", {"status", "phase"}) == "Pending");
}

TEST_CASE("init containers count by their peak, sidecars together, and overhead on top") {
    const auto pod = parse_json(R"({"spec":{"overhead":{"cpu":"100m"},
        "initContainers":[
          {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
          {"resources":{"requests":{"cpu":"5"}}}],
        "containers":[{"resources":{"requests":{"cpu":"2","memory":"1Gi"}}}]}})");
    const amounts made = request_of(pod->as_object());
    CHECK(made.at("cpu") == 6100);
    CHECK(made.at("memory") == 1'073'741'824'000);
    CHECK(made.at("pods") == 1000);
}

} // namespace api_server_test
