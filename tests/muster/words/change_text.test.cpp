// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <string>

#include <muster/advice/what_helps.hpp>
#include <muster/words/change_name.hpp>
#include <muster/words/change_text.hpp>

#include "../builders.hpp"

namespace words_change_text_test {

namespace {

using namespace builders;
using namespace muster;

/// Two nodes, queue "q" with a quota of 1 cpu, and gang "g" with the role "worker".
struct example {
    example() {
        static_cast<void>(kinds.intern("cpu"));
        static_cast<void>(kinds.intern("gpu"));
        for (const char* node : {"a", "b"})
            ok(known.upsert_node(node, machine(4000)));
        ok(known.upsert_queue("q", quota_of(1000)));
        gang_tree tree = single_role(3);
        worker = tree.add(vertex_index{0}, 2, "worker");
        tree.constrain_topology(worker, {{{"zone"}}, 0, {}});
        ok(known.upsert_gang("g", gang_of(tree, "q")));
        for (const char* pod : {"g-0", "g-1"})
            ok(known.upsert_pod(pod, "g", in_role(worker, asking(1000))));
    }

    [[nodiscard]] std::string text(const change& what,
                                   const words::unready_claims& claims = {}) const {
        const words::key_names names(known);
        const words::change_writer write(known, kinds, known.find_gang("g")->index, names);
        return write(what, claims);
    }

    cluster known;
    kind_table kinds;
    vertex_index worker;
};

TEST_CASE("changes of nodes and pods name them") {
    const example of;
    const node_index a = of.known.find_node("a")->index;
    const node_index b = of.known.find_node("b")->index;
    const pod_index pod = of.known.find_pod("g-0")->index;
    CHECK(of.text(free_pods{{pod}}) == "this pod is gone: g-0");
    CHECK(of.text(free_pods{{pod, of.known.find_pod("g-1")->index}}) ==
          "these 2 pods are gone: g-0, g-1");
    CHECK(of.text(uncordon_nodes{{a}}) == "node a takes pods again");
    CHECK(of.text(uncordon_nodes{{a, b}}) == "nodes a, b take pods again");
    add_nodes more{a, 1, {}};
    CHECK(of.text(more) == "1 node more like a is there");
    more.count = 2;
    more.labels.set("disk", "ssd");
    more.labels.set("zone", "z");
    CHECK(of.text(more) == "2 nodes more like a with disk=ssd, zone=z are there");
}

TEST_CASE("changes of queues say the amount before and after") {
    const example of;
    const queue_index queue = of.known.find_queue("q")->index;
    CHECK(of.text(raise_quota{queue, cpu, 2500, false}) ==
          "the quota of queue q for cpu is 2500m instead of 1");
    CHECK(of.text(raise_quota{queue, cpu, 2500, true}) ==
          "what is deserved by queue q for cpu is 2500m instead of 0");
    CHECK(of.text(open_queue{queue}) == "queue q is open");
}

TEST_CASE("changes of the gang say what its pods no longer ask for") {
    const example of;
    CHECK(of.text(tolerate_taint{{"dedicated", "x", taint_effect::no_schedule}}) ==
          "its pods tolerate the taint dedicated=x:NoSchedule");
    CHECK(of.text(drop_label{"disk"}) == "its pods do not ask for the node label disk");
    CHECK(of.text(drop_label{"kubernetes.io/os"}) ==
          "its pods do not ask for the node label kubernetes.io/os (by nodeSelector or spec.os)");
    CHECK(of.text(drop_affinity{}) == "its pods have no required node affinity");
    CHECK(of.text(drop_pod_terms{pod_term_kind::affinity}) ==
          "its pods have no required pod affinity");
    CHECK(of.text(drop_pod_terms{pod_term_kind::anti_affinity}) ==
          "its pods have no required pod anti-affinity");
    CHECK(of.text(drop_pod_terms{pod_term_kind::spread}) ==
          "its pods have no required topology spread");
    CHECK(of.text(drop_domain{of.worker}) ==
          "the pods of role worker need not stand in one domain of zone");
    CHECK(of.text(lower_minimum{vertex_index{0}, 2}) == "its minimum is 2 instead of 3");
    CHECK(of.text(lower_minimum{of.worker, 1}) == "the minimum of role worker is 1 instead of 2");
}

TEST_CASE("claims are listed by what they need, if their names are known") {
    const example of;
    CHECK(of.text(ready_volumes{}) == "the volumes of its pods are ready");
    words::unready_claims claims;
    claims.to_bind = {"b", "c"};
    CHECK(of.text(ready_volumes{}, claims) == "these 2 claims are bound: b, c");
    claims.to_create = {"a"};
    claims.to_allocate = {"gpu"};
    claims.to_make = {"nic"};
    CHECK(of.text(ready_volumes{}, claims) ==
          "this claim is created and bound: a, and these 2 claims are bound: b, c, and this "
          "resource claim is allocated and usable by its pods: gpu, and this resource claim is "
          "made for each pod and allocated: nic");
}

TEST_CASE("every change that what_helps suggests has a text") {
    example of;
    ok(of.known.upsert_gang("h", gang_of(5)));
    for (const char* pod : {"h-0", "h-1", "h-2", "h-3", "h-4"})
        ok(of.known.upsert_pod(pod, "h", asking(2000)));
    const auto found = what_helps(of.known, of.known.find_gang("h")->index, 0);
    REQUIRE_FALSE(found.remedies.empty());
    for (const remedy& each : found.remedies)
        for (const change& one : each) {
            CAPTURE(name_of(words::code_of(one)));
            const words::key_names names(of.known);
            const words::change_writer write(of.known, of.kinds, of.known.find_gang("h")->index,
                                             names);
            CHECK_FALSE(write(one).empty());
        }
}

} // namespace

} // namespace words_change_text_test
