// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/kubeflow/job_reader.hpp>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include <muster/job_fixture.hpp>

namespace codec_ack_seed_test {

using namespace muster_job_fixture;

namespace {

std::string example() {
    std::ifstream file(MUSTER_TEST_DATA "/ack/tf-smoke-gpu.yaml");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string without_labels(std::string text) {
    for (const std::string key : {"pod-group.scheduling.sigs.k8s.io/name: tf-smoke-gpu",
                                  "pod-group.scheduling.sigs.k8s.io/min-available: \"5\""})
        for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key))
            text.replace(at, key.size(), "other: x");
    // The same key twice in one map is an error of YAML.
    for (std::size_t at = text.find("other: x"); at != std::string::npos;
         at = text.find("other: x", at + 1)) {
        const std::size_t next = text.find("other: x", at + 1);
        if (next != std::string::npos && next - at < 40)
            text.replace(next, 5, "more_");
    }
    return text;
}

} // namespace

TEST_CASE("ACK's example of a TFJob is a gang of all five pods, named as its table prints them") {
    const auto made = read_job(read_kubeflow<kubeflow_kind::tensorflow>, example());
    CHECK(made.findings.empty());
    REQUIRE(made.gangs.size() == 1);
    CHECK(made.loose_pods.empty());
    CHECK(made.gangs[0].gang.name == "tf-smoke-gpu");
    CHECK(tree_text(made.gangs[0].gang.tree) == "5 (ps 0, worker 0)");
    CHECK(pod_names(made.gangs[0].pods) ==
          "tf-smoke-gpu-ps-0 tf-smoke-gpu-worker-0 tf-smoke-gpu-worker-1 tf-smoke-gpu-worker-2 "
          "tf-smoke-gpu-worker-3");
    CHECK(at(made.gangs[0].pods[1].document, "spec|containers|0|resources|limits|nvidia.com/gpu") ==
          "2");
    CHECK(at(made.gangs[0].pods[1].document, "spec|restartPolicy") == "Never");
}

TEST_CASE("without ACK's labels the same TFJob is the gang of its own controller") {
    const auto made = read_job(read_kubeflow<kubeflow_kind::tensorflow>, without_labels(example()));
    CHECK(made.findings.empty());
    CHECK(tree_text(made.gangs.at(0).gang.tree) == "5 (ps 0, worker 0)");
    CHECK(!made.gangs[0].gang.origin);
}

TEST_CASE("the labels of ACK's page name a gang and its minimum") {
    std::ifstream file(MUSTER_TEST_DATA "/ack/labels.yaml");
    std::string labels{std::istreambuf_iterator<char>(file), {}};
    diagnostics out;
    const auto documents = read_documents("f", labels, out);
    REQUIRE(out.ok());
    REQUIRE(documents.size() == 1);
    const boost::json::object pod_template{{"metadata", documents[0].root()}};
    CHECK(labelled_gang_of(&pod_template) == labelled_gang{"tf-smoke-gpu", 3});
}

} // namespace codec_ack_seed_test
