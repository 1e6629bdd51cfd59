// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/shares/share_documents.hpp>

#include <string>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include "muster/apis/shares/share_pods.hpp"

namespace codec_share_documents_test {

using namespace muster::codec;

namespace {

std::string translated(const std::string& manifest, share_system to,
                       std::string* losses = nullptr) {
    boost::json::object made = boost::json::parse(manifest).as_object();
    diagnostics out;
    const auto lost = translate_manifest_shares(made, to, "f", out);
    CHECK(out.ok());
    if (losses)
        *losses = share_pods::text_of(lost);
    return boost::json::serialize(made);
}

} // namespace

TEST_CASE("the shares of a pod are replaced, and all else stays in its place") {
    CHECK(
        translated(
            R"({"kind":"Pod","metadata":{"annotations":{"gpu-fraction":"0.5","a":"b"},"name":"p"},"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})",
            share_system::hami) ==
        R"({"kind":"Pod","metadata":{"annotations":{"a":"b"},"name":"p"},"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c","resources":{"requests":{"cpu":"1"},"limits":{"nvidia.com/gpu":1,"nvidia.com/gpumem-percentage":50}}}]}})");
    CHECK(
        translated(
            R"({"metadata":{},"spec":{"containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":1,"nvidia.com/gpumem":7},"limits":{"nvidia.com/gpu":1,"nvidia.com/gpumem":7}}}]}})",
            share_system::kai) ==
        R"({"metadata":{"annotations":{"gpu-memory":"7"}},"spec":{"containers":[{"name":"c"}]}})");
    const std::string memory =
        R"({"metadata":{"annotations":{"gpu-memory":"7"}},"spec":{"containers":[{"name":"c"}]}})";
    CHECK(
        translated(memory, share_system::koordinator) ==
        R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"koordinator.sh/gpu-memory":"7Mi"}}}]}})");
    CHECK(translated(memory, share_system::kai) == memory);
}

TEST_CASE("templates are found wherever a job has them, and each loss is named once") {
    const std::string half =
        R"({"metadata":{"annotations":{"gpu-fraction":"0.333"}},"spec":{"containers":[{"name":"c"}]}})";
    const std::string share =
        R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":1,"nvidia.com/gpumem-percentage":34}}}]}})";
    std::string losses;
    CHECK(translated(R"({"spec":{"tasks":[{"template":)" + half + R"(},{"template":)" + half +
                         R"(}],"job":{"spec":{"template":)" + half + "}}}}",
                     share_system::hami,
                     &losses) == R"({"spec":{"tasks":[{"template":)" + share + R"(},{"template":)" +
                                     share + R"(}],"job":{"spec":{"template":)" + share + "}}}}");
    CHECK(losses == "gpu-fraction 0.333: rounded up to 34 % of the memory");
    // A clique of Grove has its annotations beside its spec.
    CHECK(
        translated(
            R"({"cliques":[{"name":"a","annotations":{"gpu-memory":"7"},"spec":{"podSpec":{"containers":[{"name":"c"}]}}}]})",
            share_system::hami) ==
        R"({"cliques":[{"name":"a","spec":{"podSpec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":1,"nvidia.com/gpumem":7}}}]}}}]})");
}

TEST_CASE("a sidecar counts among the containers that run, and shares of init containers stay") {
    const auto with_init = [](const std::string& more) {
        return R"({"metadata":{},"spec":{"initContainers":[{"name":"i",)" + more +
               R"("resources":{"limits":{"nvidia.com/gpu":1,"nvidia.com/gpumem":7}}}],"containers":[{"name":"c"}]}})";
    };
    CHECK(
        translated(with_init(R"("restartPolicy":"Always",)"), share_system::kai) ==
        R"({"metadata":{"annotations":{"gpu-fraction-container-name":"i","gpu-memory":"7"}},"spec":{"initContainers":[{"name":"i","restartPolicy":"Always"}],"containers":[{"name":"c"}]}})");
    std::string losses;
    CHECK(
        translated(with_init(""), share_system::kai, &losses) ==
        R"({"spec":{"initContainers":[{"name":"i","resources":{"limits":{"nvidia.com/gpu":1,"nvidia.com/gpumem":7}}}],"containers":[{"name":"c"}]}})");
    CHECK(losses == "shares of GPUs for init container \"i\": cannot be translated; the pod stays "
                    "as it is");
}

TEST_CASE("a pod with ResourceClaims stays as it is, and each of its claims is a loss") {
    const auto with_claims = [](const std::string& annotations) {
        return R"({"metadata":{)" + annotations +
               R"("name":"p"},"spec":{"resourceClaims":[{"name":"g","resourceClaimTemplateName":"t"},{"name":"h","resourceClaimName":"c"}],"containers":[{"name":"c","resources":{"claims":[{"name":"g"}]}}]}})";
    };
    const std::string each_loss =
        "resourceClaims g: a ResourceClaim cannot be translated; the pod stays as it is; "
        "resourceClaims h: a ResourceClaim cannot be translated; the pod stays as it is";
    for (const share_system to : share_pods::all_systems) {
        std::string losses;
        CHECK(translated(with_claims(""), to, &losses) == with_claims(""));
        CHECK(losses == each_loss);
    }
    // Shares beside claims stay, too: half a pod in each notation would start nowhere.
    const std::string both = with_claims(R"("annotations":{"gpu-fraction":"0.5"},)");
    std::string losses;
    CHECK(translated(both, share_system::hami, &losses) == both);
    CHECK(losses == each_loss);
    // The same in a clique of Grove, and in a pod that has the notation already.
    const std::string clique =
        R"({"cliques":[{"name":"a","spec":{"podSpec":{"resourceClaims":[{"name":"g","resourceClaimTemplateName":"t"}],"containers":[{"name":"c"}]}}}]})";
    CHECK(translated(clique, share_system::hami, &losses) == clique);
    CHECK(losses == "resourceClaims g: a ResourceClaim cannot be translated; the pod stays as it "
                    "is");
    const std::string sharing =
        R"({"spec":{"template":{"resourceSharing":[{"name":"t","scope":"AllReplicas"}],"cliques":[]}}})";
    CHECK(translated(sharing, share_system::kai, &losses) == sharing);
    CHECK(losses == "resourceSharing: ResourceClaims cannot be translated; they stay as they are");
    CHECK(translated(both, share_system::kai, &losses) == both);
    CHECK(losses == each_loss);
}

TEST_CASE("malformed resources are errors") {
    boost::json::object made =
        boost::json::parse(
            R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"x"}}}]}})")
            .as_object();
    diagnostics out;
    CHECK(translate_manifest_shares(made, share_system::kai, "f", out).empty());
    CHECK_FALSE(out.ok());
}

TEST_CASE("an annotation that is no text is an error") {
    boost::json::object made =
        boost::json::parse(
            R"({"metadata":{"annotations":{"gpu-fraction":0.5}},"spec":{"containers":[{"name":"c"}]}})")
            .as_object();
    diagnostics out;
    CHECK(translate_manifest_shares(made, share_system::hami, "f", out).empty());
    CHECK_FALSE(out.ok());
}

} // namespace codec_share_documents_test
