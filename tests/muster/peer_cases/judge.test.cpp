// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "peer_cases/judge.hpp"
#include "peer_cases/run.hpp"

namespace peer_cases_judge_test {

namespace {

using peer_cases::pod_state;

/// Two pods of one device each in a gang that needs both, on a node that has two.
peer_cases::peer_case pair() {
    peer_cases::peer_case made;
    made.from = peer_cases::peer::kai;
    made.nodes.push_back({"n", {{"gpu", 2000}, {"pods", 110000}}, {}, {}});
    peer_cases::gang_case gang;
    gang.name = "g";
    gang.queue = "q";
    gang.min_member = 2;
    for (const char* name : {"a", "b"}) {
        peer_cases::task one;
        one.name = name;
        one.request = {{"gpu", 1000}, {"pods", 1000}};
        gang.tasks.push_back(one);
    }
    made.gangs.push_back(gang);
    peer_cases::queue_case queue;
    queue.name = "q";
    made.queues.push_back(queue);
    return made;
}

peer_cases::outcome both(pod_state a, pod_state b) {
    peer_cases::outcome made;
    made.before["g"] = {{"a", {pod_state::pending, {}}}, {"b", {pod_state::pending, {}}}};
    made.after["g"] = {{"a", {a, a == pod_state::pending ? "" : "n"}},
                       {"b", {b, b == pod_state::pending ? "" : "n"}}};
    return made;
}

} // namespace

TEST_CASE("the same pods bound is agreement, whatever the nodes") {
    peer_cases::peer_case of = pair();
    of.expected.gangs["g"].pods = {{"a", {pod_state::bound, "elsewhere"}},
                                   {"b", {pod_state::bound, ""}}};
    const auto judged = peer_cases::judge(of, both(pod_state::bound, pod_state::bound));
    CHECK(judged.agrees);
    CHECK_FALSE(judged.agrees_on_nodes);
    of.expected.gangs["g"].pods["a"].node = "n";
    CHECK(peer_cases::judge(of, both(pod_state::bound, pod_state::bound)).agrees_on_nodes);
}

TEST_CASE("another pod bound, or nominated instead of bound, is a disagreement") {
    peer_cases::peer_case of = pair();
    of.expected.gangs["g"].pods = {{"a", {pod_state::bound, ""}}, {"b", {pod_state::pending, ""}}};
    CHECK(peer_cases::judge(of, both(pod_state::bound, pod_state::pending)).agrees);
    CHECK(peer_cases::judge(of, both(pod_state::pending, pod_state::bound)).differences.size() ==
          2);
    CHECK_FALSE(peer_cases::judge(of, both(pod_state::nominated, pod_state::pending)).agrees);
}

TEST_CASE("totals count what is new, and names are compared where they are asserted") {
    peer_cases::peer_case of = pair();
    of.from = peer_cases::peer::volcano;
    of.expected.bindings = 1;
    CHECK(peer_cases::judge(of, both(pod_state::pending, pod_state::bound)).agrees);
    CHECK_FALSE(peer_cases::judge(of, both(pod_state::bound, pod_state::bound)).agrees);
    of.expected.bind_map.emplace();
    (*of.expected.bind_map)["a"] = "n";
    CHECK_FALSE(peer_cases::judge(of, both(pod_state::pending, pod_state::bound)).agrees);
    CHECK(peer_cases::judge(of, both(pod_state::bound, pod_state::pending)).agrees);

    peer_cases::outcome stood = both(pod_state::bound, pod_state::pending);
    stood.before = stood.after;
    of.expected.bind_map->clear();
    CHECK(peer_cases::judge(of, stood).agrees);
}

TEST_CASE("evictions and nominations are compared where they are asserted") {
    peer_cases::peer_case of = pair();
    of.from = peer_cases::peer::volcano;
    of.expected.evictions = 0;
    CHECK_FALSE(peer_cases::judge(of, both(pod_state::leaving, pod_state::pending)).agrees);
    of.expected.evicted = std::vector<std::string>{"a"};
    CHECK(peer_cases::judge(of, both(pod_state::leaving, pod_state::pending)).agrees);
    CHECK_FALSE(peer_cases::judge(of, both(pod_state::pending, pod_state::leaving)).agrees);
    of.expected = {};
    of.expected.nominated.emplace();
    CHECK_FALSE(peer_cases::judge(of, both(pod_state::nominated, pod_state::pending)).agrees);
    (*of.expected.nominated)["g"] = {"m"};
    const auto judged = peer_cases::judge(of, both(pod_state::nominated, pod_state::pending));
    CHECK(judged.agrees);
    CHECK_FALSE(judged.agrees_on_nodes);
}

TEST_CASE("what the peer does not assert is open") {
    const peer_cases::peer_case of = pair();
    CHECK(peer_cases::judge(of, both(pod_state::leaving, pod_state::bound)).agrees);
}

TEST_CASE("a gang that is partly started is seen") {
    peer_cases::peer_case of = pair();
    const auto partial = [&](pod_state a, pod_state b) {
        return !peer_cases::partial_gangs(of, both(a, b).after).empty();
    };
    CHECK(partial(pod_state::bound, pod_state::pending));
    CHECK(partial(pod_state::nominated, pod_state::pending));
    CHECK(partial(pod_state::bound, pod_state::leaving));
    CHECK(partial(pod_state::bound, pod_state::failed));
    CHECK_FALSE(partial(pod_state::pending, pod_state::pending));
    CHECK_FALSE(partial(pod_state::leaving, pod_state::leaving));
    CHECK_FALSE(partial(pod_state::bound, pod_state::bound));
    CHECK_FALSE(partial(pod_state::bound, pod_state::succeeded));
    of.from = peer_cases::peer::coscheduling;
    CHECK(partial(pod_state::bound, pod_state::succeeded));
}

TEST_CASE("minima of roles and of subgroups count as the peer counts them") {
    peer_cases::peer_case of = pair();
    of.from = peer_cases::peer::volcano;
    peer_cases::gang_case& gang = of.gangs.front();
    gang.tasks[0].role = "x";
    gang.tasks[1].role = "y";
    gang.min_member = 1;
    gang.role_minima = {{"y", 1}};
    const auto partial = [&](pod_state a, pod_state b) {
        return !peer_cases::partial_gangs(of, both(a, b).after).empty();
    };
    CHECK(partial(pod_state::bound, pod_state::pending));
    CHECK_FALSE(partial(pod_state::pending, pod_state::bound));
    gang.role_minima = {{"x", 1}, {"y", 1}};
    CHECK_FALSE(partial(pod_state::bound, pod_state::pending));

    of.from = peer_cases::peer::kai;
    gang.role_minima.clear();
    gang.min_member = 2;
    gang.tree.emplace();
    for (const char* name : {"x", "y"}) {
        peer_cases::subgroup leaf;
        leaf.name = name;
        leaf.min_member = 1;
        gang.tree->children.push_back(leaf);
    }
    CHECK(partial(pod_state::bound, pod_state::pending));
    gang.tree->min_subgroups = 1;
    CHECK_FALSE(partial(pod_state::bound, pod_state::pending));
}

TEST_CASE("a node is over-committed now, or once the nominated have come") {
    peer_cases::peer_case of = pair();
    of.nodes.front().allocatable["gpu"] = 1000;
    const auto over = [&](pod_state a, pod_state b) {
        return peer_cases::over_committed(of, both(a, b)) == std::vector<std::string>{"n"};
    };
    CHECK(over(pod_state::bound, pod_state::bound));
    CHECK(over(pod_state::bound, pod_state::leaving));
    CHECK(over(pod_state::bound, pod_state::nominated));
    CHECK(over(pod_state::stuck, pod_state::nominated));
    CHECK_FALSE(over(pod_state::leaving, pod_state::nominated));
    CHECK_FALSE(over(pod_state::bound, pod_state::succeeded));
    CHECK_FALSE(over(pod_state::bound, pod_state::pending));
}

TEST_CASE("a case runs through Muster and agrees with itself") {
    peer_cases::peer_case of = pair();
    of.actions = {"allocate"};
    of.expected.gangs["g"].pods = {{"a", {pod_state::bound, "n"}}, {"b", {pod_state::bound, "n"}}};
    CHECK(peer_cases::judge(of, peer_cases::run(of)).agrees_on_nodes);
    of.nodes.front().allocatable["gpu"] = 1000;
    CHECK_FALSE(peer_cases::judge(of, peer_cases::run(of)).agrees);
}

} // namespace peer_cases_judge_test
