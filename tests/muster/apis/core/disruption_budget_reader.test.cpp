// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_disruption_budget_reader_test {

using namespace muster::codec;

namespace {

std::string budget(const std::string& spec, const std::string& more = "") {
    return "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {" + spec +
           "}\n" + more + "---\n";
}

std::string pods(int count, const std::string& metadata, const std::string& phase = "Running") {
    std::string out;
    for (int at = 0; at < count; ++at)
        out += "apiVersion: v1\nkind: Pod\nmetadata: {name: p" + std::to_string(at) + phase + ", " +
               metadata +
               "}\nspec: {nodeName: n1, containers: [{name: c}]}\nstatus: {phase: " + phase +
               "}\n---\n";
    return out;
}

/// What the budget `b` keeps.
std::optional<std::int64_t> kept(const std::string& text, diagnostics& out) {
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    const auto made = make_cluster<8>(objects, {}, out);
    const auto& budgets = made.state.budgets();
    return budgets.empty() ? std::nullopt
                           : std::optional(made.state.budget(*budgets.begin()).keeps);
}

std::int64_t kept_of(int count, const std::string& said) {
    diagnostics out;
    const auto keeps =
        kept(pods(count, "labels: {app: x}") + budget("selector: {matchLabels: {app: x}}, " + said),
             out);
    CHECK(out.ok());
    return keeps.value_or(-1);
}

} // namespace

TEST_CASE("percentages of what stays and of what may be missing are rounded up") {
    CHECK(kept_of(7, "minAvailable: 3") == 3);
    CHECK(kept_of(7, "maxUnavailable: 3") == 4);
    CHECK(kept_of(2, "maxUnavailable: 3") == 0);
    CHECK(kept_of(7, "minAvailable: 50%") == 4);
    CHECK(kept_of(7, "maxUnavailable: 50%") == 3);
    CHECK(kept_of(7, "maxUnavailable: 30%") == 4);
    CHECK(kept_of(7, "minAvailable: 0%") == 0);
    CHECK(kept_of(7, "minAvailable: 100%") == 7);
    CHECK(kept_of(3, "maxUnavailable: 1%") == 2);
}

TEST_CASE("counted are pods of its namespace that have not ended, unless its status says more") {
    diagnostics out;
    const std::string half = "selector: {matchLabels: {app: x}}, maxUnavailable: 50%";
    const std::string four = pods(4, "labels: {app: x}");
    CHECK(kept(four + pods(3, "namespace: other, labels: {app: x}") +
                   pods(3, "labels: {app: x}", "Succeeded") +
                   pods(3, "labels: {app: z}", "Failed") + budget(half),
               out) == 2);
    CHECK(kept(four + budget(half, "status: {expectedPods: 10, currentHealthy: 4}\n"), out) == 5);
    CHECK(kept(four + budget("maxUnavailable: 50%"), out) == 0);
    CHECK(kept(four + budget("selector: {}, maxUnavailable: 50%"), out) == 2);
    CHECK(out.ok());
}

TEST_CASE("a budget covers pods of its own namespace alone, and none without a selector") {
    diagnostics out;
    const auto documents = read_documents(
        "f", budget("selector: {}, minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow"), out);
    const auto objects = read_manifests(documents, {}, out);
    const auto made = make_cluster<8>(objects, {}, out);
    REQUIRE(made.state.budgets().size() == 1);
    const auto& one = made.state.budget(*made.state.budgets().begin());
    CHECK(one.pods.matches({{"app", "x"}}, {{"kubernetes.io/metadata.name", "default"}}));
    CHECK_FALSE(one.pods.matches({{"app", "x"}}, {{"kubernetes.io/metadata.name", "other"}}));
    CHECK(one.frees_unready);
    const auto bare = read_documents("f", budget("minAvailable: 1"), out);
    const auto bare_objects = read_manifests(bare, {}, out);
    const auto none = make_cluster<8>(bare_objects, {}, out);
    CHECK_FALSE(none.state.budget(*none.state.budgets().begin())
                    .pods.matches({}, {{"kubernetes.io/metadata.name", "default"}}));
    CHECK(out.findings().empty());
}

TEST_CASE("a pod whose condition Ready is False is not ready") {
    diagnostics out;
    const auto read = [&](const std::string& conditions) {
        const auto documents = read_documents("f",
                                              "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
                                              "spec: {nodeName: n1, containers: [{name: c}]}\n"
                                              "status: {phase: Running, conditions: [" +
                                                  conditions + "]}\n",
                                              out);
        return read_manifests(documents, {}, out).pods.at(0).ready;
    };
    CHECK(read(""));
    CHECK(read("{type: Ready, status: \"True\"}"));
    CHECK_FALSE(read("{type: Ready, status: \"False\"}"));
    CHECK_FALSE(read("{type: Ready, status: Unknown}"));
}

TEST_CASE("what contradicts itself is named with its place") {
    const auto first = [](const std::string& spec) {
        diagnostics out;
        static_cast<void>(kept(budget(spec), out));
        return out.findings().empty() ? std::string() : to_text(out.findings().front());
    };
    CHECK(first("selector: {}, minAvailable: 1, maxUnavailable: 1") ==
          "f:4:55: spec.maxUnavailable: stands beside minAvailable (expected one of the two)");
    CHECK(first("selector: {}, minAvailable: 101%") ==
          "f:4:36: spec.minAvailable: \"101%\" is no percentage (expected a number of pods, or 0% "
          "to 100%)");
    CHECK(first("selector: {}, minAvailable: half").find("is no percentage") != std::string::npos);
    CHECK(first("selector: {}, minAvailable: -1") != "");
    CHECK(first("selector: {}, minAvailable: 1, unhealthyPodEvictionPolicy: Never")
              .find("expected IfHealthyBudget or AlwaysAllow") != std::string::npos);
    CHECK(first("selector: {}") ==
          "f:4:7: warning: spec: no pod that it selects is ever evicted (expected "
          "minAvailable or maxUnavailable)");
}

} // namespace codec_disruption_budget_reader_test
