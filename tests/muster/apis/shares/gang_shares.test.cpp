// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/shares/gang_shares.hpp>

#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

namespace codec_gang_shares_test {

using namespace muster::codec;
namespace mt = muster::translate;

namespace {

boost::json::object parsed(const std::string& text) {
    return boost::json::parse(text).as_object();
}

mt::gang_bundle gang_of(const std::string& limits) {
    mt::gang_bundle made;
    made.gang.kind = "PodGroup";
    made.gang.name_space = "ns";
    made.gang.name = "g";
    for (int at = 0; at < 2; ++at)
        made.pods.push_back(
            {muster::vertex_index{0}, parsed(R"({"metadata":{},"spec":{"containers":[{"name":"c",)"
                                             R"("resources":{"limits":)" +
                                             limits + "}}]}}")});
    return made;
}

} // namespace

TEST_CASE("the pods of a gang get shares of another notation, and a loss of all is named once") {
    mt::gang_bundle gang = gang_of(R"({"nvidia.com/gpu":1,"nvidia.com/gpumem":7,)"
                                   R"("nvidia.com/gpucores":5})");
    std::vector<mt::loss> losses;
    diagnostics out;
    translate_gang_shares(gang, share_system::kai, losses, out);
    for (const mt::gang_pod& pod : gang.pods)
        CHECK(
            boost::json::serialize(pod.document) ==
            R"({"metadata":{"annotations":{"gpu-memory":"7"}},"spec":{"containers":[{"name":"c"}]}})");
    CHECK(losses == std::vector<mt::loss>{{mt::loss_kind::device_share, "PodGroup ns/g",
                                           "nvidia.com/gpucores of container c: KAI does not limit "
                                           "cores: 5 % are not reserved"}});
}

TEST_CASE("a minimum of a gang forgets the GPUs that no pod requests any more") {
    mt::gang_bundle gang = gang_of(R"({"nvidia.com/gpu":1})");
    gang.gang.min_resources = parsed(R"({"cpu":"1","nvidia.com/gpu":"2"})");
    mt::gang_bundle kept = gang;
    std::vector<mt::loss> losses;
    diagnostics out;
    translate_gang_shares(kept, share_system::kai, losses, out);
    CHECK(kept.gang.min_resources == gang.gang.min_resources);
    CHECK(losses.empty());
    translate_gang_shares(gang, share_system::volcano, losses, out);
    CHECK(boost::json::serialize(*gang.gang.min_resources) == R"({"cpu":"1"})");
    CHECK(losses == std::vector<mt::loss>{{mt::loss_kind::min_resources, "PodGroup ns/g",
                                           "nvidia.com/gpu, which its pods no longer request"}});
}

TEST_CASE("the ResourceClaims of a gang's pods are a loss that is named once") {
    mt::gang_bundle gang = gang_of(R"({"cpu":1})");
    for (mt::gang_pod& each : gang.pods)
        each.document.at("spec").as_object()["resourceClaims"] =
            boost::json::parse(R"([{"name":"g","resourceClaimTemplateName":"t"}])");
    const boost::json::value before = gang.pods.front().document.at("spec");
    std::vector<mt::loss> losses;
    diagnostics out;
    translate_gang_shares(gang, share_system::kai, losses, out);
    CHECK(out.ok());
    REQUIRE(losses.size() == 1);
    CHECK(losses.front().what == mt::loss_kind::device_share);
    CHECK(losses.front().detail == "resourceClaims g: a ResourceClaim cannot be translated; the "
                                   "pod stays as it is");
    CHECK(gang.pods.front().document.at("spec") == before);
}

} // namespace codec_gang_shares_test
