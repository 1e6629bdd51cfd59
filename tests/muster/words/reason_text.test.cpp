// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <string>

#include <muster/words/reason_text.hpp>

namespace words_reason_text_test {

namespace {

using namespace muster;
using words::reason_context;
using words::reason_text;

/// A gang with the roles "server" and "worker", and the kinds cpu and gpu.
struct example {
    example() {
        cpu = *kinds.intern("cpu");
        gpu = *kinds.intern("gpu");
        server = tree.add(vertex_index{0}, 1, "server");
        worker = tree.add(vertex_index{0}, 4, "worker");
        context.kinds = &kinds;
        context.tree = &tree;
    }
    example(const example&) = delete;
    example& operator=(const example&) = delete;

    [[nodiscard]] reason lacks(kind_id kind, std::int64_t needed, std::int64_t left) const {
        reason what;
        what.resource = kind;
        what.amount_needed = needed;
        what.amount_left = left;
        return what;
    }

    kind_table kinds;
    kind_id cpu;
    kind_id gpu;
    gang_tree tree;
    vertex_index server;
    vertex_index worker;
    reason_context context;
};

TEST_CASE("every code has a text of one line, also if the context is empty") {
    const example of;
    for (std::size_t code = 0; code < std::size(reason_names); ++code) {
        reason what = of.lacks(of.cpu, 2, 1);
        what.code = static_cast<reason_code>(code);
        if (what.code == reason_code::topology_fragmented) {
            what.shares_volume = true;
            what.together = vertex_index{0};
        }
        what.roles = {{of.worker, 4, 0, 2}};
        const std::string text = reason_text(what, of.context);
        CAPTURE(reason_names[code]);
        CHECK_FALSE(text.empty());
        CHECK(text.find('\n') == std::string::npos);
        CHECK_FALSE(text.ends_with('.'));
        CHECK_FALSE(text.ends_with(": "));
    }
}

TEST_CASE("a shortage says what is needed and free, by how much it is short, and which roles") {
    example of;
    reason what = of.lacks(of.cpu, 9000, 6500);
    what.roles = {{of.server, 1, 0, 1}, {of.worker, 4, 0, 2}};
    CHECK(reason_text(what, of.context) ==
          "cpu: the gang needs 9, 6500m are free: short by 2500m; worker: 4 needed, room for 2");
    of.context.scope = certificate_scope::empty_cluster;
    what.roles.clear();
    CHECK(reason_text(what, of.context) ==
          "cpu: the gang needs 9, the whole cluster has 6500m: short by 2500m");
    what.amount_needed = std::numeric_limits<std::int64_t>::max();
    CHECK(reason_text(what, of.context).ends_with("which is more than can be counted"));
}

TEST_CASE("if enough is free in all, the text says where it is too little") {
    example of;
    reason what = of.lacks(of.gpu, 4, 6);
    what.roles = {{of.worker, 4, 0, 2}};
    const std::string demand = "gpu: the gang needs 4, 6 are free in all, ";
    const std::string roles = "; worker: 4 needed, room for 2";
    CHECK(reason_text(what, of.context) ==
          demand + "but in pieces too small for all its members" + roles);
    what.kind = reason_kind::blocking_together;
    CHECK(reason_text(what, of.context) ==
          demand + "but too little on the nodes that the other reasons leave" + roles);
    what.kind = reason_kind::contributing;
    CHECK(reason_text(what, of.context) ==
          demand + "but too little where its members could be placed" + roles);
    what.kind = reason_kind::blocking;
    what.roles = {{of.server, 1, 0, 1}, {of.worker, 4, 1, 4}};
    CHECK(reason_text(what, of.context) ==
          demand + "but not where its members fit beside one another; needed together: server: 1, "
                   "worker: 4 more (each alone has room)");
    of.context.single_pod = true;
    CHECK(reason_text(what, of.context) ==
          "gpu: the pod needs 4, 6 are free in all, but no node has that much");
}

TEST_CASE("storage is named by its claims and class, attachments by their driver") {
    example of;
    of.context.claims = "data, logs";
    of.context.by_node = "a 5Gi";
    const kind_id bytes = *of.kinds.intern(storage_kinds::bytes_of("fast"));
    CHECK(reason_text(of.lacks(bytes, std::int64_t{8} << 30, std::int64_t{5} << 30), of.context) ==
          "storage of class fast for claims data, logs: the gang needs 8Gi, 5Gi are free (a 5Gi): "
          "short by 3Gi");
    const kind_id attached = *of.kinds.intern(storage_kinds::attachments_of("csi.x"));
    of.context.by_node = "a 1 of 2";
    of.context.counted_high = true;
    CHECK(reason_text(of.lacks(attached, 3, 1), of.context) ==
          "attachments of CSI driver csi.x: the gang needs up to 3; attached: a 1 of 2");
}

TEST_CASE("a quota names its queue, and the gangs that it is for") {
    example of;
    of.context.queue = "q";
    reason what = of.lacks(of.gpu, 4, 3);
    what.code = reason_code::quota_exceeded;
    CHECK(reason_text(what, of.context) ==
          "gpu: the gang needs 4, queue q has 3 of its quota left: short by 1");
    of.context.scope = certificate_scope::empty_cluster;
    what.non_preemptible = true;
    CHECK(reason_text(what, of.context) == "gpu: the gang needs 4, the quota of queue q for "
                                           "non-preemptible gangs is 3: short by 1");
}

TEST_CASE("missing members are counted by role, with what holds gated ones") {
    example of;
    reason what;
    what.code = reason_code::not_enough_members;
    what.roles = {{of.server, 1, 0, 0}, {of.worker, 4, 0, 2}};
    CHECK(reason_text(what, of.context) ==
          "server: 0 of 1 member exists; worker: 2 of 4 members exist");
    of.context.gated = {1, 0, 1};
    of.context.gates = {"quota"};
    CHECK(reason_text(what, of.context) == "server: 0 of 1 member exists; worker: 3 of 4 members "
                                           "exist, 1 held by scheduling gate quota");
    of.context.nominated_to = {"a", "b", "c", "d"};
    CHECK(reason_text(what, of.context)
              .ends_with("held by the nomination to nodes a, b, c (+1 node) by another scheduler "
                         "or scheduling gate quota"));
    of.context.single_pod = true;
    of.context.nominated_to.clear();
    CHECK(reason_text(what, of.context).ends_with("the pod is held by scheduling gate quota"));
}

TEST_CASE("a topology says how many members the roomiest domain takes") {
    example of;
    of.tree.constrain_topology(of.worker, {{{"zone", "rack"}}, 1, {}});
    reason what;
    what.code = reason_code::topology_fragmented;
    what.together = of.worker;
    what.roles = {{of.worker, 4, 0, 3}};
    CHECK(reason_text(what, of.context) == "worker: the gang must stand in one domain of rack: 4 "
                                           "members needed, the roomiest has room for 3");
    what.spans_domains = true;
    CHECK(reason_text(what, of.context) == "worker: the members that hold are not in one domain of "
                                           "rack, so no member can join them");
}

TEST_CASE(
    "domains of a shared volume are listed with the kinds that they lack, the roomiest first") {
    example of;
    of.context.shared_claims = "claim data";
    reason what;
    what.code = reason_code::topology_fragmented;
    what.shares_volume = true;
    what.topology = "topology.kubernetes.io/zone";
    what.together = vertex_index{0};
    what.roles = {{vertex_index{0}, 4, 0, 3}};
    CHECK(reason_text(what, of.context) == "claim data will be in one zone: no node has the label "
                                           "topology.kubernetes.io/zone");
    what.domains = {{"a", 1, {of.cpu, of.gpu}}, {"b", 3, {of.gpu}}};
    CHECK(reason_text(what, of.context) == "claim data will be in one zone: b has room for 3 of 4 "
                                           "(too little gpu), a for 1 of 4 (too little cpu, gpu)");
    what.topology = volume_node_label;
    CHECK(reason_text(what, of.context).starts_with("claim data will be on one node: b has"));
}

TEST_CASE("a pod term says how many nodes it rules out") {
    example of;
    reason what;
    what.topology = "zone";
    what.nodes = 3;
    what.code = reason_code::affinity_unmet;
    CHECK(reason_text(what, of.context) ==
          "nodes have no pod that is sought in their zone: 3 that would do otherwise");
    what.code = reason_code::anti_affinity_met;
    CHECK(reason_text(what, of.context) ==
          "nodes have a pod that is avoided in their zone: 3 that would do otherwise");
    what.code = reason_code::spread_uneven;
    what.unlabelled = 1;
    CHECK(reason_text(what, of.context) == "nodes would make the spread over zone uneven, or lack "
                                           "that label (1): 3 that would do otherwise");
    what.unlabelled = 3;
    CHECK(reason_text(what, of.context) == "nodes lack the label zone, over which pods are spread: "
                                           "3 that would do otherwise");
}

TEST_CASE("devices, room in NUMA zones or both are short") {
    example of;
    reason what;
    what.code = reason_code::devices_taken;
    of.context.asked_devices = "a100";
    CHECK(reason_text(what, of.context) ==
          "too few nodes have devices free for what the pods ask of them (a100), taken together");
    of.context.asks_zones = true;
    CHECK(reason_text(what, of.context).starts_with("too few nodes have devices free and room in"));
    of.context.asks_devices = false;
    of.context.numa_room = "n1 (2 + 2)";
    CHECK(reason_text(what, of.context)
              .starts_with("too few nodes have room in NUMA zones for what the pods ask"));
    CHECK(reason_text(what, of.context).ends_with("taken together: available on n1 (2 + 2)"));
}

TEST_CASE("without nodes, no reason about nodes has another text") {
    example of;
    of.context.no_nodes = true;
    CHECK(reason_text(of.lacks(of.cpu, 1, 0), of.context) == "the cluster has no nodes");
    reason closed;
    closed.code = reason_code::queue_closed;
    of.context.queue = "q";
    CHECK(reason_text(closed, of.context) == "queue q is closed to groups that hold nothing yet");
}

TEST_CASE("the reader of the objects says what the state does not know") {
    example of;
    of.context.detail = "pod a: spec.foo";
    reason what;
    what.code = reason_code::unsupported_constraint;
    CHECK(reason_text(what, of.context) == "not modelled: pod a: spec.foo");
    what.code = reason_code::group_missing;
    CHECK(reason_text(what, of.context) == "pod a: spec.foo");
    of.context.detail.clear();
    of.context.group = "g";
    of.context.name_space = "home";
    CHECK(reason_text(what, of.context) == "there is no PodGroup g in namespace home");
    what.code = reason_code::queue_forbidden;
    of.context.queue = "q";
    CHECK(reason_text(what, of.context) == "queue q does not take namespace home");
}

} // namespace

} // namespace words_reason_text_test
