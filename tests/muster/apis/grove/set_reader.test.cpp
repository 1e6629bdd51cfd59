// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/grove/set_reader.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>
#include <muster/input/read_inputs.hpp>

namespace codec_grove_reader_test {

using namespace muster::codec;
using namespace muster::translate;

namespace {

struct read_set {
    std::vector<document> documents;
    grove_set set;
    std::string findings; ///< without file and line
};

read_set read(std::string text, grove_dialect dialect = grove_dialect::upstream) {
    diagnostics out;
    read_set made;
    made.documents = read_documents("f", std::move(text), out);
    REQUIRE(made.documents.size() == 1);
    object_reader root(made.documents[0], out);
    reading_context context;
    made.set = read_pod_clique_set(root, dialect, context);
    for (diagnostic finding : out.findings()) {
        finding.where = {"f", 0, 0};
        made.findings += to_text(finding).substr(3) + '\n';
    }
    return made;
}

/// A set of cliques `a` and `b`, with what else stands in its template and spec.
std::string two_cliques(const std::string& b_spec, const std::string& inner = {},
                        const std::string& name = "set") {
    std::string text =
        "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: " + name + R"(}
spec:
  replicas: 1
  template:
    cliques:
    - name: a
      spec: {roleName: a, replicas: 2, podSpec: {containers: [{name: c}]}}
    - name: b
      spec:
        roleName: b
        podSpec: {containers: [{name: c}]}
)";
    text += b_spec.empty() ? "        replicas: 3\n" : b_spec;
    return text + inner;
}

std::string findings(const std::string& b_spec, const std::string& inner = {}) {
    return read(two_cliques(b_spec, inner)).findings;
}

std::string file(const char* name) {
    diagnostics out;
    return muster::codec::detail::read_file(std::string(MUSTER_TEST_DATA) + "/grove/" + name, out)
        .value();
}

} // namespace

TEST_CASE("a set has cliques with minima, and defaults where it says nothing") {
    const auto made = read(two_cliques({}));
    CHECK(made.findings.empty());
    const grove_set& set = made.set;
    CHECK(set.name_space == "default");
    CHECK(set.name == "set");
    CHECK(set.replicas == 1);
    CHECK(set.startup == grove_startup::any_order);
    CHECK(set.update == grove_update::rolling_recreate);
    CHECK(set.termination_delay == 14'400'000'000'000);
    CHECK(set.publish_not_ready);
    CHECK(set.scheduler.empty());
    REQUIRE(set.cliques.size() == 2);
    CHECK(set.cliques[0].min_available == 2);
    CHECK(set.cliques[1].replicas == 3);
    CHECK(set.cliques[1].min_available == 3);
}

TEST_CASE("groups of NVLink domains, which are claims that Grove makes, are warned of") {
    const auto with = [](const std::string& value) {
        return read(
                   two_cliques({}, "    podCliqueScalingGroups:\n    - {name: g, cliqueNames: [b], "
                                   "annotations: {grove.io/mnnvl-group: " +
                                       value + "}}\n"))
            .findings;
    };
    CHECK(with("none") == "");
    CHECK(with("train") ==
          "warning: spec.template.podCliqueScalingGroups[0].annotations[grove.io/mnnvl-group]: "
          "resource claims are not made or shared here (expected \"none\")\n");
    CHECK(read(two_cliques({}, {}, "set, annotations: {grove.io/auto-mnnvl: enabled}"))
              .findings.find(
                  "warning: metadata.annotations[grove.io/auto-mnnvl]: resource claims") == 0);
}

TEST_CASE("resource claims are kept for those who judge edits, and warned of") {
    const auto made = read(two_cliques({}, "    resourceClaimTemplates: [{name: gpus}]\n"
                                           "    resourceSharing: []\n"
                                           "    podCliqueScalingGroups:\n"
                                           "    - {name: g, cliqueNames: [b], resourceSharing: "
                                           "[{name: gpus, scope: PerReplica}]}\n"));
    CHECK(made.findings ==
          "warning: spec.template.resourceClaimTemplates: resource claims are not made or shared "
          "here (expected none)\n"
          "warning: spec.template.podCliqueScalingGroups[0].resourceSharing: resource claims are "
          "not made or shared here (expected none)\n");
    CHECK(made.set.claim_templates);
    CHECK_FALSE(made.set.sharing);
    REQUIRE(made.set.groups.size() == 1);
    CHECK(made.set.groups[0].sharing);
    CHECK(findings("        replicas: 3\n", "    resourceSharing: all\n") ==
          "spec.template.resourceSharing: found \"all\", expected a list\n");
}

TEST_CASE("in the dialect seed the walk-through's set is read as printed") {
    const auto made = read(file("ml-training.yaml"), grove_dialect::seed);
    CHECK(made.findings.empty());
    CHECK(made.set.name_space == "ml-workspace");
    CHECK(made.set.replicas == 2);
    CHECK(made.set.scheduler == "kai-scheduler");
    CHECK(made.set.priority_class == "high-priority");
    REQUIRE(made.set.cliques.size() == 2);
    CHECK(made.set.cliques[1].name == "workers");
    CHECK(made.set.cliques[1].min_available == 3);
    const auto other = read(file("inference-service.yaml"), grove_dialect::seed);
    CHECK(other.findings.empty());
    CHECK(other.set.scheduler.empty());
    CHECK(other.set.cliques[0].min_available == 3);
}

TEST_CASE("the dialect upstream refuses the walk-through's set: roles and the queue are missing") {
    CHECK(read(file("ml-training.yaml")).findings ==
          "spec.template.cliques[0].spec.roleName: required, but missing\n"
          "spec.template.cliques[1].spec.roleName: required, but missing\n"
          "spec.template.cliques: no queue is named (expected a label or annotation "
          "kai.scheduler/queue on the set or its cliques)\n");
}

TEST_CASE("minima of cliques are from 1 to their replicas") {
    CHECK(findings("        replicas: 2\n        minAvailable: 3\n") ==
          "spec.template.cliques[1].spec.minAvailable: minAvailable is above replicas (expected at "
          "most 2)\n");
    CHECK(findings("        replicas: 2\n        minAvailable: 0\n") ==
          "spec.template.cliques[1].spec.minAvailable: 0 (expected at least 1)\n");
    CHECK(findings("        replicas: 0\n") == "spec.template.cliques[1].spec.replicas: 0 without "
                                               "minAvailable (expected at least 1)\n");
    CHECK(findings("        replicas: 0\n        minAvailable: 1\n").empty());
    CHECK(findings("        replicas: -1\n") ==
          "spec.template.cliques[1].spec.replicas: found -1, expected a whole number from 0 to "
          "2147483647\n");
}

TEST_CASE("names of cliques and roles are there once, and short together") {
    CHECK(findings("        replicas: 1\n    - name: a\n      spec: {roleName: a, replicas: 1, "
                   "podSpec: {containers: [{name: c}]}}\n") ==
          "spec.template.cliques[2].name: \"a\" is there twice (expected every clique once)\n"
          "spec.template.cliques[2].spec.roleName: \"a\" is there twice (expected every role "
          "once)\n");
    const std::string longest(44, 's');
    CHECK(read(two_cliques({}, {}, longest)).findings.empty());
    CHECK(
        read(two_cliques({}, {}, longest + "s")).findings ==
        "spec.template.cliques[0]: the names of the set, its scaling group and the clique have 46 "
        "characters together (expected at most 45)\n"
        "spec.template.cliques[1]: the names of the set, its scaling group and the clique have 46 "
        "characters together (expected at most 45)\n");
    CHECK(
        read(
            two_cliques({}, "    podCliqueScalingGroups: [{name: g, cliqueNames: [a]}]\n", longest))
            .findings ==
        "spec.template.cliques[0]: the names of the set, its scaling group and the clique have 46 "
        "characters together (expected at most 45)\n");
}

TEST_CASE("all cliques have one scheduler; default-scheduler is none") {
    const auto with = [](const char* a, const char* b) {
        return read(std::string("metadata: {name: s}\nspec:\n  template:\n    cliques:\n"
                                "    - name: a\n      spec: {roleName: a, replicas: 1, podSpec: "
                                "{schedulerName: '") +
                    a +
                    "', containers: [{name: c}]}}\n    - name: b\n      spec: {roleName: b, "
                    "replicas: 1, podSpec: {schedulerName: '" +
                    b + "', containers: [{name: c}]}}\n")
            .findings;
    };
    CHECK(with("", "default-scheduler").empty());
    CHECK(with("koord-scheduler", "koord-scheduler").empty());
    CHECK(with("koord-scheduler", "") ==
          "spec.template.cliques[1].spec.podSpec.schedulerName: schedulerName is \"\", that of the "
          "first clique \"koord-scheduler\" (expected one scheduler for all cliques)\n");
}

TEST_CASE("a scheduler has a backend, or is an error") {
    const auto with = [](const char* name, grove_dialect dialect) {
        return read(std::string("metadata: {name: s}\nspec:\n  template:\n    cliques:\n"
                                "    - name: a\n      spec: {roleName: a, replicas: 1, podSpec: "
                                "{schedulerName: ") +
                        name + ", containers: [{name: c}]}}\n",
                    dialect)
            .findings;
    };
    CHECK(with("volcano", grove_dialect::upstream).empty());
    CHECK(with("kai-scheduler", grove_dialect::seed).empty());
    CHECK(
        with("volcano", grove_dialect::seed) ==
        "spec.template.cliques[0].spec.podSpec.schedulerName: \"volcano\" is no scheduler that has "
        "a backend (expected default-scheduler or kai-scheduler or koord-scheduler)\n");
    CHECK(
        with("mine", grove_dialect::upstream) ==
        "spec.template.cliques[0].spec.podSpec.schedulerName: \"mine\" is no scheduler that has a "
        "backend (expected default-scheduler or kai-scheduler or koord-scheduler or volcano or "
        "lpx-scheduler or kueue)\n");
    CHECK(with("kueue", grove_dialect::upstream).empty());
}

TEST_CASE("in the dialect seed all pods have one priority class") {
    const std::string text = two_cliques("        replicas: 1\n");
    CHECK(read(text, grove_dialect::seed).findings.empty());
    std::string mixed = text;
    mixed.replace(mixed.rfind("podSpec: {"), 10, "podSpec: {priorityClassName: high, ");
    CHECK(read(mixed, grove_dialect::seed).findings ==
          "spec.template.cliques[1].spec.podSpec.priorityClassName: priorityClassName is \"high\" "
          "here and \"\" before (expected one for all cliques)\n");
    CHECK(read(mixed, grove_dialect::upstream).findings.empty());
}

TEST_CASE("a start order names other cliques and has no circle") {
    const auto with = [](const char* type, const char* after) {
        return findings(std::string("        replicas: 1\n        startsAfter: ") + after + "\n",
                        std::string("    cliqueStartupType: ") + type + "\n");
    };
    CHECK(with("CliqueStartupTypeExplicit", "[a]").empty());
    CHECK(with("CliqueStartupTypeExplicit", "[b]") ==
          "spec.template.cliques[1]: startsAfter names the clique itself (expected others)\n");
    CHECK(with("CliqueStartupTypeExplicit", "[c]") ==
          "spec.template.cliques[1]: startsAfter names \"c\" (expected one of template.cliques)\n");
    CHECK(with("CliqueStartupTypeExplicit", "[a, a]") ==
          "spec.template.cliques[1]: startsAfter names \"a\" twice (expected every clique once)\n");
    CHECK(with("CliqueStartupTypeInOrder", "[c]").empty());
    CHECK(with("Slowly", "[a]") ==
          "spec.template.cliqueStartupType: \"Slowly\" is no startup type (expected "
          "CliqueStartupTypeAnyOrder, CliqueStartupTypeInOrder or CliqueStartupTypeExplicit)\n");
    CHECK(findings("        replicas: 1\n        startsAfter: [c]\n"
                   "    - name: c\n      spec: {roleName: c, replicas: 1, startsAfter: [b], "
                   "podSpec: {containers: [{name: c}]}}\n",
                   "    cliqueStartupType: CliqueStartupTypeExplicit\n") ==
          "spec.template.cliques: startsAfter goes in a circle among b c (expected an order in "
          "which all can start)\n");
}

TEST_CASE("a scaling group takes cliques that no other has") {
    const auto with = [](const char* groups) {
        return findings({}, std::string("    podCliqueScalingGroups: ") + groups + "\n");
    };
    const auto made = read(two_cliques(
        {}, "    podCliqueScalingGroups: [{name: g, cliqueNames: [b], replicas: 3}]\n"));
    CHECK(made.findings.empty());
    CHECK(made.set.groups[0].cliques == std::vector<std::size_t>{1});
    CHECK(made.set.groups[0].replicas == 3);
    CHECK(made.set.groups[0].min_available == 1);
    CHECK(made.set.cliques[1].group == 0);
    CHECK_FALSE(made.set.cliques[0].group);
    CHECK(
        with("[{name: g, cliqueNames: [c]}]") ==
        "spec.template.podCliqueScalingGroups[0].cliqueNames[0]: \"c\" is no clique (expected one "
        "of template.cliques)\n");
    CHECK(with("[{name: g, cliqueNames: [a]}, {name: h, cliqueNames: [a]}]") ==
          "spec.template.podCliqueScalingGroups[1].cliqueNames[0]: \"a\" is in a scaling group "
          "already (expected at most one for each clique)\n");
    CHECK(with("[{name: g, cliqueNames: [a], minAvailable: 2}]") ==
          "spec.template.podCliqueScalingGroups[0].minAvailable: minAvailable is above replicas "
          "(expected at most 1)\n");
    CHECK(with("[{name: g, cliqueNames: []}]") ==
          "spec.template.podCliqueScalingGroups[0].cliqueNames: no cliques (expected at least "
          "one)\n");
    CHECK(with("[{name: g, cliqueNames: [a], replicas: 2, minAvailable: 2, scaleConfig: "
               "{minReplicas: 1, maxReplicas: 1}}]") ==
          "spec.template.podCliqueScalingGroups[0].scaleConfig.minReplicas: minReplicas is below "
          "minAvailable (expected at least 2)\n"
          "spec.template.podCliqueScalingGroups[0].scaleConfig.maxReplicas: maxReplicas is too low "
          "(expected at least minReplicas and replicas: 2)\n");
}

TEST_CASE("a clique scales by itself only outside scaling groups") {
    const std::string scaled = "        replicas: 2\n        autoScalingConfig: {maxReplicas: 4}\n";
    const auto made = read(two_cliques(scaled));
    CHECK(made.findings.empty());
    REQUIRE(made.set.cliques[1].scale);
    CHECK(made.set.cliques[1].scale->least == 2);
    CHECK(made.set.cliques[1].scale->most == 4);
    CHECK(findings(scaled, "    podCliqueScalingGroups: [{name: g, cliqueNames: [b]}]\n") ==
          "spec.template.podCliqueScalingGroups[0].cliqueNames[0]: \"b\" has an autoScalingConfig "
          "of its own (expected none in a scaling group)\n");
}

TEST_CASE("topology constraints ask for something of one topology") {
    CHECK(findings({}, "    topologyConstraint: {topologyName: t, pack: {required: rack}}\n")
              .empty());
    CHECK(findings({}, "    topologyConstraint: {topologyName: t, pack: {}}\n") ==
          "spec.template.topologyConstraint: asks for nothing (expected pack.required, "
          "pack.preferred or both)\n");
    CHECK(findings({}, "    topologyConstraint: {topologyName: t}\n") ==
          "warning: spec.template.topologyConstraint: only names a topology, for others to inherit "
          "(expected pack.required, pack.preferred or both)\n");
    const auto old = read(two_cliques({}, "    topologyConstraint: {packDomain: rack}\n"));
    CHECK(old.findings ==
          "warning: spec.template.topologyConstraint.packDomain: deprecated, taken as "
          "pack.required\n");
    CHECK(old.set.packing.required == "rack");
    // When that was the word, there was one topology.
    CHECK(old.set.packing.topology == "grove-topology");
    CHECK(read(two_cliques({}, "    topologyConstraint: {topologyName: t, packDomain: rack}\n"))
              .set.packing.topology == "t");
    CHECK(findings({}, "    topologyConstraint: {packDomain: rack, pack: {required: rack}}\n") ==
          "spec.template.topologyConstraint.packDomain: stands beside pack.required (expected only "
          "pack.required)\n");
    CHECK(
        findings({}, "    topologyConstraint: {topologyName: t, pack: {preferred: rack}}\n"
                     "    podCliqueScalingGroups: [{name: g, cliqueNames: [a], "
                     "topologyConstraint: {topologyName: u, pack: {required: host}}}]\n") ==
        "spec.template.cliques: topologyConstraints name \"t\" and \"u\" (expected one topology in "
        "a set)\n");
}

TEST_CASE("a set that asks KAI for one queue names it once") {
    const auto with = [](const char* metadata, const char* labels) {
        const auto made =
            read(std::string("metadata: {name: s") + metadata +
                 "}\nspec:\n  template:\n    cliques:\n    - name: a\n      labels: {" + labels +
                 "}\n      spec: {roleName: a, replicas: 1, podSpec: {schedulerName: "
                 "kai-scheduler, containers: [{name: c}]}}\n");
        return std::pair(std::string(made.set.queue), made.findings);
    };
    CHECK(with(", labels: {kai.scheduler/queue: q}", "") ==
          std::pair<std::string, std::string>("q", ""));
    CHECK(with(", annotations: {kai.scheduler/queue: q}", "") ==
          std::pair<std::string, std::string>("q", ""));
    CHECK(with("", "kai.scheduler/queue: q") == std::pair<std::string, std::string>("q", ""));
    CHECK(with(", labels: {kai.scheduler/queue: p}", "kai.scheduler/queue: q").second ==
          "spec.template.cliques[0]: kai.scheduler/queue is \"q\" here and \"p\" before (expected "
          "one "
          "queue for the set)\n");
}

TEST_CASE("what a pod may not have in a set, and limits below requests, are errors") {
    const auto with = [](const char* fields) {
        return read(
                   std::string("metadata: {name: s}\nspec:\n  template:\n    cliques:\n    - name: "
                               "a\n      spec: {roleName: a, replicas: 1, podSpec: {") +
                   fields + "}}\n")
            .findings;
    };
    CHECK(with("nodeName: n, containers: [{name: c}]") ==
          "spec.template.cliques[0].spec.podSpec.nodeName: may not be set in a PodCliqueSet "
          "(expected nothing)\n");
    CHECK(with("containers: []") == "spec.template.cliques[0].spec.podSpec.containers: no "
                                    "containers (expected at least one)\n");
    CHECK(with("containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]") ==
          "spec.template.cliques[0].spec.podSpec.containers[0].resources.limits.cpu: the limit of "
          "cpu is below its request (expected at least the request)\n");
}

TEST_CASE("a set of too many pods is an error, whatever makes them many") {
    const auto with = [](const std::string& replicas, const std::string& groups) {
        std::string text = two_cliques("        replicas: 100000\n", groups);
        text.replace(text.find("replicas: 1\n"), 11, "replicas: " + replicas);
        return read(text).findings;
    };
    const char* const many =
        "spec.template.cliques: the set has more than 1000000 pods (expected at "
        "most that many)\n";
    CHECK(with("9", "").empty());
    CHECK(with("11", "") == many);
    CHECK(with("2147483647", "") == many);
    CHECK(with("1", "    podCliqueScalingGroups: [{name: g, cliqueNames: [b], replicas: "
                    "2147483647}]\n") == many);
}

TEST_CASE("a termination delay is above 0") {
    CHECK(read(two_cliques({}, "    terminationDelay: 1h30m\n")).set.termination_delay ==
          5'400'000'000'000);
    CHECK(findings({}, "    terminationDelay: 0s\n") ==
          "spec.template.terminationDelay: \"0s\" is no delay (expected a duration above 0 such as "
          "4h)\n");
}

TEST_CASE("wrong types are errors at their places, and nothing else follows from them") {
    CHECK(read("metadata: {name: s}\nspec: {template: {cliques: {a: 1}}}\n").findings ==
          "spec.template.cliques: found an object, expected a list\n");
    CHECK(read("metadata: {name: s}\nspec: {template: {cliques: [1]}}\n").findings ==
          "spec.template.cliques[0]: found 1, expected an object\n");
    CHECK(read("metadata: {name: s}\nspec: {template: {cliques: []}}\n").findings ==
          "spec.template.cliques: no cliques (expected at least one)\n");
    CHECK(findings("        replicas: 1\n        oops: 1\n") ==
          "warning: spec.template.cliques[1].spec.oops: unknown field, ignored\n");
}

} // namespace codec_grove_reader_test
