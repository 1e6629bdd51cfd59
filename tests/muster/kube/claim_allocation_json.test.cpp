// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/claim_allocation_json.hpp>

#include <string>
#include <utility>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/kube/live_devices.hpp>

#include "fed_objects.hpp"

namespace claim_allocation_json_test {

namespace json = boost::json;
namespace kube = muster::kube;

namespace {

const std::string gpu_class =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
    "{selectors: [{cel: {expression: \"device.driver == 'x.com'\"}}], config: [{opaque: {driver: "
    "x.com, parameters: {mode: fast}}}]}\n";

struct world : fed_objects {
    world() {
        take("---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {zone: z}}\nstatus: "
             "{allocatable: {cpu: 8}}\n" +
             gpu_class);
    }
    void slice(const std::string& name, const std::string& rest) {
        take("---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: " + name +
             "}\nspec: {driver: x.com, pool: {name: " + name +
             ", generation: 1, resourceSliceCount: 1}, " + rest + "}\n");
    }
    /// The allocation of a claim with these `devices` on n1, but for its time.
    json::object allocation(const std::string& devices) {
        take("---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: "
             "c}\nspec: {devices: {" +
             devices + "}}\n");
        objects.tell(view, std::exchange(first, {}));
        const auto& all = objects.storage().devices();
        const auto* const claim = all.claim({"team", "c"});
        const auto catalog = all.make_catalog();
        const auto made = kube::choose_devices(catalog, {}, {{claim, objects.find_node("n1")}});
        REQUIRE(made.lacking.empty());
        json::object of =
            kube::allocation_json(catalog, muster::codec::devices_of(catalog.slices), *claim,
                                  made.of.at({"team", "c"}), 1'700'000'000'500'000'000);
        CHECK(of["allocationTimestamp"] == json::value("2023-11-14T22:13:20Z"));
        of.erase("allocationTimestamp");
        return of;
    }
};

const std::string one = "requests: [{name: r, exactly: {deviceClassName: gpu}}]";
const json::value on_n1 = json::parse(
    R"({"nodeSelectorTerms":[{"matchFields":[
        {"key":"metadata.name","operator":"In","values":["n1"]}]}]})");

} // namespace

TEST_CASE("an allocation names its devices, their node, and what the class tells the driver") {
    world w;
    w.slice("p", "nodeName: n1, devices: [{name: d0}]");
    CHECK(json::value(w.allocation(one)) == json::parse(R"({
        "devices": {
            "results": [{"request":"r","driver":"x.com","pool":"p","device":"d0"}],
            "config": [{"source":"FromClass","requests":["r"],
                        "opaque":{"driver":"x.com","parameters":{"mode":"fast"}}}]},
        "nodeSelector": {"nodeSelectorTerms":[{"matchFields":[
            {"key":"metadata.name","operator":"In","values":["n1"]}]}]}})"));
}

TEST_CASE("an allocation has the claim's config for all requests and for those that were chosen") {
    world w;
    w.slice("p", "nodeName: n1, devices: [{name: d0}]");
    const json::object made = w.allocation(
        "requests: [{name: r, firstAvailable: [{name: none, deviceClassName: gpu, count: 9}, "
        "{name: one, deviceClassName: gpu}]}], config: [{opaque: {driver: all}}, {requests: "
        "[r/none], opaque: {driver: none}}, {requests: [r/one], opaque: {driver: one}}, "
        "{requests: [r], opaque: {driver: r}}]");
    CHECK(made.at("devices").at("results").at(0).at("request") == json::value("r/one"));
    std::string told;
    for (const json::value& each : made.at("devices").at("config").as_array())
        told += std::string(each.at("source").as_string()) + " " +
                std::string(each.at("opaque").at("driver").as_string()) + "; ";
    CHECK(told == "FromClass x.com; FromClaim all; FromClaim one; FromClaim r; ");
}

TEST_CASE("an allocation repeats the request's tolerations and the device's binding conditions") {
    world w;
    w.slice("p", "nodeName: n1, devices: [{name: d0, taints: [{key: k, value: v, effect: "
                 "NoExecute}], bindingConditions: [Up], bindingFailureConditions: [Down]}]");
    const json::object made =
        w.allocation("requests: [{name: r, exactly: {deviceClassName: gpu, tolerations: [{key: k, "
                     "value: v, operator: Equal, effect: NoExecute, tolerationSeconds: 9}]}}]");
    CHECK(made.at("devices").at("results").at(0) == json::parse(R"({
        "request":"r","driver":"x.com","pool":"p","device":"d0",
        "tolerations":[{"operator":"Equal","key":"k","value":"v","effect":"NoExecute",
                        "tolerationSeconds":9}],
        "bindingConditions":["Up"],"bindingFailureConditions":["Down"]})"));
}

TEST_CASE("an allocation repeats the operations that the slice of the device skips") {
    world w;
    w.take("---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 8}, "
           "declaredFeatures: [DRAOptionalNodeOperations]}\n");
    w.slice("p", "skipNodeOperations: [NodeUnprepareResources, NodePrepareResources], nodeName: "
                 "n1, devices: [{name: d0}]");
    CHECK(w.allocation(one).at("devices").at("results").at(0).at("skipNodeOperations") ==
          json::parse(R"(["NodeUnprepareResources","NodePrepareResources"])"));
    world other;
    other.slice("p", "nodeName: n1, devices: [{name: d0}]");
    CHECK_FALSE(other.allocation(one).at("devices").at("results").at(0).as_object().contains(
        "skipNodeOperations"));
}

TEST_CASE("a share of a device has an id of its own, and what it consumes") {
    world w;
    w.slice("p", "nodeName: n1, devices: [{name: d0, allowMultipleAllocations: true, capacity: "
                 "{memory: {value: 8Gi}}}]");
    const json::object made =
        w.allocation("requests: [{name: r, exactly: {deviceClassName: gpu, capacity: {requests: "
                     "{memory: 2Gi}}}}]");
    const json::object& result = made.at("devices").at("results").at(0).as_object();
    CHECK(result.at("consumedCapacity") == json::parse(R"({"memory":"2Gi"})"));
    const std::string id(result.at("shareID").as_string());
    CHECK(id.size() == 36);
    CHECK(id[8] == '-');
    CHECK(kube::detail::uuid_of("a") != kube::detail::uuid_of("b"));
}

TEST_CASE("an allocation is of the nodes that can use its devices") {
    world w;
    SUBCASE("devices of all nodes") {
        w.slice("p", "allNodes: true, devices: [{name: d0}]");
        CHECK(!w.allocation(one).contains("nodeSelector"));
    }
    SUBCASE("devices of a zone") {
        w.slice("p", "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: "
                     "In, values: [z]}]}]}, devices: [{name: d0}, {name: d1}]");
        CHECK(w.allocation("requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]")
                  .at("nodeSelector") == json::parse(R"({"nodeSelectorTerms":[{"matchExpressions":[
                  {"key":"zone","operator":"In","values":["z"]}]}]})"));
    }
    SUBCASE("a device that binds to the node") {
        w.slice("p", "allNodes: true, devices: [{name: d0, bindsToNode: true}]");
        CHECK(w.allocation(one).at("nodeSelector") == on_n1);
    }
    SUBCASE("a device of one node among others") {
        w.slice("p", "allNodes: true, devices: [{name: d0}]");
        w.slice("q", "nodeName: n1, devices: [{name: d0}]");
        CHECK(w.allocation("requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]")
                  .at("nodeSelector") == on_n1);
    }
}

} // namespace claim_allocation_json_test
