// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/grove/writer.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/gangs/write_with.hpp>

#include "muster/gangs/gangs.hpp"

namespace translate_to_grove_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

written to_grove(const gang_bundle& bundle, grove_dialect dialect = grove_dialect::upstream) {
    write_options options;
    options.dialect = dialect;
    return write_with(grove_writer{}, bundle, options);
}

} // namespace

TEST_CASE("roles are a PodGang's podgroups, which refer to their pods") {
    gang_bundle made = master_and_workers();
    made.gang.queue = "team";
    made.gang.priority.class_name = "high";
    const written out = to_grove(made);
    CHECK(object(out, "PodGang") ==
          json("{'apiVersion': 'scheduler.grove.io/v1alpha1', 'kind': 'PodGang', 'metadata': {"
               "'name': 'train', 'namespace': 'ns', 'labels': {'grove.io/scheduler-name': "
               "'kai-scheduler', 'kai.scheduler/queue': 'team'}}, 'spec': {'priorityClassName': "
               "'high', 'podgroups': [{'name': 'master', 'minReplicas': 1, 'podReferences': ["
               "{'namespace': 'ns', 'name': 'train-master-0'}]}, {'name': 'worker', 'minReplicas': "
               "3, 'podReferences': [{'namespace': 'ns', 'name': 'train-worker-0'}, "
               "{'namespace': 'ns', 'name': 'train-worker-1'}, {'namespace': 'ns', 'name': "
               "'train-worker-2'}, {'namespace': 'ns', 'name': 'train-worker-3'}]}]}}"));
    CHECK(metadata(out, "Pod").at("labels") ==
          json("{'grove.io/podgang': 'train', 'grove.io/podclique': 'master'}"));
    CHECK(losses(out) == "");
    CHECK(violations(out) == "");
}

TEST_CASE("in the dialect of the walk-through the backend is labelled and pods are gated") {
    const written out = to_grove(master_and_workers(), grove_dialect::seed);
    CHECK(metadata(out, "PodGang").at("labels") == json("{'grove.io/scheduler-backend': 'kai'}"));
    CHECK(spec(out, "Pod").at("schedulingGates") == json("[{'name': 'grove.io/podgang'}]"));
    CHECK_FALSE(
        spec(to_grove(master_and_workers()), "Pod").as_object().contains("schedulingGates"));
}

TEST_CASE("a gang of one role is a podgroup of its name") {
    const written out = to_grove(gang("g", 3));
    CHECK(spec(out, "PodGang") ==
          json("{'podgroups': [{'name': 'g', 'minReplicas': 3, 'podReferences': []}]}"));
}

TEST_CASE("a PodGang has no total: one that needs everybody becomes minima, another is lost") {
    gang_bundle made = gang("g", 5);
    add(made, "ps", 0, 1);
    add(made, "worker", 0, 4);
    written out = to_grove(made);
    CHECK(losses(out) == "");
    CHECK(spec(out, "PodGang").at("podgroups").at(1).at("minReplicas") == 4);
    made.gang.tree.require_members(muster::vertex_index{0}, 4);
    out = to_grove(made); // at least three workers are among any four
    CHECK(losses(out) == "total-minimum");
    CHECK(spec(out, "PodGang").at("podgroups").at(1).at("minReplicas") == 3);
}

TEST_CASE("packing of the whole, of groups and of podgroups is in node labels") {
    gang_bundle made = gang("g", 0);
    made.gang.topology_name = "dc";
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"zone", "rack"}, 0, 1));
    const auto group = add(made, "instance", 0);
    made.gang.tree.constrain_topology(group, levels({"zone", "rack"}, 1));
    const auto leaf = add(made, "leader", 1, 0, group);
    made.gang.tree.constrain_topology(leaf, levels({"zone", "rack"}, -1, 1));
    const written out = to_grove(made);
    CHECK(spec(out, "PodGang") ==
          json("{'topologyConstraint': {'packConstraint': {'required': 'zone', 'preferred': "
               "'rack'}}, 'podgroups': [{'name': 'leader', 'minReplicas': 1, 'podReferences': [], "
               "'topologyConstraint': {'packConstraint': {'preferred': 'rack'}}}], "
               "'topologyConstraintGroupConfigs': [{'name': 'instance', 'podGroupNames': "
               "['leader'], 'topologyConstraint': {'packConstraint': {'required': 'rack'}}}]}"));
    CHECK(metadata(out, "PodGang").at("annotations") == json("{'grove.io/topology-name': 'dc'}"));
    CHECK(losses(out) == "");
}

TEST_CASE("subgroups that are not packed, and those of subgroups, are lost") {
    gang_bundle made = gang("g", 0);
    const auto outer = add(made, "outer", 0);
    made.gang.tree.constrain_topology(outer, levels({"zone"}, 0));
    const auto inner = add(made, "inner", 0, 0, outer);
    add(made, "a", 1, 1, inner);
    const written out = to_grove(made);
    CHECK(losses(out) == "nesting topology-required");
    CHECK(spec(out, "PodGang").at("podgroups").at(0).at("name") == "a");
}

TEST_CASE("k of n subgroups leave one podgroup with the least total") {
    gang_bundle made = gang("g", 0);
    add(made, "a", 2, 2);
    add(made, "b", 3, 3);
    made.gang.tree.require_subgroups(muster::vertex_index{0}, 1);
    const written out = to_grove(made);
    CHECK(losses(out) == "subgroup-minima");
    CHECK(spec(out, "PodGang").at("podgroups").as_array().size() == 1);
    CHECK(spec(out, "PodGang").at("podgroups").at(0).at("podReferences").as_array().size() == 5);
}

TEST_CASE("a pod that has no name yet cannot be referred to") {
    gang_bundle made = gang("g", 0);
    add(made, "worker", 1, 1);
    made.pods[0].document["metadata"].as_object().erase("name");
    made.pods[0].document["metadata"].as_object()["generateName"] = "g-";
    CHECK(violations(to_grove(made)).find("metadata.name: missing") != std::string::npos);
}

} // namespace translate_to_grove_test
