// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <muster/explain/explain.hpp>
#include <muster/words/headline.hpp>

#include "../builders.hpp"

namespace words_headline_test {

namespace {

using namespace builders;
using namespace muster;

/// Returns the headline of the gang after a cycle.
std::string headline(cluster known, const std::string& gang) {
    kind_table kinds;
    static_cast<void>(kinds.intern("cpu"));
    static_cast<void>(kinds.intern("gpu"));
    static_cast<void>(cycle(known, 0));
    const gang_index which = known.find_gang(gang)->index;
    const auto why =
        words::tell_reasons(known, which, explain(known, which), {&kinds}, words::key_names(known));
    return words::headline(known, kinds, members_of(known, which), known[which].last.at,
                           policy<>{}.score, why);
}

void add_gang(cluster& to, std::int64_t count, cluster::pod_type spec,
              std::optional<std::string> queue = {}) {
    ok(to.upsert_gang("g", gang_of(count, std::move(queue))));
    for (std::int64_t rank = 0; rank < count; ++rank)
        ok(to.upsert_pod("g-" + std::to_string(rank), "g", spec));
}

TEST_CASE("nodes are counted by what kube-scheduler says of them") {
    cluster known;
    ok(known.upsert_node("a", machine(1000)));
    ok(known.upsert_node("b", machine(2000, 1)));
    auto node = machine(4000);
    node.unschedulable = true;
    ok(known.upsert_node("c", node));
    node = machine(4000, 4);
    node.taints = {{"dedicated", "x", taint_effect::no_schedule}};
    ok(known.upsert_node("d", node));
    add_gang(known, 1, asking(3000, 1));
    CHECK(headline(known, "g") ==
          "0/4 nodes are available: 2 Insufficient cpu, 1 Insufficient gpu, 1 node(s) had "
          "untolerated taint {dedicated: x}, 1 node(s) were unschedulable.");
}

TEST_CASE("the first member that finds no node is counted, after those before it are placed") {
    cluster known;
    ok(known.upsert_node("a", machine(4000)));
    ok(known.upsert_node("b", machine(1000)));
    add_gang(known, 2, asking(3000));
    CHECK(headline(known, "g") == "0/2 nodes are available: 2 Insufficient cpu.");
}

TEST_CASE("a quota is named after the nodes that would take the members") {
    cluster known;
    ok(known.upsert_node("a", machine(4000)));
    ok(known.upsert_queue("q", quota_of(1000)));
    add_gang(known, 1, asking(2000), "q");
    CHECK(headline(known, "g") ==
          "0/1 nodes are available: 1 node(s) would take the queue over its quota. cpu: the gang "
          "needs 2, queue q has 1 of its quota left: short by 1; 1 member needed, room for 0.");
}

TEST_CASE("a gang that is stopped before the nodes are tried has its reason only") {
    cluster known;
    ok(known.upsert_node("a", machine(4000)));
    add_gang(known, 1, asking(2000), "nowhere");
    CHECK(headline(known, "g") == "0/1 nodes are available: there is no queue nowhere.");
}

TEST_CASE("a pod term has the message of kube-scheduler for it") {
    cluster known;
    ok(known.upsert_node("a", machine(4000)));
    auto spec = asking(1000);
    spec.labels.set("app", "x");
    affinity_term term;
    term.topology = "zone";
    term.pods.labels = label_is("app", "x");
    spec.where.pods.emplace();
    spec.where.pods->affinity.push_back(term);
    spec.where.pods->affinity.front().pods.labels = label_is("app", "other");
    add_gang(known, 1, spec);
    CHECK(headline(known, "g") ==
          "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.");
}

} // namespace

} // namespace words_headline_test
