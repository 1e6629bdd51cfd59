// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/extended_claims.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "fed_objects.hpp"

namespace extended_claims_test {

namespace kube = muster::kube;
using muster::codec::object_key;

namespace {

struct placed {
    std::string node;
};

/// A pod that requests x.com/gpu and x.com/nic, which devices serve on n1; n2 lists the first one,
/// and n3 both.
struct world : fed_objects {
    kube::extended_claims claims;

    world() {
        for (const auto& [name, listed] : {std::pair{"n1", ""}, std::pair{"n2", ", x.com/gpu: 2"},
                                           std::pair{"n3", ", x.com/gpu: 2, x.com/nic: 2"}})
            take("---\napiVersion: v1\nkind: Node\nmetadata: {name: " + std::string(name) +
                 "}\nstatus: {allocatable: {cpu: 8, pods: 110" + listed + "}}\n");
        for (const std::string name : {"gpu", "nic"})
            take("---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: " +
                 name + "}\nspec: {extendedResourceName: x.com/" + name +
                 ", selectors: [{cel: {expression: \"device.driver == '" + name + ".com'\"}}]}\n");
        pod("");
    }
    void pod(const std::string& status) {
        take("---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {schedulerName: gangs, "
             "containers: [{name: c, image: i, resources: {requests: {x.com/gpu: 1, x.com/nic: "
             "1}}}]}\nstatus: {" +
             status + "}\n");
    }
    const muster::codec::pod_object& plan(const std::string& node) {
        objects.tell(view, std::exchange(first, {}));
        const std::map<object_key, placed> wanted{{{"team", "a"}, {node}}};
        claims.plan(objects.storage().devices(), wanted, objects.gangs().pods(),
                    [&](const std::string& name) { return objects.find_node(name); });
        return objects.gangs().pods().at({"team", "a"}).object;
    }
    /// The requests of the planned claim.
    std::string requests(const std::string& node) {
        const auto* const made = claims.find(plan(node));
        std::string text;
        if (made)
            for (const auto& each : made->claim.spec.asks.requests)
                text += each.alternatives.front().class_name + " ";
        return text;
    }
    [[nodiscard]] const kube::live_devices& devices() const { return objects.storage().devices(); }
};

} // namespace

TEST_CASE("a pod needs a claim for those of its resources that its node does not list") {
    world w;
    CHECK(w.requests("n1") == "gpu nic ");
    CHECK(w.requests("n2") == "nic ");
    CHECK(w.requests("n3").empty());
}

TEST_CASE("the claim for other requests has another name") {
    world w;
    const auto name_on = [&](const std::string& node) {
        return w.claims.find(w.plan(node))->claim.metadata.key.name;
    };
    const std::string both = name_on("n1");
    CHECK(both.starts_with("a-extended-resources-"));
    CHECK(name_on("n2") != both);
    CHECK(name_on("n1") == both);
    CHECK(w.claims.plans({"team", both}));
    CHECK(w.claims.claims_of(w.plan("n1"), w.devices()) == std::vector<std::string>{both});
}

TEST_CASE("the pod's status is to name the claim that its node needs, or none") {
    world w;
    const auto tell = [&](const std::string& node) {
        return w.claims.name_to_tell(w.plan(node), w.devices());
    };
    const std::string name = w.claims.find(w.plan("n1"))->claim.metadata.key.name;
    CHECK(tell("n1") == name);
    CHECK(!tell("n3"));
    w.pod("extendedResourceClaimStatus: {resourceClaimName: " + name + "}");
    CHECK(!tell("n1"));
    CHECK(tell("n3") == "");
}

} // namespace extended_claims_test
