// SPDX-License-Identifier: Apache-2.0
#include <muster/input/isolate_faults.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>

namespace codec_isolate_faults_test {
namespace {

using namespace muster::codec;

struct reading {
    std::vector<document> documents;
    diagnostics out;
    manifests objects;

    explicit reading(const std::string& text)
        : documents(read_documents("in", text, out, input_format::automatic, on_unread::isolate)),
          objects(read_cluster_isolated(documents, {}, out)) {}

    [[nodiscard]] std::string findings() const {
        std::string lines;
        for (const diagnostic& each : out.findings())
            lines += to_text(each) + "\n";
        return lines;
    }
};

/// A List of these items, in one line.
std::string list(const std::string& items) {
    return R"({"apiVersion":"v1","kind":"List","items":[)" + items + "]}";
}
std::string pod(const std::string& name, const std::string& spec) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
           R"(","namespace":"a"},"spec":{)" + spec + "}}";
}
const std::string container = R"("containers":[{"name":"c"}])";

TEST_CASE("an item of a list that has an error breaks no other item, and its pod waits") {
    const reading read(list(pod("good", container) + "," +
                            pod("bad", container + R"(,"tolerations":[{"operator":"Maybe"}])")));
    CHECK(read.out.ok());
    CHECK(read.findings() ==
          "in:1:293: warning: items[1].spec.tolerations[0].operator: \"Maybe\" is not an operator "
          "(expected Exists, Equal, Gt or Lt), so Pod \"a/bad\" counts as broken\n");
    REQUIRE(read.objects.pods.size() == 2);
    CHECK(read.objects.pods[0].unsupported.empty());
    REQUIRE(read.objects.pods[1].unsupported.size() == 1);
    CHECK(read.objects.pods[1].unsupported[0].starts_with("spec.tolerations[0].operator: "));
}

TEST_CASE("a node with a pod whose requests cannot be read takes no new pods") {
    const std::string node =
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":)"
        R"({"cpu":"4"}}})";
    const reading read(list(
        node + "," +
        pod("p",
            R"("nodeName":"n","containers":[{"name":"c","resources":{"requests":{"cpu":"x"}}}])")));
    CHECK(read.out.ok());
    REQUIRE(read.objects.nodes.size() == 1);
    REQUIRE(read.objects.nodes[0].taints.size() == 1);
    CHECK(read.objects.nodes[0].taints[0].key == muster::unread_taint_key);
    CHECK(!read.objects.nodes[0].unschedulable);
}

TEST_CASE("claims and volumes that cannot be read are there and say so") {
    const reading read(
        list(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c",)"
             R"("namespace":"a"},"spec":{"accessModes":["Sometimes"]}},)"
             R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v"},)"
             R"("spec":{"capacity":{"storage":"much"}}})"));
    CHECK(read.out.ok());
    CHECK(read.out.warnings() == 2);
    REQUIRE(read.objects.storage.claims.size() == 1);
    CHECK(read.objects.storage.claims[0].unread.starts_with("spec.accessModes[0]: "));
    REQUIRE(read.objects.storage.volumes.size() == 1);
    CHECK(read.objects.storage.volumes[0].unread.starts_with("spec.capacity.storage: "));
    CHECK(!read.objects.storage.volumes[0].available);
}

TEST_CASE("a group of another API that has an error is malformed, not missing") {
    const reading read(list(
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":)"
        R"({"name":"g","namespace":"a"},"spec":{"minMember":"three"}},)"
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a","annotations":)"
        R"({"scheduling.k8s.io/group-name":"g"}},"spec":{"containers":[{"name":"c"}]}})"));
    CHECK(read.out.ok());
    CHECK(read.out.warnings() == 1);
    REQUIRE(read.objects.gangs.size() == 1);
    CHECK(read.objects.gangs[0].fault == muster::gang_fault::malformed);
    CHECK(read.objects.gangs[0].fault_detail.starts_with("spec.minMember: "));
}

TEST_CASE("what somebody writes by hand keeps its errors, and an object with a uid does not") {
    const std::string broken = R"("tolerations":[{"operator":"Maybe"}])";
    const reading written(pod("bad", container + "," + broken));
    CHECK_FALSE(written.out.ok());
    CHECK(written.findings().find("counts as broken") == std::string::npos);
    std::string seen = pod("bad", container + "," + broken);
    seen.replace(seen.find(R"("name":"bad")"), 0, R"("uid":"u",)");
    const reading of_cluster(seen);
    CHECK(of_cluster.out.ok());
    REQUIRE(of_cluster.objects.pods.size() == 1);
    CHECK(of_cluster.objects.pods[0].unsupported.size() == 1);
}

TEST_CASE("an error that belongs to no single object stays an error") {
    const reading twice(list(pod("p", container) + "," + pod("p", container)));
    CHECK_FALSE(twice.out.ok());
}

TEST_CASE("an input without errors is read as by read_cluster") {
    const std::string text = list(pod("a", container) + "," + pod("b", container));
    const reading read(text);
    CHECK(read.out.ok());
    CHECK(read.out.findings().empty());
    CHECK(read.objects.pods.size() == 2);
}

} // namespace
} // namespace codec_isolate_faults_test
