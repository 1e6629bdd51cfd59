// SPDX-License-Identifier: Apache-2.0
#include <muster/input/manifests.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>

namespace codec_manifests_test {

using namespace muster::codec;

namespace {

struct read_result {
    std::vector<document> documents;
    manifests objects;
    std::string findings;
};

read_result read(const std::string& text, const manifest_options& options = {}) {
    read_result made;
    diagnostics out;
    made.documents = read_documents("f", text, out);
    made.objects = read_manifests(made.documents, options, out);
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

const std::string pod_text = R"(apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{}]}
)";

} // namespace

TEST_CASE("every kind that is understood is read, others are counted") {
    const auto made = read(pod_text + R"(---
{apiVersion: v1, kind: Node, metadata: {name: a}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {x: z}}, spec: {finalizers: []}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 5}
---
{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {}}
---
{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: Queue, metadata: {name: q}}
---
{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {anything: 1}}
---
{apiVersion: v1, kind: Service, metadata: {name: s}}
---
{apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, metadata: {name: q}}
---
{apiVersion: scheduler.tensorstack.dev/v1, kind: PodGroup, metadata: {name: g}}
)");
    CHECK(made.findings.empty());
    CHECK(made.objects.pods.size() == 1);
    CHECK(made.objects.nodes.size() == 1);
    CHECK(made.objects.namespaces.size() == 1);
    CHECK(made.objects.priority_classes.size() == 1);
    CHECK(made.objects.pod_groups.size() == 1);
    CHECK(made.objects.queues.size() == 1);
    CHECK(made.objects.skipped ==
          std::map<std::string, std::size_t>{{"v1 Service", 2},
                                             {"flow.volcano.sh/v1alpha1 JobFlow", 1},
                                             {"scheduler.tensorstack.dev/v1 PodGroup", 1}});
}

TEST_CASE("a List holds objects of all kinds, also lists") {
    const auto made = read(R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}}
- apiVersion: v1
  kind: List
  items:
  - {apiVersion: v1, kind: Node, metadata: {name: b}}
  - {apiVersion: apps/v1, kind: Deployment, metadata: {name: c}}
)");
    CHECK(made.findings.empty());
    REQUIRE(made.objects.nodes.size() == 2);
    CHECK(made.objects.nodes[1].metadata.key.name == "b");
    CHECK(made.objects.skipped == std::map<std::string, std::size_t>{{"apps/v1 Deployment", 1}});
}

TEST_CASE("the items of a typed list need not say what they are") {
    const auto made = read(R"(apiVersion: v1
kind: PodList
metadata: {resourceVersion: "5"}
items:
- {metadata: {name: a}, spec: {containers: [{}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{}]}}
---
apiVersion: scheduler.tensorstack.dev/v1beta1
kind: QueueList
items: [{metadata: {name: q}}]
---
{apiVersion: v1, kind: ServiceList, items: [{metadata: {name: s}}, {metadata: {name: t}}]}
)");
    CHECK(made.findings.empty());
    CHECK(made.objects.pods.size() == 2);
    CHECK(made.objects.queues.size() == 1);
    CHECK(made.objects.skipped == std::map<std::string, std::size_t>{{"v1 Service", 2}});
}

TEST_CASE("an empty list is no object") {
    const auto made = read("{apiVersion: v1, kind: PodList, items: []}\n---\n"
                           "{apiVersion: v1, kind: List, items: null}\n---\n"
                           "{apiVersion: x/v1, kind: AllowList, metadata: {name: a}}\n");
    CHECK(made.findings.empty());
    CHECK(made.objects.skipped == std::map<std::string, std::size_t>{{"x/v1 AllowList", 1}});
}

TEST_CASE("a list that the API server cut off is warned of") {
    CHECK(
        read("{apiVersion: v1, kind: PodList, metadata: {continue: abc}, items: []}\n").findings ==
        "f:1:54: warning: metadata.continue: the list goes on elsewhere (expected a whole "
        "list)\n");
    CHECK(read("{apiVersion: v1, kind: PodList, metadata: {continue: ''}, items: []}\n")
              .findings.empty());
}

TEST_CASE("what is no object is one error, and the rest is still read") {
    CHECK(read("[1]").findings == "f:1:1: found a list, expected an object\n");
    const auto made = read("{apiVersion: v1, kind: List, items: [5, null, {apiVersion: v1, kind: "
                           "Node, metadata: {name: a}}]}");
    CHECK(made.findings == "f:1:38: items[0]: found 5, expected an object\n"
                           "f:1:41: items[1]: found nothing, expected an object\n");
    CHECK(made.objects.nodes.size() == 1);
    CHECK(read("{apiVersion: v1, kind: List, items: {}}").findings ==
          "f:1:37: items: found an object, expected a list\n");
}

TEST_CASE("an object without a kind or an apiVersion is an error") {
    CHECK(read("{kind: Pod, metadata: {name: p}}").findings ==
          "f:1:1: apiVersion: required, but missing\n");
    CHECK(read("{apiVersion: v1, metadata: {name: p}}").findings ==
          "f:1:1: kind: required, but missing\n");
    CHECK(read("{apiVersion: v1, kind: 7}").findings ==
          "f:1:24: kind: found 7, expected a string (quote it)\n");
    CHECK(read("{apiVersion: v1, kind: PodList, items: [{kind: Pod}]}").findings ==
          "f:1:41: items[0].apiVersion: required, but missing\n");
}

TEST_CASE("an object with an empty name is an error") {
    CHECK(read("apiVersion: v1\nkind: Node\nmetadata:\n  name: ''\n").findings ==
          "f:4:9: metadata.name: empty (expected a name)\n");
    CHECK(read("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: ''}}")
              .findings == "f:1:70: metadata.name: empty (expected a name)\n");
    CHECK(read("{apiVersion: v1, kind: Node, metadata: {name: null}}").findings ==
          "f:1:47: metadata.name: required, but missing\n");
    const auto made = read("apiVersion: v1\nkind: Pod\n"
                           "metadata: {name: null, generateName: p-}\nspec: {containers: [{}]}\n");
    CHECK(made.objects.pods.at(0).metadata.key.name.starts_with("p-"));
}

TEST_CASE("an object that is there twice is an error, and the first one stays") {
    const auto made = read(R"({apiVersion: v1, kind: Node, metadata: {name: a, uid: "1"}}
---
{apiVersion: v1, kind: Node, metadata: {name: a, uid: "2"}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: a}}
)");
    CHECK(made.findings == "f:3:1: Node \"a\" is there twice (expected every object once)\n");
    REQUIRE(made.objects.nodes.size() == 1);
    CHECK(made.objects.nodes[0].metadata.uid == "1");
    CHECK(read(pod_text + "---\n{apiVersion: v1, kind: PodList, items: [{metadata: {name: p}, "
                          "spec: {containers: [{}]}}]}\n")
              .findings == "f:6:41: items[0]: Pod \"p\" is there twice (expected every object "
                           "once)\n");
}

TEST_CASE("of a live object and a manifest of it the live one counts, whichever comes first") {
    const std::string live = R"({apiVersion: v1, kind: Node, metadata: {name: a, uid: "1"},
 status: {allocatable: {cpu: 4}}}
)";
    const std::string manifest = "{apiVersion: v1, kind: Node, metadata: {name: a}}\n";
    const std::string other = "---\n{apiVersion: v1, kind: Node, metadata: {name: b}}\n---\n";
    for (const std::string& text : {live + other + manifest, manifest + other + live}) {
        CAPTURE(text);
        const auto made = read(text);
        CHECK(made.findings.find(
                  "warning: Node \"a\" is there twice, and the one with a uid counts") !=
              std::string::npos);
        REQUIRE(made.objects.nodes.size() == 2);
        CHECK(made.objects.nodes[0].metadata.key.name == "a");
        CHECK(made.objects.nodes[0].metadata.uid == "1");
        CHECK(made.objects.nodes[0].allocatable.at("cpu") == 4000);
        CHECK(made.objects.nodes[1].metadata.key.name == "b");
    }
}

TEST_CASE("objects of one name in two namespaces are two") {
    CHECK(read(pod_text + "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x}, "
                          "spec: {containers: [{}]}}\n")
              .objects.pods.size() == 2);
    CHECK(read(pod_text + "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: "
                          "default}, spec: {containers: [{}]}}\n")
              .findings == "f:6:1: Pod \"p\" is there twice (expected every object once)\n");
}

TEST_CASE("a namespaced object that names no namespace is in the default one") {
    CHECK(read(pod_text).objects.pods[0].metadata.key.name_space == "default");
    manifest_options options;
    options.default_namespace = "team";
    CHECK(read(pod_text, options).objects.pods[0].metadata.key.name_space == "team");
    CHECK(read("{apiVersion: v1, kind: Node, metadata: {name: a}}", options)
              .objects.nodes[0]
              .metadata.key.name_space.empty());
}

TEST_CASE("a priority class has a value of 32 bits") {
    const auto made = read("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "
                           "{name: a}, value: -2147483648, globalDefault: true, description: x}");
    CHECK(made.findings.empty());
    CHECK(made.objects.priority_classes[0].value == -2147483648LL);
    CHECK(made.objects.priority_classes[0].global_default);
    CHECK(read("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}}")
              .findings == "f:1:1: value: required, but missing\n");
    CHECK(read("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, "
               "value: 2147483648}")
              .findings == "f:1:85: value: found 2147483648, expected a whole number from "
                           "-2147483648 to 2147483647\n");
}

TEST_CASE("the newest time of all objects is kept") {
    const auto made = read(R"(apiVersion: v1
kind: Pod
metadata: {name: p, creationTimestamp: 2024-01-01T00:00:05Z}
spec: {containers: [{}]}
---
{apiVersion: v1, kind: Node, metadata: {name: a, creationTimestamp: 2024-01-01T00:00:07+00:00}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: a, creationTimestamp: 2024-01-01T01:00:00+02:00}}
)");
    CHECK(made.findings.empty());
    CHECK(made.objects.newest == parse_timestamp("2024-01-01T00:00:07Z"));
    CHECK_FALSE(read(pod_text).objects.newest);
}

TEST_CASE("an object remembers where it stands, in a document or in lists") {
    const auto made = read(R"({apiVersion: v1, kind: Node, metadata: {name: a}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: b}}
- apiVersion: v1
  kind: NodeList
  items:
  - metadata: {name: c}
  - metadata:
      name: d
)");
    REQUIRE(made.objects.nodes.size() == 4);
    diagnostics out;
    for (const node_object& node : made.objects.nodes)
        report(out, severity::error, node.metadata.where, {"metadata", "name"}, "here");
    report(out, severity::warning, made.objects.nodes[3].metadata.where, {}, "there");
    std::string lines;
    for (const diagnostic& finding : out.findings())
        lines += to_text(finding) + '\n';
    CHECK(lines == "f:1:47: metadata.name: here\n"
                   "f:6:49: items[0].metadata.name: here\n"
                   "f:10:22: items[1].items[0].metadata.name: here\n"
                   "f:12:13: items[1].items[1].metadata.name: here\n"
                   "f:11:5: warning: items[1].items[1]: there\n");
}

TEST_CASE("an object that was made by hand stands nowhere") {
    diagnostics out;
    report(out, severity::error, object_place{}, {"spec"}, "wrong");
    CHECK(to_text(out.findings()[0]) == "(input): spec: wrong");
}

TEST_CASE("JSON is read like YAML") {
    const auto made = read(R"({"apiVersion": "v1", "kind": "PodList", "items": [
  {"metadata": {"name": "p"}, "spec": {"containers": [{"resources": {"requests": {"cpu": -1}}}]}}
]})");
    CHECK(made.findings ==
          "f:2:90: items[0].spec.containers[0].resources.requests.cpu: \"-1\" is negative "
          "(expected a quantity of at least 0)\n");
}

} // namespace codec_manifests_test
