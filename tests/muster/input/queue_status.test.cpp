// SPDX-License-Identifier: Apache-2.0
#include <muster/input/queue_status.hpp>

#include <string>
#include <vector>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_queue_status_test {
namespace {

using namespace muster::codec;

/// A pod of the queue q, in JSON, in a phase; on a node unless it is pending.
std::string pod(const std::string& name, const std::string& phase, const std::string& requests,
                const std::string& group = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", labels: {scheduler.tensorstack.dev/queue: q" +
           (group.empty() ? "" : ", scheduler.tensorstack.dev/group-name: " + group) +
           "}}\nspec: {" + (phase == "Pending" ? "" : "nodeName: n1, ") +
           "containers: [{name: c, resources: {requests: {" + requests +
           "}}}]}\nstatus: {phase: " + phase + "}\n";
}

boost::json::object status(const std::string& spec, const std::string& pods) {
    diagnostics out;
    const auto documents = read_documents(
        "f",
        "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: q}\n"
        "spec: {" +
            spec + "}\n" + pods,
        out);
    const manifests objects = read_manifests(documents, {}, out);
    const object_lookup lookup(objects);
    std::vector<const group_map::value_type*> group_of;
    const group_map groups = find_groups(objects, lookup, group_of, out);
    CHECK(out.ok());
    auto standings = queue_standings(objects, groups);
    return status_of(objects.queues.at(0), standings["q"]);
}

std::string condition(const boost::json::object& status, std::size_t at) {
    return boost::json::serialize(status.at("conditions").as_array().at(at));
}

TEST_CASE("a queue's status says what it holds, its groups and its pods, as T9k prints it") {
    const std::string group = "---\napiVersion: scheduler.tensorstack.dev/v1beta1\nkind: PodGroup\n"
                              "metadata: {name: g}\nspec: {minMember: 2, queue: q}\n";
    const auto made =
        status("", group + pod("a", "Running", "cpu: 1500m, memory: 1Gi", "g") +
                       pod("b", "Running", "cpu: 90m, nvidia.com/gpu: 1", "g") +
                       pod("c", "Succeeded", "cpu: 8") + pod("d", "Failed", "cpu: 8") +
                       pod("e", "Pending", "cpu: 8") + pod("f", "Unknown", "cpu: 20"));
    CHECK(boost::json::serialize(made) ==
          R"({"allocated":{"cpu":"21590m","memory":"1Gi","nvidia.com/gpu":"1"},)"
          R"("conditions":[{"type":"QueueClosed","status":"False","reason":"QueueOpen",)"
          R"("message":"Queue is open"},{"type":"ResourcePressure","status":"False",)"
          R"("reason":"QueueHasNoResourcePressure","message":"Queue has sufficient resource )"
          R"(quota"}],"podGroups":{"total":5},)"
          R"("pods":{"failed":1,"pending":1,"running":2,"succeeded":1,"unknown":1}})");
}

TEST_CASE("a pod that names a queue and no group counts as a group") {
    CHECK(status("", "").at("podGroups").at("total") == 0);
    CHECK(status("", pod("a", "Pending", "cpu: 1") + pod("b", "Pending", "cpu: 1"))
              .at("podGroups")
              .at("total") == 2);
}

TEST_CASE("a queue is under pressure above 90 percent of its quota of any kind, not at it") {
    const std::string quota = "quota: {requests: {cpu: 10, nvidia.com/gpu: 10}}";
    CHECK(condition(status(quota, pod("a", "Running", "cpu: 9, nvidia.com/gpu: 9")), 1)
              .find(R"("status":"False")") != std::string::npos);
    CHECK(condition(status(quota, pod("a", "Running", "cpu: 9001m")), 1) ==
          R"({"type":"ResourcePressure","status":"True","reason":"QueueHasResourcePressure",)"
          R"("message":"Queue uses more than 90% of its quota of cpu"})");
    CHECK(condition(status(quota, pod("a", "Running", "nvidia.com/gpu: 10")), 1)
              .find("nvidia.com/gpu") != std::string::npos);
    // Who waits holds nothing.
    CHECK(condition(status(quota, pod("a", "Pending", "cpu: 10")), 1).find("True") ==
          std::string::npos);
    CHECK(condition(status("quota: {requests: {pods: 1}}", pod("a", "Running", "cpu: 1")), 1)
              .find("True") != std::string::npos);
}

TEST_CASE("a closed queue says that it is closed") {
    CHECK(condition(status("closed: true", ""), 0) ==
          R"({"type":"QueueClosed","status":"True","reason":"QueueClosed",)"
          R"("message":"Queue is closed"})");
}

} // namespace
} // namespace codec_queue_status_test
