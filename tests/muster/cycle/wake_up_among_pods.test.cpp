// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <muster/builders.hpp>
#include <muster/cycle/cycle.hpp>

namespace cycle_wake_up_among_pods_test {

using namespace builders;
using namespace muster;

namespace {

/// Nodes a-0, a-1 in zone a and b-0 in zone b, and a gang `g` of one pod that waits for others.
struct scene {
    cluster known;

    scene() {
        for (const char* node : {"a-0", "a-1", "b-0"}) {
            auto spec = machine(9);
            spec.labels = {{"zone", std::string(1, node[0])}, {"host", node}};
            ok(known.upsert_node(node, spec));
        }
    }

    void run(const std::string& key, const std::string& app, const std::string& node,
             pod_terms terms = {}) {
        auto spec = in_phase(pod_phase::running, asking(1));
        spec.labels = {{"app", app}};
        if (terms.any())
            spec.where.pods = std::move(terms);
        ok(known.upsert_pod(key, key, spec, node));
    }

    void wait(pod_terms terms, const std::string& app = "mine") {
        ok(known.upsert_gang("g", gang_of(1)));
        auto spec = asking(1);
        spec.labels = {{"app", app}};
        if (terms.any())
            spec.where.pods = std::move(terms);
        ok(known.upsert_pod("g-0", "g", spec));
        static_cast<void>(cycle(known, 0));
        // Proven or not.
        CHECK(known[gang_at(known, "g")].last.kind != answer::admitted);
        CHECK(known[gang_at(known, "g")].last.at == gate::space);
        CHECK(node_of(known, "g-0").empty());
        // Nothing happens: nobody is asked.
        CHECK(cycle(known, 0).counters.asked == 0);
    }

    [[nodiscard]] std::string next() {
        static_cast<void>(cycle(known, 0));
        return node_of(known, "g-0");
    }
};

pod_selector app_is(const std::string& app) {
    return {label_is("app", app), {}};
}
pod_terms near(const std::string& app, const std::string& key = "zone") {
    pod_terms made;
    made.affinity.push_back({app_is(app), key});
    return made;
}
pod_terms apart(const std::string& app, const std::string& key = "zone") {
    pod_terms made;
    made.anti_affinity.push_back({app_is(app), key});
    return made;
}
pod_terms spread(const std::string& app, const std::string& key = "zone") {
    pod_terms made;
    spread_term one;
    one.pods = app_is(app);
    one.topology = key;
    made.spread.push_back(one);
    return made;
}

} // namespace

TEST_CASE("a gang that seeks a pod starts once such a pod stands somewhere") {
    scene in;
    SUBCASE("because it comes") {
        in.wait(near("web"));
        in.run("w", "web", "b-0");
    }
    SUBCASE("because one that waited was seen there") {
        auto spec = asking(1);
        spec.labels = {{"app", "web"}};
        spec.phase = pod_phase::gated;
        ok(in.known.upsert_pod("w", "w", spec));
        in.wait(near("web"));
        in.run("w", "web", "b-0");
    }
    SUBCASE("because it gets the label") {
        in.run("w", "db", "b-0");
        in.wait(near("web"));
        in.run("w", "web", "b-0");
    }
    SUBCASE("because its tenant becomes one that is meant") {
        in.run("w", "web", "b-0");
        auto terms = near("web");
        terms.affinity.front().pods.tenants = {label_is("team", "red")};
        in.wait(terms);
        auto group = gang_of(1);
        group.tenant = {{"team", "red"}};
        ok(in.known.upsert_gang("w", group));
    }
    SUBCASE("because its node gets the label that makes a domain") {
        in.run("w", "web", "b-0");
        in.wait(near("web", "rack"));
        auto node = machine(9);
        node.labels = {{"rack", "1"}, {"zone", "b"}, {"host", "b-0"}};
        ok(in.known.upsert_node("b-0", node));
    }
    SUBCASE("because its node is known at last") {
        in.run("w", "web", "c-0");
        in.wait(near("web"));
        auto node = machine(9);
        node.labels = {{"zone", "b"}};
        ok(in.known.upsert_node("c-0", node));
    }
    CHECK(in.next() != "");
}

TEST_CASE("a gang that seeks a pod placed later in the same cycle starts in the next") {
    scene in;
    auto seeker = asking(1);
    seeker.where.pods = near("web");
    ok(in.known.upsert_gang("g", gang_of(1)));
    ok(in.known.upsert_pod("g-0", "g", seeker));
    auto web = asking(1);
    web.labels = {{"app", "web"}};
    ok(in.known.upsert_gang("w", gang_of(1)));
    ok(in.known.upsert_pod("w-0", "w", web));
    CHECK(in.next() == "");
    CHECK(!node_of(in.known, "w-0").empty());
    CHECK(in.next() != "");
    CHECK(cycle(in.known, 0).counters.asked == 0);
}

TEST_CASE("a gang that seeks a pod that is to come starts once it has come") {
    scene in;
    ok(in.known.upsert_pod("full", "full", in_phase(pod_phase::running, asking(7)), "b-0"));
    auto web = asking(3);
    web.labels = {{"app", "web"}};
    ok(in.known.upsert_gang("w", gang_of(1)));
    ok(in.known.upsert_pod("w-0", "w", web));
    ok(in.known.evict("full"));
    ok(in.known.nominate("w-0", "b-0"));
    SUBCASE("because there is room for it") {
        in.wait(near("web"));
        ok(in.known.remove_pod("full"));
    }
    SUBCASE("because it is seen there, smaller") {
        in.wait(near("web"));
        web.request = units(1);
        web.phase = pod_phase::bound;
        ok(in.known.upsert_pod("w-0", "w", web, "b-0"));
    }
    static_cast<void>(in.next());
    CHECK(in.next() == "b-0");
    CHECK(cycle(in.known, 0).counters.asked == 0);
}

TEST_CASE("a gang keeps away from where pods are to come that it keeps away from") {
    scene in;
    auto web = asking(1);
    web.labels = {{"app", "web"}};
    ok(in.known.upsert_gang("w", gang_of(2)));
    add_members(in.known, "w", 2, web);
    for (const auto& [pod, node] : {std::pair("w-0", "a-0"), std::pair("w-1", "b-0")}) {
        ok(in.known.upsert_pod(node, node, in_phase(pod_phase::running, asking(9)), node));
        ok(in.known.nominate(pod, node));
        ok(in.known.evict(node));
    }
    in.wait(apart("web"));
    ok(in.known.forget("w-1"));
    ok(in.known.remove_pod("b-0"));
    static_cast<void>(cycle(in.known, 0));
    CHECK(!node_of(in.known, "g-0").empty());
}

TEST_CASE("a spread is even only once those who make it so have come") {
    scene in;
    in.run("w-a", "web", "a-0");
    auto web = asking(9);
    web.labels = {{"app", "web"}};
    ok(in.known.upsert_gang("w", gang_of(1)));
    ok(in.known.upsert_pod("w-0", "w", web));
    ok(in.known.upsert_pod("full", "full", in_phase(pod_phase::running, asking(9)), "b-0"));
    ok(in.known.evict("full"));
    ok(in.known.nominate("w-0", "b-0"));
    in.wait(spread("web"), "web");
    ok(in.known.remove_pod("full"));
    static_cast<void>(cycle(in.known, 0));
    CHECK(in.next().substr(0, 1) == "a");
    CHECK(cycle(in.known, 0).counters.asked == 0);
}

TEST_CASE("among those who will stand whoever is to come counts, unless it seeks others itself") {
    scene in;
    auto web = asking(1);
    web.labels = {{"app", "web"}};
    SUBCASE("it seeks nobody") {}
    SUBCASE("it seeks somebody") {
        in.run("mine", "mine", "b-0");
        web.where.pods = near("mine");
    }
    auto seeker = asking(1);
    seeker.where.pods = near("web");
    for (const auto& [pod, spec] : {std::pair("w", web), std::pair("g", seeker)}) {
        ok(in.known.upsert_gang(pod, gang_of(1)));
        ok(in.known.upsert_pod(pod, pod, spec));
        ok(in.known.nominate(pod, "b-0"));
    }
    const gang_index which = gang_at(in.known, "g");
    CHECK(terms_let_come(in.known, which, true) == !web.where.pods.has_value());
    CHECK(!terms_let_come(in.known, which, false));
    ok(in.known.upsert_pod("w", "w", in_phase(pod_phase::bound, web), "b-0"));
    CHECK(terms_let_come(in.known, which, true));
    CHECK(terms_let_come(in.known, which, false));
}

TEST_CASE("a gang that keeps away starts once those it keeps away from are gone") {
    scene in;
    in.run("w-a", "web", "a-0");
    in.run("w-b", "web", "b-0");
    in.wait(apart("web"));
    SUBCASE("because one is removed") {
        ok(in.known.remove_pod("w-b"));
    }
    SUBCASE("because one has ended") {
        ok(in.known.finish_gang("w-b"));
    }
    SUBCASE("because one has another label now") {
        in.run("w-b", "db", "b-0");
    }
    SUBCASE("because one moved") {
        in.run("w-b", "web", "a-1");
    }
    CHECK(in.next() == "b-0");
}

TEST_CASE("a pod on its way out still keeps others away, until it is gone") {
    scene in;
    for (const char* node : {"a-0", "a-1", "b-0"})
        in.run(std::string("w-") + node, "web", node);
    in.wait(apart("web", "host"));
    auto leaving = in_phase(pod_phase::running, asking(1));
    leaving.labels = {{"app", "web"}};
    leaving.terminating = true;
    ok(in.known.upsert_pod("w-a-1", "w-a-1", leaving, "a-1"));
    CHECK(in.next() == "");
    ok(in.known.remove_pod("w-a-1"));
    CHECK(in.next() == "a-1");
}

TEST_CASE(
    "a gang without terms is kept off by those who keep away from it, and starts without them") {
    scene in;
    in.run("w-a", "web", "a-0", apart("mine"));
    in.run("w-b", "web", "b-0", apart("mine"));
    in.wait({});
    SUBCASE("because one is removed") {
        ok(in.known.remove_pod("w-a"));
        CHECK(in.next() == "a-0");
    }
    SUBCASE("because one no longer minds") {
        in.run("w-b", "web", "b-0");
        CHECK(in.next() == "b-0");
    }
    SUBCASE("because it gets another label itself") {
        auto spec = asking(1);
        spec.labels = {{"app", "other"}};
        ok(in.known.upsert_pod("g-0", "g", spec));
        CHECK(in.next() == "a-0");
    }
}

TEST_CASE("a gang that is to be spread starts once the others are even enough") {
    scene in;
    auto full = machine(1);
    full.labels = {{"zone", "b"}, {"host", "b-0"}};
    ok(in.known.upsert_node("b-0", full));
    in.run("filler", "db", "b-0");
    in.run("w-0", "mine", "a-0");
    in.wait(spread("mine"));
    SUBCASE("because a pod comes to the other domain") {
        in.run("w-1", "mine", "b-0");
        CHECK(in.next() == "a-0");
    }
    SUBCASE("because a pod of its domain leaves") {
        ok(in.known.remove_pod("w-0"));
        CHECK(in.next() == "a-0");
    }
    SUBCASE("because a pod of its domain is on its way out") {
        auto leaving = in_phase(pod_phase::running, asking(1));
        leaving.labels = {{"app", "mine"}};
        leaving.terminating = true;
        ok(in.known.upsert_pod("w-0", "w-0", leaving, "a-0"));
        CHECK(in.next() == "a-0");
    }
    SUBCASE("because the other domain has room") {
        ok(in.known.remove_pod("filler"));
        CHECK(in.next() == "b-0");
    }
    SUBCASE("because the other domain is no more") {
        ok(in.known.remove_node("b-0"));
        CHECK(in.next() == "a-0");
    }
    SUBCASE("because a third domain comes") {
        auto node = machine(9);
        node.labels = {{"zone", "c"}, {"host", "c-0"}};
        ok(in.known.upsert_node("c-0", node));
        CHECK(in.next() == "c-0");
    }
}

TEST_CASE(
    "an undecided gang that may choose its members waits for its quota once that is used up") {
    scene in;
    ok(in.known.upsert_queue("q", quota_of(6)));
    ok(in.known.upsert_gang("g", gang_of(1, "q")));
    for (int at = 0; at < 2; ++at) {
        auto spec = asking(2 + at);
        spec.where.pods = near("web");
        ok(in.known.upsert_pod("g-" + std::to_string(at), "g", spec));
    }
    static_cast<void>(cycle(in.known, 0));
    CHECK(is(answered(in.known, "g"), answer::undecided, gate::space));
    add_running(in.known, "h", 5, "b-0", "q");
    static_cast<void>(cycle(in.known, 0));
    CHECK(is(answered(in.known, "g"), answer::waiting, gate::quota));
    ok(in.known.remove_pod("h-0"));
    static_cast<void>(cycle(in.known, 0));
    CHECK(is(answered(in.known, "g"), answer::undecided, gate::space));
}

TEST_CASE("an undecided gang is told that there is no room once pods that stand have grown") {
    scene in;
    const auto fill = [&](std::int64_t cpus) {
        for (const char* node : {"a-0", "a-1", "b-0"})
            ok(in.known.upsert_pod(node, node, in_phase(pod_phase::running, asking(cpus)), node));
    };
    fill(1);
    in.wait(near("web"));
    CHECK(is(answered(in.known, "g"), answer::undecided, gate::space));
    fill(9);
    CHECK(in.next() == "");
    CHECK(is(answered(in.known, "g"), answer::waiting, gate::space));
}

TEST_CASE("an undecided gang is told that there is no room once others use its queue's quota") {
    scene in;
    ok(in.known.upsert_queue("q", quota_of(5)));
    auto group = gang_of(2);
    group.queue = "q";
    ok(in.known.upsert_gang("g", group));
    ok(in.known.upsert_pod("g-0", "g", asking(1)));
    auto choosy = asking(0);
    choosy.where.pods = near("web");
    ok(in.known.upsert_pod("g-1", "g", choosy));
    auto lost = asking(0);
    lost.where.selector = label_is("no", "node");
    ok(in.known.upsert_pod("g-2", "g", lost));
    ok(in.known.upsert_gang("other", gang_of(1)));
    ok(in.known.upsert_pod("other-0", "other", in_phase(pod_phase::running, asking(5)), "a-0"));
    // With g-0 and g-1 it might start.
    static_cast<void>(cycle(in.known, 0));
    CHECK(is(answered(in.known, "g"), answer::undecided, gate::space));
    auto moved = gang_of(1);
    moved.queue = "q";
    ok(in.known.upsert_gang("other", moved));
    static_cast<void>(cycle(in.known, 0));
    CHECK(is(answered(in.known, "g"), answer::waiting, gate::space));
    CHECK(cycle(in.known, 0).counters.asked == 0);
}

TEST_CASE("a gang short of room is told that it can never start once its own terms leave no way") {
    scene in;
    for (const char* node : {"a-0", "a-1", "b-0"})
        ok(in.known.upsert_pod(node, node, in_phase(pod_phase::running, asking(8)), node));
    ok(in.known.upsert_gang("g", gang_of(3)));
    auto spec = asking(2);
    spec.labels = {{"app", "mine"}};
    spec.where.pods = apart("mine", "host");
    add_members(in.known, "g", 3, spec);
    static_cast<void>(cycle(in.known, 0));
    CHECK(is(answered(in.known, "g"), answer::waiting, gate::space));
    // The emptied cluster still has room for more than three of them, on two nodes.
    auto small = machine(1);
    small.labels = {{"zone", "b"}, {"host", "b-0"}};
    ok(in.known.upsert_node("b-0", small));
    static_cast<void>(cycle(in.known, 0));
    CHECK(is(answered(in.known, "g"), answer::never, gate::space));
    small.allocatable = units(9);
    ok(in.known.upsert_node("b-0", small));
    static_cast<void>(cycle(in.known, 0));
    CHECK(is(answered(in.known, "g"), answer::waiting, gate::space));
}

TEST_CASE("surplus that seeks a pod is placed once such a pod comes") {
    scene in;
    gang_tree tree;
    const auto first = tree.add(vertex_index{0}, 1);
    const auto more = tree.add(vertex_index{0}, 0);
    ok(in.known.upsert_gang("g", gang_of(tree)));
    ok(in.known.upsert_pod("g-first", "g", in_role(first, asking(1))));
    auto seeker = in_role(more, asking(1));
    seeker.where.pods = near("web");
    ok(in.known.upsert_pod("g-0", "g", seeker));
    CHECK(in.next() == "");
    CHECK(!node_of(in.known, "g-first").empty());
    in.run("w", "web", "b-0");
    CHECK(in.next() == "b-0");
}

} // namespace cycle_wake_up_among_pods_test
