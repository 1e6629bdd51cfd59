// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <optional>
#include <string>

#include <muster/words/node_filter_text.hpp>

#include "../builders.hpp"

namespace words_node_filter_text_test {

namespace {

using namespace builders;
using namespace muster;

/// Returns the text for all waiting members of gang "g".
std::string text(const cluster& known, reason_code code,
                 certificate_scope scope = certificate_scope::free_now) {
    const gang_index which = known.find_gang("g")->index;
    const words::node_filter_key key{words::filtered_pods_of(known, which, std::nullopt, false),
                                     scope, code};
    return words::node_filter_text(known, key, words::key_names(known));
}

cluster::node_type labelled(const char* key, const char* value) {
    auto made = machine(4);
    made.labels.set(key, value);
    return made;
}

void add_gang(cluster& to, const constraints& where, std::optional<std::string> queue = {}) {
    auto spec = asking(1);
    spec.where = where;
    ok(to.upsert_gang("g", gang_of(1, std::move(queue))));
    ok(to.upsert_pod("g-0", "g", spec));
}

TEST_CASE("labels that no node has are named alone, else all labels with the number of nodes") {
    cluster known;
    ok(known.upsert_node("a", labelled("disk", "ssd")));
    ok(known.upsert_node("b", labelled("disk", "hdd")));
    constraints where;
    where.selector = label_is("disk", "ssd");
    add_gang(known, where);
    CHECK(text(known, reason_code::node_selector_mismatch) ==
          "too few nodes match node selector disk=ssd: 1 of 2 nodes");
    where.selector.requirements.push_back({"zone", label_operator::exists, {}});
    add_gang(known, where);
    CHECK(text(known, reason_code::node_selector_mismatch) == "no node matches node selector zone");
}

TEST_CASE("the node selector of the queue is named as the queue's") {
    cluster known;
    ok(known.upsert_node("a", labelled("disk", "ssd")));
    ok(known.upsert_node("b", machine(4)));
    cluster::queue_type queue;
    queue.nodes = label_is("disk", "ssd");
    ok(known.upsert_queue("q", queue));
    add_gang(known, {}, "q");
    CHECK(text(known, reason_code::node_selector_mismatch) ==
          "too few nodes match node selector disk=ssd of queue q: 1 of 2 nodes");
}

TEST_CASE("several terms of a node affinity are alternatives") {
    cluster known;
    ok(known.upsert_node("a", machine(4)));
    constraints where;
    node_term ssd;
    ssd.labels = label_is("disk", "ssd");
    node_term named;
    named.name = {{"metadata.name", label_operator::in, {"n1"}}};
    where.affinity = {ssd, named};
    add_gang(known, where);
    CHECK(text(known, reason_code::node_selector_mismatch) ==
          "no node matches node affinity disk=ssd or metadata.name=n1");
}

TEST_CASE("taints are counted by node, and tolerated ones are left out") {
    cluster known;
    auto tainted = machine(4);
    tainted.taints = {{"dedicated", "storage", taint_effect::no_schedule},
                      {"soft", "", taint_effect::prefer_no_schedule}};
    ok(known.upsert_node("a", tainted));
    tainted.taints.push_back({"team", "x", taint_effect::no_execute});
    ok(known.upsert_node("b", tainted));
    constraints where;
    add_gang(known, where);
    CHECK(text(known, reason_code::untolerated_taint) ==
          "nodes have taints that are not tolerated: dedicated=storage:NoSchedule (2 nodes), "
          "team=x:NoExecute (1 node)");
    where.tolerations = {{"dedicated", std::nullopt, std::nullopt}};
    add_gang(known, where);
    CHECK(text(known, reason_code::untolerated_taint) ==
          "nodes have taints that are not tolerated: team=x:NoExecute (1 node)");
}

TEST_CASE("a node that could not be read is named, not its taint") {
    cluster known;
    auto unread = machine(4);
    unread.taints = {{std::string(unread_taint_key), "", taint_effect::no_schedule}};
    ok(known.upsert_node("a", unread));
    add_gang(known, {});
    CHECK(text(known, reason_code::untolerated_taint) == "nodes cannot be read (a)");
}

TEST_CASE("cordoned nodes are named, those that match the node selector if there are any") {
    cluster known;
    auto cordoned = labelled("disk", "ssd");
    cordoned.unschedulable = true;
    ok(known.upsert_node("a", cordoned));
    cordoned.labels.set("disk", "hdd");
    ok(known.upsert_node("b", cordoned));
    add_gang(known, {});
    CHECK(text(known, reason_code::node_unschedulable) == "nodes a, b are cordoned");
    constraints where;
    where.selector = label_is("disk", "ssd");
    add_gang(known, where);
    CHECK(text(known, reason_code::node_unschedulable) == "node a is cordoned");
}

TEST_CASE("host ports are counted as free now, or only named for the empty cluster") {
    cluster known;
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_node("b", machine(4)));
    constraints where;
    host_port port;
    port.port = 80;
    port.protocol = "TCP";
    where.claims.ports = {port};
    auto spec = in_phase(pod_phase::running, asking(1));
    spec.where = where;
    ok(known.upsert_gang("other", gang_of(1)));
    ok(known.upsert_pod("other-0", "other", spec, "a"));
    add_gang(known, where);
    CHECK(text(known, reason_code::host_port_taken) ==
          "too few nodes have host port 80/TCP free: 1 of 2 nodes");
    CHECK(text(known, reason_code::host_port_taken, certificate_scope::empty_cluster) ==
          "too few nodes for one pod each with host port 80/TCP");
}

} // namespace

} // namespace words_node_filter_text_test
