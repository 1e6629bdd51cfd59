// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/grove/pods.hpp>

#include <set>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <muster/apis/grove/documents.hpp>
#include <muster/apis/grove/gangs.hpp>
#include <muster/document/document_hash.hpp>

namespace translate_grove_pods_test {

namespace json = boost::json;
using namespace muster::translate;

namespace {

/// A frontend, and scaled groups of a leader with workers that start after both.
struct world {
    json::value front = json::parse(R"({"containers": [{"name": "c", "image": "front"}]})");
    json::value worker = json::parse(R"({
        "schedulingGates": [{"name": "own"}],
        "initContainers": [{"name": "i"}],
        "containers": [{"name": "c", "env": [{"name": "GROVE_PCS_NAME", "value": "mine"},
                                             {"name": "A", "value": "1"}]}]})");
    json::value labels = json::parse(R"({"team": "a"})");
    json::value spec = json::parse(R"({"roleName": "w", "replicas": 2, "startsAfter": ["front"]})");
    grove_set set;

    world() {
        set.name_space = "ns";
        set.name = "set";
        set.uid = "set-uid";
        set.startup = grove_startup::explicit_order;
        set.cliques.resize(3);
        set.cliques[0].name = "front";
        set.cliques[0].pod_spec = &front.get_object();
        set.cliques[1].name = "lead";
        set.cliques[1].pod_spec = &front.get_object();
        set.cliques[2].name = "work";
        set.cliques[2].replicas = 4;
        set.cliques[2].min_available = 2;
        set.cliques[2].pod_spec = &worker.get_object();
        set.cliques[2].labels = &labels.get_object();
        set.cliques[2].spec = &spec.get_object();
        set.cliques[2].starts_after = {0, 1};
        set.cliques[1].group = set.cliques[2].group = 0;
        set.groups.resize(1);
        set.groups[0].name = "model";
        set.groups[0].cliques = {1, 2};
        set.groups[0].replicas = 2;
    }
};

json::object pod_of(const grove_set& set, std::size_t gang, std::size_t member,
                    grove_dialect dialect = grove_dialect::upstream) {
    const auto gangs = grove_gangs_of(set, 0);
    return grove_pod(set, gangs[gang], gangs[gang].members[member], 3, "p", "clique-uid",
                     {dialect, "image"});
}

} // namespace

TEST_CASE("a pod's labels say where it belongs") {
    const world in;
    CHECK(pod_of(in.set, 0, 0).at("metadata").at("labels") ==
          json::parse(R"({"app.kubernetes.io/managed-by": "grove-operator",
                          "app.kubernetes.io/part-of": "set",
                          "app.kubernetes.io/component": "pcs-podclique",
                          "grove.io/podcliqueset-replica-index": "0",
                          "grove.io/podgang": "set-0",
                          "grove.io/podclique": "set-0-front",
                          "grove.io/podclique-pod-index": "3",
                          "grove.io/pod-template-hash": ")" +
                      grove_template_hash(in.set.cliques[0]) + "\"}"));
    CHECK(pod_of(in.set, 1, 1).at("metadata").at("labels") ==
          json::parse(R"({"team": "a", "app.kubernetes.io/managed-by": "grove-operator",
                          "app.kubernetes.io/part-of": "set",
                          "app.kubernetes.io/component": "pcsg-podclique",
                          "grove.io/podcliqueset-replica-index": "0",
                          "grove.io/podgang": "set-0-model-0",
                          "grove.io/base-podgang": "set-0",
                          "grove.io/podcliquescalinggroup": "set-0-model",
                          "grove.io/podcliquescalinggroup-replica-index": "1",
                          "grove.io/podclique": "set-0-model-1-work",
                          "grove.io/podclique-pod-index": "3",
                          "grove.io/pod-template-hash": ")" +
                      grove_template_hash(in.set.cliques[2]) + "\"}"));
}

TEST_CASE("a pod has a host name, is owned by its PodClique and gated") {
    const world in;
    const json::object pod = pod_of(in.set, 0, 0);
    CHECK(pod.at("spec").at("hostname") == "set-0-front-3");
    CHECK(pod.at("spec").at("subdomain") == "set-0");
    CHECK(pod.at("spec").at("schedulingGates") ==
          json::parse(R"([{"name": "grove.io/podgang-pending-creation"}])"));
    CHECK(pod.at("metadata").at("ownerReferences") ==
          json::parse(R"([{"apiVersion": "grove.io/v1alpha1", "kind": "PodClique",
                           "name": "set-0-front", "uid": "clique-uid", "controller": true,
                           "blockOwnerDeletion": true}])"));
    CHECK(pod_of(in.set, 0, 2, grove_dialect::seed).at("spec").at("schedulingGates") ==
          json::parse(R"([{"name": "own"}, {"name": "grove.io/podgang"}])"));
}

TEST_CASE("every container knows its place, whatever the template says") {
    const world in;
    const json::object pod = pod_of(in.set, 1, 1);
    const json::value expected = json::parse(R"([
        {"name": "GROVE_PCS_NAME", "value": "set"},
        {"name": "GROVE_PCS_INDEX", "value": "0"},
        {"name": "GROVE_PCLQ_NAME", "value": "set-0-model-1-work"},
        {"name": "GROVE_HEADLESS_SERVICE", "value": "set-0.ns.svc.cluster.local"},
        {"name": "GROVE_PCLQ_POD_INDEX", "valueFrom": {"fieldRef":
            {"fieldPath": "metadata.labels['grove.io/podclique-pod-index']"}}},
        {"name": "GROVE_PCSG_NAME", "valueFrom": {"fieldRef":
            {"fieldPath": "metadata.labels['grove.io/podcliquescalinggroup']"}}},
        {"name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": "5"},
        {"name": "GROVE_PCSG_INDEX", "valueFrom": {"fieldRef":
            {"fieldPath": "metadata.labels['grove.io/podcliquescalinggroup-replica-index']"}}}])");
    CHECK(pod.at("spec").at("initContainers").at(0).at("env") == expected);
    json::array with_own = expected.as_array();
    with_own.push_back(json::object{{"name", "A"}, {"value", "1"}});
    CHECK(pod.at("spec").at("containers").at(0).at("env") == with_own);
    CHECK(pod_of(in.set, 0, 0).at("spec").at("containers").at(0).at("env").as_array().size() == 5);
}

TEST_CASE("a pod that starts after others has a container that waits for them") {
    const world in;
    const json::object pod = pod_of(in.set, 0, 2);
    const json::value& waiting = pod.at("spec").at("initContainers").at(1);
    CHECK(waiting.at("name") == "grove-initc");
    CHECK(waiting.at("image") == "image");
    CHECK(waiting.at("args") == json::parse(R"(["--podcliques=set-0-front:1",
                                                "--podcliques=set-0-model-0-lead:1"])"));
    CHECK(pod_of(in.set, 1, 1).at("spec").at("initContainers").at(1).at("args") ==
          json::parse(R"(["--podcliques=set-0-model-1-lead:1"])"));
    CHECK_FALSE(pod_of(in.set, 0, 0).at("spec").as_object().contains("initContainers"));
}

TEST_CASE("names of pods differ by place and attempt, and are the same every time") {
    const world in;
    const auto gangs = grove_gangs_of(in.set, 0);
    std::set<std::string> names;
    for (const grove_member& member : gangs[0].members)
        for (std::int64_t index = 0; index < 100; ++index)
            for (std::int64_t attempt = 0; attempt < 3; ++attempt)
                names.insert(grove_pod_name(member, index, attempt));
    CHECK(names.size() == 900);
    const std::string name = grove_pod_name(gangs[0].members[0], 0);
    CHECK(name == grove_pod_name(gangs[0].members[0], 0));
    CHECK(name.starts_with("set-0-front-"));
    CHECK(name.size() == 17);
}

TEST_CASE("a template's hash depends on what is in it, not on the order of its fields") {
    grove_clique clique;
    const json::value a = json::parse(R"({"x": 1, "y": {"p": [1, 2], "q": null}})");
    const json::value b = json::parse(R"({"y": {"q": null, "p": [1, 2]}, "x": 1})");
    const json::value c = json::parse(R"({"y": {"q": null, "p": [2, 1]}, "x": 1})");
    std::vector<std::string> hashes;
    for (const json::value* spec : {&a, &b, &c}) {
        clique.pod_spec = &spec->get_object();
        hashes.push_back(grove_template_hash(clique));
    }
    CHECK(hashes[0] == hashes[1]);
    CHECK(hashes[0] != hashes[2]);
}

TEST_CASE("a set's replica has a headless service, its groups and cliques objects") {
    const world in;
    const grove_options how{grove_dialect::upstream, "image"};
    const json::object service = grove_service(in.set, 0, how);
    CHECK(service.at("metadata").at("name") == "set-0");
    CHECK(service.at("spec") == json::parse(R"({"clusterIP": "None",
        "publishNotReadyAddresses": true, "selector": {"app.kubernetes.io/part-of": "set",
        "grove.io/podcliqueset-replica-index": "0"}})"));
    const json::object group = grove_scaling_group_object(in.set, 0, 0, 2, how);
    CHECK(group.at("metadata").at("name") == "set-0-model");
    CHECK(group.at("spec") == json::parse(R"({"replicas": 2, "minAvailable": 1,
                                              "cliqueNames": ["lead", "work"]})"));
    const auto gangs = grove_gangs_of(in.set, 0);
    const json::object clique = grove_clique_object(
        in.set, gangs[0], gangs[0].members[2], 4,
        {"grove.io/v1alpha1", "PodCliqueScalingGroup", "set-0-model", "u", true});
    CHECK(clique.at("metadata").at("name") == "set-0-model-0-work");
    CHECK(clique.at("spec") == json::parse(R"({"roleName": "w", "replicas": 4, "minAvailable": 2,
                          "startsAfter": ["set-0-front", "set-0-model-0-lead"]})"));
}

TEST_CASE("a gang's document refers to its pods and says what stays together") {
    world in;
    in.set.packing = {"t", "zone", ""};
    in.set.groups[0].packing = {"", "rack", ""};
    in.set.priority_class = "high";
    const auto gang = grove_gangs_of(in.set, 0)[0];
    const auto object = grove_gang_object(in.set, gang, grove_dialect::upstream, "kai-scheduler",
                                          nullptr, [](const grove_member&) { return 1; });
    const json::object made = grove_gang_document(object, [](std::size_t leaf) {
        return std::vector<std::string>{"p" + std::to_string(leaf)};
    });
    CHECK(made.at("apiVersion") == "scheduler.grove.io/v1alpha1");
    CHECK(made.at("spec") == json::parse(R"({
        "priorityClassName": "high",
        "topologyConstraint": {"packConstraint": {"required": "zone"}},
        "podgroups": [
            {"name": "set-0-front", "minReplicas": 1,
             "podReferences": [{"namespace": "ns", "name": "p0"}]},
            {"name": "set-0-model-0-lead", "minReplicas": 1,
             "podReferences": [{"namespace": "ns", "name": "p1"}]},
            {"name": "set-0-model-0-work", "minReplicas": 2,
             "podReferences": [{"namespace": "ns", "name": "p2"}]}],
        "topologyConstraintGroupConfigs": [
            {"name": "set-0-model-0", "podGroupNames": ["set-0-model-0-lead", "set-0-model-0-work"],
             "topologyConstraint": {"packConstraint": {"required": "rack"}}}]})"));
}

} // namespace translate_grove_pods_test
