// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/index/flat_scan.hpp>
#include <muster/policy/placement.hpp>

#include "../builders.hpp"

namespace index_flat_scan_test {

namespace {

using namespace builders;
using namespace muster;

struct fixture {
    cluster known;

    /// The node that `pod` would get, or nothing.
    template<class Score = best_fit>
    std::string best(const cluster::pod_type& pod, const Score& score = {}) {
        ok(known.upsert_pod("asking", "nobody", pod));
        const pod_index pod_at = known.find_pod("asking")->index;
        node_query<traits::width> query;
        query.request = &known.request(pod_at);
        query.where = &known.where(pod_at);
        const auto found = best_node(known.accounts(), known.node_order(), query,
                                     weigh(known.accounts(), std::nullopt), score);
        return found ? known.key(*found) : "none";
    }
};

TEST_CASE_FIXTURE(fixture, "without a node that fits there is none") {
    CHECK(best(asking(1)) == "none");
    ok(known.upsert_node("n", machine(4)));
    CHECK(best(asking(5)) == "none");
    CHECK(best(asking(4)) == "n");
}

TEST_CASE_FIXTURE(fixture, "among equal scores the first key wins, in whatever order nodes came") {
    for (const char* key : {"c", "a", "b"})
        ok(known.upsert_node(key, machine(4)));
    CHECK(best(asking(1)) == "a");
    CHECK(best(asking(1), worst_fit{}) == "a");
    CHECK(best(asking(1), first_fit{}) == "a");
}

TEST_CASE_FIXTURE(fixture, "preference decides before the score does") {
    ok(known.upsert_node("tight", machine(2)));
    cluster::node_type liked = machine(8);
    liked.labels = {{"disk", "ssd"}};
    ok(known.upsert_node("wide", liked));
    cluster::pod_type pod = asking(1);
    CHECK(best(pod) == "tight");
    pod.where.preferred.push_back({1, {label_is("disk", "ssd"), {}}});
    CHECK(best(pod) == "wide");
    pod.request = units(9);
    CHECK(best(pod) == "none");
}

TEST_CASE_FIXTURE(fixture, "a node that is cordoned, tainted or not selected is passed over") {
    cluster::node_type node = machine(2);
    node.unschedulable = true;
    ok(known.upsert_node("a", node));
    node = machine(2);
    node.taints.push_back({"gpu", "", taint_effect::no_schedule});
    ok(known.upsert_node("b", node));
    ok(known.upsert_node("c", machine(4)));
    CHECK(best(asking(1)) == "c");
    cluster::pod_type pod = asking(1);
    pod.where.selector = label_is("zone", "z");
    CHECK(best(pod) == "none");
}

TEST_CASE_FIXTURE(fixture, "a node whose port is taken is passed over, however good it is") {
    ok(known.upsert_node("tight", machine(3)));
    ok(known.upsert_node("wide", machine(8)));
    cluster::pod_type pod = asking(1);
    pod.where.claims.ports.push_back({"TCP", "", 80});
    ok(known.upsert_pod("there", "other", in_phase(pod_phase::running, pod), "tight"));
    CHECK(best(asking(1)) == "tight");
    CHECK(best(pod) == "wide");
}

TEST_CASE_FIXTURE(fixture, "a node short of what is not asked for is as good as any") {
    ok(known.upsert_node("n", machine(4, 1)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("there", "g", in_phase(pod_phase::running, asking(9)), "n"));
    CHECK(best(asking(0, 1)) == "n");
    CHECK(best(asking(1, 1)) == "none");
}

} // namespace

} // namespace index_flat_scan_test
