// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/pod_template.hpp>

#include <string>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/apis/slurm/script_text.hpp>

namespace codec_slurm_pod_template_test {

using namespace codec_slurm_tests;
using namespace muster::codec::slurm;

namespace {

std::string spec(const std::string& options, const node_names& names = {}) {
    const job_request asked = request_of(options).asked;
    const auto shape = shape_of(asked);
    REQUIRE(shape);
    return boost::json::serialize(write_pod_template(asked, shape->pods.back(), names).at("spec"));
}

const std::string tail = R"("restartPolicy":"Never","containers":[{"name":"tasks",)";

} // namespace

TEST_CASE("amounts become requests, and GPUs limits too") {
    CHECK(spec("-N1") == "{" + tail + R"("resources":{"requests":{"cpu":"1"}}}]})");
    CHECK(spec("-c4 --mem=8G --tmp=1G --gres=gpu:2 -t 90 --container-image=i") ==
          R"({"activeDeadlineSeconds":5400,)" + tail +
              R"("image":"i","resources":{"limits":{"nvidia.com/gpu":"2"},"requests":{"cpu":"4",)"
              R"("memory":"8192Mi","ephemeral-storage":"1024Mi","nvidia.com/gpu":"2"}}}]})");
}

TEST_CASE("features and types of GPUs select nodes by labels") {
    CHECK(spec("-C 'ib&amd' --gres=gpu:a100:1")
              .starts_with(R"({"nodeSelector":{"feature.node.kubernetes.io/ib":"true",)"
                           R"("feature.node.kubernetes.io/amd":"true",)"
                           R"("feature.node.kubernetes.io/gpu-a100":"true"},)" +
                           tail));
    CHECK(
        spec("-C 'a|b' -x n1")
            .starts_with(
                R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
                R"({"nodeSelectorTerms":[{"matchExpressions":[)"
                R"({"key":"feature.node.kubernetes.io/a","operator":"In","values":["true"]},)"
                R"({"key":"kubernetes.io/hostname","operator":"NotIn","values":["n1"]}]},)"
                R"({"matchExpressions":[)"
                R"({"key":"feature.node.kubernetes.io/b","operator":"In","values":["true"]},)"
                R"({"key":"kubernetes.io/hostname","operator":"NotIn","values":["n1"]}]}]}}},)" +
                tail));
    CHECK(
        spec("--prefer=a")
            .starts_with(
                R"({"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":)"
                R"([{"weight":100,"preference":{"matchExpressions":[)"
                R"({"key":"feature.node.kubernetes.io/a","operator":"In","values":["true"]}]}}]}},)"));
}

TEST_CASE("pods off the list of nodes keep off the listed ones") {
    CHECK(spec("-w n1 -N1").find(R"("operator":"In","values":["n1"])") != std::string::npos);
    CHECK(spec("-w n1 -N2").find(R"("operator":"NotIn","values":["n1"])") != std::string::npos);
}

TEST_CASE("what is not modelled is a scheduling gate") {
    CHECK(spec("-L x --hold")
              .starts_with(R"({"schedulingGates":[{"name":"slurm.muster.dev/hold"},)"
                           R"({"name":"slurm.muster.dev/licenses"}],)"));
}

TEST_CASE("the names of Kubernetes can be chosen") {
    const std::string made = spec("-G a100:1 -C ib -w n1", {"amd.com/gpu", "f/", "g/", "host"});
    for (const char* const each :
         {R"("amd.com/gpu":"1")", R"("f/ib":"true")", R"("g/a100":"true")", R"("key":"host")"})
        CHECK(made.find(each) != std::string::npos);
}

} // namespace codec_slurm_pod_template_test
