// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/device_taint_rules.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>

namespace codec_device_taint_rules_test {

using namespace muster::codec;

namespace {

struct reading {
    manifests objects;
    std::string said;
};

/// Reads the objects and the findings.
reading read(const std::string& text, std::int32_t minor = 37) {
    diagnostics out;
    manifest_options how;
    how.rules.kubernetes.minor = minor;
    const auto documents = read_documents("f", text, out);
    reading made{read_manifests(documents, how, out), {}};
    for (const diagnostic& each : out.findings())
        made.said += each.path + ": " + each.message + "; ";
    return made;
}

/// Two pools of one driver and one of another, each with the devices d0 and d1.
std::string slices() {
    std::string made;
    for (const auto& [driver, pool] :
         {std::pair{"x.com", "p"}, std::pair{"x.com", "q"}, std::pair{"y.com", "p"}})
        made += std::string("---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\n") +
                "metadata: {name: " + driver + "-" + pool + "}\nspec: {driver: " + driver +
                ", pool: {name: " + pool +
                ", generation: 1, resourceSliceCount: 1}, nodeName: n1, "
                "devices: [{name: d0}, {name: d1}]}\n";
    return made;
}
std::string rule(const std::string& spec, const std::string& version = "v1",
                 const std::string& name = "r") {
    return "---\napiVersion: resource.k8s.io/" + version +
           "\nkind: DeviceTaintRule\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n";
}
const std::string bad = "taint: {key: bad, value: x, effect: NoSchedule}";

/// The devices with taints, as "DRIVER/POOL/DEVICE:KEY ...".
std::string tainted(const std::string& text, std::int32_t minor = 37) {
    const reading from = read(text, minor);
    const device_catalog catalog(from.objects.devices);
    std::string made;
    for (const pooled_device& each : devices_of(catalog.slices)) {
        if (!each.of->taints.empty())
            made += each.id.driver + "/" + each.id.pool + "/" + each.id.device;
        for (const muster::device_taint& taint : each.of->taints)
            made += ":" + taint.key +
                    (taint.effect == muster::device_taint_effect::no_execute ? "!" : "");
        made += each.of->taints.empty() ? "" : " ";
    }
    return made;
}

/// Where a pod starts whose claim asks for a device of x.com, and why it does not.
std::string start(const std::string& rules, const std::string& exactly = "") {
    const reading from = read(
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 8, "
        "pods: 110}}\n---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: "
        "gpu}\nspec: {extendedResourceName: x.com/gpu, selectors: [{cel: {expression: "
        "\"device.driver == 'x.com'\"}}]}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, "
        "uid: u}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1" +
        std::string(exactly.empty() ? ", x.com/gpu: 1}, limits: {x.com/gpu: 1" : "") + "}}}]" +
        (exactly.empty() ? "}\n"
                         : ", resourceClaims: [{name: g, resourceClaimName: g}]}\n---\n"
                           "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: "
                           "{name: g}\nspec: {devices: {requests: [{name: r, exactly: "
                           "{deviceClassName: gpu" +
                               exactly + "}}]}}\n") +
        slices() + rules);
    diagnostics out;
    auto cluster = make_cluster<muster::max_kinds>(from.objects, {}, out);
    static_cast<void>(muster::cycle(cluster.state, cluster.now));
    for (const auto& [key, pod] : cluster.state.pod_keys())
        if (cluster.state[pod].node)
            return "starts";
    return "waits";
}

} // namespace

TEST_CASE("a DeviceTaintRule taints the devices of the driver, the pool and the name it selects") {
    for (const std::string version : {"v1", "v1beta2", "v1alpha3"})
        CHECK(
            tainted(slices() + rule("deviceSelector: {driver: x.com, pool: q, device: d1}, " + bad,
                                    version)) == "x.com/q/d1:bad ");
    CHECK(tainted(slices() + rule("deviceSelector: {driver: y.com}, " + bad)) ==
          "y.com/p/d0:bad y.com/p/d1:bad ");
    CHECK(tainted(slices() + rule("deviceSelector: {pool: p, device: d0}, " + bad)) ==
          "x.com/p/d0:bad y.com/p/d0:bad ");
    CHECK(tainted(slices() + rule("deviceSelector: {driver: z.com}, " + bad)).empty());
}

TEST_CASE("an empty selector taints all devices, and none taints none from Kubernetes 1.37 on") {
    const std::string all = "x.com/p/d0:bad x.com/p/d1:bad x.com/q/d0:bad x.com/q/d1:bad "
                            "y.com/p/d0:bad y.com/p/d1:bad ";
    CHECK(tainted(slices() + rule("deviceSelector: {}, " + bad)) == all);
    CHECK(tainted(slices() + rule(bad)).empty());
    CHECK(tainted(slices() + rule(bad), 36) == all);
    CHECK(tainted(slices() + rule(bad), 38).empty());
}

TEST_CASE("all rules that match a device count, beside the taints of its slice") {
    const std::string one = "deviceSelector: {driver: y.com, device: d1}, ";
    CHECK(tainted(slices() + rule(one + bad) +
                  rule(one + "taint: {key: worse, effect: NoExecute}", "v1", "s")) ==
          "y.com/p/d1:bad:worse! ");
}

TEST_CASE("a selector that is not modelled is a warning, and the rule counts for more devices") {
    const std::string text =
        rule("deviceSelector: {driver: y.com, device: d0, deviceClassName: gpu, selectors: [{cel: "
             "{expression: 'true'}}]}, " +
                 bad,
             "v1alpha3");
    CHECK(tainted(slices() + text) == "y.com/p/d0:bad ");
    CHECK(read(text).said ==
          "spec.deviceSelector.deviceClassName: is not supported (the rule counts for all devices "
          "that meet the rest of the selector); spec.deviceSelector.selectors: is not supported "
          "(the rule counts for all devices that meet the rest of the selector); ");
}

TEST_CASE("a taint with a field that is not modelled keeps off all but those who tolerate all") {
    const std::string selector = "deviceSelector: {driver: y.com, device: d0}, ";
    const std::string text = rule(selector + "taint: {key: bad, effect: None, when: later}");
    CHECK(tainted(slices() + text) ==
          "y.com/p/d0:muster.dev/unread-taint-rule:muster.dev/unread-taint-rule! ");
    CHECK(read(text).said.starts_with("spec.taint.when: is not supported"));
    CHECK(tainted(slices() + rule(selector + bad + ", until: later")) ==
          "y.com/p/d0:muster.dev/unread-taint-rule:muster.dev/unread-taint-rule! ");
}

TEST_CASE("an effect that is not known counts as None, with a warning") {
    const std::string text = rule("deviceSelector: {driver: x.com}, taint: {key: k, effect: Soon}");
    CHECK(start(text) == "starts");
    CHECK(read(text).said.starts_with("spec.taint.effect: \"Soon\" is not an effect"));
    CHECK(read(rule("taint: {key: k, effect: None, timeAdded: '2026-01-01T00:00:00Z'}"))
              .said.empty());
}

TEST_CASE("a rule keeps claims and extended resources off its devices, unless they tolerate it") {
    const std::string rules = rule("deviceSelector: {driver: x.com}, " + bad);
    const std::string some = rule("deviceSelector: {driver: x.com, device: d0}, " + bad);
    const std::string count = ", allocationMode: ExactCount, count: 1";
    CHECK(start("") == "starts");
    CHECK(start(some) == "starts");
    CHECK(start(rules) == "waits");
    CHECK(start(rules, count) == "waits");
    CHECK(start(some, count) == "starts");
    CHECK(start(rules, count + ", tolerations: [{key: bad, operator: Exists}]") == "starts");
    const std::string unread = rule("deviceSelector: {driver: x.com}, " + bad + ", more: 1");
    CHECK(start(unread, count + ", tolerations: [{key: bad, operator: Exists}]") == "waits");
    CHECK(start(unread, count + ", tolerations: [{operator: Exists}]") == "starts");
}

} // namespace codec_device_taint_rules_test
