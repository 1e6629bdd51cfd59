// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/pod_shapes.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <muster/apis/slurm/script_text.hpp>

namespace codec_slurm_pod_shapes_test {

using namespace codec_slurm_tests;
using namespace muster::codec::slurm;

namespace {

/// `MINIMUM of COUNT×(TASKS tasks CPUS cpus GPUS gpus MEMORY)`, ` on nodes` if each has its own.
std::string shape(const std::string& options) {
    const auto [asked, findings] = request_of(options);
    CHECK(findings.empty());
    const auto made = shape_of(asked);
    if (!made)
        return "--" + std::string(made.error().option) + ": " + made.error().message;
    std::string text = std::to_string(made->minimum) + " of";
    for (const pod_shape& each : made->pods) {
        text += " " + std::to_string(each.count) + "x(" + std::to_string(each.tasks) + "t " +
                std::to_string(each.cpus) + "c";
        text += each.gpus > 0 ? " " + std::to_string(each.gpus) + "g" : "";
        text += each.mebibytes > 0 ? " " + std::to_string(each.mebibytes) + "Mi" : "";
        text += each.hosts == host_rule::listed     ? " listed"
                : each.hosts == host_rule::unlisted ? " unlisted"
                                                    : "";
        text += ")";
    }
    text += made->one_per_node ? " on nodes" : "";
    text += made->remark.empty() ? "" : " remark";
    return text;
}

} // namespace

TEST_CASE("with a number of nodes there is one pod for each node") {
    CHECK(shape("-N4") == "4 of 4x(1t 1c) on nodes");
    CHECK(shape("-N4 -c8") == "4 of 4x(1t 8c) on nodes");
    CHECK(shape("-N2 --ntasks-per-node=8 -c4 --mem=64G --gres=gpu:8") ==
          "2 of 2x(8t 32c 8g 65536Mi) on nodes");
    CHECK(shape("-N2 -n8 --mem-per-cpu=100 -c2") == "2 of 2x(4t 8c 800Mi) on nodes");
    CHECK(shape("-N2 --gpus-per-node=4 --mem-per-gpu=1G --cpus-per-gpu=6") ==
          "2 of 2x(1t 24c 4g 4096Mi) on nodes");
}

TEST_CASE("a range of nodes is elastic unless something is divided among them") {
    CHECK(shape("-N2-4 --ntasks-per-node=2") == "2 of 4x(2t 2c) on nodes");
    CHECK(shape("-N2-4 --use-min-nodes") == "2 of 2x(1t 1c) on nodes");
    CHECK(shape("-N2-4 -n8") == "2 of 2x(4t 4c) on nodes remark");
    CHECK(shape("-N1,3") == "1 of 1x(1t 1c) on nodes remark");
    CHECK(shape("-N2-4 -G 4") == "2 of 2x(1t 1c 2g) on nodes remark");
}

TEST_CASE("what does not divide is spread as evenly as possible") {
    CHECK(shape("-N4 -n10") == "4 of 2x(3t 3c) 2x(2t 2c) on nodes");
    CHECK(shape("-N4 -n10 -G 5") == "4 of 1x(3t 3c 2g) 1x(3t 3c 1g) 2x(2t 2c 1g) on nodes");
    CHECK(shape("-N4 -n2") == "2 of 2x(1t 1c) on nodes");
    CHECK(shape("-n10 --ntasks-per-node=4") == "3 of 1x(4t 4c) 2x(3t 3c) on nodes");
}

TEST_CASE("with a number of tasks alone there is one pod for each task") {
    CHECK(shape("-n4 -c2 --mem-per-cpu=1G") == "4 of 4x(1t 2c 2048Mi)");
    CHECK(shape("-n4 --gpus-per-task=2") == "4 of 4x(1t 1c 2g)");
    CHECK(shape("-n8 -G 4") == "4 of 4x(2t 2c 1g)");
    CHECK(shape("-n4 -G 8") == "4 of 4x(1t 1c 2g)");
    CHECK(shape("-n3 -G 2") == "1 of 1x(3t 3c 2g)");
    CHECK(shape("-G 16") == "16 of 16x(1t 1c 1g)");
    CHECK(shape("-G 8 --gpus-per-task=2") == "4 of 4x(1t 1c 2g)");
    CHECK(shape("-n8 --ntasks-per-gpu=2") == "4 of 4x(2t 2c 1g)");
    CHECK(shape("-G 4 --ntasks-per-gpu=2") == "4 of 4x(2t 2c 1g)");
    CHECK(shape("-N2 --gres=gpu:2 --ntasks-per-gpu=3") == "2 of 2x(6t 6c 2g) on nodes");
    CHECK(shape("-n2 --tres-per-task=cpu=4,gres/gpu=1") == "2 of 2x(1t 4c 1g)");
}

TEST_CASE("one node is one pod") {
    CHECK(shape("") == "1 of 1x(1t 1c) on nodes");
    CHECK(shape("-n1 -c8 --mem=4G -G 2") == "1 of 1x(1t 8c 2g 4096Mi) on nodes");
    CHECK(shape("--ntasks-per-node=4") == "1 of 1x(4t 4c) on nodes");
    CHECK(shape("-n8 --mem=4G") == "1 of 1x(8t 8c 4096Mi) on nodes remark");
    CHECK(shape("-n4 --gres=gpu:4") == "1 of 1x(4t 4c 4g) on nodes remark");
    CHECK(shape("-G 2 -c8") == "1 of 1x(1t 8c 2g) on nodes remark");
    CHECK(shape("--mincpus=16") == "1 of 1x(1t 16c) on nodes");
}

TEST_CASE("GPUs in all and per node give the number of nodes") {
    CHECK(shape("-G 16 --gpus-per-node=8") == "2 of 2x(1t 1c 8g) on nodes");
    CHECK(shape("-G 16 --gpus-per-node=8 -n32") == "2 of 2x(16t 16c 8g) on nodes");
}

TEST_CASE("overcommitted tasks have the CPUs of one task on each node") {
    CHECK(shape("-N2 -n64 -c4 -O") == "2 of 2x(1t 4c) on nodes");
    CHECK(shape("-n64 -O") == "1 of 1x(1t 1c) on nodes");
}

TEST_CASE("listed nodes are all used as far as the job has nodes") {
    CHECK(shape("-w a,b") == "2 of 2x(1t 1c listed) on nodes");
    CHECK(shape("-w a,b -N4") == "4 of 2x(1t 1c listed) 2x(1t 1c unlisted) on nodes");
    CHECK(shape("-w a,b,c -N2") == "2 of 2x(1t 1c listed) on nodes");
    CHECK(shape("-w a,b -n1") == "1 of 1x(1t 1c listed) on nodes");
    CHECK(shape("-w a -N1-3") == "1 of 1x(1t 1c listed) on nodes remark");
    CHECK(shape("-w a -N2-3") == "2 of 1x(1t 1c listed) 1x(1t 1c unlisted) on nodes remark");
    CHECK(shape("-w a,b,c -N2-3") == "2 of 3x(1t 1c listed) on nodes");
}

TEST_CASE("numbers that contradict each other are an error of one option") {
    for (const auto& each :
         {std::pair{"-N2 -n9 --ntasks-per-node=4", "--ntasks: 9 tasks are more than 2 nodes"},
          {"-N4 -G 2", "--gpus: 2 GPUs are too few for 4 nodes"},
          {"-n3 --ntasks-per-gpu=2", "--ntasks-per-gpu: "},
          {"--ntasks-per-gpu=2", "--ntasks-per-gpu: "},
          {"-G 7 --gpus-per-task=2", "--gpus-per-task: "},
          {"-G 9 --gpus-per-node=8", "--gpus: "},
          {"-N1 -n2147483647 -c2147483647 --mem-per-cpu=1T", "--mem-per-cpu: "},
          {"--gpus-per-node=2147483647 --ntasks-per-gpu=2147483647", "--ntasks-per-gpu: "},
          {"-N1 -n2147483647 --gpus-per-task=2147483647", "--gpus-per-task: "}}) {
        const std::string options = each.first;
        CAPTURE(options);
        CHECK(shape(options).find(each.second) == 0);
    }
}

TEST_CASE("pods have all tasks and GPUs, in parts that differ by one at most") {
    for (std::int64_t nodes = 0; nodes < 6; ++nodes)
        for (std::int64_t tasks = 0; tasks < 14; ++tasks)
            for (std::int64_t gpus = 0; gpus < 14; ++gpus) {
                job_request asked;
                if (nodes > 0)
                    asked.nodes = node_count{nodes, nodes, false};
                if (tasks > 0)
                    asked.tasks = tasks;
                if (gpus > 0)
                    asked.gpus = gpu_request{gpus, {}, false};
                asked.cpus_per_task = 3;
                const auto made = shape_of(asked);
                const std::int64_t used = tasks > 0 ? std::min(nodes, tasks) : nodes;
                CAPTURE(nodes);
                CAPTURE(tasks);
                CAPTURE(gpus);
                REQUIRE(static_cast<bool>(made) == (gpus == 0 || gpus >= used));
                if (!made)
                    continue;
                std::int64_t pods = 0;
                std::int64_t all_tasks = 0;
                std::int64_t all_gpus = 0;
                std::int64_t fewest = largest_count;
                std::int64_t most = 0;
                for (const pod_shape& each : made->pods) {
                    pods += each.count;
                    all_tasks += each.count * each.tasks;
                    all_gpus += each.count * each.gpus;
                    fewest = std::min(fewest, each.tasks);
                    most = std::max(most, each.tasks);
                    CHECK(each.count > 0);
                    CHECK(each.tasks > 0);
                    CHECK(each.cpus == 3 * each.tasks);
                }
                CHECK(made->minimum == pods);
                CHECK(all_gpus == gpus);
                CHECK(all_tasks == (tasks > 0 ? tasks : std::max<std::int64_t>(nodes, 1)));
                CHECK(most - fewest <= 1);
                if (nodes > 0)
                    CHECK(pods == used);
            }
}

} // namespace codec_slurm_pod_shapes_test
