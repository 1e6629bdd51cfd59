// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/grove/claims.hpp>

#include <algorithm>
#include <string>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/input/gang_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace translate_grove_claims_test {
namespace {

using namespace muster::codec;

struct shared {
    std::string pods;   ///< a line each: the role, and the claims of its pod
    std::string claims; ///< a line each
    std::string findings;
    std::string last_pod;
};

std::string names_in(const boost::json::object& in, const char* list) {
    std::string names;
    if (const auto* const all = muster::translate::find_array(&in, list))
        for (const auto& each : *all)
            names += std::string(" ") + each.at("name").as_string().c_str();
    return names;
}

shared read(const std::string& fields, const std::string& clique, const std::string& group) {
    const std::string pod = "podSpec: {containers: [{name: c, image: i}], initContainers: [{name: "
                            "i, image: i}]}";
    diagnostics found;
    const auto documents = read_documents(
        "in",
        "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: s, namespace: ns}\n"
        "spec: {replicas: 1, template: {" +
            fields + "cliques: [{name: a, " + clique + "spec: {roleName: a, replicas: 2, " + pod +
            "}}, {name: b, spec: {roleName: b, replicas: 1, " + pod +
            "}}], podCliqueScalingGroups: [{name: g, cliqueNames: [b], replicas: 2, " + group +
            "}]}}\n",
        found);
    const gangs all = read_gangs(documents, {}, found);
    shared made;
    for (const auto& gang : all.bundles)
        for (const auto& each : gang.pods) {
            const auto& spec = each.document.at("spec").as_object();
            made.pods += std::string(each.document.at("metadata").at("name").as_string().c_str())
                             .substr(0, 5) +
                         names_in(spec, "resourceClaims") + "\n";
            made.last_pod = boost::json::serialize(spec);
        }
    for (const auto& each : all.companions)
        if (each.at("kind") == "ResourceClaim")
            made.claims += boost::json::serialize(each) + "\n";
    for (const auto& each : found.findings())
        made.findings += to_text(each) + "\n";
    return made;
}

const std::string templates =
    "resourceClaimTemplates: [{name: t, templateSpec: {spec: {devices: d}}}], ";

} // namespace

TEST_CASE("a claim for all replicas has one name, and one for each has theirs") {
    const shared made = read(templates + "resourceSharing: [{name: t, scope: AllReplicas}, {name: "
                                         "t, scope: PerReplica}], ",
                             "resourceSharing: [{name: t, scope: PerReplica}], ",
                             "resourceSharing: [{name: t, scope: PerReplica}]");
    CHECK(made.findings == "");
    CHECK(made.pods == "s-0-a s-all-t s-0-t s-0-a-0-t\n"
                       "s-0-a s-all-t s-0-t s-0-a-1-t\n"
                       "s-0-g s-all-t s-0-t s-0-g-0-t\n"
                       "s-0-g s-all-t s-0-t s-0-g-1-t\n");
    // Each claim is there once.
    CHECK(made.claims.starts_with(
        R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"s-all-t",)"
        R"("namespace":"ns","labels":{"app.kubernetes.io/managed-by":"grove-operator",)"
        R"("app.kubernetes.io/part-of":"s"}},"spec":{"devices":"d"}})"
        "\n"));
    CHECK(std::count(made.claims.begin(), made.claims.end(), '\n') == 6);
}

TEST_CASE("every container of a pod uses the claims that the pod shares") {
    const shared made = read(templates, "", "resourceSharing: [{name: t, scope: AllReplicas}]");
    CHECK(made.last_pod.find(R"("resourceClaims":[{"name":"s-0-g-all-t","resourceClaimName":)"
                             R"("s-0-g-all-t"}])") != std::string::npos);
    for (const char* const container :
         {R"({"name":"c","image":"i")", R"({"name":"i","image":"i")"}) {
        const auto at = made.last_pod.find(container);
        REQUIRE(at != std::string::npos);
        CHECK(made.last_pod.find(R"("resources":{"claims":[{"name":"s-0-g-all-t"}]})", at) !=
              std::string::npos);
    }
}

TEST_CASE("a filter lets only those cliques and scaling groups share that it names") {
    const auto with = [](const std::string& filter) {
        return read(templates + "resourceSharing: [{name: t, scope: AllReplicas, filter: {" +
                        filter + "}}], ",
                    "", "")
            .pods;
    };
    CHECK(with("childCliqueNames: [a]") == "s-0-a s-all-t\ns-0-a s-all-t\ns-0-g\ns-0-g\n");
    CHECK(with("childScalingGroupNames: [g]") == "s-0-a\ns-0-a\ns-0-g s-all-t\ns-0-g s-all-t\n");
}

TEST_CASE("claims of templates that are objects of their own are shared, and left to Grove") {
    const shared made = read("resourceSharing: [{name: own, scope: AllReplicas}], ", "", "");
    CHECK(made.pods.starts_with("s-0-a s-all-own\n"));
    CHECK(made.claims == "");
    CHECK(made.findings == "in:4:31: warning: spec.template: the claims of the "
                           "ResourceClaimTemplate \"own\", which its pods share, are Grove's to "
                           "make\n");
}

} // namespace translate_grove_claims_test
