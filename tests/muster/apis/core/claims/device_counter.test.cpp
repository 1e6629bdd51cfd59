// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/device_counter.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/devices/device_allocator.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>
#include <muster/testing/random.hpp>

namespace codec_device_counter_test {

using namespace muster::codec;

namespace {

struct outcome {
    /// "pod=node ", in the order of pods; pods without a node are left out.
    std::string placed;
    /// The reasons why pods wait for devices.
    std::string waits;
    std::string warned;
    bool never = false;
};

manifests read(const std::string& text, diagnostics& out) {
    static std::vector<std::vector<document>> kept;
    kept.push_back(read_documents("f", text, out));
    manifests objects = read_manifests(kept.back(), {}, out);
    for (const diagnostic& each : out.findings())
        FAIL_CHECK(to_text(each));
    REQUIRE(out.ok());
    return objects;
}

outcome decide(const std::string& text) {
    outcome made;
    diagnostics out;
    const manifests objects = read(text, out);
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    for (const diagnostic& each : out.findings())
        made.warned += each.message + "; ";
    for (const auto& each : muster::cycle(cluster.state, cluster.now).decisions)
        made.never = made.never || each.outcome.kind == muster::answer::never;
    for (const auto& [key, pod] : cluster.state.pod_keys()) {
        if (cluster.state[pod].node)
            made.placed += key.name + "=" + cluster.state.key(*cluster.state[pod].node) + " ";
        if (const auto* effects = cluster.volumes.find(key))
            for (const std::string& each : effects->waits)
                made.waits += key.name + ": " + each + "; ";
    }
    return made;
}

std::string node(const std::string& name, const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           "}\nstatus: {allocatable: {cpu: 99, pods: 110" + more + "}}\n";
}
std::string device_class(const std::string& name, const std::string& selector = "true") {
    return "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: " + name +
           "}\nspec: {selectors: [{cel: {expression: \"" + selector + "\"}}]}\n";
}
std::string slice(const std::string& on, const std::string& devices, const std::string& more = "") {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-" + on +
           "}\nspec: {driver: x.com, pool: {name: " + on +
           ", generation: 1, resourceSliceCount: 1}, nodeName: " + on + ", devices: [" + devices +
           "]" + more + "}\n";
}
/// Devices d0, d1 and so on with an attribute `index` each.
std::string devices(int count, const std::string& more = "") {
    std::string made;
    for (int at = 0; at < count; ++at)
        made += (at > 0 ? ", " : "") + ("{name: d" + std::to_string(at)) +
                ", attributes: {index: {int: " + std::to_string(at) + "}}" + more + "}";
    return made;
}
std::string exactly(const std::string& name, const std::string& more = "") {
    return "{name: " + name + ", exactly: {deviceClassName: gpu" + more + "}}";
}
std::string requests(const std::string& list, const std::string& more = "") {
    return "{devices: {requests: [" + list + "]" + more + "}}";
}
std::string made_from(const std::string& name, const std::string& spec) {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: " +
           name + "}\nspec: {spec: " + spec + "}\n";
}
/// A pod with a claim from the template, in a gang of all pods with that gang's name.
std::string pod(const std::string& name, const std::string& of_template,
                const std::string& gang = "", int members = 0, const std::string& more = "") {
    const std::string labels = gang.empty()
                                   ? ""
                                   : ", labels: {pod-group.scheduling.sigs.k8s.io/name: " + gang +
                                         ", pod-group.scheduling.sigs.k8s.io/min-available: \"" +
                                         std::to_string(members) + "\"}";
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           labels +
           "}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1}}}]\n"
           "  resourceClaims: [{name: g, resourceClaimTemplateName: " +
           of_template + "}]\n" + more;
}

const std::string gpus = device_class("gpu");
const std::string nodes = node("n1") + node("n2");
const std::string whole = made_from("one", requests(exactly("r"))) +
                          made_from("two", requests(exactly("r", ", count: 2")));

} // namespace

TEST_CASE("a gang with claims from a template starts where each pod gets its devices") {
    const std::string all = nodes + gpus + whole + slice("n2", devices(4));
    CHECK(decide(all + pod("a", "two", "g", 2) + pod("b", "two", "g", 2)).placed == "a=n2 b=n2 ");
    // Three pods of two devices need six.
    const auto made =
        decide(all + pod("a", "two", "g", 3) + pod("b", "two", "g", 3) + pod("c", "two", "g", 3));
    CHECK(made.placed.empty());
    CHECK(made.waits.empty());
    CHECK_FALSE(made.never);
    CHECK(decide(all + pod("a", "two") + pod("b", "one") + pod("c", "two")).placed == "a=n2 b=n2 ");
    CHECK(made.warned.empty());
}

TEST_CASE("a device that a claim holds is free for others once its pod is gone") {
    const std::string held =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: " +
        requests(exactly("r")) +
        "\nstatus: {allocation: {devices: {results: [{request: r, driver: x.com, pool: n1, device: "
        "d0}]}}, reservedFor: [{resource: pods, name: s, uid: u-s}]}\n";
    const std::string all =
        nodes + gpus + whole + slice("n1", devices(2)) + held + pod("a", "one") + pod("b", "one");
    // Nobody holds the claim: the device is in use.
    CHECK(decide(all).placed == "a=n1 ");
    // The standing pod counts the device.
    CHECK(decide(all + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: s, uid: u-s}\nspec: "
                       "{nodeName: n1, containers: [{name: c}], resourceClaims: [{name: g, "
                       "resourceClaimName: c}]}\n")
              .placed == "a=n1 s=n1 ");
}

TEST_CASE("requests for sets of devices one within the other never share a device") {
    const std::string first =
        made_from("first", requests(exactly("r", ", selectors: [{cel: {expression: "
                                                 "\"device.attributes['x.com'].index == 0\"}}]")));
    const std::string all = node("n1") + gpus + whole + first + slice("n1", devices(2));
    CHECK(decide(all + pod("a", "first") + pod("b", "first")).placed == "a=n1 ");
    CHECK(decide(all + pod("a", "first") + pod("b", "one") + pod("c", "one")).placed ==
          "a=n1 b=n1 ");
    CHECK(decide(all + pod("a", "two") + pod("b", "first")).placed == "a=n1 ");
    // A set around others that is asked for last counts the pods before it.
    CHECK(decide(all + pod("a", "first", "g", 2) + pod("b", "two", "g", 2)).placed.empty());
}

TEST_CASE("pods that select crossing sets of devices are decided together") {
    const auto below = [](const std::string& name, const std::string& test) {
        return made_from(name, requests(exactly("r", ", selectors: [{cel: {expression: "
                                                     "\"device.attributes['x.com'].index " +
                                                         test + "\"}}]")));
    };
    const std::string all =
        node("n1") + gpus + below("low", "< 2") + below("high", "> 0") + slice("n1", devices(3));
    CHECK(decide(all + pod("a", "low") + pod("b", "high")).placed == "a=n1 b=n1 ");
    CHECK(decide(all + pod("a", "low") + pod("b", "low") + pod("c", "high")).placed ==
          "a=n1 b=n1 c=n1 ");
    CHECK(decide(all + pod("a", "low", "g", 4) + pod("b", "low", "g", 4) +
                 pod("c", "high", "g", 4) + pod("d", "high", "g", 4))
              .placed.empty());
}

TEST_CASE("different shares of devices are decided together, in addition to what others consume") {
    const std::string shared =
        "{name: d0, allowMultipleAllocations: true, capacity: {memory: {value: 8Gi}}}, "
        "{name: d1, allowMultipleAllocations: true, capacity: {memory: {value: 8Gi}}}";
    const auto share = [](const std::string& name, const std::string& memory) {
        return made_from(
            name, requests(exactly("r", ", capacity: {requests: {memory: " + memory + "}}")));
    };
    const std::string all =
        node("n1") + gpus + share("large", "5Gi") + share("small", "3Gi") + slice("n1", shared);
    CHECK(
        decide(all + pod("a", "large") + pod("b", "small") + pod("c", "large") + pod("d", "small"))
            .placed == "a=n1 b=n1 c=n1 d=n1 ");
    // Two devices have 16Gi, and these pods ask for 15Gi, but no device has 10Gi.
    CHECK(decide(all + pod("a", "large", "g", 3) + pod("b", "large", "g", 3) +
                 pod("c", "large", "g", 3) + pod("e", "small"))
              .placed == "e=n1 ");
    const std::string held =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: " +
        requests(exactly("r")) +
        "\nstatus: {allocation: {devices: {results: [{request: r, driver: x.com, pool: n1, device: "
        "d0, shareID: 7b1c5d0e-0000-4000-8000-000000000000, consumedCapacity: {memory: 4Gi}}]}}}\n";
    CHECK(decide(all + held + pod("a", "large") + pod("b", "small") + pod("c", "large")).placed ==
          "a=n1 b=n1 ");
}

TEST_CASE("a pod that holds a device counts among different demands, and keeps its node") {
    const auto only = [](const std::string& name, const std::string& test) {
        return made_from(name, requests(exactly("r", ", selectors: [{cel: {expression: "
                                                     "\"device.attributes['x.com'].index " +
                                                         test + "\"}}]")));
    };
    const std::string standing =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: " +
        requests(exactly("r")) +
        "\nstatus: {allocation: {devices: {results: [{request: r, driver: x.com, pool: n1, device: "
        "d1}]}}, reservedFor: [{resource: pods, name: s, uid: u-s}]}\n"
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: s, uid: u-s}\nspec: {nodeName: n1, "
        "containers: [{name: c}], resourceClaims: [{name: g, resourceClaimName: c}]}\n";
    const std::string all = node("n1") + gpus + only("low", "< 2") + only("high", "> 0") +
                            slice("n1", devices(3)) + standing;
    CHECK(decide(all + pod("a", "low") + pod("b", "high")).placed == "a=n1 b=n1 s=n1 ");
    CHECK(decide(all + pod("a", "low") + pod("b", "low") + pod("c", "high") + pod("d", "high"))
              .placed == "a=n1 c=n1 s=n1 ");
}

TEST_CASE("an extended resource and claims for the same devices share them") {
    const std::string served =
        "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
        "{extendedResourceName: x.com/gpu}\n";
    const std::string asks = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: "
                             "{containers: [{name: c, resources: {requests: {x.com/gpu: 1}, "
                             "limits: {x.com/gpu: 1}}}]}\n";
    const std::string all = served + whole + slice("n1", devices(2)) + asks;
    CHECK(decide(node("n1") + all + pod("a", "two")).placed == "a=n1 ");
    CHECK(decide(node("n1") + all + pod("a", "one")).placed == "a=n1 p=n1 ");
    // Where a device plugin serves the resource, claims find no device.
    CHECK(decide(node("n1") + node("n2", ", x.com/gpu: 8") + all + pod("a", "two")).placed ==
          "a=n1 p=n2 ");
    CHECK(decide(node("n2", ", x.com/gpu: 8") + served + whole + asks + pod("a", "one")).placed ==
          "p=n2 ");
}

TEST_CASE("pods whose claims need more than counts of devices count by what a node satisfies") {
    const std::string pair =
        made_from("pair", requests(exactly("r", ", count: 2"),
                                   ", constraints: [{requests: [r], matchAttribute: x.com/numa}]"));
    const auto numa = [](const std::string& name, int of) {
        return "{name: " + name + ", attributes: {numa: {int: " + std::to_string(of) + "}}}";
    };
    // Three devices of one NUMA node and one of another are one pair, not two.
    const std::string uneven =
        slice("n1", numa("a", 0) + ", " + numa("b", 0) + ", " + numa("c", 0) + ", " + numa("d", 1));
    const std::string pods = pod("a", "pair") + pod("b", "pair") + pod("c", "pair");
    CHECK(decide(node("n1") + gpus + pair + uneven + pods).placed == "a=n1 ");
    const std::string even =
        slice("n1", numa("a", 0) + ", " + numa("b", 1) + ", " + numa("c", 0) + ", " + numa("d", 1));
    CHECK(decide(node("n1") + gpus + pair + even + pods).placed == "a=n1 b=n1 ");

    // Partitions: each takes 3 of the 7 slices of its GPU.
    const std::string counters = ", sharedCounters: [{name: g, counters: {slices: {value: 7}}}]";
    std::string parts;
    for (const char* const each : {"p0", "p1", "p2"})
        parts += (parts.empty() ? "" : ", ") + ("{name: " + std::string(each)) +
                 ", consumesCounters: [{counterSet: g, counters: {slices: {value: 3}}}]}";
    const std::string partitioned =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: c}\nspec: "
        "{driver: x.com, pool: {name: n1, generation: 1, resourceSliceCount: 2}, nodeName: n1, "
        "sharedCounters: [{name: g, counters: {slices: {value: 7}}}]}\n"
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: d}\nspec: "
        "{driver: x.com, pool: {name: n1, generation: 1, resourceSliceCount: 2}, nodeName: n1, "
        "devices: [" +
        parts + "]}\n";
    CHECK(decide(node("n1") + gpus + whole + partitioned + pod("a", "one") + pod("b", "one") +
                 pod("c", "one"))
              .placed == "a=n1 b=n1 ");

    const std::string every = made_from("every", requests(exactly("r", ", allocationMode: All")));
    CHECK(decide(nodes + gpus + every + slice("n1", devices(3)) + pod("a", "every") +
                 pod("b", "every"))
              .placed == "a=n1 ");
}

TEST_CASE("a gang that prefers a whole GPU to a half starts on what the shared counters leave") {
    // A GPU with 2 units: whole, or as two halves.
    const std::string part = ", consumesCounters: [{counterSet: w, counters: {units: {value: ";
    const auto device = [&](const std::string& name, const std::string& type, int units) {
        return "{name: " + name + ", attributes: {type: {string: " + type + "}}" + part +
               std::to_string(units) + "}}}]}";
    };
    const auto alternative = [](const std::string& type) {
        return "{name: " + type +
               ", deviceClassName: gpu, selectors: [{cel: {expression: "
               "\"device.attributes['x.com'].type == '" +
               type + "'\"}}]}";
    };
    const auto gpu_on = [&](const std::string& node) {
        const std::string head = "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\n";
        const std::string spec = "spec: {driver: x.com, pool: {name: " + node +
                                 ", generation: 1, resourceSliceCount: 2}, nodeName: " + node;
        return head + "metadata: {name: c-" + node + "}\n" + spec +
               ", sharedCounters: [{name: w, counters: {units: {value: 2}}}]}\n" + head +
               "metadata: {name: d-" + node + "}\n" + spec + ", devices: [" +
               device("whole", "whole", 2) + ", " + device("half-0", "half", 1) + ", " +
               device("half-1", "half", 1) + "]}\n";
    };
    const std::string all =
        node("n1") + gpus + gpu_on("n1") +
        made_from("any", requests("{name: r, firstAvailable: [" + alternative("whole") + ", " +
                                  alternative("half") + "]}"));
    const auto gang = [&](int members) {
        std::string made;
        for (int at = 0; at < members; ++at)
            made += pod(std::string(1, static_cast<char>('a' + at)), "any", "g", members);
        return made;
    };
    CHECK(decide(all + gang(1)).placed == "a=n1 ");
    // The first pod leaves the whole GPU, which it prefers, so that both get a half.
    CHECK(decide(all + gang(2)).placed == "a=n1 b=n1 ");
    const outcome three = decide(all + gang(3));
    CHECK(three.placed.empty());
    CHECK(three.waits.empty());
    // A second GPU has room for the third.
    const auto placed = decide(all + node("n2") + gpu_on("n2") + gang(3)).placed;
    CHECK(placed.size() == std::string("a=n1 b=n1 c=n2 ").size());
    CHECK(placed.find("=n2") != placed.npos);
}

TEST_CASE("a gang whose pods need a channel of a compute domain has one pod on each node") {
    const std::string domains = "compute-domain.nvidia.com";
    const auto channels = [&](const std::string& node) {
        return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: cd-" +
               node + "}\nspec: {driver: " + domains + ", pool: {name: " + node +
               ", generation: 1, resourceSliceCount: 1}, nodeName: " + node +
               ", devices: [{name: channel-0, attributes: {type: {string: channel}, id: {int: "
               "0}}}, "
               "{name: daemon-0, attributes: {type: {string: daemon}, id: {int: 0}}}]}\n";
    };
    const std::string attribute = "device.attributes['" + domains + "'].";
    const std::string all =
        nodes + channels("n1") + channels("n2") +
        device_class("compute-domain-default-channel.nvidia.com",
                     "device.driver == '" + domains + "' && " + attribute +
                         "type == 'channel' && " + attribute + "id == 0") +
        made_from("channel",
                  requests("{name: channel, exactly: {deviceClassName: "
                           "compute-domain-default-channel.nvidia.com}}",
                           ", config: [{requests: [channel], opaque: {driver: " + domains +
                               ", parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: "
                               "ComputeDomainChannelConfig, domainID: x}}}]"));
    const auto gang = [](int members) {
        std::string made;
        for (int at = 0; at < members; ++at)
            made += pod(std::string(1, static_cast<char>('a' + at)), "channel", "g", members);
        return made;
    };
    const auto placed = decide(all + gang(2)).placed;
    CHECK((placed == "a=n1 b=n2 " || placed == "a=n2 b=n1 "));
    const outcome three = decide(all + gang(3));
    CHECK(three.placed.empty());
    CHECK(three.waits.empty());
    CHECK(three.warned.empty());
    CHECK(decide(all + node("n3") + channels("n3") + gang(3)).placed.size() ==
          placed.size() / 2 * 3);
}

TEST_CASE("nodes count apart if a device of theirs is in use, selected or related in another way") {
    const auto numa = [](const std::string& name, int of) {
        return "{name: " + name + ", attributes: {numa: {int: " + std::to_string(of) +
               "}, index: {int: " + name.substr(1) + "}}}";
    };
    const auto pair = [](const std::string& more) {
        return made_from("pair", requests(exactly("r", ", count: 2" + more),
                                          ", constraints: [{requests: [r], matchAttribute: "
                                          "x.com/numa}]"));
    };
    const std::string all = nodes + gpus + pod("a", "pair") + pod("b", "pair");
    const std::string same = numa("d0", 0) + ", " + numa("d1", 0);
    CHECK(decide(all + pair("") + slice("n1", same) + slice("n2", same)).placed == "a=n1 b=n2 ");
    CHECK(decide(all + pair("") + slice("n1", same) +
                 slice("n2", numa("d0", 0) + ", " + numa("d1", 1)))
              .placed == "a=n1 ");
    CHECK(decide(all +
                 pair(", selectors: [{cel: {expression: \"device.attributes['x.com'].index < "
                      "2\"}}]") +
                 slice("n1", same) + slice("n2", numa("d0", 0) + ", " + numa("d2", 0)))
              .placed == "a=n1 ");
    const std::string held =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: " +
        requests(exactly("r")) +
        "\nstatus: {allocation: {devices: {results: [{request: r, driver: x.com, pool: n1, device: "
        "d0}]}}}\n";
    CHECK(decide(all + pair("") + slice("n1", same) + slice("n2", same) + held).placed == "a=n2 ");
}

TEST_CASE("nodes count apart if their devices have other capacities that are requested") {
    const auto memory = [](const std::string& on, const std::string& amount) {
        return slice(on, "{name: d0, capacity: {memory: {value: " + amount + "}}}");
    };
    const std::string large =
        made_from("large", requests(exactly("r", ", capacity: {requests: {memory: 60Gi}}")));
    CHECK(decide(nodes + gpus + large + memory("n1", "40Gi") + memory("n2", "80Gi") +
                 pod("a", "large"))
              .placed == "a=n2 ");
    CHECK(decide(nodes + gpus + large + memory("n1", "80Gi") + memory("n2", "40Gi") +
                 pod("a", "large"))
              .placed == "a=n1 ");
}

TEST_CASE("a claim with a field or a device class that is not known makes its pod wait") {
    const std::string all = nodes + gpus + slice("n1", devices(2)) + pod("a", "t");
    CHECK(decide(all + made_from("t", requests(exactly("r", ", colour: red")))).waits ==
          "a: resource template t has a field that is not known: "
          "spec.spec.devices.requests[0].exactly.colour; ");
    CHECK(decide(all + made_from("t", requests(exactly("r", ", allocationMode: Some")))).waits ==
          "a: resource template t has a field that is not known: "
          "spec.spec.devices.requests[0].exactly.allocationMode \"Some\" (expected ExactCount or "
          "All); ");
    CHECK(decide(all + made_from("t", "{devices: {requests: [{name: r, exactly: {deviceClassName: "
                                      "none}}]}}"))
              .waits == "a: resource template t names device class none, which does not exist "
                        "(expected a DeviceClass of that name); ");
    const std::string fails = "device.attributes['x.com'].none == 1";
    CHECK(decide(nodes + device_class("gpu", fails) + slice("n1", devices(1)) + pod("a", "one") +
                 whole)
              .waits == "a: resource template one names device class gpu, whose selector cannot be "
                        "decided for device d0 of pool n1 (no such key: none): " +
                            fails + "; ");
    CHECK(decide(all + made_from("t", requests(exactly("r", ", selectors: [{cel: {expression: \"" +
                                                                fails + "\"}}]"))))
              .waits == "a: resource template t selects devices by a selector that cannot be "
                        "decided for device d0 of pool n1 (no such key: none): " +
                            fails + "; ");
    CHECK(decide(all + made_from("t", requests(exactly("r", ", count: 33")))).waits ==
          "a: resource template t asks for 33 devices (expected at most 32); ");
}

TEST_CASE("a count of 0 is 1, as the API server writes it, and valid for all devices") {
    const std::string all = nodes + gpus + slice("n1", devices(1)) + pod("a", "t") + pod("b", "t");
    const auto claims = [&](const std::string& list) {
        return decide(all + made_from("t", requests(list))).placed;
    };
    CHECK(claims(exactly("r", ", count: 0")) == "a=n1 ");
    CHECK(claims(exactly("r", ", allocationMode: ExactCount, count: 0")) == "a=n1 ");
    CHECK(claims(exactly("r", ", allocationMode: All, count: 0")) == "a=n1 ");
    CHECK(claims("{name: r, firstAvailable: [{name: s, deviceClassName: gpu, count: 0}]}") ==
          "a=n1 ");
    diagnostics out;
    const auto documents =
        read_documents("f", made_from("t", requests(exactly("r", ", count: -1"))), out);
    static_cast<void>(read_manifests(documents, {}, out));
    REQUIRE(out.errors() == 1);
    CHECK(out.findings().front().message ==
          "found -1, expected a whole number from 0 to 9223372036854775807");
}

TEST_CASE("a pod that is not in the input waits if a claim of its must be allocated") {
    diagnostics out;
    const manifests objects = read(nodes + gpus + whole + slice("n1", devices(2)), out);
    const manifests later = read(pod("a", "one"), out);
    const volume_effects made = plan_volumes_of(objects, later.pods.front());
    CHECK(made.amounts.empty());
    REQUIRE(made.waits.size() == 1);
    CHECK(made.waits.front() == "the resource claim for g is still to be made from template one, "
                                "and allocation is not simulated");
}

namespace {

/// A gang whose pods ask for one or two devices, on two nodes with devices of three models at two
/// roots.
struct world {
    std::string text;
    struct card {
        int model = 0;
        int root = 0;
    };
    std::array<std::vector<card>, 2> cards;
    struct asked {
        /// The models that the request accepts, by bit.
        unsigned models = 7;
        std::int64_t count = 1;
        /// All devices must be at one root.
        bool together = false;
    };
    std::vector<asked> pods;
};

/// The sets of models that pods select are nested, unless `crossing`.
world draw_world(muster::testing::random& draw, bool crossing) {
    world made;
    made.text = nodes + gpus;
    for (std::size_t at = 0; at < 2; ++at) {
        const std::string on = "n" + std::to_string(at + 1);
        std::string list;
        const auto count = draw.between(1, 4);
        for (std::int64_t device = 0; device < count; ++device) {
            const world::card card{static_cast<int>(draw.between(0, 2)),
                                   crossing ? static_cast<int>(draw.between(0, 1)) : 0};
            made.cards[at].push_back(card);
            list += (device > 0 ? ", " : "") + ("{name: d" + std::to_string(device)) +
                    ", attributes: {model: {int: " + std::to_string(card.model) +
                    "}, root: {int: " + std::to_string(card.root) + "}}}";
        }
        made.text += slice(on, list);
    }
    const auto pods = draw.between(2, 5);
    for (std::int64_t at = 0; at < pods; ++at) {
        world::asked each;
        each.models =
            crossing ? static_cast<unsigned>(draw.between(1, 7)) : (1U << draw.between(1, 3)) - 1U;
        each.count = draw.between(1, 2);
        each.together = crossing && draw.percent(40);
        made.pods.push_back(each);
        std::string test = "false";
        for (unsigned model = 0; model < 3; ++model)
            if ((each.models >> model & 1U) != 0)
                test += " || device.attributes['x.com'].model == " + std::to_string(model);
        const std::string name = "t" + std::to_string(at);
        made.text += made_from(
            name, requests(exactly("r", ", count: " + std::to_string(each.count) +
                                            ", selectors: [{cel: {expression: \"" + test + "\"}}]"),
                           each.together ? ", constraints: [{matchAttribute: x.com/root}]" : ""));
        made.text += pod("p" + std::to_string(at), name, "g", static_cast<int>(pods));
    }
    return made;
}

/// True if the devices of a node satisfy the pods that are there, by trying every choice.
bool satisfies(const std::vector<world::card>& cards, std::vector<bool>& used,
               const std::vector<world::asked>& pods, std::size_t pod, std::int64_t device,
               int root) {
    if (pod == pods.size())
        return true;
    if (device == pods[pod].count)
        return satisfies(cards, used, pods, pod + 1, 0, -1);
    for (std::size_t at = 0; at < cards.size(); ++at) {
        if (used[at] || (pods[pod].models >> cards[at].model & 1U) == 0 ||
            (pods[pod].together && root >= 0 && cards[at].root != root))
            continue;
        used[at] = true;
        const bool found = satisfies(cards, used, pods, pod, device + 1, cards[at].root);
        used[at] = false;
        if (found)
            return true;
    }
    return false;
}

bool can_start(const world& in) {
    for (std::size_t nodes_of = 0; nodes_of < (std::size_t{1} << in.pods.size()); ++nodes_of) {
        std::array<std::vector<world::asked>, 2> on;
        for (std::size_t at = 0; at < in.pods.size(); ++at)
            on[(nodes_of >> at) & 1].push_back(in.pods[at]);
        bool all = true;
        for (std::size_t at = 0; at < 2; ++at) {
            std::vector<bool> used(in.cards[at].size(), false);
            all = all && satisfies(in.cards[at], used, on[at], 0, 0, -1);
        }
        if (all)
            return true;
    }
    return false;
}

} // namespace

TEST_CASE("a gang with claims starts if and only if some choice of nodes and devices lets it") {
    for (const bool crossing : {false, true}) {
        int started = 0;
        int waited = 0;
        for (std::uint64_t seed = 1; seed <= 300; ++seed) {
            CAPTURE(seed);
            muster::testing::random draw(seed);
            const world drawn = draw_world(draw, crossing);
            const auto made = decide(drawn.text);
            CHECK(made.waits.empty());
            CHECK_FALSE(made.never);
            CHECK(made.placed.empty() != can_start(drawn));
            ++(made.placed.empty() ? waited : started);
        }
        CHECK(started > 50);
        CHECK(waited > 50);
    }
}

} // namespace codec_device_counter_test
