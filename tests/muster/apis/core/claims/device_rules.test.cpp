// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/device_planner.hpp>

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>

namespace codec_device_rules_test {

using namespace muster::codec;

namespace {

/// The result of a cycle on a cluster with devices.
struct outcome {
    /// "pod=node ", in the order of pods; pods without a node are left out.
    std::string placed;
    /// The reasons why pods wait for devices, of all pods.
    std::string waits;
    /// Descriptions of the node restrictions of pods.
    std::string reach;
    /// Some gang can never start.
    bool never = false;
    /// Warnings of what was planned.
    std::string warned;
    /// What the supplies of resources say about their lack.
    std::string lack;
};

outcome decide(const std::string& text) {
    outcome made;
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    for (const diagnostic& each : out.findings())
        FAIL_CHECK(to_text(each));
    REQUIRE(out.ok());
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    for (const diagnostic& each : out.findings())
        made.warned += each.message + "; ";
    for (const auto& [name, each] : cluster.volumes.kinds)
        made.lack += each.lack;
    for (const auto& each : muster::cycle(cluster.state, cluster.now).decisions)
        made.never = made.never || each.outcome.kind == muster::answer::never;
    for (const auto& [key, pod] : cluster.state.pod_keys()) {
        if (cluster.state[pod].node)
            made.placed += key.name + "=" + cluster.state.key(*cluster.state[pod].node) + " ";
        if (const auto* effects = cluster.volumes.find(key)) {
            for (const std::string& each : effects->waits)
                made.waits += each + "; ";
            for (const std::string& each : effects->reach_of)
                made.reach += each + "; ";
        }
    }
    return made;
}

std::string node(const std::string& name, const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           ", labels: {kubernetes.io/hostname: " + name +
           "}}\nstatus: {allocatable: {cpu: 8, pods: 110" + more + "}}\n";
}
const std::string nodes = node("n1") + node("n2");

/// A pod with entries of resourceClaims.
std::string user(const std::string& name, const std::string& claims, const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           "}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1}}}]\n"
           "  resourceClaims: [" +
           claims + "]\n" + more;
}
const std::string by_name = "{name: g, resourceClaimName: gpus}";
const std::string by_template = "{name: g, resourceClaimTemplateName: t}";
const std::string made_gpus =
    "status: {resourceClaimStatuses: [{name: g, resourceClaimName: gpus}]}\n";

std::string claim(const std::string& name, const std::string& status,
                  const std::string& metadata = "", const std::string& version = "v1") {
    return "---\napiVersion: resource.k8s.io/" + version +
           "\nkind: ResourceClaim\nmetadata: {name: " + name + metadata +
           "}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n"
           "status: {" +
           status + "}\n";
}
std::string owner(const std::string& pod) {
    return ", ownerReferences: [{apiVersion: v1, kind: Pod, name: " + pod + ", uid: u-" + pod +
           ", controller: true}]";
}
std::string allocated(const std::string& device, const std::string& more = "") {
    return "allocation: {devices: {results: [{request: r, driver: x.com, pool: p, device: " +
           device + more + "}]}}";
}
const std::string on_n2 =
    "allocation: {nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, "
    "operator: In, values: [n2]}]}]}, devices: {results: [{request: r, driver: x.com, pool: p, "
    "device: d0}]}}";

/// A pod that requests extended resources.
std::string asks(const std::string& name, const std::string& requests,
                 const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           "}\nspec:\n  containers: [{name: c, resources: {requests: {" + requests +
           "}, limits: {" + requests + "}}}]\n" + more;
}
std::string device_class(const std::string& name, const std::string& resource,
                         const std::string& selector = "device.driver == 'x.com'",
                         const std::string& metadata = "") {
    return "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: " + name +
           metadata + "}\nspec:\n  selectors: [{cel: {expression: \"" + selector + "\"}}]\n" +
           (resource.empty() ? "" : "  extendedResourceName: " + resource + "\n");
}
/// A slice of a pool of its own name.
std::string slice(const std::string& name, const std::string& where, const std::string& devices,
                  const std::string& pool = "name: p, generation: 1, resourceSliceCount: 1") {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: " + name +
           "}\nspec: {driver: x.com, pool: {" + pool + "}, " + where + ", devices: [" + devices +
           "]}\n";
}
const std::string gpu_class = device_class("gpu", "x.com/gpu");
const std::string two = "{name: d0}, {name: d1}";
const std::string two_on_n2 = slice("s", "nodeName: n2", two);
const std::string one = "x.com/gpu: 1";

} // namespace

TEST_CASE("an allocated claim restricts its pod to the nodes of the allocation") {
    for (const std::string version : {"v1", "v1beta2", "v1beta1"}) {
        const auto made = decide(nodes + user("a", by_name) + claim("gpus", on_n2, "", version));
        CHECK(made.placed == "a=n2 ");
        CHECK(made.reach == "resource claim gpus; ");
    }
    CHECK(decide(nodes + user("a", by_name) + claim("gpus", allocated("d0"))).placed == "a=n1 ");
}

TEST_CASE("a pod waits for a claim that is missing, deleted or of an unknown class") {
    const auto waits = [](const std::string& text) {
        const auto made = decide(nodes + user("a", by_name) + text);
        CHECK(made.placed.empty());
        return made.waits;
    };
    CHECK(waits("") ==
          "resource claim gpus does not exist (expected a ResourceClaim of that name); ");
    CHECK(waits(claim("gpus", "")) == "resource claim gpus names device class gpu, which does not "
                                      "exist (expected a DeviceClass of that name); ");
    CHECK(waits(claim("other", on_n2)) ==
          "resource claim gpus does not exist (expected a ResourceClaim of that name); ");
    CHECK(waits(claim("gpus", on_n2,
                      ", deletionTimestamp: \"2026-01-01T00:00:00Z\", finalizers: [f]")) ==
          "resource claim gpus is being deleted; ");
}

TEST_CASE("a pod starts when its claim is or may be reserved for it") {
    const auto reserved = [](int others, const std::string& more) {
        std::string list;
        for (int at = 0; at < others; ++at)
            list += (at > 0 ? ", " : "") + ("{resource: pods, name: o" + std::to_string(at)) +
                    ", uid: o" + std::to_string(at) + "}";
        return decide(nodes + user("a", by_name) +
                      claim("gpus", on_n2 + ", reservedFor: [" + list + more + "]"));
    };
    CHECK(reserved(255, "").placed == "a=n2 ");
    CHECK(reserved(256, "").waits ==
          "resource claim gpus is reserved for 256 others (expected less than 256); ");
    CHECK(reserved(255, ", {resource: pods, name: a, uid: u-a}").placed == "a=n2 ");
    CHECK(reserved(255, ", {resource: pods, name: a, uid: u-b}").placed.empty());
}

TEST_CASE("the pods that wait share the reservations that a claim has left") {
    std::string others;
    for (int at = 0; at < 255; ++at)
        others += "{resource: pods, name: o" + std::to_string(at) + "}, ";
    const std::string gpus =
        claim("gpus", on_n2 + ", reservedFor: [" + others + "{resource: pods, name: b}]");
    // One reservation is the pod's own.
    CHECK(decide(nodes + user("a", by_name) + user("b", by_name) + gpus).placed == "b=n2 ");
    const std::string one_left =
        claim("gpus", on_n2 + ", reservedFor: [" + others.substr(0, others.size() - 2) + "]");
    const auto made = decide(nodes + user("b", by_name) + user("a", by_name) + one_left);
    CHECK(made.placed == "a=n2 ");
    CHECK(made.waits == "resource claim gpus is reserved for 255 others, and 1 waiting pod comes "
                        "first (expected less than 256); ");
}

TEST_CASE("a claim that is reserved for a PodGroup may be used by the pods of that group alone") {
    std::string others;
    for (int at = 0; at < 255; ++at)
        others += "{resource: pods, name: o" + std::to_string(at) + "}, ";
    const std::string group =
        "---\napiVersion: scheduling.k8s.io/v1alpha3\nkind: PodGroup\nmetadata: {name: train}\n"
        "spec: {schedulingPolicy: {basic: {}}, resourceClaims: [" +
        by_name + "]}\n";
    const auto reserved = [&](const std::string& name, bool uses = true) {
        return decide(
            nodes + (uses ? group : "") +
            user("a", by_name, "  schedulingGroup: {podGroupName: train}\n") +
            claim("gpus", on_n2 + ", reservedFor: [" + others +
                              "{apiGroup: scheduling.k8s.io, resource: podgroups, name: " + name +
                              "}]"));
    };
    CHECK(reserved("train").waits.empty());
    CHECK(reserved("train").reach == "resource claim gpus; ");
    const std::string full =
        "resource claim gpus is reserved for 256 others (expected less than 256); ";
    CHECK(reserved("other").waits == full);
    // The pod uses the claim by an entry that the PodGroup does not have.
    CHECK(reserved("train", false).waits == full);
    // A PodGroup is no pod of that name.
    CHECK(reserved("a").waits == full);
}

TEST_CASE("a claim that a template made is used by the pod that controls it alone") {
    const std::string own = user("a", by_template, made_gpus);
    CHECK(decide(nodes + own + claim("gpus", on_n2, owner("a"))).placed == "a=n2 ");
    CHECK(decide(nodes + own + claim("gpus", on_n2, owner("b"))).waits ==
          "resource claim gpus was not made for the pod (expected the pod as its controller); ");
    CHECK(decide(nodes + user("a", by_template) + claim("gpus", on_n2, owner("a"))).waits ==
          "the resource claim for g is still to be made from template t, which does not exist "
          "(expected a ResourceClaimTemplate of that name); ");
    CHECK(decide(nodes + user("a", by_template, "status: {resourceClaimStatuses: [{name: g}]}\n"))
              .placed == "a=n1 ");
}

TEST_CASE("the claims of a pod with a node are not checked") {
    CHECK(decide(nodes + user("a", by_name, "  nodeName: n1\n")).placed == "a=n1 ");
}

TEST_CASE("a node that lists none of an extended resource has the devices of its class") {
    const std::string all = nodes + gpu_class + two_on_n2;
    const auto gang = [](const std::string& requests) {
        return asks("a", requests) + asks("b", requests) + asks("c", requests);
    };
    CHECK(decide(all + gang(one)).placed == "a=n2 b=n2 ");
    CHECK(decide(all + gang("x.com/gpu: 2")).placed == "a=n2 ");
    CHECK(decide(all + gang("deviceclass.resource.kubernetes.io/gpu: 1")).placed == "a=n2 b=n2 ");
    CHECK(decide(node("n1") + node("n2", ", x.com/gpu: 1") + gpu_class + two_on_n2 + gang(one))
              .placed == "a=n2 ");
    CHECK(decide(node("n1") + node("n2", ", x.com/gpu: 0") + gpu_class + two_on_n2 + gang(one))
              .placed == "a=n2 b=n2 ");
    CHECK(decide(nodes + gpu_class + gang(one)).placed.empty());
}

TEST_CASE("devices of claims are in use, and those of a running pod's requests count once") {
    const std::string all = nodes + gpu_class + two_on_n2 + asks("a", one) + asks("b", one);
    CHECK(decide(all + claim("c", allocated("d0"))).placed == "a=n2 ");
    CHECK(decide(all + claim("c", allocated("d0", ", adminAccess: true"))).placed == "a=n2 b=n2 ");
    const std::string standing = asks("s", one, "  nodeName: n2\n");
    const std::string extended =
        claim("c", allocated("d0"),
              owner("s") + ", annotations: {resource.kubernetes.io/extended-resource-claim: "
                           "\"true\"}");
    CHECK(decide(all + standing + extended).placed == "a=n2 s=n2 ");
    CHECK(decide(all + extended).placed == "a=n2 ");
    CHECK(decide(all + asks("s", one, "  nodeName: n2\nstatus: {phase: Succeeded}\n") + extended)
              .placed.find("b=") == std::string::npos);
}

TEST_CASE("too few devices never prove that a pod can never start, as more of them may come") {
    const auto proven = [](const std::string& slices, const std::string& more = "") {
        const auto made = decide(nodes + gpu_class + slices + asks("a", "x.com/gpu: 2") + more);
        CHECK(made.placed.empty());
        return made.never;
    };
    CHECK_FALSE(proven(two_on_n2, claim("c", allocated("d0"))));
    CHECK_FALSE(
        proven(slice("s", "nodeName: n1", two, "name: p, generation: 1, resourceSliceCount: 2")));
    CHECK_FALSE(proven(slice("s", "nodeName: n1",
                             "{name: d0, taints: [{key: k, effect: NoSchedule}]}, {name: d1}")));
    // A class that serves another resource, or none, changes nothing.
    for (const char* const served : {"", "x.com/nic"}) {
        const std::string other = device_class("other", served) + slice("s", "nodeName: n1", two);
        CHECK(decide(nodes + other + asks("a", one)).never);
        CHECK_FALSE(decide(nodes + gpu_class + other + asks("a", "x.com/gpu: 3")).never);
    }
    // Amounts of other kinds still do.
    CHECK(decide(nodes + gpu_class + two_on_n2 + asks("a", "x.com/gpu: 1, cpu: 99")).never);
}

TEST_CASE("only the newest generation of a complete pool counts") {
    const auto count = [](const std::string& slices) {
        return decide(nodes + gpu_class + slices + asks("a", one) + asks("b", one)).placed;
    };
    const auto pool = [](const std::string& generation, const std::string& of) {
        return "name: p, generation: " + generation + ", resourceSliceCount: " + of;
    };
    const std::string n1 = "nodeName: n1";
    CHECK(count(slice("s", n1, two, pool("1", "2"))).empty());
    CHECK(count(slice("s", n1, "{name: d0}", pool("2", "2")) +
                slice("t", n1, "{name: d1}", pool("2", "2"))) == "a=n1 b=n1 ");
    CHECK(count(slice("s", n1, two, pool("1", "1")) +
                slice("t", n1, "{name: d1}", pool("2", "1"))) == "a=n1 ");
    CHECK(count(slice("s", n1, "{name: d0}, {name: d0}")).empty());
}

TEST_CASE("a slice serves a node by name, by selector, all nodes, or per device") {
    const auto count = [](const std::string& where, const std::string& devices = two) {
        return decide(nodes + gpu_class + slice("s", where, devices) + asks("a", "x.com/gpu: 1") +
                      asks("b", "x.com/gpu: 1") + asks("c", "x.com/gpu: 1"))
            .placed;
    };
    const std::string n2 =
        "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, "
        "operator: In, values: [n2]}]}]}";
    CHECK(count("nodeName: n2") == "a=n2 b=n2 ");
    CHECK(count(n2) == "a=n2 b=n2 ");
    CHECK(count("nodeName: gone").empty());
    CHECK(count("perDeviceNodeSelection: true",
                "{name: d0, nodeName: n1}, {name: d1, " + n2 + "}, {name: d2}") == "a=n1 b=n2 ");
    // A device that several nodes can use counts once.
    CHECK(count("allNodes: true") == "a=n1 b=n2 ");
}

TEST_CASE("devices whose slice skips operations are of nodes that declare that they skip them") {
    std::string able = node("n2");
    able.replace(able.find("status: {"), 9,
                 "status: {declaredFeatures: [Other, DRAOptionalNodeOperations], ");
    std::string liar = node("n1");
    liar.replace(liar.find("labels: {"), 9,
                 "labels: {muster.dev/declares-DRAOptionalNodeOperations: \"true\", ");
    const std::string where = "skipNodeOperations: ['*'], ";
    const std::string pods = asks("a", one) + asks("b", one) + asks("c", one);
    for (const std::string reach : {"allNodes: true", "nodeName: n2"}) {
        CHECK(decide(liar + able + gpu_class + slice("s", where + reach, two) + pods).placed ==
              "a=n2 b=n2 ");
        CHECK(decide(liar + node("n2") + gpu_class + slice("s", where + reach, two) + pods)
                  .placed.empty());
    }
    // Claims that must be allocated, counted as whole devices or as pods.
    const auto claims = [&](const std::string& nodes_text, const std::string& constraints) {
        return decide(nodes_text + gpu_class + slice("s", where + "nodeName: n2", two) +
                      user("a", by_name) +
                      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: "
                      "gpus}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: "
                      "gpu, " +
                      constraints + "}}]}}\n")
            .placed;
    };
    for (const std::string request : {"count: 1", "allocationMode: All"}) {
        CHECK(claims(liar + able, request) == "a=n2 ");
        CHECK(claims(liar + node("n2"), request).empty());
    }
    // An allocated claim.
    const std::string skips = ", skipNodeOperations: ['*']";
    CHECK(decide(liar + able + user("a", by_name) + claim("gpus", allocated("d0", skips))).placed ==
          "a=n2 ");
    CHECK(decide(liar + node("n2") + user("a", by_name) + claim("gpus", allocated("d0", skips)))
              .placed.empty());
}

TEST_CASE("a claim matches devices by attributes that its requests derive") {
    const auto with = [](const std::string& expression, const std::string& more = "") {
        return decide(
            nodes + gpu_class +
            slice("s", "nodeName: n1", "{name: d0, attributes: {at: {string: a-0}}}") +
            slice("t", "nodeName: n2",
                  "{name: d0, attributes: {at: {string: b-1}}}, {name: d1, attributes: {at: "
                  "{string: b-2}}}",
                  "name: q, generation: 1, resourceSliceCount: 1") +
            user("a", by_name) +
            "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: "
            "gpus}\nspec: "
            "{devices: {constraints: [{matchAttribute: y.com/root}], requests: [{name: r, exactly: "
            "{deviceClassName: gpu, allocationMode: ExactCount, count: 2, derivedAttributes: "
            "[{name: y.com/root, expression: \"" +
            expression + "\"" + more + "}]}}]}}\n");
    };
    CHECK(with("device.attributes['x.com'].at.startsWith('b') ? 1 : 2").placed == "a=n2 ");
    CHECK(with("device.attributes['x.com'].at").placed.empty());
    CHECK(with("device.attributes['x.com'].none").waits ==
          "resource claim gpus selects devices by a selector that cannot be decided for device d0 "
          "of pool p (no such key: none): device.attributes['x.com'].none; ");
    CHECK(with("'b'", ", colour: red").waits ==
          "resource claim gpus has a field that is not known: "
          "spec.devices.requests[0].exactly.derivedAttributes[0].colour; ");
}

TEST_CASE("devices with taints that keep pods away, and devices that share counters, do not "
          "count") {
    const std::string pool = "name: p, generation: 1, resourceSliceCount: 2";
    const auto on = [&](const std::string& devices) {
        return nodes + gpu_class + slice("s", "nodeName: n1", devices, pool) +
               slice("t", "nodeName: n1, sharedCounters: [{name: c, counters: {m: {value: 9}}}]",
                     "", pool);
    };
    const auto count = [&](const std::string& more) {
        return decide(on("{name: d0, " + more + "}") + asks("a", one)).placed;
    };
    CHECK(count("taints: [{key: k, effect: NoSchedule}]").empty());
    CHECK(count("taints: [{key: k, effect: NoExecute}]").empty());
    CHECK(count("taints: [{key: k, effect: None}]") == "a=n1 ");
    const std::string part = "consumesCounters: [{counterSet: c, counters: {m: {value: 1}}}]";
    CHECK(count(part).empty());
    CHECK(decide(on("{name: d0, " + part + "}, {name: d1}") + asks("a", "x.com/gpu: 2")).lack ==
          "not counted of device class gpu: 1 that share counters (partitions)");
    CHECK(decide(on("{name: d0, " + part +
                    "}, {name: d1}, {name: d2, taints: [{key: k, effect: NoSchedule}]}") +
                 asks("a", "x.com/gpu: 2"))
              .lack ==
          "not counted of device class gpu: 1 with taints, 1 that share counters (partitions)");
    // Without the counters the pool gives no devices, not even whole ones.
    const outcome invalid =
        decide(nodes + gpu_class +
               slice("s", "nodeName: n1", "{name: d0, " + part + "}, {name: d1}") + asks("a", one));
    CHECK(invalid.placed.empty());
    CHECK(invalid.lack ==
          "device class gpu serves it, and pool p of x.com gives no devices: device "
          "d0 consumes the unknown counter set c");
}

TEST_CASE("the selectors of a class match driver and attributes") {
    const std::string devices =
        "{name: d0, attributes: {type: {string: gpu}, x.com/index: {int: 0}}}, "
        "{name: d1, attributes: {type: {string: mig}, x.com/index: {int: 1}}}";
    const std::string old =
        "{name: d0, basic: {attributes: {type: {string: gpu}}}}, {name: d1, basic: {attributes: "
        "{type: {string: mig}}}}";
    const auto count = [](const std::string& selector, const std::string& of,
                          const std::string& version = "v1") {
        std::string slices = slice("s", "nodeName: n1", of);
        slices.replace(slices.find("/v1\n"), 4, "/" + version + "\n");
        return decide(nodes + device_class("gpu", "x.com/gpu", selector) + slices +
                      asks("a", "x.com/gpu: 1") + asks("b", "x.com/gpu: 1"));
    };
    const std::string gpu = "device.attributes['x.com'].type == 'gpu'";
    CHECK(count("device.driver == 'x.com' && " + gpu, devices).placed == "a=n1 ");
    CHECK(count(gpu, old, "v1beta1").placed == "a=n1 ");
    CHECK(count("device.driver == 'y.com'", devices).placed.empty());
    CHECK(count("device.attributes['x.com'].index == 1", devices).placed == "a=n1 ");
    CHECK(count(gpu + " || true", devices).placed == "a=n1 b=n1 ");
    const auto waits = [&](const std::string& selector) {
        const auto made = count(selector, devices);
        CHECK(made.placed.empty());
        return made.waits.substr(0, made.waits.find(';'));
    };
    CHECK(waits("device.driver == 1.5") ==
          "x.com/gpu is served by device class gpu, whose selector cannot be decided for device d0 "
          "of pool p (not supported: numbers of type double): device.driver == 1.5");
    CHECK(waits("device.attributes['x.com'].size == 1") ==
          "x.com/gpu is served by device class gpu, whose selector cannot be decided for device d0 "
          "of pool p (no such key: size): device.attributes['x.com'].size == 1");
}

TEST_CASE("a selector of a class that is no CEL expression is never ignored") {
    for (const std::string selector : {"{regex: x}", "{}"}) {
        CAPTURE(selector);
        const auto made =
            decide(nodes +
                   "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: "
                   "gpu}\nspec: {extendedResourceName: x.com/gpu, selectors: [" +
                   selector + "]}\n" + two_on_n2 + asks("a", one));
        CHECK(made.placed.empty());
        CHECK(made.waits.find("x.com/gpu is served by device class gpu, whose selector cannot be "
                              "decided for device d0 of pool p") == 0);
    }
}

TEST_CASE("pods that a device plugin can serve do not wait for a class with another selector") {
    const std::string odd = device_class("gpu", "x.com/gpu", "1.5 < 2.5");
    const std::string served = node("n1", ", x.com/gpu: 1") + node("n2");
    CHECK(decide(served + odd + two_on_n2 + asks("a", one)).placed == "a=n1 ");
    CHECK(decide(served + odd + two_on_n2 +
                 asks("a", one, "  nodeSelector: {kubernetes.io/hostname: n2}\n"))
              .waits.find("x.com/gpu is served by device class gpu") == 0);
}

TEST_CASE("a pod gets a GPU of HAMi's node only if the node's register lists one") {
    const auto gpus = [](const std::string& name, const std::string& annotations) {
        return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + annotations +
               "}\nstatus: {allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 8}}\n";
    };
    const std::string hami = gpus("h", ", annotations: {hami.io/node-nvidia-register: '[]'}");
    const auto held = decide(hami + asks("a", "nvidia.com/gpu: 1") + asks("b", "cpu: 1"));
    CHECK(held.placed == "b=h ");
    CHECK(held.waits.empty());
    CHECK_FALSE(held.never);
    CHECK(decide(hami + gpus("n1", "") + asks("a", "nvidia.com/gpu: 8") +
                 asks("b", "nvidia.com/gpu: 8"))
              .placed == "a=n1 ");
}

TEST_CASE("if several classes serve a resource, the newest counts, then the first by name") {
    const std::string none = "device.driver == 'none'";
    const auto made = [](const std::string& when) {
        return ", creationTimestamp: \"2026-01-0" + when + "T00:00:00Z\"";
    };
    const auto count = [](const std::string& classes) {
        return decide(nodes + classes + two_on_n2 + asks("a", one)).placed;
    };
    const std::string yes = "device.driver == 'x.com'";
    CHECK(
        count(device_class("a", "x.com/gpu", none) + device_class("b", "x.com/gpu", yes)).empty());
    CHECK(count(device_class("a", "x.com/gpu", none, made("1")) +
                device_class("b", "x.com/gpu", yes, made("2"))) == "a=n2 ");
}

TEST_CASE("a device that serves two resources is counted for both, and given once") {
    const std::string implicit = "deviceclass.resource.kubernetes.io/gpu: 1";
    const std::string on_two = nodes + gpu_class + two_on_n2;
    CHECK(decide(on_two + asks("a", one) + asks("b", implicit)).placed == "a=n2 b=n2 ");
    // Two of the three pods.
    const std::string three =
        decide(on_two + asks("a", one) + asks("b", implicit) + asks("c", implicit)).placed;
    CHECK(std::ranges::count(three, '=') == 2);
    // One pod that requests both needs two devices.
    const std::string both = one + ", " + implicit;
    CHECK(decide(on_two + asks("a", both)).placed == "a=n2 ");
    CHECK(decide(on_two + asks("a", both) + asks("b", both)).placed == "a=n2 ");
    CHECK(decide(nodes + gpu_class + slice("s", "nodeName: n2", "{name: d0}") + asks("a", both))
              .placed.empty());
    // All devices of one class are of the other one.
    const std::string fast = device_class("fast", "x.com/fast", "device.attributes['x.com'].fast");
    const std::string slices = slice("s", "nodeName: n2",
                                     "{name: d0, attributes: {fast: {bool: true}}}, {name: d1, "
                                     "attributes: {fast: {bool: false}}}");
    const std::string asks_fast = "x.com/fast: 1";
    CHECK(
        decide(nodes + gpu_class + fast + slices + asks("a", one) + asks("b", asks_fast)).placed ==
        "a=n2 b=n2 ");
    CHECK(std::ranges::count(decide(nodes + gpu_class + fast + slices + asks("a", asks_fast) +
                                    asks("b", asks_fast))
                                 .placed,
                             '=') == 1);
    const std::string crowd = decide(nodes + gpu_class + fast + slices + asks("a", one) +
                                     asks("b", one) + asks("c", asks_fast))
                                  .placed;
    CHECK(std::ranges::count(crowd, '=') == 2);
    // A running pod whose claim holds both devices.
    const std::string running =
        asks("r", both, "  nodeName: n2\nstatus: {phase: Running}\n") +
        claim("e",
              "allocation: {devices: {results: [{request: r, driver: x.com, pool: p, device: d0}, "
              "{request: s, driver: x.com, pool: p, device: d1}]}}",
              ", annotations: {resource.kubernetes.io/extended-resource-claim: \"true\"}" +
                  owner("r"));
    CHECK(decide(on_two + running + asks("a", one)).placed == "r=n2 ");
    CHECK(decide(nodes + gpu_class + slice("s", "nodeName: n2", two + ", {name: d2}") + running +
                 asks("a", one))
              .placed == "a=n2 r=n2 ");
}

TEST_CASE("devices that serve two resources count for one of them if a node lists some") {
    const auto made =
        decide(nodes + node("n3", ", x.com/gpu: 1") + gpu_class + two_on_n2 +
               asks("a", "x.com/gpu: 2") + asks("b", "deviceclass.resource.kubernetes.io/gpu: 1") +
               asks("c", "deviceclass.resource.kubernetes.io/gpu: 1"));
    CHECK(made.placed == "b=n2 c=n2 ");
    CHECK(made.waits == "x.com/gpu is served by device class gpu, whose devices serve "
                        "deviceclass.resource.kubernetes.io/gpu too, and they are counted for one "
                        "of both only; ");
}

} // namespace codec_device_rules_test
