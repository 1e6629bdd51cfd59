// SPDX-License-Identifier: Apache-2.0
#include <muster/lifecycle/grove_controller.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/apis/grove/backends.hpp>

#include "muster/lifecycle/grove_server.hpp"

namespace lifecycle_grove_controller_test {

using namespace lifecycle_grove;
using muster::translate::kai_backend;
using names = std::vector<std::string>;

namespace {

/// A frontend, and a scaling group of a leader and workers.
std::string model(const std::string& spec = {}, const std::string& inner = {}) {
    return R"(apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: set
  labels: {kai.scheduler/queue: research}
spec:
  replicas: 1
)" + spec + R"(  template:
    terminationDelay: 1h
)" + inner +
           R"(    cliques:
    - name: front
      spec: {roleName: front, replicas: 2, minAvailable: 1, podSpec: {schedulerName: kai-scheduler, containers: [{name: c}]}}
    - name: lead
      spec: {roleName: lead, replicas: 1, podSpec: {schedulerName: kai-scheduler, containers: [{name: c}]}}
    - name: work
      spec: {roleName: work, replicas: 2, podSpec: {schedulerName: kai-scheduler, containers: [{name: c}]}}
    podCliqueScalingGroups:
    - {name: model, cliqueNames: [lead, work], replicas: 2}
)";
}

grove_server upstream(const std::string& text = model()) {
    grove_server made;
    made.dialect = grove_dialect::upstream;
    made.apply(parse_yaml(text));
    return made;
}

} // namespace

TEST_CASE("first come the gangs, then their PodCliques, then pods, then what refers to them") {
    grove_server server = upstream();
    const kai_backend backend;
    const auto pass = [&] {
        for (const grove_write& each : server.look("set", backend).writes)
            server.write(each);
    };
    pass();
    CHECK(server.names("scheduler.grove.io/PodGang") == names{"set-0", "set-0-model-0"});
    CHECK(server.names("Service") == names{"set-0"});
    CHECK(server.names("grove.io/PodCliqueScalingGroup") == names{"set-0-model"});
    CHECK(server.names("grove.io/PodClique") == names{"set-0-front"});
    CHECK(server.names("Pod").empty());
    pass();
    CHECK(server.names("grove.io/PodClique") == names{"set-0-front", "set-0-model-0-lead",
                                                      "set-0-model-0-work", "set-0-model-1-lead",
                                                      "set-0-model-1-work"});
    CHECK(server.names("Pod").size() == 2);
    pass();
    CHECK(server.names("Pod").size() == 8);
    CHECK(serialize(server.at("scheduler.grove.io/PodGang set-0").at("status"))
              .find(R"("type":"Initialized","status":"False")") != std::string::npos);
    server.settle("set", backend);
    CHECK(serialize(server.at("scheduler.grove.io/PodGang set-0").at("status"))
              .find(R"("type":"Initialized","status":"True")") != std::string::npos);
}

TEST_CASE("once all is there nothing is left to do, and the gangs refer to all of their pods") {
    grove_server server = upstream();
    server.settle("set", kai_backend{});
    CHECK(server.look("set", kai_backend{}).is_quiet());
    const json::value& groups =
        server.at("scheduler.grove.io/PodGang set-0").at("spec").at("podgroups");
    REQUIRE(groups.as_array().size() == 3);
    CHECK(groups.at(0).at("podReferences").as_array().size() == 2);
    CHECK(groups.at(2).at("podReferences").as_array().size() == 2);
    CHECK(server.at("scheduling.run.ai/PodGroup set-0").at("spec").at("minMember") == 4);
}

TEST_CASE("pods of a base gang are ungated at once, those of a scaled gang when the base stands") {
    grove_server server = upstream();
    server.settle("set", kai_backend{});
    const auto gated = [&] {
        int count = 0;
        for (const auto& [name, each] : server.objects)
            count += grove_server::is_gated(each);
        return count;
    };
    CHECK(gated() == 3);
    // One of the two frontends is enough, but every worker must stand.
    std::string last;
    for (const std::string& name : server.names("Pod"))
        if (!grove_server::is_gated(server.at("Pod " + name))) {
            if (name.starts_with("set-0-model-0-work"))
                last = name;
            else
                server.run_pod(server.at("Pod " + name), "node");
        }
    for (const std::string& name : server.names("Pod"))
        if (name.starts_with("set-0-model-0-work") && name != last)
            server.run_pod(server.at("Pod " + name), "node");
    server.settle("set", kai_backend{});
    CHECK(gated() == 3);
    server.run_pod(server.at("Pod " + last), "node");
    server.settle("set", kai_backend{});
    CHECK(gated() == 0);
}

TEST_CASE("a gang is pending, starting, running, and the set counts its replicas") {
    grove_server server = upstream();
    server.settle("set", kai_backend{});
    const auto phase = [&] {
        return std::string(
            server.at("scheduler.grove.io/PodGang set-0").at("status").at("phase").as_string());
    };
    CHECK(phase() == "Pending");
    for (const std::string& name : server.names("Pod"))
        server.at("Pod " + name)["spec"].as_object()["nodeName"] = "node";
    server.settle("set", kai_backend{});
    CHECK(phase() == "Starting");
    for (const std::string& name : server.names("Pod"))
        server.run_pod(server.at("Pod " + name), "node");
    server.settle("set", kai_backend{});
    CHECK(phase() == "Running");
    const json::value& status = server.at("grove.io/PodCliqueSet set").at("status");
    CHECK(status.at("availableReplicas") == 1);
    CHECK(status.at("replicas") == 1);
    CHECK_FALSE(status.as_object().contains("ready"));
}

TEST_CASE("a set scales out and in by whole replicas") {
    grove_server server = upstream();
    server.settle("set", kai_backend{});
    server.at("grove.io/PodCliqueSet set")["spec"].as_object()["replicas"] = 2;
    server.settle("set", kai_backend{});
    CHECK(server.names("scheduler.grove.io/PodGang") ==
          names{"set-0", "set-0-model-0", "set-1", "set-1-model-0"});
    CHECK(server.names("Pod").size() == 16);
    server.at("grove.io/PodCliqueSet set")["spec"].as_object()["replicas"] = 1;
    server.settle("set", kai_backend{});
    CHECK(server.names("scheduler.grove.io/PodGang") == names{"set-0", "set-0-model-0"});
    CHECK(server.names("scheduling.run.ai/PodGroup") == names{"set-0", "set-0-model-0"});
    CHECK(server.names("Service") == names{"set-0"});
    CHECK(server.names("grove.io/PodClique").size() == 5);
    CHECK(server.names("Pod").size() == 8);
    server.at("grove.io/PodCliqueSet set")["spec"].as_object()["replicas"] = 0;
    server.settle("set", kai_backend{});
    CHECK(server.objects.size() == 1);
}

TEST_CASE("a scaling group scales by whole gangs, from the last one") {
    grove_server server = upstream();
    server.settle("set", kai_backend{});
    auto& group = server.at("grove.io/PodCliqueSet set")["spec"]
                      .at("template")
                      .as_object()["podCliqueScalingGroups"]
                      .as_array()[0]
                      .as_object();
    group["replicas"] = 3;
    server.settle("set", kai_backend{});
    CHECK(server.names("scheduler.grove.io/PodGang") ==
          names{"set-0", "set-0-model-0", "set-0-model-1"});
    CHECK(server.names("Pod").size() == 11);
    auto& again = server.at("grove.io/PodCliqueSet set")["spec"]
                      .at("template")
                      .as_object()["podCliqueScalingGroups"]
                      .as_array()[0]
                      .as_object();
    again["replicas"] = 1;
    server.settle("set", kai_backend{});
    CHECK(server.names("scheduler.grove.io/PodGang") == names{"set-0"});
    CHECK(server.names("grove.io/PodClique") ==
          names{"set-0-front", "set-0-model-0-lead", "set-0-model-0-work"});
    CHECK(server.names("Pod").size() == 5);
}

TEST_CASE("somebody else may scale what the set lets scale, within its bounds") {
    std::string text = model();
    text.replace(text.find("replicas: 2}"), 12,
                 "replicas: 2, scaleConfig: {minReplicas: 1, maxReplicas: 3}}");
    grove_server server = upstream(text);
    server.settle("set", kai_backend{});
    auto& replicas =
        server.at("grove.io/PodCliqueScalingGroup set-0-model")["spec"].as_object()["replicas"];
    replicas = 7;
    server.settle("set", kai_backend{});
    CHECK(server.names("scheduler.grove.io/PodGang").size() == 3);
    CHECK(server.at("grove.io/PodCliqueScalingGroup set-0-model").at("spec").at("replicas") == 3);
    // Of a clique that does not scale by itself the set's number counts.
    server.at("grove.io/PodClique set-0-front")["spec"].as_object()["replicas"] = 9;
    server.settle("set", kai_backend{});
    CHECK(server.at("grove.io/PodClique set-0-front").at("spec").at("replicas") == 2);
}

TEST_CASE(
    "of what is scaled in, pods without a node go first, then what is not ready, then the new") {
    grove_server server = upstream();
    auto& clique = server.at("grove.io/PodCliqueSet set")["spec"]
                       .at("template")
                       .at("cliques")
                       .as_array()[0]
                       .at("spec")
                       .as_object();
    clique["replicas"] = 4;
    server.settle("set", kai_backend{});
    names pods;
    for (const std::string& name : server.names("Pod"))
        if (name.starts_with("set-0-front"))
            pods.push_back(name);
    REQUIRE(pods.size() == 4);
    const auto pod = [&](std::size_t at) -> json::object& { return server.at("Pod " + pods[at]); };
    for (const std::size_t at : {0U, 1U, 2U})
        server.run_pod(pod(at), "node");
    pod(0)["status"].as_object().erase("conditions"); // runs, and is not ready
    pod(2)["metadata"].as_object()["creationTimestamp"] = "2025-12-04T10:31:00Z";
    const auto scale = [&](int count) {
        server.at("grove.io/PodCliqueSet set")["spec"]
            .at("template")
            .at("cliques")
            .as_array()[0]
            .at("spec")
            .as_object()["replicas"] = count;
        server.settle("set", kai_backend{});
        names left;
        for (const std::string& name : server.names("Pod"))
            if (name.starts_with("set-0-front"))
                left.push_back(name);
        return left;
    };
    CHECK(scale(3) == names{pods[0], pods[1], pods[2]});
    CHECK(scale(2) == names{pods[1], pods[2]});
    CHECK(scale(1) == names{pods[1]});
}

TEST_CASE("what Kubernetes fills into groups of its own API stays") {
    std::string text = model();
    for (std::size_t at = 0; (at = text.find("kai-scheduler", at)) != std::string::npos;)
        text.replace(at, 13, "default-scheduler");
    grove_server server = upstream(text);
    server.dialect = grove_dialect::seed;
    const muster::translate::default_backend backend{muster::translate::workload_version::v1_36};
    server.settle("set", backend);
    const names groups = server.names("scheduling.k8s.io/PodGroup");
    REQUIRE(groups.size() == 5);
    for (const std::string& each : groups)
        server.at("scheduling.k8s.io/PodGroup " + each)["spec"].as_object()["disruptionMode"] =
            "Pod";
    CHECK(server.look("set", backend).is_quiet());
}

TEST_CASE("derived objects that were edited or deleted are restored") {
    grove_server server = upstream();
    const kai_backend backend;
    server.settle("set", backend);
    const auto before = server.objects;
    const auto same_as_before = [&](const std::string& key) {
        json::object now = server.at(key);
        json::object then = before.at(key);
        for (json::object* each : {&now, &then})
            each->at("metadata").as_object().erase("uid");
        return now == then;
    };
    SUBCASE("a PodGroup's minimum") {
        server.at("scheduling.run.ai/PodGroup set-0")["spec"].as_object()["minMember"] = 1;
    }
    SUBCASE("a subgroup taken away") {
        server.at("scheduling.run.ai/PodGroup set-0")["spec"]
            .as_object()["subGroups"]
            .as_array()
            .pop_back();
    }
    SUBCASE("a field that nobody asked for") {
        server.at("scheduling.run.ai/PodGroup set-0")["spec"].as_object()["minSubGroup"] = 1;
    }
    SUBCASE("a PodGroup") {
        server.remove("scheduling.run.ai/PodGroup set-0");
    }
    SUBCASE("a label") {
        server.at("scheduler.grove.io/PodGang set-0")["metadata"]
            .as_object()["labels"]
            .as_object()["grove.io/scheduler-name"] = "volcano";
    }
    SUBCASE("the reference to the owner") {
        server.at("scheduler.grove.io/PodGang set-0")["metadata"].as_object().erase(
            "ownerReferences");
    }
    SUBCASE("a PodGang's references") {
        server.at("scheduler.grove.io/PodGang set-0")["spec"]
            .at("podgroups")
            .as_array()[0]
            .as_object()["podReferences"]
            .as_array()
            .clear();
    }
    SUBCASE("a Service") {
        server.remove("Service set-0");
    }
    CHECK_FALSE(server.look("set", backend).is_quiet());
    server.settle("set", backend);
    CHECK(same_as_before("scheduling.run.ai/PodGroup set-0"));
    CHECK(same_as_before("scheduler.grove.io/PodGang set-0"));
    CHECK(same_as_before("Service set-0"));
}

TEST_CASE("a deleted PodGang comes back with all that is derived from it") {
    grove_server server = upstream();
    server.settle("set", kai_backend{});
    server.remove("scheduler.grove.io/PodGang set-0");
    CHECK(server.names("scheduling.run.ai/PodGroup") == names{"set-0-model-0"});
    server.settle("set", kai_backend{});
    CHECK(server.names("scheduling.run.ai/PodGroup") == names{"set-0", "set-0-model-0"});
    CHECK(server.at("scheduling.run.ai/PodGroup set-0")
              .at("metadata")
              .at("ownerReferences")
              .at(0)
              .at("uid") == server.at("scheduler.grove.io/PodGang set-0").at("metadata").at("uid"));
    CHECK(server.at("scheduler.grove.io/PodGang set-0")
              .at("spec")
              .at("podgroups")
              .at(0)
              .at("podReferences")
              .as_array()
              .size() == 2);
}

TEST_CASE("what KAI writes in a PodGroup, and what stands beside our labels, stays") {
    grove_server server = upstream();
    server.settle("set", kai_backend{});
    json::object& group = server.at("scheduling.run.ai/PodGroup set-0");
    group["spec"].as_object()["markUnschedulable"] = true;
    group["spec"].as_object()["queue"] = "moved";
    group["metadata"].as_object()["labels"].as_object()["node-pool"] = "a";
    group["status"] = {{"conditions", json::array{}}};
    CHECK(server.look("set", kai_backend{}).is_quiet());
}

TEST_CASE("what somebody else owns is left alone, and said") {
    grove_server server = upstream();
    server.create(parse_yaml("{apiVersion: v1, kind: Service, metadata: {name: set-0}, spec: {}}"));
    server.settle("set", kai_backend{});
    CHECK(server.at("Service set-0").at("spec") == json::object{});
    CHECK(server.at("grove.io/PodCliqueSet set")
              .at("status")
              .at("lastErrors")
              .at(0)
              .at("description") ==
          "Service set-0 belongs to another owner (expected the name to be free)");
    server.remove("Service set-0");
    server.settle("set", kai_backend{});
    CHECK(server.at("grove.io/PodCliqueSet set").at("status").at("lastErrors") == json::array{});
}

TEST_CASE("a pod that is gone is made again, in its place") {
    grove_server server = upstream();
    server.settle("set", kai_backend{});
    const std::string gone = server.names("Pod").front();
    const json::value host = server.at("Pod " + gone).at("spec").at("hostname");
    server.remove("Pod " + gone);
    server.settle("set", kai_backend{});
    CHECK(server.names("Pod").size() == 8);
    CHECK(server.at("Pod " + server.names("Pod").front()).at("spec").at("hostname") == host);
}

TEST_CASE("a set that is on its way out is left to those who collect") {
    grove_server server = upstream();
    server.settle("set", kai_backend{});
    server.remove("Pod " + server.names("Pod").front());
    server.at("grove.io/PodCliqueSet set")["metadata"].as_object()["deletionTimestamp"] =
        "2025-12-04T10:30:00Z";
    CHECK(server.look("set", kai_backend{}).is_quiet());
    server.remove("grove.io/PodCliqueSet set");
    CHECK(server.objects.empty());
}

} // namespace lifecycle_grove_controller_test
