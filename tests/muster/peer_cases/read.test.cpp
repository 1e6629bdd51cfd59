// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "peer_cases/judge.hpp"
#include "peer_cases/run.hpp"

namespace peer_cases_read_test {

namespace {

/// One pod of one device, in a file of KAI's with these fields besides.
std::string file(const std::string& more_of_case, const std::string& more_of_gang,
                 const std::string& queue = R"("name": "q", "deserved": {"gpu": 1})") {
    return R"({"meta": {"peer": "KAI-Scheduler"}, "cases": [{"name": "c", "core": true,
        "actions": ["allocate"], "features": [], )" +
           more_of_case + R"( "nodes": [{"name": "n", "resources": {"gpu": 1, "pods": 110}}],
        "queues": [{)" +
           queue + R"(}],
        "gangs": [{"name": "g", "queue": "q", "priority": 50, )" +
           more_of_gang + R"( "tasks": [{"name": "p", "request": {"gpu": 1}, "state": "Pending"}]}],
        "expected": {"g": {"bound": 1, "tasks": {"p": {"status": "Binding", "node": "n"}}}}}]})";
}

bool agrees(const std::string& text) {
    const auto cases = peer_cases::read_cases(text);
    REQUIRE(cases.size() == 1);
    CHECK(cases[0].unreadable.empty());
    CHECK(peer_cases::cannot_run(cases[0]).empty());
    return peer_cases::judge(cases[0], peer_cases::run(cases[0])).agrees;
}

} // namespace

TEST_CASE("a case that cannot be read says so, and the others run") {
    const auto cases = peer_cases::read_cases(
        R"({"meta": {"peer": "KAI-Scheduler"}, "cases": [
            {"name": "odd", "core": true, "actions": ["allocate"],
             "gangs": [{"name": "g", "tasks": [{"name": "p", "state": "Dreaming"}]}]},
            {"name": ["no", "name"], "nodes": 7, "queues": [3]},
            {"name": "fine", "core": true, "actions": ["allocate"], "nodes": [], "queues": [],
             "gangs": []}]})");
    REQUIRE(cases.size() == 3);
    CHECK(cases[0].unreadable == "unknown state of a task: Dreaming");
    CHECK(cases[0].name == "odd");
    CHECK(cases[0].core);
    CHECK_FALSE(cases[1].unreadable.empty());
    CHECK(cases[2].unreadable.empty());
}

TEST_CASE("a file that is none of cases is refused") {
    CHECK_THROWS_AS(static_cast<void>(peer_cases::read_cases("[]")), peer_cases::unreadable);
    CHECK_THROWS_AS(static_cast<void>(peer_cases::read_cases("{")), peer_cases::unreadable);
    CHECK_THROWS_AS(static_cast<void>(peer_cases::read_cases(R"({"meta": {"peer": "cron"}})")),
                    peer_cases::unreadable);
}

TEST_CASE("fields that nobody knows, and values in another form, change nothing") {
    CHECK(agrees(file("", "")));
    CHECK(agrees(file(R"("weather": {"wind": [1, 2]}, "rounds": null, )",
                      R"("minMember": "1", "colour": "blue", "ageMinutes": "?", )")));
    CHECK(agrees(file("", R"("minMember": 1.0, "preemptible": null, )")));
}

TEST_CASE("a queue below one that is not listed is below one without bounds") {
    CHECK(agrees(file("", "", R"("name": "q", "parent": "all", "deserved": {"gpu": 0},
                                 "overQuotaWeight": 1)")));
}

TEST_CASE("a priority that is said by a name is above the default one, or below") {
    const auto priority = [](const char* said) {
        const auto cases = peer_cases::read_cases(
            file("", "", std::string(R"("name": "q", "priority": ")") + said + "\""));
        return cases.at(0).queues.at(0).priority;
    };
    CHECK(priority("default+?") == 101);
    CHECK(priority("default-?") == 99);
    CHECK(priority("default") == 100);
    CHECK_FALSE(priority("high"));
}

TEST_CASE("who asks for a level that is not there finds no room") {
    const std::string topologies =
        R"("topologies": [{"name": "a", "levels": ["rack"]}, {"name": "b", "levels": ["zone"]}], )";
    const auto asks = [](const char* topology, const char* how, const char* level) {
        return std::string(R"("subgroups": {"name": "", "podSets": [{"name": "w", "minAvailable":
            1}], "topologyConstraint": {"topology": ")") +
               topology + R"(", ")" + how + R"(": ")" + level + R"("}}, )";
    };
    const auto binds = [&](const std::string& gang) {
        std::string text = file(topologies, gang);
        const std::string task = R"("name": "p", )";
        text.insert(text.find(task) + task.size(), R"("role": "w", )");
        const std::string node = R"("name": "n", )";
        text.insert(text.find(node) + node.size(), R"("labels": {"rack": "r", "zone": "z"}, )");
        return agrees(text);
    };
    CHECK(binds(asks("a", "required", "rack")));
    CHECK(binds(asks("b", "required", "zone")));
    CHECK_FALSE(binds(asks("b", "required", "rack")));
    CHECK_FALSE(binds(asks("a", "preferred", "zone")));
    CHECK_FALSE(binds(asks("c", "required", "rack")));
}

TEST_CASE("a pod of no subgroup that is there never starts, and counts nowhere") {
    CHECK_FALSE(agrees(
        file("", R"("subgroups": {"name": "", "podSets": [{"name": "w", "minAvailable": 1}]}, )")));
    CHECK_FALSE(agrees(
        file("", R"("subgroups": {"name": "", "podSets": [{"name": "w", "minAvailable": 0}]}, )")));
}

TEST_CASE("what is there twice is not read") {
    const auto read = [](const char* gangs) {
        return peer_cases::read_cases(
                   std::string(R"({"meta": {"peer": "KAI-Scheduler"}, "cases": [{"gangs": )") +
                   gangs + "}]}")
            .at(0)
            .unreadable;
    };
    CHECK(read(R"([{"name": "g"}, {"name": "g"}])") == "gang 'g' is there twice");
    CHECK(read(R"([{"name": "g", "tasks": [{"name": "p"}, {"name": "p"}]}])") ==
          "task 'p' is there twice");
    CHECK(read(R"([{"name": "g", "tasks": [{"name": "p"}]}, {"name": "h"}])").empty());
}

TEST_CASE("who may not have others go yet takes what is free, and can be evicted itself") {
    const auto preempts = [](const char* age) {
        const auto cases = peer_cases::read_cases(
            std::string(R"({"meta": {"peer": "KAI-Scheduler"}, "cases": [{"name": "c",
            "actions": ["preempt"], "nodes": [{"name": "n", "resources": {"gpu": 1, "pods": 9}}],
            "queues": [{"name": "q", "deserved": {"gpu": 1}}],
            "gangs": [{"name": "low", "queue": "q", "priority": 50, "tasks": [{"name": "a",
                       "state": "Running", "node": "n", "request": {"gpu": 1}}]},
                      {"name": "high", "queue": "q", "priority": 100, "preemptible": false,
                       "preemptionDelay": {"Duration": 600000000000}, )") +
            age + R"("tasks": [{"name": "b", "state": "Pending", "request": {"gpu": 1}}]}],
            "expected": {}}]})");
        return peer_cases::run(cases.at(0)).after.at("low").at("a").state ==
               peer_cases::pod_state::leaving;
    };
    CHECK(preempts(R"("ageMinutes": 10, )"));
    CHECK_FALSE(preempts(R"("ageMinutes": 9, )"));
    CHECK_FALSE(preempts(""));
}

TEST_CASE("of a gang's pods those of higher priority come first, and go last") {
    const auto states = [](const char* state) {
        const auto cases = peer_cases::read_cases(
            std::string(R"({"meta": {"peer": "KAI-Scheduler"}, "cases": [{"name": "c",
            "actions": ["allocate", "preempt"],
            "nodes": [{"name": "n", "resources": {"gpu": 2, "pods": 9}}],
            "queues": [{"name": "q", "deserved": {"gpu": 2}}],
            "gangs": [{"name": "g", "queue": "q", "priority": 50, "minMember": 1, "tasks": [
                       {"name": "a", "taskPriority": 1, "request": {"gpu": 1}, "state": ")") +
            state + R"(", "node": "n"}, {"name": "b", "taskPriority": 2, "request": {"gpu": 1},
                       "state": ")" +
            state + R"(", "node": "n"}]},
                      {"name": "high", "queue": "q", "priority": 100, "tasks": [
                       {"name": "c", "request": {"gpu": 1}, "state": "Pending"}]}],
            "expected": {}}]})");
        return peer_cases::run(cases.at(0)).after.at("g");
    };
    CHECK(states("Pending").at("b").state == peer_cases::pod_state::bound);
    CHECK(states("Pending").at("a").state == peer_cases::pod_state::pending);
    CHECK(states("Running").at("a").state == peer_cases::pod_state::leaving);
    CHECK(states("Running").at("b").state == peer_cases::pod_state::bound);
}

TEST_CASE("Volcano's queues have by weight what they do not say, and others' surplus alone goes") {
    const auto evicted = [](int weight, int least) {
        const auto cases = peer_cases::read_cases(
            R"({"meta": {"peer": "volcano"}, "cases": [{"name": "c", "actions": ["reclaim"],
            "nodes": [{"name": "n", "resources": {"cpu": "4", "pods": "9"}}],
            "queues": [{"name": "q", "weight": 1}, {"name": "p", "weight": )" +
            std::to_string(weight) + R"(}],
            "gangs": [{"name": "old", "queue": "q", "minMember": )" +
            std::to_string(least) + R"(, "tasks": [
                       {"name": "a", "state": "Running", "node": "n", "request": {"cpu": "1"}},
                       {"name": "b", "state": "Running", "node": "n", "request": {"cpu": "1"}},
                       {"name": "c", "state": "Running", "node": "n", "request": {"cpu": "1"}},
                       {"name": "d", "state": "Running", "node": "n", "request": {"cpu": "1"}}]},
                      {"name": "new", "queue": "p", "minMember": 1, "tasks": [
                       {"name": "e", "state": "Pending", "request": {"cpu": "2"}}]}],
            "expectedTotals": {}}]})");
        const auto after = peer_cases::run(cases.at(0)).after.at("old");
        return std::ranges::count_if(after, [](const auto& pod) {
            return pod.second.state == peer_cases::pod_state::leaving;
        });
    };
    CHECK(evicted(1, 1) == 2);
    CHECK(evicted(1, 2) == 2);
    CHECK(evicted(1, 3) == 0);
    CHECK(evicted(1, 4) == 0);
}

TEST_CASE("pods stand beside those of their labels, and apart") {
    const auto outcome = [](const char* terms) {
        const auto cases = peer_cases::read_cases(
            std::string(R"({"meta": {"peer": "KAI-Scheduler"}, "cases": [{"name": "c",
            "features": ["pod-affinity"], "actions": ["allocate"],
            "nodes": [{"name": "n", "resources": {"gpu": 2, "pods": 9}, "labels": {"zone": "z"}},
                      {"name": "m", "resources": {"gpu": 2, "pods": 9}, "labels": {"zone": "y"}}],
            "queues": [{"name": "q", "deserved": {"gpu": 4}}],
            "gangs": [{"name": "there", "queue": "q", "tasks": [{"name": "t", "state": "Running",
                       "node": "m", "request": {"gpu": 1}, "podAffinity": {"labels": {"a": "b"}}}]},
                      {"name": "g", "queue": "q", "tasks": [{"name": "p", "state": "Pending",
                       "request": {"gpu": 1}, "podAffinity": {"labels": {"a": "b"}, )") +
            terms + R"(}}]}], "expected": {}}]})");
        REQUIRE(peer_cases::cannot_run(cases.at(0)).empty());
        return peer_cases::run(cases.at(0)).after.at("g").at("p").node;
    };
    CHECK(outcome(R"("affinityKey": "zone")") == "m");
    CHECK(outcome(R"("antiAffinityKey": "zone")") == "n");
    CHECK(outcome(R"("affinityKey": "zone", "antiAffinityKey": "kai.scheduler/type")").empty());
}

TEST_CASE("a node that begins with too much on it is Muster's fault only when somebody comes") {
    peer_cases::peer_case of = peer_cases::read_cases(file("", "")).at(0);
    of.nodes.front().allocatable["gpu"] = 0;
    peer_cases::outcome got;
    got.before["g"]["p"] = {peer_cases::pod_state::bound, "n"};
    got.after = got.before;
    CHECK(peer_cases::over_committed(of, got).empty());
    got.before["g"]["p"] = {peer_cases::pod_state::pending, ""};
    CHECK(peer_cases::over_committed(of, got).size() == 1);
}

TEST_CASE("what a node has counts only as far as it is whole") {
    peer_cases::peer_case of = peer_cases::read_cases(file("", "")).at(0);
    of.nodes.front().allocatable["gpu"] = 500;
    CHECK(peer_cases::run(of).after.at("g").at("p").node.empty());
}

} // namespace peer_cases_read_test
