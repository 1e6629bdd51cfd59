// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/apis/gang_claims.hpp>
#include <muster/apis/missing_group.hpp>

#include <string>
#include <vector>

#include <boost/json/parse.hpp>

namespace codec_missing_group_test {

using namespace muster::codec;

namespace {

std::string text_of(const char* metadata, const char* spec = "{}") {
    const auto pod = boost::json::parse(std::string(R"({"metadata": )") + metadata +
                                        R"(, "spec": )" + spec + "}");
    const auto claims = muster::translate::claims_of(pod.as_object());
    CHECK(claims.size() == 1);
    return claims.empty() ? "" : missing_group_text(claims.front(), "n");
}

} // namespace

TEST_CASE("a missing group is named with its kind, its API and what names it") {
    CHECK(text_of(R"({"labels": {"scheduler.tensorstack.dev/group-name": "g"}})") ==
          "there is no PodGroup g of scheduler.tensorstack.dev/v1beta1 in namespace n: label "
          "scheduler.tensorstack.dev/group-name names it");
    CHECK(text_of(R"({"labels": {"scheduling.x-k8s.io/pod-group": "g"}})") ==
          "there is no PodGroup g of scheduling.x-k8s.io/v1alpha1 in namespace n: label "
          "scheduling.x-k8s.io/pod-group names it");
    CHECK(text_of(R"({"labels": {"pod-group.scheduling.sigs.k8s.io": "g"}})") ==
          "there is no PodGroup g of scheduling.sigs.k8s.io/v1alpha1 in namespace n: label "
          "pod-group.scheduling.sigs.k8s.io names it");
    CHECK(text_of(R"({"annotations": {"gang.scheduling.koordinator.sh/name": "g"}})") ==
          "there is no PodGroup g of scheduling.sigs.k8s.io/v1alpha1 in namespace n: annotation "
          "gang.scheduling.koordinator.sh/name names it");
    CHECK(text_of(R"({"annotations": {"scheduling.volcano.sh/group-name": "g"}})") ==
          "there is no PodGroup g of scheduling.volcano.sh/v1beta1 in namespace n: annotation "
          "scheduling.volcano.sh/group-name names it");
    CHECK(text_of(R"({"annotations": {"pod-group-name": "g"}})") ==
          "there is no PodGroup g of scheduling.run.ai/v2alpha2 in namespace n: annotation "
          "pod-group-name names it");
    CHECK(text_of(R"({"labels": {"grove.io/podgang": "g"}})") ==
          "there is no PodGang g of scheduler.grove.io/v1alpha1 in namespace n: label "
          "grove.io/podgang names it");
}

TEST_CASE("a missing group of the Workload API is named by its version") {
    CHECK(text_of("{}", R"({"schedulingGroup": {"podGroupName": "g"}})") ==
          "there is no PodGroup g of scheduling.k8s.io/v1alpha2 or later in namespace n: "
          "spec.schedulingGroup names it");
    CHECK(text_of("{}", R"({"workloadRef": {"name": "w", "podGroup": "g"}})") ==
          "there is no pod group g in Workload w of scheduling.k8s.io/v1alpha1 in namespace n: "
          "spec.workloadRef names it");
}

} // namespace codec_missing_group_test
