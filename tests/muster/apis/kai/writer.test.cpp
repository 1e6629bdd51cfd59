// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/kai/writer.hpp>

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <muster/gangs/write_with.hpp>

#include "muster/gangs/gangs.hpp"

namespace translate_to_kai_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

written to_kai(const gang_bundle& bundle, const write_options& options = {}) {
    return write_with(kai_writer{kai_version::v0_15}, bundle, options);
}
written to_old_kai(const gang_bundle& bundle, const write_options& options = {}) {
    return write_with(kai_writer{kai_version::v0_14}, bundle, options);
}

gang_bundle pod_gang() {
    gang_bundle made = gang("ml-0", 0);
    made.gang.kind = "PodGang";
    made.gang.uid = "u-1";
    made.gang.origin = target::grove;
    made.gang.labels = json("{'app.kubernetes.io/part-of': 'ml'}").as_object();
    made.gang.annotations = json("{'grove.io/topology-name': 'dc'}").as_object();
    made.gang.owners = {{"grove.io/v1alpha1", "PodCliqueSet", "ml", "u-0", true}};
    made.gang.priority.class_name = "high";
    made.gang.queue = "team";
    add(made, "ml-0-master", 1, 1);
    add(made, "ml-0-workers", 3, 4);
    return made;
}

} // namespace

TEST_CASE("a PodGang becomes a KAI PodGroup of its name, labels and annotations, owned by it") {
    const written out = to_kai(pod_gang());
    CHECK(
        object(out, "PodGroup") ==
        json("{'apiVersion': 'scheduling.run.ai/v2alpha2', 'kind': 'PodGroup', 'metadata': {"
             "'name': 'ml-0', 'namespace': 'ns', 'labels': {'app.kubernetes.io/part-of': 'ml'}, "
             "'annotations': {'grove.io/topology-name': 'dc'}, 'ownerReferences': [{'apiVersion': "
             "'scheduler.grove.io/v1alpha1', 'kind': 'PodGang', 'name': 'ml-0', 'uid': 'u-1', "
             "'controller': true}]}, 'spec': {'minMember': 4, 'priorityClassName': 'high', "
             "'queue': 'team', 'subGroups': [{'name': 'ml-0-master', 'minMember': 1}, "
             "{'name': 'ml-0-workers', 'minMember': 3}], 'topologyConstraint': {}}}"));
    CHECK(losses(out) == "");
    CHECK(violations(out) == "");
}

TEST_CASE("pods of a KAI PodGroup name it and their subgroup, and are kept from the podgrouper") {
    const written out = to_kai(pod_gang());
    CHECK(metadata(out, "Pod", 1) ==
          json("{'name': 'ml-0-ml-0-workers-0', 'namespace': 'ns', 'annotations': {"
               "'pod-group-name': 'ml-0', 'kai.scheduler/skip-podgrouper': 'true'}, 'labels': {"
               "'kai.scheduler/subgroup-name': 'ml-0-workers'}}"));
    CHECK(spec(out, "Pod", 1).at("schedulerName") == "kai-scheduler");
}

TEST_CASE("a PodGang without a queue is an error for KAI, the podgrouper falls back to its own") {
    gang_bundle made = pod_gang();
    made.gang.queue.reset();
    CHECK(violations(to_kai(made)).find("kai.scheduler/queue") != std::string::npos);
    write_options seed;
    seed.dialect = grove_dialect::seed;
    CHECK(spec(to_kai(made, seed), "PodGroup").at("queue") == "default-queue");
    CHECK(spec(to_kai(gang("g", 1)), "PodGroup").at("queue") == "default-queue");
}

TEST_CASE("groups of a PodGang come before podgroups, and need all of theirs") {
    gang_bundle made = gang("ml-0", 0);
    made.gang.origin = target::grove;
    made.gang.queue = "team";
    made.gang.topology_name = "dc";
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"zone", "rack"}, 0, 1));
    add(made, "first", 1);
    const auto group = add(made, "ml-0-inst-0", 0);
    made.gang.tree.constrain_topology(group, levels({"zone", "rack"}, 1));
    add(made, "ml-0-inst-0-leader", 1, 0, group);
    add(made, "ml-0-inst-0-worker", 3, 0, group);
    const written out = to_kai(made);
    CHECK(spec(out, "PodGroup") ==
          json("{'minMember': 5, 'queue': 'team', 'subGroups': ["
               "{'name': 'ml-0-inst-0', 'minSubGroup': 2, 'topologyConstraint': {'topology': 'dc', "
               "'requiredTopologyLevel': 'rack'}}, {'name': 'first', 'minMember': 1}, "
               "{'name': 'ml-0-inst-0-leader', 'minMember': 1, 'parent': 'ml-0-inst-0'}, "
               "{'name': 'ml-0-inst-0-worker', 'minMember': 3, 'parent': 'ml-0-inst-0'}], "
               "'topologyConstraint': {'topology': 'dc', 'requiredTopologyLevel': 'zone', "
               "'preferredTopologyLevel': 'rack'}}"));
    CHECK(losses(out) == "");
    CHECK(spec(to_old_kai(made), "PodGroup").at("subGroups").at(0) ==
          json("{'name': 'ml-0-inst-0', 'topologyConstraint': {'topology': 'dc', "
               "'requiredTopologyLevel': 'rack'}}"));
}

TEST_CASE("levels need the name of a Topology: of a PodGang an error, else a loss or an option") {
    gang_bundle made = pod_gang();
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"rack"}, 0));
    CHECK(violations(to_kai(made)).find("grove.io/topology-name") != std::string::npos);
    made = gang("g", 1);
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"zone", "rack"}, 0, 1));
    CHECK(losses(to_kai(made)) == "topology-required topology-preferred");
    CHECK(violations(to_kai(made)) == "");
    write_options named;
    named.kai_topology = "dc";
    CHECK(losses(to_kai(made, named)) == "");
    CHECK(spec(to_kai(made, named), "PodGroup").at("topologyConstraint").at("topology") == "dc");
}

TEST_CASE("KAI's podgrouper names a PodGroup after a PodGang and its uid, with the top owner") {
    write_options seed;
    seed.dialect = grove_dialect::seed;
    const written out = to_kai(pod_gang(), seed);
    CHECK(metadata(out, "PodGroup") ==
          json("{'name': 'pg-ml-0-u-1', 'namespace': 'ns', 'labels': "
               "{'app.kubernetes.io/part-of': 'ml'}, 'ownerReferences': [{'apiVersion': "
               "'scheduler.grove.io/v1alpha1', 'kind': 'PodGang', 'name': 'ml-0', 'uid': 'u-1'}], "
               "'annotations': {'kai.scheduler/top-owner-metadata': 'name: ml-0\\nuid: u-1\\n"
               "group: scheduler.grove.io\\nversion: v1alpha1\\nkind: PodGang\\n'}}"));
    CHECK(metadata(out, "Pod").at("annotations") == json("{'pod-group-name': 'pg-ml-0-u-1'}"));
    gang_bundle without = pod_gang();
    without.gang.uid.clear();
    CHECK(violations(to_kai(without, seed)).find("metadata.uid") != std::string::npos);
}

TEST_CASE("KAI's podgrouper names other PodGroups after their top owner") {
    write_options options;
    options.naming = kai_naming::podgrouper;
    gang_bundle made = gang("g", 1);
    made.gang.owners = {{"v1", "Thing", "t", "u", true}};
    CHECK(metadata(to_kai(made, options), "PodGroup").at("name") == "pg-t-u");
    made.gang.owners.clear();
    CHECK(violations(to_kai(made, options)).find("metadata.ownerReferences") != std::string::npos);
}

TEST_CASE("KAI's podgrouper refuses podgroups that need nobody") {
    write_options seed;
    seed.dialect = grove_dialect::seed;
    gang_bundle made = pod_gang();
    made.gang.tree.require_members(muster::vertex_index{1}, 0);
    CHECK(violations(to_kai(made, seed)).find("minReplicas") != std::string::npos);
    const written out = to_kai(made);
    CHECK(violations(out) == "");
    CHECK(spec(out, "PodGroup").at("subGroups").at(0).at("minMember") == 0);
}

TEST_CASE("KAI before 0.15 has no subgroup without a minimum, and keeps the total then") {
    gang_bundle made = pod_gang();
    made.gang.tree.require_members(muster::vertex_index{1}, 0);
    const written out = to_old_kai(made);
    CHECK(violations(out) == "");
    CHECK(losses(out) == "role-minima");
    CHECK_FALSE(spec(out, "PodGroup").as_object().contains("subGroups"));
    CHECK(spec(out, "PodGroup").at("minMember") == 3);
    CHECK_FALSE(metadata(out, "Pod").as_object().contains("labels"));
}

TEST_CASE("k of n subgroups are KAI's minSubGroup since 0.15, and lost before") {
    gang_bundle made = gang("g", 0);
    add(made, "a", 2, 2);
    add(made, "b", 3, 3);
    made.gang.tree.require_subgroups(muster::vertex_index{0}, 1);
    const written out = to_kai(made);
    CHECK(spec(out, "PodGroup") ==
          json("{'minSubGroup': 1, 'queue': 'default-queue', 'subGroups': ["
               "{'name': 'a', 'minMember': 2}, {'name': 'b', 'minMember': 3}], "
               "'topologyConstraint': {}}"));
    CHECK(losses(out) == "");
    const written old = to_old_kai(made);
    CHECK(losses(old) == "subgroup-minima");
    CHECK(spec(old, "PodGroup").at("minMember") == 2);
    CHECK_FALSE(spec(old, "PodGroup").as_object().contains("subGroups"));
}

TEST_CASE("KAI takes subgroups of any depth") {
    gang_bundle made = gang("g", 0);
    const auto outer = add(made, "outer", 0);
    const auto inner = add(made, "inner", 0, 0, outer);
    add(made, "a", 1, 1, inner);
    add(made, "b", 1, 1, inner);
    made.gang.tree.require_subgroups(inner, 1);
    CHECK(spec(to_kai(made), "PodGroup").at("subGroups") ==
          json("[{'name': 'outer', 'minSubGroup': 1}, {'name': 'inner', 'minSubGroup': 1, "
               "'parent': 'outer'}, {'name': 'a', 'minMember': 1, 'parent': 'inner'}, "
               "{'name': 'b', 'minMember': 1, 'parent': 'inner'}]"));
    CHECK(losses(to_kai(made)) == "");
}

TEST_CASE("beside subgroups KAI ignores a total: more than their sum is lost") {
    gang_bundle made = master_and_workers();
    CHECK(losses(to_kai(made)) == "");
    made.gang.tree.require_members(muster::vertex_index{0}, 5); // all: four workers, too
    CHECK(losses(to_kai(made)) == "");
    CHECK(spec(to_kai(made), "PodGroup").at("subGroups").at(1).at("minMember") == 4);
    add(made, "tensorboard", 0, 1);
    CHECK(losses(to_kai(made)) == "total-minimum");
}

TEST_CASE("a total over roles without minima has no subgroups in KAI, where it would not count") {
    gang_bundle made = gang("g", 5);
    add(made, "ps", 0, 1);
    add(made, "worker", 0, 4);
    for (const written& out : {to_kai(made), to_old_kai(made)}) {
        CHECK(spec(out, "PodGroup") ==
              json("{'minMember': 5, 'queue': 'default-queue', 'topologyConstraint': {}}"));
        CHECK(losses(out) == "");
    }
}

TEST_CASE("names of KAI's subgroups have no dots, and differ") {
    gang_bundle made = gang("g", 0);
    add(made, "a.b", 1, 1);
    add(made, "a_b", 1);
    const written out = to_kai(made);
    CHECK(losses(out) == "name");
    CHECK(violations(out) == "");
    const boost::json::value group = spec(out, "PodGroup");
    const boost::json::string& first = group.at("subGroups").at(0).at("name").as_string();
    CHECK(first.starts_with("a-b-"));
    CHECK(metadata(out, "Pod").at("labels").at("kai.scheduler/subgroup-name") == first);
}

TEST_CASE("leaves of one name in two subgroups have names of their own in KAI") {
    gang_bundle made = gang("g", 0);
    for (const char* group : {"x", "y"}) {
        const auto inner = add(made, group, 0);
        add(made, "worker", 1, 0, inner);
    }
    const written out = to_kai(made);
    CHECK(violations(out) == "");
    CHECK(spec(out, "PodGroup").at("subGroups").at(3).at("name") == "y-worker");
}

TEST_CASE("KAI says whether a gang may be evicted, and has classes for priorities") {
    gang_bundle made = gang("g", 1);
    made.gang.preemptible = false;
    made.gang.priority.number = 7;
    const written out = to_kai(made);
    CHECK(spec(out, "PodGroup").at("preemptibility") == "non-preemptible");
    CHECK(losses(out) == "priority");
    made.gang.priority.class_name = "train";
    CHECK(losses(to_kai(made)) == "");
    made.gang.wait_seconds = 10;
    made.gang.min_resources.emplace();
    CHECK(losses(to_kai(made)) == "timeout min-resources");
}

} // namespace translate_to_kai_test
