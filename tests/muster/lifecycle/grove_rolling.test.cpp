// SPDX-License-Identifier: Apache-2.0
#include <muster/lifecycle/grove_rolling.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/grove/backends.hpp>

#include "muster/lifecycle/grove_server.hpp"

namespace lifecycle_grove_rolling_test {

using namespace lifecycle_grove;
using muster::translate::volcano_backend;
using names = std::vector<std::string>;

namespace {

/// Two replicas of two frontends and two groups of one pod; all run.
struct world : grove_server {
    explicit world(const std::string& how = "RollingRecreate") {
        dialect = grove_dialect::upstream;
        apply(parse_yaml(R"(apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: set}
spec:
  replicas: 2
  updateStrategy: {type: )" +
                         how + R"(}
  template:
    cliques:
    - name: front
      spec: {roleName: front, replicas: 2, minAvailable: 1, podSpec: {schedulerName: volcano, containers: [{name: c, image: old}]}}
    - name: work
      spec: {roleName: work, replicas: 1, podSpec: {schedulerName: volcano, containers: [{name: c, image: old}]}}
    podCliqueScalingGroups:
    - {name: model, cliqueNames: [work], replicas: 2}
)"));
        for (int round = 0; round < 3; ++round) {
            settle("set", volcano_backend{});
            run_ungated();
        }
        settle("set", volcano_backend{});
    }

    void change_image(std::size_t clique) {
        at("grove.io/PodCliqueSet set")["spec"]
            .at("template")
            .at("cliques")
            .as_array()[clique]
            .at("spec")
            .at("podSpec")
            .at("containers")
            .as_array()[0]
            .as_object()["image"] = "new";
    }

    /// How many pods of each clique have the new image.
    [[nodiscard]] std::map<std::string, int> updated() const {
        std::map<std::string, int> made;
        for (const std::string& name : names("Pod")) {
            const json::object& pod = objects.at("Pod " + name);
            const auto clique =
                muster::lifecycle::detail::text_at(pod, "metadata", "labels", "grove.io/podclique");
            made[std::string(clique)] += pod.at("spec").at("containers").at(0).at("image") == "new";
        }
        return made;
    }
    [[nodiscard]] int count() const {
        int sum = 0;
        for (const auto& [clique, pods] : updated())
            sum += pods;
        return sum;
    }
    [[nodiscard]] const json::value& progress() const {
        return objects.at("grove.io/PodCliqueSet set").at("status").at("updateProgress");
    }
};

} // namespace

TEST_CASE("one replica is updated at a time, and in it one ready pod of a clique at a time") {
    world server;
    server.change_image(0);
    server.settle("set", volcano_backend{});
    CHECK(server.updated()["set-0-front"] == 1);
    CHECK(server.count() == 1);
    CHECK(server.progress().at("currentlyUpdating").at(0).at("replicaIndex") == 0);
    server.settle("set", volcano_backend{});
    CHECK(server.count() == 1); // the new pod is not ready yet
    server.run_ungated();
    server.settle("set", volcano_backend{});
    // The first replica has its minimum ready: it is the next one's turn.
    CHECK(server.updated()["set-0-front"] == 2);
    CHECK(server.updated()["set-1-front"] == 1);
    CHECK(server.progress().at("currentlyUpdating").at(0).at("replicaIndex") == 1);
    CHECK(server.at("grove.io/PodCliqueSet set").at("status").at("updatedReplicas") == 1);
    for (int round = 0; round < 2; ++round) {
        server.run_ungated();
        server.settle("set", volcano_backend{});
    }
    CHECK(server.updated()["set-1-front"] == 2);
    CHECK(server.progress().as_object().contains("updateEndedAt"));
    CHECK_FALSE(server.progress().as_object().contains("currentlyUpdating"));
    CHECK(server.at("grove.io/PodCliqueSet set").at("status").at("updatedReplicas") == 2);
}

TEST_CASE("of a scaling group one replica goes at a time, as a whole") {
    world server;
    server.change_image(1);
    server.settle("set", volcano_backend{});
    CHECK(server.updated()["set-0-model-0-work"] == 1);
    CHECK(server.count() == 1);
    server.run_ungated();
    server.settle("set", volcano_backend{});
    CHECK(server.updated()["set-0-model-1-work"] == 1);
    CHECK(server.count() == 2);
}

TEST_CASE("what is not ready is replaced at once") {
    world server;
    for (const std::string& name : server.names("Pod"))
        if (name.starts_with("set-0-front"))
            server.at("Pod " + name)["status"].as_object().erase("conditions");
    server.change_image(0);
    server.settle("set", volcano_backend{});
    CHECK(server.updated()["set-0-front"] == 2);
    CHECK(server.count() == 2);
}

TEST_CASE("replicas of which nothing is scheduled are updated first, then those that lack pods") {
    SUBCASE("nothing scheduled") {
        world server;
        for (const std::string& name : server.names("Pod"))
            if (name.starts_with("set-1-")) {
                server.at("Pod " + name)["spec"].as_object().erase("nodeName");
                server.at("Pod " + name)["status"] = {{"phase", "Pending"}};
            }
        server.change_image(0);
        server.settle("set", volcano_backend{});
        CHECK(server.updated()["set-1-front"] == 2);
        CHECK(server.updated()["set-0-front"] == 0);
    }
    SUBCASE("a minimum lacking") {
        world server;
        for (const std::string& name : server.names("Pod"))
            if (name.starts_with("set-1-model-0"))
                server.at("Pod " + name)["status"] = {{"phase", "Failed"}};
        server.change_image(0);
        server.settle("set", volcano_backend{});
        CHECK(server.updated()["set-1-front"] == 1);
        CHECK(server.updated()["set-0-front"] == 0);
    }
}

TEST_CASE("with OnDelete pods stay until somebody deletes them, and come back updated") {
    world server("OnDelete");
    server.change_image(0);
    server.settle("set", volcano_backend{});
    CHECK(server.count() == 0);
    server.remove("Pod " + server.names("Pod").front());
    server.settle("set", volcano_backend{});
    CHECK(server.count() == 1);
}

TEST_CASE("while a replica is updated nobody says that it lost its minimum") {
    world server;
    server.change_image(0);
    server.change_image(1);
    server.settle("set", volcano_backend{});
    const auto* found = muster::lifecycle::detail::condition_of(
        server.at("grove.io/PodClique set-0-front"), "MinAvailableBreached");
    REQUIRE(found);
    CHECK(found->at("status") == "Unknown");
}

} // namespace lifecycle_grove_rolling_test
