// SPDX-License-Identifier: Apache-2.0
// A controller that stops between any two writes and starts again comes to the same end.
#include <muster/lifecycle/grove_controller.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/apis/grove/backends.hpp>
#include <muster/testing/random.hpp>

#include "muster/lifecycle/grove_server.hpp"

namespace lifecycle_grove_crash_test {

using namespace lifecycle_grove;
using muster::translate::kai_backend;

namespace {

constexpr std::string_view manifest = R"(apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: set, labels: {kai.scheduler/queue: q}}
spec:
  replicas: 1
  template:
    terminationDelay: 10m
    cliques:
    - name: front
      spec: {roleName: front, replicas: 2, minAvailable: 1, podSpec: {schedulerName: kai-scheduler, containers: [{name: c, image: i0}]}}
    - name: work
      spec: {roleName: work, replicas: 2, podSpec: {schedulerName: kai-scheduler, containers: [{name: c, image: i0}]}}
    podCliqueScalingGroups:
    - {name: model, cliqueNames: [work], replicas: 2}
)";

json::object& template_of(grove_server& server) {
    return server.at("grove.io/PodCliqueSet set")["spec"].at("template").as_object();
}

/// What users and clusters do to a set between two times that it comes to rest.
void disturb(grove_server& server, std::uint64_t what, std::uint64_t how) {
    const auto image = [&](std::size_t clique) {
        template_of(server)["cliques"]
            .as_array()[clique]
            .at("spec")
            .at("podSpec")
            .at("containers")
            .as_array()[0]
            .as_object()["image"] = "i" + std::to_string(how % 3);
    };
    switch (what % 8) {
    case 0:
        server.at("grove.io/PodCliqueSet set")["spec"].as_object()["replicas"] = how % 3;
        return;
    case 1:
        template_of(server)["podCliqueScalingGroups"].as_array()[0].as_object()["replicas"] =
            1 + how % 3;
        return;
    case 2:
        template_of(server)["cliques"].as_array()[0].at("spec").as_object()["replicas"] =
            1 + how % 4;
        return;
    case 3:
        return image(0);
    case 4:
        return image(1);
    case 5: // a clique loses its nodes for long
        for (const std::string& name : server.names("Pod"))
            if (name.starts_with(how % 2 ? "set-0-front-" : "set-0-model-0-work-"))
                server.at("Pod " + name)["status"] = {{"phase", "Failed"}};
        server.settle("set", kai_backend{});
        server.now += 600'000'000'000;
        return;
    case 6:
        if (const auto gangs = server.names("scheduler.grove.io/PodGang"); !gangs.empty())
            server.remove("scheduler.grove.io/PodGang " + gangs[how % gangs.size()]);
        return;
    default:
        for (const std::string& name : server.names("scheduling.run.ai/PodGroup"))
            server.at("scheduling.run.ai/PodGroup " + name)["spec"].as_object()["minMember"] = 99;
    }
}

/// The state of everything, but for what tells objects apart that were created at other times.
std::string gist(const grove_server& server) {
    std::map<std::string, int> lines;
    for (const auto& [key, each] : server.objects) {
        json::object object = each;
        json::object& metadata = object["metadata"].as_object();
        for (const char* field : {"uid", "creationTimestamp", "ownerReferences", "generation"})
            metadata.erase(field);
        std::string name = key;
        if (key.starts_with("Pod ")) {
            metadata.erase("name");
            name = "Pod";
        }
        if (key.starts_with("scheduler.grove.io/PodGang"))
            for (json::value& group : object["spec"].at("podgroups").as_array())
                group.as_object()["podReferences"] = group.at("podReferences").as_array().size();
        if (auto* status = object.if_contains("status"))
            if (auto* conditions = status->as_object().if_contains("conditions"))
                for (json::value& condition : conditions->as_array())
                    condition.as_object().erase("lastTransitionTime");
        if (auto* status = object.if_contains("status"))
            status->as_object().erase("updateProgress");
        ++lines[name + ' ' + json::serialize(object)];
    }
    std::string text;
    for (const auto& [line, count] : lines)
        text += std::to_string(count) + ' ' + line + '\n';
    return text;
}

/// To rest, with pods running as soon as they may. With `dice`, the controller stops after some
/// writes of every few passes.
void rest(grove_server& server, muster::testing::random* dice) {
    for (int round = 0; round < 40; ++round) {
        if (dice)
            for (int crash = 0; crash < 4; ++crash) {
                int left = static_cast<int>(dice->below(12));
                server.settle("set", kai_backend{}, &left);
            }
        server.settle("set", kai_backend{});
        const std::string before = gist(server);
        server.run_ungated();
        if (gist(server) == before)
            return;
    }
    FAIL("the set never comes to rest");
}

} // namespace

TEST_CASE("whatever is done to a set, a controller that crashes between writes ends where one that "
          "does not") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        muster::testing::random history(seed);
        muster::testing::random crashes(seed + 1000);
        grove_server steady;
        steady.dialect = grove_dialect::upstream;
        steady.apply(parse_yaml(std::string(manifest)));
        grove_server shaky = steady;
        rest(steady, nullptr);
        rest(shaky, &crashes);
        REQUIRE_MESSAGE(gist(shaky) == gist(steady), "seed: ", seed);
        for (int step = 0; step < 6; ++step) {
            const std::uint64_t what = history.below(8);
            const std::uint64_t how = history.below(1000);
            disturb(steady, what, how);
            disturb(shaky, what, how);
            rest(steady, nullptr);
            rest(shaky, &crashes);
            REQUIRE_MESSAGE(gist(shaky) == gist(steady), "seed: ", seed, " step: ", step,
                            " what: ", what, " how: ", how);
            CHECK(shaky.look("set", kai_backend{}).is_quiet());
        }
    }
}

} // namespace lifecycle_grove_crash_test
