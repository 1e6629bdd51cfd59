// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/write_all.hpp>
#include <muster/input/gang_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_workload_round_trip_test {
namespace {

using namespace muster::codec;
using muster::translate::target;

struct outcome {
    muster::translate::written made;
    std::string findings;
    std::string losses;
};

outcome translate(const std::string& text, target to) {
    outcome now;
    diagnostics found;
    const auto documents = read_documents("in", text, found);
    now.made = muster::translate::write_all(to, read_gangs(documents, {}, found).bundles);
    for (const auto& each : found.findings())
        now.findings += to_text(each) + "\n";
    for (const auto& each : now.made.losses)
        now.losses += std::string(to_text(each.what)) + ": " + each.detail + "\n";
    for (const auto& each : now.made.violations)
        now.findings += each.object + ": " + each.field + ": " + each.message + "\n";
    return now;
}

/// What is written is what was read: the same objects, in whatever order.
void check_identity(const std::string& text, target to) {
    const outcome now = translate(text, to);
    CHECK(now.findings == "");
    CHECK(now.losses == "");
    diagnostics aside;
    std::vector<boost::json::value> before, after;
    for (const auto& each : read_documents("in", text, aside))
        before.push_back(each.root());
    for (const auto& each : now.made.objects)
        after.push_back(each);
    CHECK(before.size() == after.size());
    for (const auto& each : before)
        CHECK_MESSAGE(std::ranges::count(after, each) == 1, boost::json::serialize(each));
    for (const auto& each : after)
        CHECK_MESSAGE(std::ranges::count(before, each) == 1, boost::json::serialize(each));
}

std::string pod(const std::string& name, const std::string& link) {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
           ", namespace: ns}, spec: {" + link + ", containers: [{name: c, image: i}]}}\n";
}

/// Of 1.35.
const std::string two_groups = R"(apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: train, namespace: ns, labels: {team: a}}
spec:
  controllerRef: {apiGroup: batch, kind: Job, name: train}
  podGroups:
  - {name: driver, policy: {basic: {}}}
  - {name: workers, policy: {gang: {minCount: 3}}}
)";

} // namespace

TEST_CASE("a Workload of 1.35 comes back as it was: its groups, policies, keys and controller") {
    check_identity(two_groups, target::workload_1_35);
    const std::string of = "workloadRef: {name: train, podGroup: workers, podGroupReplicaKey: ";
    check_identity(two_groups + pod("d", "workloadRef: {name: train, podGroup: driver}") +
                       pod("a", of + "\"0\"}") + pod("b", of + "\"1\"}"),
                   target::workload_1_35);
}

TEST_CASE("a Workload's groups stay together in another release") {
    const outcome now =
        translate(two_groups + pod("d", "workloadRef: {name: train, podGroup: driver}"),
                  target::workload_1_37);
    CHECK(now.findings == "");
    CHECK(now.losses == "");
    REQUIRE(now.made.objects.size() == 4);
    CHECK(
        boost::json::serialize(now.made.objects[0].at("spec")) ==
        R"({"controllerRef":{"apiGroup":"batch","kind":"Job","name":"train"},"podGroupTemplates":[)"
        R"({"name":"driver","schedulingPolicy":{"basic":{}}},)"
        R"({"name":"workers","schedulingPolicy":{"gang":{"minCount":3}}}]})");
    CHECK(now.made.objects[1].at("metadata").at("name") == "train-driver");
    CHECK(now.made.objects[3].at("metadata").at("name") == "train-workers");
}

TEST_CASE("templates, PodGroups that follow them, and PodGroups by themselves come back") {
    const std::string workload = R"(apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: train, namespace: ns, annotations: {a: b}}
spec:
  podGroupTemplates:
  - {name: used, schedulingPolicy: {gang: {minCount: 2}}, priorityClassName: high}
  - {name: unused, schedulingPolicy: {gang: {minCount: 5}}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: mine, namespace: ns, labels: {c: d}}
spec:
  workloadRef: {workloadName: train, templateName: used}
  schedulingPolicy: {gang: {minCount: 2}}
  priorityClassName: high
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: alone, namespace: ns}
spec:
  schedulingPolicy: {basic: {}}
)";
    check_identity(workload, target::workload_1_37);
    check_identity(workload + pod("p", "schedulingGroup: {podGroupName: alone}"),
                   target::workload_1_37);
}

TEST_CASE("a group of groups may be called as one of the groups below it") {
    check_identity(R"(apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: w, namespace: ns}
spec:
  compositePodGroupTemplates:
  - name: all
    schedulingPolicy: {gang: {minGroupCount: 2}}
    podGroupTemplates:
    - {name: a, schedulingPolicy: {gang: {minCount: 1}}}
    - {name: b, schedulingPolicy: {gang: {minCount: 2}}}
---
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: train, namespace: ns}
spec:
  workloadRef: {workloadName: w, templateName: all}
  schedulingPolicy: {gang: {minGroupCount: 2}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train, namespace: ns}
spec:
  parentCompositePodGroupName: train
  workloadRef: {workloadName: w, templateName: a}
  schedulingPolicy: {gang: {minCount: 1}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: workers, namespace: ns}
spec:
  parentCompositePodGroupName: train
  workloadRef: {workloadName: w, templateName: b}
  schedulingPolicy: {gang: {minCount: 2}}
)" + pod("p", "schedulingGroup: {podGroupName: train}"),
                   target::workload_1_37);
}

TEST_CASE(
    "CompositePodGroups below another keep their names, and templates that several follow are "
    "told of") {
    const auto group = [](const std::string& kind, const std::string& name,
                          const std::string& above, const std::string& follows,
                          const std::string& policy) {
        return "---\napiVersion: scheduling.k8s.io/" +
               std::string(kind == "PodGroup" ? "v1beta1" : "v1alpha3") + "\nkind: " + kind +
               "\nmetadata: {name: " + name + ", namespace: ns}\nspec: {" +
               (above.empty() ? "" : "parentCompositePodGroupName: " + above + ", ") +
               "workloadRef: {workloadName: w, templateName: " + follows +
               "}, schedulingPolicy: {gang: {" + policy + "}}}\n";
    };
    const auto tree = [&](const std::string& one, const std::string& two) {
        return group("CompositePodGroup", "top", "", "root", "minGroupCount: 2") +
               group("CompositePodGroup", "left", "top", one, "minGroupCount: 1") +
               group("PodGroup", "l", "left", "m", "minCount: 2") +
               group("CompositePodGroup", "right", "top", two, "minGroupCount: 1") +
               group("PodGroup", "r", "right", "z", "minCount: 3");
    };
    check_identity(R"(apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: w, namespace: ns}
spec:
  compositePodGroupTemplates:
  - name: root
    schedulingPolicy: {gang: {minGroupCount: 2}}
    compositePodGroupTemplates:
    - name: one
      schedulingPolicy: {gang: {minGroupCount: 1}}
      podGroupTemplates: [{name: m, schedulingPolicy: {gang: {minCount: 2}}}]
    - name: two
      schedulingPolicy: {gang: {minGroupCount: 1}}
      podGroupTemplates: [{name: z, schedulingPolicy: {gang: {minCount: 3}}}]
)" + tree("one", "two"),
                   target::workload_1_37);
    CHECK(translate(tree("part", "part"), target::workload_1_37).losses ==
          "name: the template 'part' that 'left' follows is called 'left'\n"
          "name: the template 'part' that 'right' follows is called 'right'\n");
}

TEST_CASE("a controller is a loss elsewhere, and two gangs of one name are refused") {
    CHECK(translate(two_groups, target::volcano).losses.find("lifecycle: controllerRef") !=
          std::string::npos);
    const std::string both = R"(apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: ns}
spec: {schedulingPolicy: {gang: {minCount: 2}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: ns}
spec: {minMember: 2}
)";
    CHECK(
        translate(both, target::t9k).findings ==
        "PodGroup ns/g: metadata.name: two gangs become objects of this name (expected every name "
        "once)\n");
}

} // namespace codec_workload_round_trip_test
