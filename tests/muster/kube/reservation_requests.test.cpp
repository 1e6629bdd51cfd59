// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/reservation_requests.hpp>

#include <string>

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

namespace reservation_requests_test {

using namespace muster::kube;
namespace json = boost::json;

TEST_CASE("a reservation pod is as KAI's, on its node, and bears the name of its scheduler") {
    const reservation_options how{"reserved", "agent:1", "account", "nvidia", "gangs"};
    const http_request made = create_reservation_request(how, "n1", "g");
    CHECK(made.method == http_method::post);
    CHECK(made.path == "/api/v1/namespaces/reserved/pods");
    CHECK(json::parse(made.body) == json::parse(R"({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "gpu-reservation-n1-g", "namespace": "reserved",
            "labels": {"app": "kai-resource-reservation", "runai-gpu-group": "g"},
            "annotations": {"muster.dev/reserved-by": "gangs", "karpenter.sh/do-not-disrupt": "true"}},
        "spec": {
            "nodeName": "n1", "serviceAccountName": "account", "runtimeClassName": "nvidia",
            "containers": [{
                "name": "resource-reservation", "image": "agent:1",
                "imagePullPolicy": "IfNotPresent",
                "resources": {"limits": {"cpu": "50m", "memory": "100Mi", "nvidia.com/gpu": "1"},
                              "requests": {"cpu": "1m", "memory": "10Mi", "nvidia.com/gpu": "1"}},
                "env": [
                    {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    {"name": "POD_NAMESPACE",
                     "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}]}]}})"));
    const http_request plain = create_reservation_request({}, "n1", "g");
    CHECK(plain.path == "/api/v1/namespaces/kai-resource-reservation/pods");
    CHECK(plain.body.find("runtimeClassName") == std::string::npos);
    CHECK(reservation_name(std::string(250, 'n'), "g").size() == 253);
    CHECK(reservation_name(std::string(250, 'n'), "g").ends_with("n-g"));
}

TEST_CASE("a reservation pod is deleted at once, and no other pod of its name") {
    const http_request made = delete_reservation_request({"reserved", "r"}, "u");
    CHECK(made.method == http_method::erase);
    CHECK(made.path == "/api/v1/namespaces/reserved/pods/r");
    CHECK(json::parse(made.body) ==
          json::parse(R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
                          "preconditions": {"uid": "u"}})"));
}

TEST_CASE("a ConfigMap names the GPUs, belongs to the pod, and is made if it does not exist") {
    muster::codec::object_metadata pod;
    pod.key = {"team", "a"};
    pod.uid = "u-a";
    const http_request made = gpu_config_map_request(pod, "job-0", "1,2", "0.50");
    CHECK(made.method == http_method::patch);
    CHECK(made.path == "/api/v1/namespaces/team/configmaps/job-0");
    CHECK(made.query == "fieldManager=muster&force=true");
    CHECK(made.content_type == "application/apply-patch+yaml");
    CHECK(json::parse(made.body) == json::parse(R"({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "job-0", "namespace": "team", "ownerReferences":
            [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u-a"}]},
        "data": {"NVIDIA_VISIBLE_DEVICES": "1,2", "RUNAI_NUM_OF_GPUS": "0.50",
                 "GPU_PORTION": "0.50"}})"));
    CHECK(json::parse(gpu_config_map_request(pod, "job-0-evar", "1", "").body).at("data") ==
          json::parse(R"({"NVIDIA_VISIBLE_DEVICES": "1"})"));
    CHECK(gpu_config_map_request(pod, "../pods/x", "1", "").path ==
          "/api/v1/namespaces/team/configmaps/..%2Fpods%2Fx");
}

} // namespace reservation_requests_test
