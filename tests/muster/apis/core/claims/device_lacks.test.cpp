// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/device_lacks.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/apis/core/claims/device_words.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_device_lacks_test {

using namespace muster::codec;

namespace {

struct lacks {
    /// "kind: lack; " of all kinds of devices.
    std::string of_kinds;
    /// asked_devices_text() of all pods.
    std::string asked;
};

lacks plan(const std::string& text) {
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    for (const diagnostic& each : out.findings())
        FAIL_CHECK(to_text(each));
    REQUIRE(out.ok());
    const auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    lacks made;
    for (const auto& [name, each] : cluster.volumes.kinds)
        made.of_kinds += name + ": " + each.lack + "; ";
    volumes_of_pods pods;
    for (const auto& [key, effects] : cluster.volumes.pods)
        pods.emplace_back(key.name, &effects);
    made.asked = asked_devices_text(pods, cluster.volumes);
    return made;
}

const std::string around =
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 9, pods: "
    "110}}\n---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n"
    "spec: {extendedResourceName: x.com/gpu, selectors: [{cel: {expression: \"device.driver == "
    "'x.com'\"}}]}\n";

/// A slice of a pool that has `count` slices. `content` is a list of devices or counters.
std::string slice(const std::string& name, const std::string& pool, int count,
                  const std::string& content, const std::string& driver = "x.com") {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: " + name +
           "}\nspec: {driver: " + driver + ", nodeName: n1, pool: {name: " + pool +
           ", generation: 1, resourceSliceCount: " + std::to_string(count) + "}, " + content +
           "}\n";
}
std::string counters(const std::string& value) {
    return "sharedCounters: [{name: c, counters: {m: {value: " + value + "}}}]";
}
/// A device that consumes counter m of set c.
std::string part(const std::string& name, const std::string& value) {
    return "{name: " + name +
           ", consumesCounters: [{counterSet: c, counters: {m: {value: " + value + "}}}]}";
}
const std::string tainted = "{name: t, taints: [{key: k, effect: NoSchedule}]}";

/// A pod with a claim of this spec.
std::string claiming(const std::string& request = "deviceClassName: gpu",
                     const std::string& name = "a") {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: " +
           name + "}\nspec: {spec: {devices: {requests: [{name: r, exactly: {" + request +
           "}}]}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           "}\nspec: {containers: [{name: c}], resourceClaims: [{name: g, "
           "resourceClaimTemplateName: " +
           name + "}]}\n";
}
/// A claim that holds a device of pool p.
std::string holding(const std::string& device) {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: of-" +
           device +
           "}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\nstatus: "
           "{allocation: {devices: {results: [{request: r, driver: x.com, pool: p, device: " +
           device + "}]}}}\n";
}

} // namespace

TEST_CASE("a pool that gives no devices is named, if the request selects some of its devices") {
    const std::string whole = slice("a", "p", 1, "devices: [{name: d}]");
    const std::string missing = slice("b", "q", 2, "devices: [{name: d}]");
    CHECK(plan(around + whole + claiming()).of_kinds == "devices of class gpu: ; ");
    CHECK(plan(around + whole + missing + claiming()).of_kinds ==
          "devices of class gpu: pool q of x.com gives no devices: 1 of 2 slices; ");
    CHECK(
        plan(around + missing + slice("c", "s", 2, "devices: [{name: d}]") + claiming()).of_kinds ==
        "devices of class gpu: pool q of x.com gives no devices: 1 of 2 slices (+1 pool); ");
    CHECK(plan(around + whole + slice("b", "q", 2, "devices: [{name: d}]", "y.com") + claiming())
              .of_kinds == "devices of class gpu: ; ");
    CHECK(plan(around + slice("a", "p", 1, "devices: [{name: d}, {name: d}]") + claiming())
              .of_kinds ==
          "devices of class gpu: pool p of x.com gives no devices: duplicate device name d; ");
    CHECK(plan(around + claiming()).of_kinds ==
          "devices of class gpu: no device of a complete pool is one of these; ");
    // For extended resources too.
    const std::string extended = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: "
                                 "{containers: [{name: c, resources: {limits: {x.com/gpu: 1}}}]}\n";
    CHECK(plan(around + missing + extended).of_kinds ==
          "x.com/gpu: device class gpu serves it, and pool q of x.com gives no devices: 1 of 2 "
          "slices; ");
    CHECK(plan(around + whole + missing + extended).of_kinds ==
          "x.com/gpu: pool q of x.com gives no devices: 1 of 2 slices; ");
}

TEST_CASE("devices with taints that a request does not tolerate are counted in the reason") {
    const std::string two = slice("a", "p", 1, "devices: [{name: d}, " + tainted + "]");
    CHECK(plan(around + two + claiming()).of_kinds ==
          "devices of class gpu: not counted: 1 with taints that the request does not tolerate; ");
    CHECK(plan(around + two +
               claiming("deviceClassName: gpu, tolerations: [{key: k, operator: Exists}]"))
              .of_kinds == "devices of class gpu: ; ");
    CHECK(plan(around + slice("a", "p", 1, "devices: [" + tainted + "]") +
               slice("b", "q", 2, "devices: [{name: d}]") + claiming())
              .of_kinds ==
          "devices of class gpu: not counted: 1 with taints that the request does not tolerate; "
          "pool q of x.com gives no devices: 1 of 2 slices; ");
    CHECK(plan(around + two + claiming("deviceClassName: gpu, allocationMode: All")).of_kinds ==
          "devices for template a of pod default/a: not counted: 1 with taints that the request "
          "does not tolerate; ");
}

TEST_CASE("counters that devices in use consume, or that contradict one another, are named") {
    const std::string kind = "devices for template a of pod default/a: ";
    const std::string parts =
        slice("b", "p", 2, "devices: [" + part("full", "8") + ", " + part("half", "4") + "]");
    const std::string all = around + slice("a", "p", 2, counters("8")) + parts + claiming();
    CHECK(plan(all).of_kinds == kind + "; ");
    CHECK(plan(all + holding("half")).of_kinds == kind + "no node has devices that satisfy it; ");
    CHECK(plan(all + holding("full")).of_kinds ==
          kind + "the devices in use consume 8 of 8 of counter m (set c, pool p); ");
    CHECK(plan(all + holding("full") + holding("half")).of_kinds ==
          kind + "the devices in use consume 12 of 8 of counter m (set c, pool p); ");
    const std::string none = "devices of class gpu: pool p of x.com gives no devices: ";
    CHECK(plan(around + slice("b", "p", 1, "devices: [" + part("full", "8") + "]") + claiming())
              .of_kinds == none + "device full consumes the unknown counter set c; ");
    const std::string twice = "sharedCounters: [{name: c, counters: {m: {value: 8}}}, {name: c, "
                              "counters: {m: {value: 9}}}]";
    CHECK(plan(around + slice("a", "p", 2, twice) + parts + claiming()).of_kinds ==
          none + "duplicate counter set c; ");
}

TEST_CASE("the devices that are not counted follow the class of demands that do not add up") {
    const std::string attributes = ", attributes: {a: {int: 1}, b: {int: 1}}";
    const auto selecting = [](const std::string& attribute) {
        return claiming("deviceClassName: gpu, selectors: [{cel: {expression: \"device.attributes["
                        "'x.com']." +
                            attribute + " == 1\"}}]",
                        attribute);
    };
    const std::string devices = "devices: [{name: d" + attributes +
                                "}, {name: e, attributes: {a: {int: 1}, b: {int: 0}}}, {name: f, "
                                "attributes: {a: {int: 0}, b: {int: 1}}}";
    CHECK(
        plan(around + slice("a", "p", 1, devices + "]") + selecting("a") + selecting("b")).asked ==
        "device class gpu");
    CHECK(plan(around +
               slice("a", "p", 1,
                     devices + ", {name: t, taints: [{key: k, effect: NoSchedule}]" + attributes +
                         "}]") +
               selecting("a") + selecting("b"))
              .asked == "device class gpu (not counted: 1 with taints that the request does not "
                        "tolerate)");
}

} // namespace codec_device_lacks_test
