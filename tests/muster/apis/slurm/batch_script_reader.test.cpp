// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/batch_script_reader.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/slurm/script_text.hpp>
#include <muster/job_fixture.hpp>

namespace codec_slurm_batch_script_reader_test {

using namespace codec_slurm_tests;
using namespace muster_job_fixture;

namespace {

read_result job(const std::vector<std::string>& lines) {
    return read_job(slurm::read_batch_script, script(lines));
}

const std::string anti =
    "spec|affinity|podAntiAffinity|requiredDuringSchedulingIgnoredDuringExecution";

} // namespace

TEST_CASE("a job of one component is a gang of one role") {
    const read_result made = job({"-J train -N2 -p gpu --priority=7"});
    CHECK(made.findings.empty());
    REQUIRE(made.gangs.size() == 1);
    const gang_bundle& only = made.gangs.front();
    CHECK(only.gang.name == "train");
    CHECK(only.gang.kind == "BatchScript");
    CHECK(only.gang.queue == "gpu");
    CHECK(only.gang.priority.number == 7);
    CHECK_FALSE(only.gang.origin);
    CHECK(tree_text(only.gang.tree) == "2");
    CHECK(pod_names(only.pods) == "train-0 train-1");
}

TEST_CASE("components start all or nothing") {
    const read_result made = job({"-J x -n1", "hetjob", "-N2-4", "hetjob", "-n3"});
    REQUIRE(made.gangs.size() == 1);
    CHECK(tree_text(made.gangs[0].gang.tree) == "6 (het-0 1, het-1 2, het-2 3)");
    CHECK(pod_names(made.gangs[0].pods) ==
          "x-het-0-0 x-het-1-0 x-het-1-1 x-het-1-2 x-het-1-3 x-het-2-0 x-het-2-1 x-het-2-2");
}

TEST_CASE("pods that are parts of nodes stand on nodes of their own") {
    const read_result nodes = job({"-J x -N2"});
    CHECK(at(nodes.gangs[0].pods[1].document, anti) ==
          R"([{"labelSelector":{"matchLabels":{"slurm.muster.dev/job":"x"}},)"
          R"("topologyKey":"kubernetes.io/hostname"}])");
    CHECK(at(nodes.gangs[0].pods[1].document, "metadata|labels") ==
          R"({"slurm.muster.dev/job":"x"})");
    const read_result tasks = job({"-J x -n2"});
    CHECK(at(tasks.gangs[0].pods[1].document, "spec|affinity") == "");
    const read_result parts = job({"-J x -n1", "hetjob", "-N2"});
    CHECK(at(parts.gangs[0].pods[2].document, anti) ==
          R"([{"labelSelector":{"matchLabels":{"slurm.muster.dev/job":"x",)"
          R"("slurm.muster.dev/component":"het-1"}},"topologyKey":"kubernetes.io/hostname"}])");
}

TEST_CASE("an exclusive job keeps pods of others off its nodes, but for those of kube-system") {
    const read_result made = job({"-J x -N1 --exclusive"});
    CHECK(at(made.gangs[0].pods[0].document, anti) ==
          R"([{"labelSelector":{"matchExpressions":[{"key":"slurm.muster.dev/job",)"
          R"("operator":"NotIn","values":["x"]}]},"topologyKey":"kubernetes.io/hostname"},)"
          R"({"labelSelector":{},"topologyKey":"kubernetes.io/hostname","namespaceSelector":)"
          R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn",)"
          R"("values":["default","kube-system"]}]}}])");
}

TEST_CASE("an exclusive component keeps off the nodes of the other components") {
    const read_result made = job({"-J x -N1", "hetjob", "-N1 --exclusive"});
    CHECK(at(made.gangs[0].pods[1].document, anti)
              .find(R"({"labelSelector":{"matchExpressions":[{"key":"slurm.muster.dev/component",)"
                    R"("operator":"NotIn","values":["het-1"]}]},)"
                    R"("topologyKey":"kubernetes.io/hostname"})") != std::string::npos);
}

TEST_CASE("an uneven division is one leaf with pods of two sizes") {
    const read_result made = job({"-J x -N2 -n3"});
    CHECK(tree_text(made.gangs[0].gang.tree) == "2");
    REQUIRE(made.gangs[0].pods.size() == 2);
    const std::string cpu = "spec|containers|0|resources|requests|cpu";
    CHECK(at(made.gangs[0].pods[0].document, cpu) == "2");
    CHECK(at(made.gangs[0].pods[1].document, cpu) == "1");
}

TEST_CASE("a job array is one gang for each index, and those beyond the limit wait") {
    const read_result made = job({"-J x -n2 -a 1,5,7%2 --hold"});
    REQUIRE(made.gangs.size() == 3);
    CHECK(made.gangs[2].gang.name == "x-7");
    CHECK(pod_names(made.gangs[1].pods) == "x-5-0 x-5-1");
    CHECK(at(made.gangs[1].pods[0].document, "spec|schedulingGates") ==
          R"([{"name":"slurm.muster.dev/hold"}])");
    CHECK(at(made.gangs[2].pods[0].document, "spec|schedulingGates") ==
          R"([{"name":"slurm.muster.dev/hold"},{"name":"slurm.muster.dev/array"}])");
    CHECK(at(made.gangs[2].pods[0].document, "metadata|labels") ==
          R"({"slurm.muster.dev/job":"x-7"})");
}

TEST_CASE("what a gang cannot say is a loss") {
    const read_result made = job({"-J x --switches=1@10"});
    REQUIRE(made.losses.size() == 2);
    CHECK(made.losses[0].what == loss_kind::pod_contents);
    CHECK(made.losses[0].object == "BatchScript default/x");
    CHECK(made.losses[0].detail.find("an image for them") != std::string::npos);
    CHECK(job({"-J x --container-image=i"}).losses.at(0).detail ==
          "the commands of the script: its containers have none");
    CHECK(made.losses[1].what == loss_kind::topology_preferred);
    CHECK(made.losses[1].detail == "at most 1@10 switches");
}

TEST_CASE("a job of too many pods is an error") {
    for (const std::string option : {"-n1000001", "-n11 -a 0-99999", "-N2147483647"}) {
        const read_result made = job({option});
        CHECK(made.gangs.empty());
        CHECK(made.findings.find(
                  "f:1:1: the job has more than 1000000 pods (expected at most that many)\n") !=
              std::string::npos);
    }
}

TEST_CASE("the object that stands for a script may be wrong when somebody else writes it") {
    for (const std::string spec :
         {"{}", "{roles: []}", "{roles: [{}]}", "{roles: [1]}",
          "{roles: [{minimum: -1, pods: {}}]}", "{roles: [{minimum: 1, pods: [{count: 1}]}]}",
          "{roles: 1, indices: [x]}"}) {
        const read_result made =
            read_job(slurm::read_batch_script,
                     "apiVersion: slurm.muster.dev/v1\nkind: BatchScript\nmetadata: {name: x}\n"
                     "spec: " +
                         spec + "\n");
        CAPTURE(spec);
        CHECK(made.findings.find("f:4:") == 0);
    }
}

} // namespace codec_slurm_batch_script_reader_test
