// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/pod_terms_reader.hpp>

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/pod_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_pod_terms_reader_test {

using namespace muster::codec;
using muster::label_set;
using muster::pod_selector;
using muster::pod_terms;

namespace {

struct read_result {
    std::optional<pod_terms> terms;
    std::string findings;
};

/// Of pod p with labels {app: web, rev: "7"} in namespace red, whose spec has these lines.
read_result read(const std::string& spec, const reading_rules& rules = {}) {
    diagnostics out;
    const auto documents = read_documents(
        "f",
        "metadata: {name: p, namespace: red, labels: {app: web, rev: '7'}}\nspec:\n" + spec +
            "  containers: [{}]\n",
        out);
    REQUIRE(documents.size() == 1);
    reading_context context;
    context.rules = rules;
    object_reader root(documents[0], out);
    read_result made;
    made.terms = read_pod(root, context).where.pods;
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

std::string required(const std::string& kind, const std::string& terms) {
    return "  affinity:\n    " + kind +
           ":\n      requiredDuringSchedulingIgnoredDuringExecution:\n      - " + terms + "\n";
}

/// In the namespace of that name, with those labels of its own.
bool reaches(const pod_selector& which, const label_set& pod, const std::string& home,
             label_set labels = {}) {
    labels.set("kubernetes.io/metadata.name", home);
    return which.matches(pod, labels);
}

} // namespace

TEST_CASE("a term without namespaces speaks of the pod's own") {
    const auto [terms, findings] =
        read(required("podAffinity", "{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}"));
    CHECK(findings.empty());
    REQUIRE(terms);
    REQUIRE(terms->affinity.size() == 1);
    const auto& term = terms->affinity.front();
    CHECK(term.topology == "zone");
    CHECK(reaches(term.pods, {{"a", "b"}}, "red"));
    CHECK_FALSE(reaches(term.pods, {{"a", "b"}}, "blue"));
    CHECK_FALSE(reaches(term.pods, {{"a", "c"}}, "red"));
}

TEST_CASE("namespaces are those named and those selected; an empty selector is all") {
    const auto pods_of = [](const std::string& more) {
        const auto made = read(
            required("podAntiAffinity", "{topologyKey: zone, labelSelector: {}, " + more + "}"));
        CHECK(made.findings.empty());
        REQUIRE(made.terms);
        return made.terms->anti_affinity.front().pods;
    };
    const pod_selector named = pods_of("namespaces: [blue, green]");
    CHECK(reaches(named, {}, "blue"));
    CHECK_FALSE(reaches(named, {}, "red"));
    const pod_selector selected = pods_of("namespaceSelector: {matchLabels: {team: a}}");
    CHECK(reaches(selected, {}, "x", {{"team", "a"}}));
    CHECK_FALSE(reaches(selected, {}, "red"));
    const pod_selector both =
        pods_of("namespaces: [blue], namespaceSelector: {matchLabels: {team: a}}");
    CHECK(reaches(both, {}, "blue"));
    CHECK(reaches(both, {}, "x", {{"team", "a"}}));
    CHECK_FALSE(reaches(both, {}, "x"));
    CHECK(reaches(pods_of("namespaceSelector: {}"), {}, "anything"));
}

TEST_CASE("without a label selector a term speaks of no pod, with an empty one of every") {
    const auto none = read(required("podAffinity", "{topologyKey: zone}"));
    CHECK(none.findings.empty());
    REQUIRE(none.terms);
    CHECK_FALSE(reaches(none.terms->affinity.front().pods, {}, "red"));
    const auto all = read(required("podAffinity", "{topologyKey: zone, labelSelector: {}}"));
    CHECK(reaches(all.terms->affinity.front().pods, {}, "red"));
}

TEST_CASE("a spread with an empty selector counts no pod before Kubernetes 1.38, and then all") {
    const auto counts = [](int minor, const std::string& selector) {
        const auto made = read("  topologySpreadConstraints:\n  - {topologyKey: zone, maxSkew: 1, "
                               "whenUnsatisfiable: DoNotSchedule, " +
                                   selector + "}\n",
                               {kubernetes_version{minor}, {}});
        CHECK(made.findings.empty());
        return reaches(made.terms->spread.front().pods, {{"rev", "7"}}, "red");
    };
    for (const char* empty : {"labelSelector: {}", "labelSelector: {matchLabels: {}}",
                              "labelSelector: {}, matchLabelKeys: [absent]"}) {
        CAPTURE(empty);
        CHECK_FALSE(counts(37, empty));
        CHECK(counts(38, empty));
    }
    CHECK(counts(37, "labelSelector: {}, matchLabelKeys: [rev]"));
    CHECK_FALSE(counts(38, "minDomains: 1"));
}

TEST_CASE("label keys to match or not are resolved by the pod's own labels") {
    const auto [terms, findings] = read(
        required("podAffinity",
                 "{topologyKey: zone, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: "
                 "[rev, absent], mismatchLabelKeys: [tenant]}") +
        "    podAntiAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
        "      - {topologyKey: zone, labelSelector: {}, mismatchLabelKeys: [rev]}\n");
    CHECK(findings.empty());
    REQUIRE(terms);
    const auto& alike = terms->affinity.front().pods;
    CHECK(reaches(alike, {{"app", "web"}, {"rev", "7"}}, "red"));
    CHECK_FALSE(reaches(alike, {{"app", "web"}, {"rev", "8"}}, "red"));
    const auto& unlike = terms->anti_affinity.front().pods;
    CHECK(reaches(unlike, {{"rev", "8"}}, "red"));
    CHECK_FALSE(reaches(unlike, {{"rev", "7"}}, "red"));
}

TEST_CASE("a preferred term weighs its weight, one of anti-affinity below zero") {
    const auto [terms, findings] = read(R"(  affinity:
    podAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 30, podAffinityTerm: {topologyKey: zone, labelSelector: {}}}
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 100, podAffinityTerm: {topologyKey: host, labelSelector: {}}}
)");
    CHECK(findings.empty());
    REQUIRE(terms);
    REQUIRE(terms->preferred.size() == 2);
    CHECK(terms->preferred[0].weight == 30);
    CHECK(terms->preferred[0].term.topology == "zone");
    CHECK(terms->preferred[1].weight == -100);
    CHECK_FALSE(terms->requires_something());
}

TEST_CASE("spread is read with the defaults of Kubernetes") {
    const auto [terms, findings] = read(R"(  topologySpreadConstraints:
  - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [rev]}
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor}
  - {maxSkew: 1, minDomains: 3, topologyKey: host, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}
)");
    CHECK(findings.empty());
    REQUIRE(terms);
    REQUIRE(terms->spread.size() == 3);
    const auto& first = terms->spread[0];
    CHECK(first.max_skew == 2);
    CHECK(first.min_domains == 1);
    CHECK(first.required);
    CHECK(first.honor_affinity);
    CHECK_FALSE(first.honor_taints);
    CHECK(first.topology == "zone");
    CHECK(reaches(first.pods, {{"app", "web"}, {"rev", "7"}}, "red"));
    CHECK_FALSE(reaches(first.pods, {{"app", "web"}}, "red"));
    CHECK_FALSE(reaches(first.pods, {{"app", "web"}, {"rev", "7"}}, "blue"));
    const auto& second = terms->spread[1];
    CHECK_FALSE(second.required);
    CHECK_FALSE(second.honor_affinity);
    CHECK(second.honor_taints);
    CHECK_FALSE(reaches(second.pods, {}, "red"));
    CHECK(terms->spread[2].min_domains == 3);
}

TEST_CASE("malformed terms are errors that name the field and what was expected") {
    const auto finding = [](const std::string& spec) { return read(spec).findings; };
    CHECK(finding(required("podAffinity", "{labelSelector: {}}")) ==
          "f:6:9: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
          "topologyKey: required, but missing\n");
    CHECK(finding(required("podAffinity", "{topologyKey: '', labelSelector: {}}")) ==
          "f:6:23: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
          "topologyKey: is empty (expected a label key of nodes)\n");
    CHECK(finding(required("podAffinity", "{topologyKey: z, matchLabelKeys: [rev]}")) ==
          "f:6:42: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
          "matchLabelKeys: given without a label selector (expected labelSelector beside it)\n");
    CHECK(
        finding("  affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
                "[{weight: 101, podAffinityTerm: {topologyKey: z}}]}}\n") ==
        "f:3:91: spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
        "weight: found 101, expected a whole number from 1 to 100\n");
    CHECK(
        finding("  topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: "
                "DoNotSchedule}]\n") ==
        "f:3:41: spec.topologySpreadConstraints[0].maxSkew: found 0, expected a whole number from "
        "1 to 2147483647\n");
    CHECK(finding("  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: "
                  "Never}]\n") ==
          "f:3:79: spec.topologySpreadConstraints[0].whenUnsatisfiable: \"Never\" is not an action "
          "(expected DoNotSchedule or ScheduleAnyway)\n");
    CHECK(finding("  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z}]\n") ==
          "f:3:31: spec.topologySpreadConstraints[0].whenUnsatisfiable: required, but missing\n");
    CHECK(finding("  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: "
                  "ScheduleAnyway, minDomains: 2}]\n") ==
          "f:3:107: spec.topologySpreadConstraints[0].minDomains: only counts for what is required "
          "(expected whenUnsatisfiable: DoNotSchedule beside it)\n");
    CHECK(
        finding("  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: "
                "DoNotSchedule, nodeTaintsPolicy: Perhaps}]\n") ==
        "f:3:112: spec.topologySpreadConstraints[0].nodeTaintsPolicy: \"Perhaps\" is not a policy "
        "(expected Honor or Ignore)\n");
    const std::string twice = "{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}";
    CHECK(
        finding("  topologySpreadConstraints: [" + twice + ", " + twice + "]\n") ==
        "f:3:95: spec.topologySpreadConstraints[1]: the same topologyKey and whenUnsatisfiable as "
        "another (expected each pair once)\n");
}

TEST_CASE("empty affinity is no term at all") {
    CHECK_FALSE(read("  affinity: {podAffinity: {}, podAntiAffinity: "
                     "{requiredDuringSchedulingIgnoredDuringExecution: []}}\n")
                    .terms);
    CHECK_FALSE(read("  topologySpreadConstraints: []\n").terms);
}

} // namespace codec_pod_terms_reader_test
