// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/koordinator/writer.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/gangs/write_with.hpp>

#include "muster/gangs/gangs.hpp"

namespace translate_to_koordinator_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

written to_koordinator(const gang_bundle& bundle, const write_options& options = {}) {
    return write_with(koordinator_writer{}, bundle, options);
}

gang_bundle pod_gang() {
    gang_bundle made = gang("ml-0", 0);
    made.gang.kind = "PodGang";
    made.gang.uid = "u-1";
    made.gang.origin = target::grove;
    add(made, "ml-0-master", 1, 1);
    add(made, "ml-0-workers", 3, 4);
    return made;
}

boost::json::value note(const written& out, std::size_t at, const std::string& key) {
    const auto notes = metadata(out, "PodGroup", at).at("annotations").as_object();
    const auto* found = notes.if_contains("gang.scheduling.koordinator.sh/" + key);
    return found ? *found : boost::json::value();
}

} // namespace

TEST_CASE("every podgroup of a PodGang becomes a PodGroup of one Koordinator gang group") {
    write_options options;
    options.koordinator_wait_seconds = 30;
    const written out = to_koordinator(pod_gang(), options);
    CHECK(count(out, "PodGroup") == 2);
    CHECK(object(out, "PodGroup", 1) ==
          json("{'apiVersion': 'scheduling.sigs.k8s.io/v1alpha1', 'kind': 'PodGroup', 'metadata': "
               "{'name': 'ml-0-ml-0-workers', 'namespace': 'ns', 'ownerReferences': [{'apiVersion':"
               " 'scheduler.grove.io/v1alpha1', 'kind': 'PodGang', 'name': 'ml-0', 'uid': 'u-1', "
               "'controller': true}], 'labels': {'grove.io/podgang': 'ml-0'}, 'annotations': {"
               "'gang.scheduling.koordinator.sh/groups': "
               "'[\\\"ns/ml-0-ml-0-master\\\",\\\"ns/ml-0-ml-0-workers\\\"]', "
               "'gang.scheduling.koordinator.sh/mode': 'Strict', "
               "'gang.scheduling.koordinator.sh/match-policy': 'once-satisfied', "
               "'gang.scheduling.koordinator.sh/total-number': '4'}}, 'spec': {'minMember': 3, "
               "'scheduleTimeoutSeconds': 30}}"));
    CHECK(losses(out) == ""); // minima and all-or-nothing are kept
    CHECK(violations(out) == "");
    CHECK(metadata(out, "Pod", 1).at("labels") ==
          json("{'pod-group.scheduling.sigs.k8s.io': 'ml-0-ml-0-workers'}"));
    CHECK(spec(out, "Pod", 1).at("schedulerName") == "koord-scheduler");
}

TEST_CASE("a Koordinator PodGroup has no priority class") {
    gang_bundle made = pod_gang();
    made.gang.priority.class_name = "high";
    const written out = to_koordinator(made);
    CHECK_FALSE(spec(out, "PodGroup").as_object().contains("priorityClassName"));
    CHECK(spec(out, "Pod").at("priorityClassName") == "high");
    CHECK(losses(out) == "");
}

TEST_CASE("a gang whose total says all is one Koordinator gang") {
    gang_bundle made = gang("g", 5);
    add(made, "ps", 0, 1);
    add(made, "worker", 0, 4);
    made.gang.wait_seconds = 60;
    const written out = to_koordinator(made);
    CHECK(count(out, "PodGroup") == 1);
    CHECK(object(out, "PodGroup") ==
          json("{'apiVersion': 'scheduling.sigs.k8s.io/v1alpha1', 'kind': 'PodGroup', 'metadata': "
               "{'name': 'g', 'namespace': 'ns'}, 'spec': {'minMember': 5, "
               "'scheduleTimeoutSeconds': 60}}"));
    CHECK(losses(out) == "");
}

TEST_CASE("a gang group may have members without minimum, and keeps no total beyond its roles'") {
    gang_bundle made = master_and_workers();
    add(made, "tensorboard", 0, 2);
    CHECK(losses(to_koordinator(made)) == "");
    CHECK(spec(to_koordinator(made), "PodGroup", 2) == json("{'minMember': 0}"));
    made.gang.tree.require_members(muster::vertex_index{0}, 5);
    CHECK(losses(to_koordinator(made)) == "total-minimum");
}

TEST_CASE("a total that needs everybody is said by the minima of roles") {
    gang_bundle made = pod_gang();
    made.gang.tree.require_members(muster::vertex_index{0}, 5);
    CHECK(losses(to_koordinator(made)) == "");
    CHECK(spec(to_koordinator(made), "PodGroup", 1).at("minMember") == 4);
}

TEST_CASE("gangs of a Koordinator group keep their own names and namespaces") {
    gang_bundle made = gang("gang-a", 0);
    add(made, "gang-a", 2, 2);
    add(made, "gang-b", 3, 3);
    made.gang.sizes[0].object = "gang-a";
    made.gang.sizes[1].object = "gang-b";
    made.gang.sizes[1].name_space = "other";
    const written out = to_koordinator(made);
    CHECK(losses(out) == "");
    CHECK(metadata(out, "PodGroup", 1).at("name") == "gang-b");
    CHECK(metadata(out, "PodGroup", 1).at("namespace") == "other");
    CHECK(note(out, 0, "groups") == "[\"ns/gang-a\",\"other/gang-b\"]");
}

TEST_CASE("Koordinator gathers by layers, one rule for each PodGroup") {
    const std::vector<std::string> known{"topology.kubernetes.io/block",
                                         "topology.kubernetes.io/rack", "kubernetes.io/hostname"};
    gang_bundle made = gang("g", 2);
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels(known, 1));
    CHECK(note(to_koordinator(made), 0, "network-topology-spec") ==
          "{\"gatherStrategy\":[{\"layer\":\"rackLayer\",\"strategy\":\"MustGather\"}]}");
    CHECK(losses(to_koordinator(made)) == "");
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels(known, -1, 2));
    CHECK(note(to_koordinator(made), 0, "network-topology-spec") ==
          "{\"gatherStrategy\":[{\"layer\":\"hostLayer\",\"strategy\":\"PreferGather\"}]}");
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels(known, 0, 2));
    CHECK(losses(to_koordinator(made)) == "topology-preferred");
}

TEST_CASE("a required level that is no layer of Koordinator's is an error of a PodGang") {
    gang_bundle made = pod_gang();
    made.gang.tree.constrain_topology(muster::vertex_index{1}, levels({"a", "b"}, 0, 1));
    CHECK(violations(to_koordinator(made)).find("packConstraint.required") != std::string::npos);
    made.gang.tree.constrain_topology(muster::vertex_index{1}, levels({"a", "b"}, -1, 1));
    CHECK(violations(to_koordinator(made)) == "");
    CHECK(losses(to_koordinator(made)) == "topology-preferred");
    made.gang.origin.reset();
    made.gang.tree.constrain_topology(muster::vertex_index{1}, levels({"a", "b"}, 0));
    CHECK(violations(to_koordinator(made)) == "");
    CHECK(losses(to_koordinator(made)) == "topology-required");
}

TEST_CASE("groups of a PodGang that are packed are an error for Koordinator") {
    gang_bundle made = gang("ml-0", 0);
    made.gang.origin = target::grove;
    const auto group = add(made, "instance", 0);
    made.gang.tree.constrain_topology(group, levels({"kubernetes.io/hostname"}, 0));
    add(made, "a", 1, 1, group);
    CHECK(violations(to_koordinator(made)).find("topologyConstraintGroupConfigs") !=
          std::string::npos);
}

TEST_CASE("Koordinator's match policy and mode come back, ACK's own policy does not") {
    gang_bundle made = gang("g", 1);
    made.gang.own_words = {{gang_api::coscheduling, loss_kind::matching,
                            "gang.scheduling.koordinator.sh/match-policy", "only-waiting"},
                           {gang_api::coscheduling, loss_kind::matching,
                            "gang.scheduling.koordinator.sh/mode", "NonStrict"}};
    CHECK(losses(to_koordinator(made)) == "");
    CHECK(note(to_koordinator(made), 0, "match-policy") == "only-waiting");
    CHECK(note(to_koordinator(made), 0, "mode") == "NonStrict");
    made.gang.own_words[0].value = "waiting-running-succeed";
    CHECK(losses(to_koordinator(made)) == "matching");
}

TEST_CASE("Koordinator's queue is a quota that pods name") {
    gang_bundle made = gang("g", 0);
    add(made, "worker", 1, 1);
    made.gang.queue = "team";
    CHECK(losses(to_koordinator(made)) == "");
    CHECK(metadata(to_koordinator(made), "Pod")
              .at("labels")
              .at("quota.scheduling.koordinator.sh/name") == "team");
    made.pods.clear();
    CHECK(losses(to_koordinator(made)) == "queue");
}

TEST_CASE("Koordinator's own number of members comes back, and no number that nobody said") {
    gang_bundle made = gang("g", 2);
    made.gang.origin = target::koordinator;
    made.gang.sizes = {{muster::vertex_index{0}, 5}};
    const char* const total = "gang.scheduling.koordinator.sh/total-number";
    CHECK(
        metadata(write_with(koordinator_writer{}, made), "PodGroup").at("annotations").at(total) ==
        "5");
    made.gang.sizes.front().only_seen = true;
    CHECK(metadata(write_with(koordinator_writer{}, made), "PodGroup")
              .as_object()
              .if_contains("annotations") == nullptr);
}

} // namespace translate_to_koordinator_test
