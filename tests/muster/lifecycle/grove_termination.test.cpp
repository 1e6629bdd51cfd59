// SPDX-License-Identifier: Apache-2.0
#include <muster/lifecycle/grove_termination.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/grove/backends.hpp>

#include "muster/lifecycle/grove_server.hpp"

namespace lifecycle_grove_termination_test {

using namespace lifecycle_grove;
using muster::translate::kai_backend;
using names = std::vector<std::string>;

namespace {

constexpr std::int64_t minute = 60'000'000'000;

/// A frontend of its own, and three replicas of a leader with two workers; all run.
struct world : grove_server {
    explicit world(int min_available = 1) {
        dialect = grove_dialect::upstream;
        apply(parse_yaml(R"(apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: set, labels: {kai.scheduler/queue: q}}
spec:
  replicas: 2
  template:
    terminationDelay: 10m
    cliques:
    - name: front
      spec: {roleName: front, replicas: 2, minAvailable: 1, podSpec: {schedulerName: kai-scheduler, containers: [{name: c}]}}
    - name: lead
      spec: {roleName: lead, replicas: 1, podSpec: {schedulerName: kai-scheduler, containers: [{name: c}]}}
    - name: work
      spec: {roleName: work, replicas: 2, podSpec: {schedulerName: kai-scheduler, containers: [{name: c}]}}
    podCliqueScalingGroups:
    - {name: model, cliqueNames: [lead, work], replicas: 3, minAvailable: )" +
                         std::to_string(min_available) + "}\n"));
        settle_and_run();
    }

    /// Everything that may run does.
    void settle_and_run() {
        for (int round = 0; round < 3; ++round) {
            settle("set", kai_backend{});
            run_ungated();
        }
        settle("set", kai_backend{});
    }

    [[nodiscard]] std::map<std::string, std::string> uids_of(std::string_view kind) const {
        std::map<std::string, std::string> made;
        for (const std::string& name : names(kind))
            made[name] =
                objects.at(std::string(kind) + ' ' + name).at("metadata").at("uid").as_string();
        return made;
    }

    /// The PodCliques whose objects are others than in `before`.
    [[nodiscard]] ::lifecycle_grove_termination_test::names
    renewed(const std::map<std::string, std::string>& before) const {
        ::lifecycle_grove_termination_test::names made;
        for (const auto& [name, uid] : uids_of("grove.io/PodClique"))
            if (!before.contains(name) || before.at(name) != uid)
                made.push_back(name);
        return made;
    }

    /// The pods of a clique lose their nodes, and get no others.
    void fail(const std::string& clique) {
        for (const std::string& name : names("Pod"))
            if (name.starts_with(clique + '-')) {
                json::object& pod = at("Pod " + name);
                pod["status"] = {{"phase", "Failed"}};
            }
    }

    [[nodiscard]] json::object condition(const std::string& key, std::string_view type) const {
        const auto* found = muster::lifecycle::detail::condition_of(objects.at(key), type);
        return found ? *found : json::object{};
    }
};

} // namespace

TEST_CASE("a clique that lost its minimum is breached, and its gang terminated after the delay") {
    world server;
    const auto before = server.uids_of("grove.io/PodClique");
    server.fail("set-0-front");
    server.settle("set", kai_backend{});
    CHECK(server.condition("grove.io/PodClique set-0-front", "MinAvailableBreached").at("status") ==
          "True");
    CHECK(server.condition("scheduler.grove.io/PodGang set-0", "Unhealthy").at("status") == "True");
    CHECK(server.renewed(before).empty());
    CHECK(server.look("set", kai_backend{}).wake == server.now + 10 * minute);
    server.now += 10 * minute - 1'000'000'000;
    server.settle("set", kai_backend{});
    CHECK(server.renewed(before).empty());
    server.now += 1'000'000'000;
    server.settle("set", kai_backend{});
    // The clique stands alone, so all of the replica goes, and nothing of others.
    CHECK(server.renewed(before).size() == 7);
    for (const std::string& name : server.renewed(before))
        CHECK(name.starts_with("set-0-"));
    server.settle_and_run();
    CHECK(server.condition("scheduler.grove.io/PodGang set-0", "Unhealthy").at("status") ==
          "False");
    CHECK(server.at("scheduler.grove.io/PodGang set-0").at("status").at("phase") == "Running");
}

TEST_CASE("what is back before the delay has passed is not terminated, and time starts anew") {
    world server;
    const auto before = server.uids_of("grove.io/PodClique");
    server.fail("set-0-front");
    server.settle("set", kai_backend{});
    server.now += 9 * minute;
    for (const std::string& name : server.names("Pod"))
        server.run_pod(server.at("Pod " + name), "node");
    server.settle("set", kai_backend{});
    server.fail("set-0-front");
    server.settle("set", kai_backend{});
    server.now += 9 * minute;
    server.settle("set", kai_backend{});
    CHECK(server.renewed(before).empty());
}

TEST_CASE("a gang that never stood is not terminated, however long it waits") {
    world server;
    const auto before = server.uids_of("grove.io/PodClique");
    server.fail("set-0-front");
    server.settle("set", kai_backend{});
    server.now += 10 * minute;
    server.settle("set", kai_backend{});
    const auto after = server.uids_of("grove.io/PodClique");
    CHECK(after != before);
    CHECK(server.condition("grove.io/PodClique set-0-front", "PodCliqueScheduled").at("reason") ==
          "NeverScheduled");
    server.now += 100 * minute;
    server.settle("set", kai_backend{});
    CHECK(server.uids_of("grove.io/PodClique") == after);
}

TEST_CASE("a scaling group with enough replicas loses only the one that is breached") {
    world server(2);
    const auto before = server.uids_of("grove.io/PodClique");
    server.fail("set-0-model-1-work");
    server.settle("set", kai_backend{});
    server.now += 10 * minute;
    server.settle("set", kai_backend{});
    CHECK(server.renewed(before) == names{"set-0-model-1-lead", "set-0-model-1-work"});
}

TEST_CASE("a scaling group with too few replicas takes the set's replica with it") {
    world server(2);
    const auto before = server.uids_of("grove.io/PodClique");
    server.fail("set-0-model-1-work");
    server.fail("set-0-model-2-lead");
    server.settle("set", kai_backend{});
    CHECK(server.condition("grove.io/PodCliqueScalingGroup set-0-model", "MinAvailableBreached")
              .at("status") == "True");
    server.now += 10 * minute;
    server.settle("set", kai_backend{});
    CHECK(server.renewed(before).size() == 7);
}

TEST_CASE("pods that run without becoming ready count as lost, those that start do not") {
    world server;
    json::object& pod = server.at("Pod " + server.names("Pod")[0]);
    json::object& other = server.at("Pod " + server.names("Pod")[1]);
    const auto breached = [&] {
        server.settle("set", kai_backend{});
        return server.condition("grove.io/PodClique set-0-front", "MinAvailableBreached")
                   .at("status") == "True";
    };
    for (json::object* each : {&pod, &other})
        (*each)["status"] = {{"phase", "Running"}};
    CHECK_FALSE(breached());
    for (json::object* each : {&pod, &other})
        (*each)["status"] = json::object{
            {"phase", "Running"},
            {"containerStatuses", json::array{json::object{{"name", "c"}, {"started", true}}}}};
    CHECK(breached());
    other["status"] =
        json::object{{"phase", "Running"},
                     {"containerStatuses",
                      json::array{json::object{
                          {"name", "c"}, {"lastState", {{"terminated", {{"exitCode", 1}}}}}}}}};
    CHECK(breached());
}

TEST_CASE("a termination that was cut short anywhere is carried through") {
    names expected;
    for (int writes = 0; writes < 1000; ++writes) {
        world server(2);
        const auto before = server.uids_of("grove.io/PodClique");
        server.fail("set-0-model-1-work");
        server.fail("set-0-model-2-lead");
        server.settle("set", kai_backend{});
        server.now += 10 * minute;
        int left = writes;
        server.settle("set", kai_backend{}, &left);
        const bool whole = left > 0;
        server.settle("set", kai_backend{});
        if (expected.empty())
            expected = server.renewed(before);
        CHECK_MESSAGE(server.renewed(before) == expected, "after writes: ", writes);
        CHECK(expected.size() == 7);
        if (whole)
            break;
    }
}

} // namespace lifecycle_grove_termination_test
