// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/yunikorn/api.hpp>

#include <string>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/apis/gang_claims.hpp>
#include <muster/apis/write.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/membership.hpp>

#include "muster/gangs/gangs.hpp"
#include "muster/input/gang_texts.hpp"

namespace apis_yunikorn_test {
namespace {

namespace codec = muster::codec;
namespace translate = muster::translate;
using namespace translate_tests;

constexpr translate::target yunikorn{"yunikorn"};

std::string pod(const std::string& name, const std::string& labels,
                const std::string& annotations) {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
           ", namespace: team, labels: {" + labels + "}, annotations: {" + annotations +
           "}}, spec: {schedulerName: yunikorn, containers: [{name: c, image: i, resources: "
           "{requests: {cpu: 2, memory: 1Gi}}}]}}\n";
}
const std::string app = "yunikorn.apache.org/app-id: train";
std::string member(const std::string& group) {
    return "yunikorn.apache.org/task-group-name: " + group;
}
std::string lists(const std::string& groups) {
    return "yunikorn.apache.org/task-groups: '" + groups + "'";
}
const std::string two_groups =
    lists(R"([{"name": "master", "minMember": 1, "minResource": {"cpu": "2"}},
              {"name": "worker", "minMember": 2, "minResource": {"cpu": "2"}}])");

/// The groups of a cluster as it stands, a line each with queue, fault and pods; then the findings.
std::string stand(std::string text) {
    codec::diagnostics out;
    const auto documents = codec::read_documents("in", std::move(text), out);
    const codec::manifests objects = codec::read_cluster(documents, {}, out);
    std::vector<const codec::group_map::value_type*> group_of;
    const codec::object_lookup lookup(objects);
    std::string lines;
    for (const auto& [key, facts] : codec::find_groups(objects, lookup, group_of, out)) {
        lines += std::string(to_text(key.origin)) + " " + key.name + " " +
                 codec_tests::tree_text(facts.tree);
        lines += facts.queue.empty() ? "" : " queue=" + facts.queue;
        lines += facts.fault == muster::gang_fault::none ? "" : " wrong: " + facts.fault_detail;
        for (const std::size_t at : facts.members) {
            lines += " /" + objects.pods[at].metadata.key.name;
            for (const std::string& each : objects.pods[at].unsupported)
                lines += " " + each;
        }
        lines += "\n";
    }
    for (const codec::diagnostic& finding : out.findings())
        lines += to_text(finding) + "\n";
    return lines;
}

} // namespace

TEST_CASE("pods of one application are a gang with a role for each task group") {
    CHECK(stand(pod("w0", app, member("worker")) +
                pod("m0", app, member("master") + ", " + two_groups) +
                pod("w1", app, member("worker"))) ==
          "yunikorn train :3(master:1 worker:2) /m0 /w0 /w1\n");
}

TEST_CASE("an application with one task group is a root with one role, and its queue is that of "
          "its pods") {
    const std::string one =
        lists(R"([{"name": "worker", "minMember": 2, "minResource": {"cpu": "2"}}])");
    CHECK(stand(pod("w0", app + ", yunikorn.apache.org/queue: root.a",
                    member("worker") + ", " + one) +
                pod("w1", app + ", yunikorn.apache.org/queue: root.a", member("worker"))) ==
          "yunikorn train :2(worker:2) queue=root.a /w0 /w1\n");
    CHECK(stand(pod("w0", "applicationId: train, queue: root.b", member("worker") + ", " + one)) ==
          "yunikorn train :2(worker:2) queue=root.b /w0\n");
}

TEST_CASE("a pod that names a task group nobody describes waits, and the reason names the mark") {
    CHECK(stand(pod("w0", app, member("worker"))) ==
          "yunikorn train :1 wrong: no pod of the application train in namespace team has the "
          "annotation yunikorn.apache.org/task-groups: yunikorn.apache.org/task-group-name names a "
          "group of it /w0\n");
}

TEST_CASE("pods that describe the groups of one application differently make it wait") {
    const std::string other =
        lists(R"([{"name": "master", "minMember": 1, "minResource": {"cpu": "2"}},
                  {"name": "worker", "minMember": 5, "minResource": {"cpu": "2"}}])");
    const std::string text = stand(pod("m0", app, member("master") + ", " + two_groups) +
                                   pod("w0", app, member("worker") + ", " + other));
    CHECK(text.find("wrong: pod w0 and another pod of \"train\" describe its groups differently "
                    "(expected all to agree)") != std::string::npos);
}

TEST_CASE("a list of task groups that cannot be read makes its pod wait with the reason") {
    const std::string text = stand(pod("m0", app, member("master") + ", " + lists("[{}]")));
    CHECK(text.find("m0: yunikorn.apache.org/task-groups: the group at 0 has no name") !=
          std::string::npos);
    CHECK(text.find("wrong: ") != std::string::npos);
}

TEST_CASE("the id of an application alone makes no gang") {
    CHECK(stand(pod("a", app, "") + pod("b", app, "")) == "pod a :1 /a\npod b :1 /b\n");
}

TEST_CASE("a gang becomes an application whose pods list its groups with what they request") {
    translate::gang_bundle train = gang("train", 0);
    train.gang.queue = "root.a";
    train.gang.wait_seconds = 60;
    add(train, "master", 1, 1);
    add(train, "worker", 2, 2);
    for (translate::gang_pod& each : train.pods)
        each.document["spec"] = json("{'containers': [{'name': 'c', 'image': 'i', 'resources': "
                                     "{'requests': {'cpu': '1500m'}}}]}");
    const translate::written out = translate::write(yunikorn, train);
    REQUIRE(out.objects.size() == 3);
    CHECK(losses(out) == "");
    CHECK(violations(out) == "");
    const boost::json::object& metadata = out.objects[1].at("metadata").as_object();
    CHECK(metadata.at("labels").at("yunikorn.apache.org/app-id") == "train");
    CHECK(metadata.at("labels").at("yunikorn.apache.org/queue") == "root.a");
    const boost::json::object& notes = metadata.at("annotations").as_object();
    CHECK(notes.at("yunikorn.apache.org/task-group-name") == "worker");
    CHECK(notes.at("yunikorn.apache.org/schedulingPolicyParameters") ==
          "placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard");
    CHECK(boost::json::parse(notes.at("yunikorn.apache.org/task-groups").as_string()) ==
          json("[{'name': 'master', 'minMember': 1, 'minResource': {'cpu': '1500m'}}, "
               "{'name': 'worker', 'minMember': 2, 'minResource': {'cpu': '1500m'}}]"));
    CHECK(out.objects[1].at("spec").at("schedulerName") == "yunikorn");
}

TEST_CASE("what task groups cannot say is a loss") {
    translate::gang_bundle train = gang("train", 5);
    add(train, "a", 1, 3);
    add(train, "b", 1, 3);
    CHECK(losses(translate::write(yunikorn, train)) == "total-minimum");
    train.pods.clear();
    CHECK(losses(translate::write(yunikorn, train)) == "total-minimum all-or-nothing");
}

TEST_CASE("a gang that has only a total becomes one task group") {
    translate::gang_bundle train = gang("train", 3);
    add(train, "a", 0, 2);
    add(train, "b", 0, 2);
    std::string all;
    for (const boost::json::object& each : translate::write(yunikorn, train).objects)
        all += boost::json::serialize(each) + "\n---\n";
    CHECK(stand(all) == "yunikorn train :3(train:3) /train-a-0 /train-a-1 /train-b-0 /train-b-1\n");
}

TEST_CASE("a gang that is written for YuniKorn reads back with the same minima") {
    translate::gang_bundle train = gang("train", 0);
    add(train, "master", 1, 1);
    add(train, "worker", 3, 3);
    const translate::written out = translate::write(yunikorn, train);
    std::string all;
    for (const boost::json::object& each : out.objects)
        all += boost::json::serialize(each) + "\n---\n";
    CHECK(stand(all) == "yunikorn train :4(master:1 worker:3) /train-master-0 /train-worker-0 "
                        "/train-worker-1 /train-worker-2\n");
}

} // namespace apis_yunikorn_test
