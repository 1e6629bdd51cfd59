// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/volcano/writer.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/gangs/write_with.hpp>

#include "muster/gangs/gangs.hpp"

namespace translate_to_volcano_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

written to_volcano(const gang_bundle& bundle) {
    return write_with(volcano_writer{}, bundle);
}

gang_bundle pod_gang() {
    gang_bundle made = gang("ml-0", 0);
    made.gang.kind = "PodGang";
    made.gang.uid = "u-1";
    made.gang.origin = target::grove;
    made.gang.labels = json("{'a': 'b'}").as_object();
    made.gang.annotations = json("{'c': 'd'}").as_object();
    made.gang.priority.class_name = "high";
    add(made, "ml-0-master", 1, 1);
    add(made, "ml-0-workers", 3, 4);
    return made;
}

} // namespace

TEST_CASE("roles are Volcano's tasks, whose minima count beside a total no less than their sum") {
    gang_bundle made = master_and_workers();
    made.gang.tree.require_members(muster::vertex_index{0},
                                   2); // below the sum it would turn them off
    made.gang.queue = "q";
    made.gang.priority.class_name = "high";
    made.gang.min_resources = json("{'cpu': '4'}").as_object();
    made.gang.preemptible = true;
    const written out = to_volcano(made);
    CHECK(object(out, "PodGroup") ==
          json("{'apiVersion': 'scheduling.volcano.sh/v1beta1', 'kind': 'PodGroup', 'metadata': {"
               "'name': 'train', 'namespace': 'ns', 'annotations': {'volcano.sh/preemptable': "
               "'true'}}, 'spec': {'minMember': 4, 'minTaskMember': {'master': 1, 'worker': 3}, "
               "'queue': 'q', 'priorityClassName': 'high', 'minResources': {'cpu': '4'}}}"));
    CHECK(losses(out) == "");
    CHECK(violations(out) == "");
}

TEST_CASE("a Volcano pod names its group and task") {
    const written out = to_volcano(master_and_workers());
    CHECK(metadata(out, "Pod", 1) ==
          json("{'name': 'train-worker-0', 'namespace': 'ns', 'annotations': {"
               "'scheduling.k8s.io/group-name': 'train', 'scheduling.volcano.sh/group-name': "
               "'train', 'volcano.sh/task-spec': 'worker'}, 'labels': {'volcano.sh/task-spec': "
               "'worker'}}"));
    CHECK(spec(out, "Pod").at("schedulerName") == "volcano");
}

TEST_CASE("k of n equal subgroups are one of Volcano's subgroup policies") {
    gang_bundle made = gang("g", 0);
    for (const char* name : {"a", "b", "c"})
        add(made, name, 4, 4);
    made.gang.tree.require_subgroups(muster::vertex_index{0}, 2);
    const written out = to_volcano(made);
    CHECK(spec(out, "PodGroup") ==
          json("{'minMember': 8, 'subGroupPolicy': [{'name': 'g', 'labelSelector': {"
               "'matchExpressions': [{'key': 'volcano.sh/task-spec', 'operator': 'In', 'values': "
               "['a', 'b', 'c']}]}, 'matchLabelKeys': ['volcano.sh/task-spec'], 'subGroupSize': 4, "
               "'minSubGroups': 2}]}"));
    CHECK(losses(out) == "");
}

TEST_CASE("k of n subgroups that differ are lost on Volcano, the least total is not") {
    gang_bundle made = gang("g", 0);
    add(made, "a", 2, 2);
    add(made, "b", 3, 3);
    made.gang.tree.require_subgroups(muster::vertex_index{0}, 1);
    const written out = to_volcano(made);
    CHECK(spec(out, "PodGroup") == json("{'minMember': 2}"));
    CHECK(losses(out) == "subgroup-minima");
}

TEST_CASE("a PodGang becomes a Volcano PodGroup with a policy for every podgroup") {
    const written out = to_volcano(pod_gang());
    CHECK(object(out, "PodGroup") ==
          json("{'apiVersion': 'scheduling.volcano.sh/v1beta1', 'kind': 'PodGroup', 'metadata': {"
               "'name': 'ml-0', 'namespace': 'ns', 'labels': {'a': 'b'}, 'ownerReferences': ["
               "{'apiVersion': 'scheduler.grove.io/v1alpha1', 'kind': 'PodGang', 'name': 'ml-0', "
               "'uid': 'u-1', 'controller': true}]}, 'spec': {'minMember': 4, 'subGroupPolicy': ["
               "{'name': 'ml-0-master', 'labelSelector': {'matchLabels': {'grove.io/podclique': "
               "'ml-0-master'}}, 'matchLabelKeys': ['grove.io/podclique'], 'subGroupSize': 1, "
               "'minSubGroups': 1}, {'name': 'ml-0-workers', 'labelSelector': {'matchLabels': {"
               "'grove.io/podclique': 'ml-0-workers'}}, 'matchLabelKeys': ['grove.io/podclique'], "
               "'subGroupSize': 3, 'minSubGroups': 1}], 'queue': 'default', 'priorityClassName': "
               "'high'}}"));
    CHECK(metadata(out, "Pod").at("labels") == json("{'grove.io/podclique': 'ml-0-master'}"));
    CHECK(losses(out) == "");
}

TEST_CASE("a PodGang's Volcano queue stands in an annotation of its own") {
    gang_bundle made = pod_gang();
    made.gang.queue = "kai";
    CHECK(spec(to_volcano(made), "PodGroup").at("queue") == "kai");
    made.gang.annotations["scheduling.grove.io/volcano-queue"] = "vol";
    CHECK(spec(to_volcano(made), "PodGroup").at("queue") == "vol");
}

TEST_CASE("a podgroup that needs nobody needs one on Volcano") {
    gang_bundle made = pod_gang();
    made.gang.tree.require_members(muster::vertex_index{1}, 0);
    made.gang.tree.require_members(muster::vertex_index{2}, 0);
    const written out = to_volcano(made);
    CHECK(spec(out, "PodGroup").at("minMember") == 1);
    CHECK(spec(out, "PodGroup").at("subGroupPolicy").at(1).at("subGroupSize") == 1);
    CHECK(losses(out) == "role-minima");
}

TEST_CASE("Grove's backend for Volcano refuses topology, others lose it") {
    gang_bundle made = pod_gang();
    made.gang.tree.constrain_topology(muster::vertex_index{1}, levels({"rack"}, 0));
    CHECK(violations(to_volcano(made)).find("spec.topologyConstraint") != std::string::npos);
    made.gang.origin.reset();
    CHECK(violations(to_volcano(made)) == "");
    CHECK(losses(to_volcano(made)) == "topology-required");
}

TEST_CASE("Volcano's network topology comes back to it, a timeout is lost") {
    gang_bundle made = gang("g", 1);
    made.gang.own_words.push_back({gang_api::volcano, loss_kind::topology_required,
                                   "networkTopology", json("{'mode': 'hard'}")});
    made.gang.wait_seconds = 3;
    const written out = to_volcano(made);
    CHECK(spec(out, "PodGroup").at("networkTopology") == json("{'mode': 'hard'}"));
    CHECK(losses(out) == "timeout");
}

} // namespace translate_to_volcano_test
