// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/t9k/jobs/objects.hpp>

#include <string>
#include <string_view>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include "muster/t9k_jobs.hpp"

namespace translate_t9k_objects_test {

using namespace muster::translate;
using muster_test::t9k_input;
using muster_test::t9k_of;

namespace json = boost::json;

namespace {

/// Kind and name of each object.
std::string listed(const std::vector<json::object>& objects) {
    std::string text;
    for (const json::object& each : objects) {
        text.append(text.empty() ? "" : " ").append(each.at("kind").as_string());
        text.append("/").append(each.at("metadata").at("name").as_string());
    }
    return text;
}

std::string services(std::string_view kind, std::string_view spec) {
    const t9k_input input = t9k_of(kind, spec);
    std::string text = listed(services_of(input.job));
    for (std::size_t at = 0; (at = text.find("Service/", at)) != std::string::npos;)
        text.erase(at, 8);
    return text;
}

} // namespace

TEST_CASE("the group comes first, then files and Services, then the pods") {
    const t9k_input input =
        t9k_of("MPIJob", "{scheduler: {t9kScheduler: {}}, worker: {replicas: 2}}");
    CHECK(listed(objects_of(input.job)) ==
          "PodGroup/j ConfigMap/j-hosts Service/j-worker-0 Service/j-worker-1 Pod/j-launcher "
          "Pod/j-worker-0 Pod/j-worker-1");
}

TEST_CASE("replicas have Services whose names somebody looks up") {
    CHECK(services("GenericJob", "{replicaSpecs: [{type: w}]}") == "");
    CHECK(services("GenericJob",
                   "{service: {ports: [{port: 1}]}, replicaSpecs: [{type: w, replicas: "
                   "2}, {type: x}]}") == "j-w-0 j-w-1 j-x-0");
    CHECK(services("TensorFlowTrainingJob",
                   "{replicaSpecs: [{type: worker, replicas: 2}, {type: evaluator}]}") ==
          "j-worker-0 j-worker-1");
    CHECK(services("PyTorchTrainingJob", "{replicaSpecs: [{type: w, replicas: 2}]}") == "j-w-0");
    CHECK(services("XGBoostTrainingJob", "{replicaSpecs: [{type: worker}, {type: master}]}") ==
          "j-master-0");
    CHECK(services("ColossalAIJob", "{worker: {}}") == "j-worker-0");
    CHECK(services("DeepSpeedJob", "{worker: {replicas: 2}}") == "j-worker-0 j-worker-1");
    CHECK(services("BeamJob", "{flinkClusterTemplate: {}, jobTemplate: {}}") ==
          "j-flinkcluster-jobmanager-0");
}

TEST_CASE("a Service is headless, owned by the job, and selects its one replica") {
    const t9k_input input =
        t9k_of("GenericJob", "{service: {ports: [{name: http, port: 80, targetPort: 8080}]}, "
                             "replicaSpecs: [{type: w}]}");
    CHECK(services_of(input.job)[0] == json::parse(R"({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "j-w-0", "namespace": "lab", "ownerReferences": [{
            "apiVersion": "batch.tensorstack.dev/v1beta1", "kind": "GenericJob", "name": "j",
            "uid": "u-1", "controller": true, "blockOwnerDeletion": true}]},
        "spec": {"clusterIP": "None", "selector": {"genericjob-replica": "j-w-0"},
                 "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}})")
                                           .as_object());
}

TEST_CASE("the host file names the workers, DeepSpeed's variables are beside it") {
    const t9k_input input = t9k_of(
        "DeepSpeedJob", "{config: {slotsPerWorker: 4}, worker: {replicas: 2, template: {spec: "
                        "{containers: [{name: worker, env: [{name: A, value: b}, {name: S, "
                        "valueFrom: {}}]}]}}}}");
    const auto map = config_map_of(input.job);
    REQUIRE(map);
    CHECK(map->at("data") == json::parse(R"({
        "hostfile": "j-worker-0 slots=4\nj-worker-1 slots=4\n", "deepspeed_env": "A=b\n"})"));
    const t9k_input without =
        t9k_of("DeepSpeedJob", "{disableCustomEnv: true, worker: {replicas: 1}}");
    CHECK_FALSE(config_map_of(without.job)->at("data").as_object().contains("deepspeed_env"));
    CHECK_FALSE(config_map_of(t9k_of("GenericJob", "{replicaSpecs: [{type: w}]}").job));
}

TEST_CASE("an option writes the types' minima into the group") {
    const t9k_input input =
        t9k_of("GenericJob", "{scheduler: {t9kScheduler: {queue: q}}, "
                             "replicaSpecs: [{type: a, replicas: 2}, {type: b}]}");
    CHECK(pod_group_of(input.job)->at("spec") ==
          json::parse(R"({"minMember": 3, "queue": "q", "priority": 0})"));
    t9k_options options;
    options.fill_roles = true;
    CHECK(pod_group_of(input.job, options)->at("spec").at("roles") ==
          json::parse(R"([{"name": "a", "minMember": 2}, {"name": "b", "minMember": 1}])"));
}

} // namespace translate_t9k_objects_test
