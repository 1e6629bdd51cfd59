// SPDX-License-Identifier: Apache-2.0
// Pods of Grove carry the marks of their scheduler's backend beside Grove's own.
#include <muster/input/gang_reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>

namespace codec_grove_pods_read_test {

using namespace muster::codec;

namespace {

constexpr const char* pod = R"(
---
apiVersion: v1
kind: Pod
metadata:
  name: p
  labels: {grove.io/podgang: set-0, grove.io/podclique: set-0-work, kai.scheduler/subgroup-name: set-0-work}
  annotations: {pod-group-name: set-0}
spec: {schedulerName: kai-scheduler, containers: [{name: c}]}
)";
constexpr const char* gang = R"(
---
apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata: {name: set-0, uid: g}
spec: {podgroups: [{name: set-0-work, minReplicas: 1, podReferences: [{namespace: default, name: p}]}]}
)";
std::string group(const std::string& owners) {
    return R"(
---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: set-0)" +
           owners + R"(}
spec: {minMember: 1, queue: q, subGroups: [{name: set-0-work, minMember: 1}]}
)";
}

/// The gangs as `kind name: pods`, or what is wrong.
std::string read(const std::string& text) {
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const gangs made = read_gangs(documents, {}, out);
    std::string lines;
    for (const diagnostic& each : out.findings())
        if (each.level == severity::error)
            lines += each.message + '\n';
    for (const auto& bundle : made.bundles)
        lines += bundle.gang.kind + ' ' + bundle.gang.name + ": " +
                 std::to_string(bundle.pods.size()) + '\n';
    return lines;
}

} // namespace

TEST_CASE("where the PodGang is there it decides, whatever is derived from it") {
    CHECK(read(std::string(gang) + pod) == "PodGang set-0: 1\n");
    CHECK(read(gang +
               group(", ownerReferences: [{apiVersion: scheduler.grove.io/v1alpha1, kind: "
                     "PodGang, name: set-0, uid: g}]") +
               pod) == "PodGang set-0: 1\n");
}

TEST_CASE("where it is not there, what is derived from it stands for it") {
    CHECK(read(group("") + pod) == "PodGroup set-0: 1\n");
}

TEST_CASE("a group of another API that nobody derived from the PodGang contradicts it") {
    CHECK(read(gang + group("") + pod)
              .starts_with("pod p: pod-group-name and a PodGang both name its group"));
}

} // namespace codec_grove_pods_read_test
