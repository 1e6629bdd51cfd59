// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/claim_requests.hpp>

#include <string>

#include <boost/json/object.hpp>
#include <doctest/doctest.h>

namespace claim_requests_test {

namespace codec = muster::codec;
namespace kube = muster::kube;

namespace {

codec::resource_claim_object claim() {
    codec::resource_claim_object made;
    made.metadata.key = {"team", "c"};
    made.metadata.uid = "u-c";
    return made;
}
codec::pod_object pod() {
    codec::pod_object made;
    made.metadata.key = {"team", "p"};
    made.metadata.uid = "u-p";
    return made;
}
const std::string path = "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/c";

} // namespace

TEST_CASE("a claim is protected, allocated and released in the version that was observed") {
    const auto protect = kube::protect_claim_request(claim(), "7", pod());
    CHECK(protect.path == path);
    CHECK(protect.content_type == kube::strategic_patch_type);
    CHECK(protect.body == R"({"metadata":{"uid":"u-c","resourceVersion":"7","finalizers":[)"
                          R"("resource.kubernetes.io/delete-protection"],"annotations":{)"
                          R"("muster.dev/allocated-for":"u-p"}}})");
    const auto allocate = kube::allocate_claim_request(claim(), "8", {{"pods", "p", "u-p"}},
                                                       boost::json::object{{"a", 1}});
    CHECK(allocate.path == path + "/status");
    CHECK(allocate.body ==
          R"({"metadata":{"uid":"u-c","resourceVersion":"8"},"status":{"allocation":{"a":1},)"
          R"("reservedFor":[{"resource":"pods","name":"p","uid":"u-p"}]}})");
    CHECK(kube::allocate_claim_request(claim(), "8",
                                       {{"pods", "p", "u-p"}, {"podgroups", "g", "u-g"}}, {})
              .body.find(R"("reservedFor":[{"resource":"pods","name":"p","uid":"u-p"},)"
                         R"({"resource":"podgroups","name":"g","uid":"u-g",)"
                         R"("apiGroup":"scheduling.k8s.io"}])") != std::string::npos);
    const auto release = kube::release_claim_request(claim(), "9");
    CHECK(release.path == path + "/status");
    CHECK(release.body == R"({"metadata":{"uid":"u-c","resourceVersion":"9"},"status":{)"
                          R"("allocation":null,"reservedFor":null,"devices":null}})");
    CHECK(kube::unprotect_claim_request(claim(), "10").body ==
          R"({"metadata":{"uid":"u-c","resourceVersion":"10",)"
          R"("$deleteFromPrimitiveList/finalizers":[)"
          R"("resource.kubernetes.io/delete-protection"],"annotations":{)"
          R"("muster.dev/allocated-for":null}}})");
}

TEST_CASE("a claim for extended resources keeps its annotation until it is deleted") {
    codec::resource_claim_object made = claim();
    made.is_extended = true;
    CHECK(kube::unprotect_claim_request(made, "10").body.find("annotations") == std::string::npos);
    const auto remove = kube::delete_claim_request(made, "11");
    CHECK(remove.method == kube::http_method::erase);
    CHECK(remove.path == path);
    CHECK(remove.body == R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{)"
                         R"("uid":"u-c","resourceVersion":"11"}})");
}

TEST_CASE("the status of a pod that needs no claim for extended resources names none") {
    const auto made = kube::extended_status_request(pod(), {}, {});
    CHECK(made.path == "/api/v1/namespaces/team/pods/p/status");
    CHECK(made.body ==
          R"({"metadata":{"uid":"u-p"},"status":{"extendedResourceClaimStatus":null}})");
}

} // namespace claim_requests_test
