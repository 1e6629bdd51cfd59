// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <muster/builders.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain.hpp>

namespace problem_affinity_counts_test {

using namespace builders;
using namespace muster;

namespace {

/// A cluster made of a few words.
struct scene {
    cluster known;

    /// Nodes have room for 9, and labels host and zone, zone being all but the number.
    explicit scene(std::initializer_list<const char*> nodes) {
        for (const std::string node : nodes)
            add_node(node, {{"host", node}, {"zone", node.substr(0, node.size() - 1)}});
    }
    void add_node(const std::string& key, label_set labels, std::int64_t room = 9,
                  std::vector<taint> taints = {}) {
        auto spec = machine(room);
        spec.labels = std::move(labels);
        spec.taints = std::move(taints);
        ok(known.upsert_node(key, spec));
    }
    void run(const std::string& key, const std::string& app, const std::string& node,
             pod_terms terms = {}, const std::string& team = "red", bool terminating = false) {
        auto group = gang_of(1);
        group.tenant = {{"team", team}};
        ok(known.upsert_gang(key, group));
        auto spec = in_phase(pod_phase::running, asking(1));
        spec.labels = {{"app", app}};
        spec.terminating = terminating;
        if (terms.any())
            spec.where.pods = std::move(terms);
        ok(known.upsert_pod(key, key, spec, node));
    }
    /// Where a pod of app `mine` with these terms comes to stand; empty when nowhere.
    std::string place(pod_terms terms, constraints where = {}) {
        auto group = gang_of(1);
        group.tenant = {{"team", "red"}};
        ok(known.upsert_gang("g", group));
        auto spec = asking(1);
        spec.labels = {{"app", "mine"}};
        spec.where = std::move(where);
        if (terms.any())
            spec.where.pods = std::move(terms);
        ok(known.upsert_pod("g-0", "g", spec));
        static_cast<void>(cycle(known, 0));
        return node_of(known, "g-0");
    }
};

pod_selector app_is(const std::string& app) {
    return {label_is("app", app), {}};
}
pod_terms near(std::initializer_list<std::pair<const char*, const char*>> terms) {
    pod_terms made;
    for (const auto& [app, key] : terms)
        made.affinity.push_back({app_is(app), key});
    return made;
}
pod_terms apart(const std::string& app, const std::string& key) {
    pod_terms made;
    made.anti_affinity.push_back({app_is(app), key});
    return made;
}
pod_terms spread(const std::string& app, const std::string& key, std::int32_t skew = 1) {
    pod_terms made;
    spread_term one;
    one.pods = app_is(app);
    one.topology = key;
    one.max_skew = skew;
    made.spread.push_back(one);
    return made;
}

} // namespace

TEST_CASE("a term of a shared volume counts by itself, beside the pod's own terms") {
    const auto with_volume = [](pod_terms terms, const char* key) {
        terms.affinity.push_back({app_is("vol"), key, true});
        return terms;
    };
    scene known{"a1", "b1", "b2"};
    known.run("v", "vol", "b2");
    // No pod is of both apps, and the pod itself is of one.
    CHECK(known.place(with_volume(near({{"mine", "zone"}}), "host")) == "b2");
    scene other{"a1", "b1", "b2"};
    other.run("v", "vol", "b2");
    other.run("m", "mine", "b1");
    CHECK(other.place(with_volume(near({{"mine", "zone"}}), "host")) == "b2");
    scene apart_from{"a1", "b1"};
    apart_from.run("v", "vol", "a1");
    apart_from.run("m", "mine", "b1");
    CHECK(apart_from.place(with_volume(near({{"mine", "zone"}}), "host")).empty());
}

TEST_CASE("affinity leads to the domain of a pod that is sought") {
    scene in{"a0", "a1", "b0"};
    in.run("w", "web", "b0");
    CHECK(in.place(near({{"web", "zone"}})) == "b0");
}

TEST_CASE("several terms of affinity speak of pods that match all of them") {
    scene in{"a0", "b0"};
    in.run("w", "web", "a0");
    in.run("d", "db", "b0");
    // Neither pod matches both terms.
    CHECK(in.place(near({{"web", "zone"}, {"db", "zone"}})) == "");
    CHECK(in.place(near({{"web", "zone"}, {"web", "host"}})) == "a0");
}

TEST_CASE("a pod that seeks its like may be the first of them, on a node that has the label") {
    scene in{"a0"};
    in.add_node("bare", {});
    in.run("filler", "other", "a0");
    CHECK(in.place(near({{"mine", "rack"}})) == "");
    CHECK(in.place(near({{"mine", "zone"}})) == "a0");
}

TEST_CASE(
    "a pod that seeks its like is not the first when one stands somewhere, wherever that is") {
    scene in{"a0", "b0"};
    in.add_node("b0", {{"host", "b0"}, {"zone", "b"}}, 1);
    in.run("first", "mine", "b0");
    CHECK(in.place(near({{"mine", "zone"}})) == "");
    // One on a node without the label is in no domain, and counts for nothing.
    scene other{"a0"};
    other.add_node("bare", {});
    other.run("first", "mine", "bare");
    CHECK(other.place(near({{"mine", "zone"}})) == "a0");
}

TEST_CASE(
    "anti-affinity keeps out of the domains of those it names; without the label there is none") {
    scene in{"a0", "b0"};
    in.run("w", "web", "a0");
    CHECK(in.place(apart("web", "zone")) == "b0");
    scene all{"a0"};
    all.run("w", "web", "a0");
    CHECK(all.place(apart("web", "zone")) == "");
    all.add_node("bare", {});
    CHECK(all.place(apart("web", "zone")) == "bare");
}

TEST_CASE("the anti-affinity of those who stand holds for newcomers without terms") {
    scene in{"a0", "b0"};
    in.run("w", "web", "a0", apart("mine", "zone"));
    CHECK(in.place({}) == "b0");
    // Of another tenant alone nobody is meant.
    scene other{"a0"};
    auto terms = apart("mine", "zone");
    terms.anti_affinity.front().pods.tenants = {label_is("team", "blue")};
    other.run("w", "web", "a0", terms);
    CHECK(other.place({}) == "a0");
}

TEST_CASE(
    "spread fills the domain that has fewest, and no other while the skew would be too large") {
    scene in{"a0", "b0"};
    in.run("w", "mine", "a0");
    CHECK(in.place(spread("mine", "zone")) == "b0");
    scene full{"a0", "b0"};
    full.add_node("b0", {{"host", "b0"}, {"zone", "b"}}, 0);
    full.run("w", "mine", "a0");
    CHECK(full.place(spread("mine", "zone")) == "");
    CHECK(full.place(spread("mine", "zone", 2)) == "a0");
}

TEST_CASE("a pod that its own spread does not speak of adds nothing to the skew") {
    scene in{"a0", "b0"};
    in.add_node("b0", {{"host", "b0"}, {"zone", "b"}}, 0);
    in.run("w", "web", "a0");
    CHECK(in.place(spread("web", "zone")) == "a0");
}

TEST_CASE("nodes without the label take nobody who is to be spread by it, and do not count") {
    scene in{};
    in.add_node("bare", {});
    CHECK(in.place(spread("mine", "zone")) == "");
    in.add_node("a0", {{"zone", "a"}});
    CHECK(in.place(spread("mine", "zone")) == "a0");
}

TEST_CASE("with fewer domains than are asked for the fewest counts as none") {
    scene in{"a0"};
    in.run("w", "mine", "a0");
    auto terms = spread("mine", "zone");
    CHECK(in.place(terms) == "a0");
    scene few{"a0"};
    few.run("w", "mine", "a0");
    terms.spread.front().min_domains = 2;
    CHECK(few.place(terms) == "");
}

TEST_CASE("nodes that the selector excludes count for spread only where that is ignored") {
    constraints where;
    where.selector = label_is("zone", "a");
    auto terms = spread("mine", "zone");
    scene in{"a0", "b0"};
    in.run("w", "mine", "a0");
    CHECK(in.place(terms, where) == "a0");
    scene other{"a0", "b0"};
    other.run("w", "mine", "a0");
    terms.spread.front().honor_affinity = false;
    CHECK(other.place(terms, where) == "");
}

TEST_CASE("nodes with taints that are not tolerated count for spread unless taints are honoured") {
    const std::vector<taint> dedicated{{"dedicated", "", taint_effect::no_schedule}};
    auto terms = spread("mine", "zone");
    scene in{"a0"};
    in.add_node("b0", {{"zone", "b"}}, 9, dedicated);
    in.run("w", "mine", "a0");
    CHECK(in.place(terms) == "");
    terms.spread.front().honor_taints = true;
    CHECK(in.place(terms) == "a0");
}

TEST_CASE("pods on their way out count for affinity and not for spread") {
    scene in{"a0", "b0"};
    in.add_node("b0", {{"host", "b0"}, {"zone", "b"}}, 0);
    in.run("w", "mine", "a0", {}, "red", true);
    CHECK(in.place(spread("mine", "zone")) == "a0");
    scene leaving{"a0", "b0"};
    leaving.run("w", "web", "b0", {}, "red", true);
    CHECK(leaving.place(near({{"web", "zone"}})) == "b0");
}

TEST_CASE("preferred terms choose among nodes, and never decide whether there is one") {
    pod_terms terms;
    terms.preferred.push_back({50, {app_is("web"), "zone"}});
    scene in{"a0", "b0"};
    in.run("w", "web", "b0");
    CHECK(in.place(terms) == "b0");
    scene nobody{"a0", "b0"};
    CHECK(nobody.place(terms) == "a0");
    terms.preferred.front().weight = -50;
    scene shy{"a0", "b0"};
    shy.run("w", "web", "a0");
    CHECK(shy.place(terms) == "b0");
    scene nowhere{"a0"};
    nowhere.run("w", "web", "a0");
    CHECK(nowhere.place(terms) == "a0");
}

TEST_CASE("spread that is not required prefers the domain that has fewest") {
    auto terms = spread("mine", "zone");
    terms.spread.front().required = false;
    scene in{"a0", "b0"};
    in.run("w", "mine", "a0");
    CHECK(in.place(terms) == "b0");
    scene one{"a0"};
    one.run("w", "mine", "a0");
    CHECK(one.place(terms) == "a0");
}

TEST_CASE("what a term stops is told with its label key and the nodes that would do otherwise") {
    scene in{"a0", "a1", "b0"};
    in.add_node("c0", {{"host", "c0"}, {"zone", "c"}}, 0);
    in.run("w", "web", "a0");
    in.run("v", "web", "b0", apart("mine", "host"));
    CHECK(in.place(apart("web", "zone")) == "");
    const auto why = explain(in.known, gang_at(in.known, "g"));
    REQUIRE(why.size() == 1);
    CHECK(why.front().code == reason_code::anti_affinity_met);
    CHECK(why.front().topology == "zone");
    CHECK(why.front().nodes == 3);
    CHECK(why.front().not_minimal);
    REQUIRE(why.front().roles.size() == 1);
    CHECK(why.front().roles.front().needed == 1);
    CHECK(why.front().roles.front().possible == 0);

    scene kept{"a0", "b0"};
    kept.run("v", "web", "a0", apart("mine", "host"));
    kept.run("w", "web", "b0", apart("mine", "zone"));
    CHECK(kept.place({}) == "");
    const auto by_others = explain(kept.known, gang_at(kept.known, "g"));
    REQUIRE(by_others.size() == 2);
    CHECK(by_others[0].code == reason_code::kept_off_by_others);
    CHECK(by_others[0].topology == "host");
    CHECK(by_others[0].nodes == 1);
    CHECK(by_others[1].topology == "zone");
}

} // namespace problem_affinity_counts_test
