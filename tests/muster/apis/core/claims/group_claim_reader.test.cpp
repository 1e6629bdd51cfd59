// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/group_claim_reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_group_claim_reader_test {

using namespace muster::codec;

namespace {

std::string read(const std::string& version, const std::string& rest) {
    diagnostics out;
    const auto documents = read_documents(
        "f", "apiVersion: " + version + "\nkind: PodGroup\nmetadata: {name: g, uid: u}\n" + rest,
        out);
    const manifests made = read_manifests(documents, {}, out);
    std::string text;
    for (const group_claims_object& each : made.devices.groups) {
        text += each.metadata.key.name + " " + each.metadata.uid + ":";
        for (const pod_claim& one : each.claims)
            text += " " + one.name + "=" + one.claim + "/" + one.from_template;
    }
    return text;
}

} // namespace

TEST_CASE("the claims of a PodGroup are read with the names of those that were made") {
    const std::string rest =
        "spec:\n  schedulingPolicy: {basic: {}}\n  resourceClaims: [{name: a, resourceClaimName: "
        "c}, {name: b, resourceClaimTemplateName: t}, {name: d, resourceClaimTemplateName: t}]\n"
        "status: {resourceClaimStatuses: [{name: b, resourceClaimName: made}]}\n";
    for (const char* const version :
         {"scheduling.k8s.io/v1alpha2", "scheduling.k8s.io/v1alpha3", "scheduling.k8s.io/v1beta1"})
        CHECK(read(version, rest) == "g u: a=c/ b=made/t d=/t");
    CHECK(read("scheduling.x-k8s.io/v1alpha1", rest).empty());
    CHECK(read("scheduling.k8s.io/v1beta1", "spec: {schedulingPolicy: {basic: {}}}\n").empty());
    CHECK(read("scheduling.k8s.io/v1beta1", "spec: 3\n").empty());
}

} // namespace codec_group_claim_reader_test
