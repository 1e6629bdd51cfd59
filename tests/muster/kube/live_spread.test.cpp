// SPDX-License-Identifier: Apache-2.0
// Default spread constraints of the waiting pods of a live cluster.
#include <muster/kube/live_spread.hpp>

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <muster/apis/core/default_spread.hpp>

#include "fed_objects.hpp"

namespace live_spread_test {

namespace {

struct live : fed_objects {
    explicit live(bool with_defaults = true) : fed_objects(defaults(with_defaults)) {}

    static muster::kube::live_options defaults(bool wanted) {
        muster::kube::live_options how = options();
        if (wanted)
            how.rules.default_spread = muster::codec::system_default_spread();
        return how;
    }
    /// The topology labels of the pod's spread constraints, and what the first one selects.
    std::string spread(const std::string& pod) {
        objects.tell(view, std::exchange(first, {}));
        CHECK(objects.broken().empty());
        const auto at = known.pod_keys().find({"team", pod});
        REQUIRE(at != known.pod_keys().end());
        const auto& terms = known.where(at->second).value.pods;
        std::string made;
        if (!terms || terms->spread.empty())
            return made;
        for (const muster::spread_term& each : terms->spread)
            made += each.topology + " ";
        for (const auto& each : terms->spread.front().pods.labels.requirements)
            made += each.key + ";";
        return made;
    }
};

std::string node(const std::string& name, const std::string& label) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {" + label +
           ": x}}\nstatus: {allocatable: {cpu: 8, pods: 110}}\n";
}
const std::string host = node("n1", "kubernetes.io/hostname");
std::string pod(const std::string& name, const std::string& more) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: "
           "web, uid: u, controller: true}]}\nspec: {schedulerName: gangs, containers: [{name: c, "
           "image: i}]" +
           more + "}\n";
}
const std::string service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: "
                            "{selector: {app: web}}\n";
const std::string replicas =
    "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec: {selector: "
    "{matchLabels: {pod-template-hash: h}}}\n";

} // namespace

TEST_CASE("live, a waiting pod gets default spread constraints for as long as a Service selects "
          "it") {
    live of;
    of.take(host + pod("a", ""));
    CHECK(of.spread("a").empty());
    of.take(service);
    CHECK(of.spread("a") == "kubernetes.io/hostname app;");
    of.lose(service);
    CHECK(of.spread("a").empty());
}

TEST_CASE("live, default spread constraints count the pods of the controller too") {
    live of;
    of.take(host + service + pod("a", "") + replicas);
    CHECK(of.spread("a") == "kubernetes.io/hostname app;pod-template-hash;");
}

TEST_CASE("live, a default spread constraint counts once a node has its label") {
    live of;
    of.take(service + pod("a", ""));
    CHECK(of.spread("a").empty());
    of.take(host);
    CHECK(of.spread("a") == "kubernetes.io/hostname app;");
    of.take(node("n2", "topology.kubernetes.io/zone"));
    CHECK(of.spread("a") == "kubernetes.io/hostname topology.kubernetes.io/zone app;");
    of.lose(host);
    CHECK(of.spread("a") == "topology.kubernetes.io/zone app;");
}

TEST_CASE("live, pods with constraints of their own or with a node get no default ones") {
    live of;
    of.take(host + service + pod("bound", ", nodeName: n1") +
            pod("own", ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, "
                       "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]"));
    CHECK(of.spread("bound").empty());
    CHECK(of.spread("own").starts_with("rack "));
    CHECK(of.spread("own").find("hostname") == std::string::npos);
}

TEST_CASE("live, Services and controllers are followed only for default spread constraints") {
    const auto follows = [](const live& of) {
        std::string made;
        for (const auto& each : of.objects.collections())
            if (each.holds == muster::kube::content::spread_owner)
                made += std::string(each.kind) + " ";
        return made;
    };
    CHECK(follows(live(false)).empty());
    CHECK(follows(live()) == "Service ReplicationController ReplicaSet StatefulSet ");
}

} // namespace live_spread_test
