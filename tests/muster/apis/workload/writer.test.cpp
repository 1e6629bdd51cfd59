// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/workload/writer.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/gangs/write_with.hpp>

#include "muster/gangs/gangs.hpp"

namespace translate_to_workload_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

/// Without the alpha API of 1.37.
written to_workload(workload_version version, const gang_bundle& bundle,
                    write_options options = {}) {
    options.composite_pod_groups = false;
    return write_with(workload_writer{version}, bundle, options);
}
written to_composites(const gang_bundle& bundle) {
    return write_with(workload_writer{workload_version::v1_37}, bundle);
}
constexpr auto v1_35 = workload_version::v1_35;
constexpr auto v1_36 = workload_version::v1_36;
constexpr auto v1_37 = workload_version::v1_37;

gang_bundle pod_gang() {
    gang_bundle made = gang("ml-0", 0);
    made.gang.kind = "PodGang";
    made.gang.origin = target::grove;
    add(made, "ml-0-master", 1, 1);
    add(made, "ml-0-workers", 3, 4);
    return made;
}

} // namespace

TEST_CASE("a PodGang becomes a Workload of 1.35 with a pod group for every podgroup") {
    const written out = to_workload(v1_35, pod_gang());
    CHECK(object(out, "Workload") ==
          json("{'apiVersion': 'scheduling.k8s.io/v1alpha1', 'kind': 'Workload', 'metadata': "
               "{'name': 'ml-0', 'namespace': 'ns'}, 'spec': {'podGroups': [{'name': "
               "'ml-0-master', 'policy': {'gang': {'minCount': 1}}}, {'name': 'ml-0-workers', "
               "'policy': {'gang': {'minCount': 3}}}]}}"));
    CHECK(count(out, "PodGroup") == 0);
    CHECK(spec(out, "Pod", 1).at("workloadRef") ==
          json("{'name': 'ml-0', 'podGroup': 'ml-0-workers'}"));
    CHECK_FALSE(spec(out, "Pod").as_object().contains("schedulerName"));
    CHECK(losses(out) == "all-or-nothing"); // pod groups are gangs that do not wait for each other
    CHECK(violations(out) == "");
}

TEST_CASE("in 1.36 pods name PodGroups, which name templates of a Workload") {
    const written out = to_workload(v1_36, pod_gang());
    CHECK(object(out, "Workload").at("apiVersion") == "scheduling.k8s.io/v1alpha2");
    CHECK(spec(out, "Workload").at("podGroupTemplates").at(0) ==
          json("{'name': 'ml-0-master', 'schedulingPolicy': {'gang': {'minCount': 1}}}"));
    CHECK(object(out, "PodGroup", 1) ==
          json("{'apiVersion': 'scheduling.k8s.io/v1alpha2', 'kind': 'PodGroup', 'metadata': "
               "{'name': 'ml-0-ml-0-workers', 'namespace': 'ns'}, 'spec': {'podGroupTemplateRef': "
               "{'workload': {'workloadName': 'ml-0', 'podGroupTemplateName': 'ml-0-workers'}}, "
               "'schedulingPolicy': {'gang': {'minCount': 3}}}}"));
    CHECK(spec(out, "Pod", 1).at("schedulingGroup") ==
          json("{'podGroupName': 'ml-0-ml-0-workers'}"));
    CHECK(losses(out) == "all-or-nothing");
}

TEST_CASE("in 1.37 a PodGroup names its Workload and template, and has a priority class") {
    gang_bundle made = pod_gang();
    made.gang.priority.class_name = "high";
    const written out = to_workload(v1_37, made);
    CHECK(object(out, "PodGroup", 1) ==
          json("{'apiVersion': 'scheduling.k8s.io/v1beta1', 'kind': 'PodGroup', 'metadata': "
               "{'name': 'ml-0-ml-0-workers', 'namespace': 'ns'}, 'spec': {'workloadRef': "
               "{'workloadName': 'ml-0', 'templateName': 'ml-0-workers'}, 'schedulingPolicy': "
               "{'gang': {'minCount': 3}}, 'priorityClassName': 'high'}}"));
    CHECK(spec(out, "Workload").at("podGroupTemplates").at(1).at("priorityClassName") == "high");
    // Before, pods say it.
    CHECK(spec(to_workload(v1_36, made), "Pod").at("priorityClassName") == "high");
}

TEST_CASE("one PodGroup keeps all-or-nothing and loses minima of roles") {
    write_options one;
    one.one_pod_group = true;
    const written out = to_workload(v1_37, pod_gang(), one);
    CHECK(spec(out, "Workload").at("podGroupTemplates") ==
          json("[{'name': 'gang', 'schedulingPolicy': {'gang': {'minCount': 4}}}]"));
    CHECK(metadata(out, "PodGroup").at("name") == "ml-0");
    CHECK(losses(out) == "role-minima");
}

TEST_CASE("a gang whose total says all is one PodGroup") {
    gang_bundle made = gang("job-1", 5);
    add(made, "ps", 0, 1);
    add(made, "worker", 0, 4);
    for (const auto version : {v1_35, v1_36, v1_37}) {
        const written out = to_workload(version, made);
        CHECK(losses(out) == "");
        CHECK(violations(out) == "");
        CHECK(count(out, "PodGroup") == (version == v1_35 ? 0 : 1));
    }
    CHECK(spec(to_workload(v1_36, made), "Pod").at("schedulingGroup").at("podGroupName") ==
          "job-1");
}

TEST_CASE("k of n subgroups leave the least total") {
    gang_bundle made = gang("g", 0);
    add(made, "a", 2, 2);
    add(made, "b", 2, 2);
    made.gang.tree.require_subgroups(muster::vertex_index{0}, 1);
    const written out = to_workload(v1_37, made);
    CHECK(losses(out) == "subgroup-minima");
    CHECK(spec(out, "PodGroup").at("schedulingPolicy") == json("{'gang': {'minCount': 2}}"));
}

TEST_CASE("a Workload has at most eight pod groups") {
    gang_bundle made = gang("g", 0);
    for (int at = 0; at < 9; ++at)
        add(made, "r" + std::to_string(at), 1, 2);
    CHECK(violations(to_workload(v1_35, made)) == "spec.podGroups: 9 of them (expected at most 8)");
    CHECK(violations(to_workload(v1_36, made)) ==
          "spec.podGroupTemplates: 9 of them (expected at most 8)");
}

TEST_CASE("a role without a minimum is scheduled pod by pod: no gang has a minimum of 0") {
    gang_bundle made = pod_gang();
    made.gang.tree.require_members(muster::vertex_index{1}, 0);
    const written out = to_workload(v1_37, made);
    CHECK(spec(out, "PodGroup").at("schedulingPolicy") == json("{'basic': {}}"));
    CHECK(violations(out) == "");
}

TEST_CASE("names of pod groups are DNS labels") {
    gang_bundle made = gang("g", 0);
    add(made, "a.b", 1, 2);
    add(made, std::string(64, 'c'), 1, 2);
    const written out = to_workload(v1_36, made);
    CHECK(violations(out) == "");
    CHECK(losses(out) == "all-or-nothing name");
    CHECK(spec(out, "Workload").at("podGroupTemplates").at(1).at("name").as_string().size() == 63);
}

TEST_CASE("a required level is one topology key since 1.36, a preferred one is lost") {
    gang_bundle made = gang("g", 2);
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"zone", "rack"}, 0, 1));
    CHECK(losses(to_workload(v1_35, made)) == "topology-required topology-preferred");
    for (const auto version : {v1_36, v1_37}) {
        const written out = to_workload(version, made);
        CHECK(losses(out) == "topology-preferred");
        CHECK(spec(out, "PodGroup").at("schedulingConstraints") ==
              json("{'topology': [{'key': 'zone'}]}"));
        CHECK(spec(out, "Workload")
                  .at("podGroupTemplates")
                  .at(0)
                  .at("schedulingConstraints")
                  .at("topology")
                  .at(0)
                  .at("key") == "zone");
    }
}

TEST_CASE("roles that are to share a domain share the level only, when they part") {
    gang_bundle made = master_and_workers();
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"zone"}, 0));
    const written out = to_workload(v1_37, made);
    CHECK(losses(out) == "all-or-nothing topology-required");
    CHECK(spec(out, "PodGroup", 1).at("schedulingConstraints").at("topology").at(0).at("key") ==
          "zone");
}

TEST_CASE("Grove's backend for 1.36 refuses topology") {
    gang_bundle made = pod_gang();
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"zone"}, 0));
    CHECK(violations(to_workload(v1_36, made)).find("spec.topologyConstraint") !=
          std::string::npos);
    CHECK(violations(to_workload(v1_37, made)) == "");
}

TEST_CASE("how its members are disrupted is an enumeration in 1.36 and a union in 1.37") {
    gang_bundle made = gang("g", 1);
    made.gang.own_words = {
        {gang_api::workload, loss_kind::preemptibility, "disruptionMode", json("{'all': {}}")}};
    CHECK(losses(to_workload(v1_35, made)) == "preemptibility");
    CHECK(spec(to_workload(v1_36, made), "PodGroup").at("disruptionMode") == "PodGroup");
    CHECK(spec(to_workload(v1_37, made), "PodGroup").at("disruptionMode") == json("{'all': {}}"));
    made.gang.own_words[0].value = "Pod";
    CHECK(spec(to_workload(v1_36, made), "PodGroup").at("disruptionMode") == "Pod");
    CHECK(spec(to_workload(v1_37, made), "PodGroup").at("disruptionMode") ==
          json("{'single': {}}"));
}

TEST_CASE("in 1.37 a PodGang is a CompositePodGroup of all its podgroups, without loss") {
    const written out = to_composites(pod_gang());
    CHECK(losses(out) == "");
    CHECK(violations(out) == "");
    CHECK(object(out, "Workload") ==
          json("{'apiVersion': 'scheduling.k8s.io/v1beta1', 'kind': 'Workload', 'metadata': {"
               "'name': 'ml-0', 'namespace': 'ns'}, 'spec': {'compositePodGroupTemplates': [{"
               "'name': 'gang', 'schedulingPolicy': {'gang': {'minGroupCount': 2}}, "
               "'podGroupTemplates': [{'name': 'ml-0-master', 'schedulingPolicy': {'gang': "
               "{'minCount': 1}}}, {'name': 'ml-0-workers', 'schedulingPolicy': {'gang': "
               "{'minCount': 3}}}]}]}}"));
    CHECK(object(out, "CompositePodGroup") ==
          json("{'apiVersion': 'scheduling.k8s.io/v1alpha3', 'kind': 'CompositePodGroup', "
               "'metadata': {'name': 'ml-0', 'namespace': 'ns'}, 'spec': {'workloadRef': {"
               "'workloadName': 'ml-0', 'templateName': 'gang'}, 'schedulingPolicy': {'gang': {"
               "'minGroupCount': 2}}}}"));
    CHECK(object(out, "PodGroup", 1) ==
          json("{'apiVersion': 'scheduling.k8s.io/v1beta1', 'kind': 'PodGroup', 'metadata': {"
               "'name': 'ml-0-ml-0-workers', 'namespace': 'ns'}, 'spec': {"
               "'parentCompositePodGroupName': 'ml-0', 'workloadRef': {'workloadName': 'ml-0', "
               "'templateName': 'ml-0-workers'}, 'schedulingPolicy': {'gang': {'minCount': 3}}}}"));
    CHECK(spec(out, "Pod", 1).at("schedulingGroup") ==
          json("{'podGroupName': 'ml-0-ml-0-workers'}"));
}

TEST_CASE("1.37 has k of n groups, and topology for each of them") {
    gang_bundle made = gang("g", 0);
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"zone", "rack"}, 0));
    const auto outer = add(made, "outer", 0);
    made.gang.tree.constrain_topology(outer, levels({"zone", "rack"}, 1));
    made.gang.tree.require_subgroups(outer, 1);
    add(made, "a", 2, 2, outer);
    add(made, "b", 3, 3, outer);
    const written out = to_composites(made);
    CHECK(losses(out) == "");
    CHECK(violations(out) == "");
    CHECK(spec(out, "Workload") ==
          json("{'compositePodGroupTemplates': [{'name': 'gang', 'schedulingPolicy': {'gang': {"
               "'minGroupCount': 1}}, 'schedulingConstraints': {'topology': [{'key': 'zone'}]}, "
               "'compositePodGroupTemplates': [{'name': 'outer', 'schedulingPolicy': {'gang': {"
               "'minGroupCount': 1}}, 'schedulingConstraints': {'topology': [{'key': 'rack'}]}, "
               "'podGroupTemplates': [{'name': 'a', 'schedulingPolicy': {'gang': {'minCount': 2}}},"
               " {'name': 'b', 'schedulingPolicy': {'gang': {'minCount': 3}}}]}]}]}"));
    CHECK(spec(out, "CompositePodGroup", 1).at("parentCompositePodGroupName") == "g");
    CHECK(spec(out, "PodGroup").at("parentCompositePodGroupName") == "g-outer");
}

TEST_CASE("1.37 nests four levels of groups: a deeper gang keeps its roles") {
    gang_bundle made = gang("g", 0);
    auto at = muster::vertex_index{0};
    for (const char* name : {"one", "two", "three"})
        at = add(made, name, 0, 0, at);
    add(made, "a", 1, 2, at);
    add(made, "b", 1, 2, at);
    CHECK(losses(to_composites(made)) == "");
    CHECK(count(to_composites(made), "CompositePodGroup") == 4);
    gang_bundle deeper = gang("g", 0);
    at = muster::vertex_index{0};
    for (const char* name : {"one", "two", "three", "four"})
        at = add(deeper, name, 0, 0, at);
    add(deeper, "a", 1, 2, at);
    add(deeper, "b", 1, 2, at);
    const written out = to_composites(deeper);
    CHECK(losses(out) == "nesting");
    CHECK(violations(out) == "");
    CHECK(count(out, "CompositePodGroup") == 1);
    CHECK(spec(out, "CompositePodGroup").at("schedulingPolicy") ==
          json("{'gang': {'minGroupCount': 2}}"));
}

TEST_CASE("1.37's groups need one member at least: a role without minimum stands outside") {
    gang_bundle made = master_and_workers();
    add(made, "tensorboard", 0, 1);
    const written out = to_composites(made);
    CHECK(losses(out) == "all-or-nothing");
    CHECK(count(out, "PodGroup") == 2);
    CHECK_FALSE(spec(out, "Pod", 5).as_object().contains("schedulingGroup"));
}

TEST_CASE("on one level of 1.37's groups there are at most eight") {
    gang_bundle made = gang("g", 0);
    for (int role = 0; role < 9; ++role)
        add(made, "r" + std::to_string(role), 1, 2);
    CHECK(violations(to_composites(made)) ==
          "spec.compositePodGroupTemplates[0].podGroupTemplates: 9 of them (expected at most 8)");
}

} // namespace translate_to_workload_test
