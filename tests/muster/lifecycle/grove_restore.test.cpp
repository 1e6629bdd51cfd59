// SPDX-License-Identifier: Apache-2.0
#include <muster/lifecycle/grove_restore.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <muster/apis/grove/backends.hpp>

#include "muster/lifecycle/grove_server.hpp"

namespace lifecycle_grove_restore_test {

using namespace lifecycle_grove;
using namespace muster::translate;

namespace {

json::object parse(std::string_view text) {
    return json::parse(json::string_view(text.data(), text.size())).as_object();
}

/// The spec as it should be, or "as it is".
std::string restored(std::string_view kind, std::string_view seen, std::string_view wanted,
                     std::string_view kept = {}) {
    const auto made = muster::lifecycle::detail::restored(kind, parse(seen), parse(wanted), kept);
    return made ? json::serialize(made->at("spec")) : "as it is";
}

constexpr std::string_view kai = "scheduling.run.ai/PodGroup";

/// A set of two cliques for the scheduler, with what it may say, or without.
std::string set(std::string_view scheduler, bool rich) {
    const auto said = [&](std::string_view text) {
        return rich ? std::string(text) : std::string();
    };
    return R"(apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: set, labels: {kai.scheduler/queue: research}}
spec:
  replicas: 1
  template:
)" + said("    priorityClassName: high\n") +
           R"(    cliques:
    - name: front
      spec:
        roleName: front
        replicas: 2
)" + said("        autoScalingConfig: {minReplicas: 2, maxReplicas: 5}\n") +
           "        podSpec: {schedulerName: " + std::string(scheduler) +
           R"(, containers: [{name: c}]}
    - name: back
      spec: {roleName: back, replicas: 1, podSpec: {schedulerName: )" +
           std::string(scheduler) + said(", nodeSelector: {gpu: fast}") +
           ", containers: [{name: c}]}}\n";
}

/// All that is neither a pod nor the set: specs and labels, by `group/Kind name`. Pods are called
/// otherwise when they were made anew.
std::map<std::string, std::string> derived(const grove_server& from) {
    std::map<std::string, std::string> made;
    for (const auto& [name, each] : from.objects) {
        if (name.starts_with("Pod ") || name.starts_with("grove.io/PodCliqueSet "))
            continue;
        json::object spec = each.contains("spec") ? each.at("spec").as_object() : json::object();
        if (auto* groups = spec.if_contains("podgroups"))
            for (json::value& group : groups->as_array())
                group.as_object()["podReferences"] =
                    group.as_object()["podReferences"].as_array().size();
        // As it is read: fields come in the order in which they were written.
        std::map<std::string, json::value> fields;
        for (const auto& field : spec)
            fields.emplace(field.key(), field.value());
        for (const auto& [key, value] : fields)
            made[name] += key + ": " + json::serialize(value) + "\n";
        made[name] += json::serialize(each.at("metadata").at("labels"));
    }
    return made;
}

template<class Backend>
void asks_for_less(const Backend& backend) {
    const auto settled = [&](grove_server& server) {
        for (int turn = 0; turn < 10; ++turn) {
            server.settle("set", backend);
            server.run_ungated();
        }
        REQUIRE(server.look("set", backend).is_quiet());
        return derived(server);
    };
    grove_server edited;
    grove_server anew;
    edited.dialect = anew.dialect = grove_dialect::upstream;
    edited.apply(parse_yaml(set(backend.scheduler(), true)));
    anew.apply(parse_yaml(set(backend.scheduler(), false)));
    const auto rich = settled(edited);
    edited.apply(parse_yaml(set(backend.scheduler(), false)));
    const auto lean = settled(anew);
    CHECK(rich != lean);
    CHECK(settled(edited) == lean);
}

template<class Backend>
void foreign_fields_stay(const Backend& backend) {
    grove_server server;
    server.dialect = grove_dialect::upstream;
    server.apply(parse_yaml(set(backend.scheduler(), true)));
    server.settle("set", backend);
    std::size_t count = 0;
    for (auto& [name, each] : server.objects)
        if (name.starts_with("schedul") || name.starts_with("grove.io/PodClique ")) {
            each["spec"].as_object()["filledIn"] = 7;
            ++count;
        }
    CHECK(count >= 4);
    CHECK(server.look("set", backend).is_quiet());
    // Nor do they go when something else is to be mended.
    for (auto& [name, each] : server.objects)
        if (name.starts_with("schedul"))
            each["metadata"].as_object()["ownerReferences"].as_array().clear();
    CHECK_FALSE(server.look("set", backend).is_quiet());
    server.settle("set", backend);
    for (const auto& [name, each] : server.objects)
        if (name.starts_with("schedul")) {
            const std::string& of = name; // clang 14 captures no structured binding
            CHECK_MESSAGE(each.at("spec").as_object().contains("filledIn"), of);
        }
}

} // namespace

TEST_CASE("a field that the set says at times goes when it does not, whoever wrote it") {
    CHECK(restored(kai, R"({"metadata":{},"spec":{"minMember":2,"minSubGroup":1}})",
                   R"({"metadata":{},"spec":{"minMember":2}})") == R"({"minMember":2})");
    CHECK(restored(kai,
                   R"({"metadata":{},"spec":{"subGroups":[{"name":"a","topologyConstraint":{}}]}})",
                   R"({"metadata":{},"spec":{"subGroups":[{"name":"a"}]}})") ==
          R"({"subGroups":[{"name":"a"}]})");
}

TEST_CASE("a field that the controller never writes stays, at any depth") {
    const std::string_view seen =
        R"({"metadata":{},"spec":{"minMember":2,"x":1,"subGroups":[{"name":"a","y":2}]}})";
    CHECK(restored(kai, seen,
                   R"({"metadata":{},"spec":{"minMember":2,"subGroups":[{"name":"a"}]}})") ==
          "as it is");
    CHECK(restored(kai, seen, R"({"metadata":{},"spec":{"minMember":3}})") ==
          R"({"minMember":3,"x":1})");
    // An API that is not listed fills in what it likes.
    CHECK(restored("scheduling.k8s.io/PodGroup", R"({"metadata":{},"spec":{"queue":"q"}})",
                   R"({"metadata":{},"spec":{}})") == "as it is");
}

TEST_CASE("the value of a field that is kept stays") {
    const std::string_view seen = R"({"metadata":{},"spec":{"queue":"moved","minMember":1}})";
    CHECK(restored(kai, seen, R"({"metadata":{},"spec":{"queue":"q","minMember":1}})", "queue") ==
          "as it is");
    CHECK(restored(kai, seen, R"({"metadata":{},"spec":{"queue":"q","minMember":2}})", "queue") ==
          R"({"queue":"moved","minMember":2})");
    CHECK(restored(kai, seen, R"({"metadata":{},"spec":{"queue":"q","minMember":1}})") ==
          R"({"queue":"q","minMember":1})");
}

TEST_CASE("what is below a field goes when a label changes with it") {
    const std::string_view seen =
        R"({"metadata":{"labels":{"hash":"1"}},"spec":{"podSpec":{"a":1,"b":2}}})";
    CHECK(restored("grove.io/PodClique", seen,
                   R"({"metadata":{"labels":{"hash":"1"}},"spec":{"podSpec":{"a":1}}})") ==
          "as it is");
    CHECK(restored("grove.io/PodClique", seen,
                   R"({"metadata":{"labels":{"hash":"2"}},"spec":{"podSpec":{"a":1}}})") ==
          R"({"podSpec":{"a":1}})");
}

TEST_CASE("a set that asks for less leaves nothing of what it asked for") {
    asks_for_less(kai_backend{});
    asks_for_less(volcano_backend{});
    asks_for_less(koordinator_backend{});
    asks_for_less(default_backend{});
}

TEST_CASE("what somebody fills into derived objects stays, and is no reason to write") {
    foreign_fields_stay(kai_backend{});
    foreign_fields_stay(volcano_backend{});
    foreign_fields_stay(koordinator_backend{});
}

} // namespace lifecycle_grove_restore_test
