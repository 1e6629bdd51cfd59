// SPDX-License-Identifier: Apache-2.0
// Which pods of a live cluster wait for devices. Muster does not allocate devices yet.
#include <muster/kube/live_devices.hpp>

#include <set>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <muster/cycle/cycle.hpp>

#include "fed_objects.hpp"

namespace live_devices_test {

namespace {

struct live : fed_objects {
    /// The reason why pod `a` waits, or the node that a cycle gives it.
    std::string outcome(bool is_broken = false) {
        objects.tell(view, std::exchange(first, {}));
        CHECK(objects.broken().empty() != is_broken);
        std::string made;
        if (const auto* const effects = objects.storage().plan().find({"team", "a"}))
            for (const std::string& each : effects->waits)
                made += each + "; ";
        auto copy = known;
        static_cast<void>(muster::cycle(copy, 0));
        const auto pod = copy.pod_keys().find({"team", "a"});
        REQUIRE(pod != copy.pod_keys().end());
        if (copy[pod->second].node)
            made += "on " + copy.key(*copy[pod->second].node);
        return made;
    }
};

std::string node(const std::string& name, const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           ", labels: {host: " + name + "}}\nstatus: {allocatable: {cpu: 8, pods: 110" + more +
           "}}\n";
}
const std::string nodes = node("n1") + node("n2");
std::string pod(const std::string& spec) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {schedulerName: gangs, " +
           spec + "}\n";
}
const std::string user =
    pod("containers: [{name: c, image: i}], resourceClaims: [{name: g, resourceClaimName: gpus}]");
std::string claim(const std::string& status) {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: gpus}\n"
           "spec: {}\nstatus: {" +
           status + "}\n";
}
const std::string allocated =
    "allocation: {nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, "
    "operator: In, values: [n2]}]}]}, devices: {results: [{request: r, driver: x.com, pool: p, "
    "device: d0}]}}";
const std::string asks =
    pod("containers: [{name: c, image: i, resources: {requests: {x.com/gpu: 1}, limits: "
        "{x.com/gpu: 1}}}]");
const std::string gpu_class =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
    "{extendedResourceName: x.com/gpu, selectors: [{cel: {expression: \"device.driver == "
    "'x.com'\"}}]}\n";
const std::string slice =
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: "
    "{driver: x.com, nodeName: n2, pool: {name: n2, generation: 1, resourceSliceCount: 1}, "
    "devices: [{name: d0}]}\n";

} // namespace

TEST_CASE("live, a pod starts on GPUs that HAMi's agent lists, or where a node has others") {
    const std::string gpus = ", nvidia.com/gpu: 8";
    const auto hami = [&](const std::string& listed) {
        return "---\napiVersion: v1\nkind: Node\nmetadata: {name: h, annotations: "
               "{hami.io/node-nvidia-register: '[" +
               listed + "]'}}\nstatus: {allocatable: {cpu: 8, pods: 110" + gpus + "}}\n";
    };
    const std::string asks_gpus =
        pod("containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: 1}, limits: "
            "{nvidia.com/gpu: 1}}}]");
    live of;
    of.take(asks_gpus + hami(""));
    CHECK(of.outcome().empty());
    of.take(node("n1", gpus));
    CHECK(of.outcome() == "on n1");
    live other;
    other.take(hami("") + asks_gpus);
    CHECK(other.outcome().empty());
    other.take(hami("{\"id\":\"g\",\"count\":8,\"devmem\":100,\"devcore\":100,\"health\":true}"));
    CHECK(other.outcome() == "on h");
}

TEST_CASE("live, a DeviceTaintRule keeps pods off as long as one API version has it") {
    const auto rule = [](const std::string& version, const std::string& spec) {
        return "---\napiVersion: resource.k8s.io/" + version +
               "\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: {deviceSelector: {" + spec +
               "}, taint: {key: bad, effect: NoSchedule}}\n";
    };
    live of;
    of.take(nodes + gpu_class + slice + asks);
    CHECK(of.outcome() == "on n2");
    of.take(rule("v1", "driver: x.com"));
    CHECK(of.outcome().empty());
    of.take(rule("v1", "driver: y.com"));
    CHECK(of.outcome() == "on n2");
    of.take(rule("v1", "device: d0") + rule("v1beta2", "device: d0"));
    CHECK(of.outcome().empty());
    of.lose(rule("v1", "device: d0"));
    CHECK(of.outcome().empty());
    // A slice that comes after the rule is tainted, too.
    of.lose(slice);
    of.take(slice);
    CHECK(of.outcome().empty());
    of.lose(rule("v1beta2", "device: d0"));
    CHECK(of.outcome() == "on n2");
}

TEST_CASE("live, a DeviceTaintRule that is not modelled or broken is reported and keeps pods off") {
    const std::string head =
        "---\napiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: ";
    for (const auto& [spec, why] :
         {std::pair{"{deviceSelector: {deviceClassName: other}, taint: {key: k, effect: "
                    "NoSchedule}}",
                    "spec.deviceSelector.deviceClassName is not supported"},
          std::pair{"{deviceSelector: {driver: 5}, taint: {key: k, effect: NoSchedule}}",
                    "spec.deviceSelector.driver"}}) {
        live of;
        of.take(nodes + gpu_class + slice + asks + head + spec + "\n");
        CHECK(of.outcome(true).empty());
        const auto found = of.objects.broken().find("DeviceTaintRule /r");
        REQUIRE(found != of.objects.broken().end());
        CHECK(found->second.front().find(why) != std::string::npos);
        of.lose(head + spec + "\n");
        CHECK(of.outcome() == "on n2");
    }
}

TEST_CASE(
    "live, what cannot be read of a register is a warning with the node's name, until mended") {
    const auto hami = [](const std::string& value) {
        return "---\napiVersion: v1\nkind: Node\nmetadata: {name: h, annotations: "
               "{hami.io/node-nvidia-register: '" +
               value + "'}}\nstatus: {allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 8}}\n";
    };
    const std::string asks_gpus =
        pod("containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: 1}, limits: "
            "{nvidia.com/gpu: 1}}}]");
    live of;
    of.take(asks_gpus + hami("[{"));
    CHECK(of.outcome().empty());
    const auto& devices = of.objects.storage().devices();
    REQUIRE(devices.warnings().size() == 1);
    const std::string& warning = *devices.warnings().begin();
    CHECK(warning.starts_with("node h: hami.io/node-nvidia-register: not JSON"));
    CHECK(of.objects.storage().plan().unread_registers.at("h") == warning);
    of.take(hami("[{\"id\":\"g\",\"count\":8,\"devmem\":100,\"devcore\":100,\"health\":true}]"));
    CHECK(of.outcome() == "on h");
    CHECK(devices.warnings().empty());
    CHECK(of.objects.storage().plan().unread_registers.empty());
}

TEST_CASE(
    "live, a pod that lists too few of its GPUs is a warning with its node, until it lists all") {
    const std::string gpu_node =
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: h, annotations: "
        "{hami.io/node-nvidia-register: '[{\"id\":\"g\",\"count\":8,\"devmem\":100,\"devcore\":100,"
        "\"health\":true}]'}}\nstatus: {allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 8}}\n";
    const auto standing = [](const std::string& list) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: s, namespace: default, uid: u-s, "
               "annotations: {hami.io/vgpu-devices-allocated: '" +
               list +
               "'}}\nspec: {nodeName: h, containers: [{name: c, image: i, resources: {requests: "
               "{nvidia.com/gpu: 1, nvidia.com/gpumem: 10}, limits: {nvidia.com/gpu: 1, "
               "nvidia.com/gpumem: 10}}}]}\nstatus: {phase: Running}\n";
    };
    live of;
    of.take(gpu_node + standing(";") +
            pod("containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: 1, "
                "nvidia.com/gpumem: 10}, limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 10}}}]"));
    CHECK(of.outcome().empty());
    const auto& warnings = of.objects.storage().devices().warnings();
    REQUIRE(warnings.size() == 1);
    CHECK(*warnings.begin() ==
          "pod default/s: hami.io/vgpu-devices-allocated: the pod requests 1 and lists 0 of the "
          "GPUs of node h; which ones it uses is unknown, so the node gives none");
    of.take(standing("g,NVIDIA,10,0:;"));
    CHECK(of.outcome() == "on h");
    CHECK(warnings.empty());
}

TEST_CASE("live, what is wrong with a Device of Koordinator is a warning with the node's name") {
    const auto device = [](const std::string& gpus) {
        return "---\napiVersion: scheduling.koordinator.sh/v1alpha1\nkind: Device\nmetadata: "
               "{name: n1}\nspec: {devices: [" +
               gpus + "]}\n";
    };
    const std::string gpu = "{type: gpu, minor: 0, health: true, resources: "
                            "{koordinator.sh/gpu-core: 100, koordinator.sh/gpu-memory: 8Gi, "
                            "koordinator.sh/gpu-memory-ratio: 100}}";
    live of;
    of.take(node("n1", ", koordinator.sh/gpu-core: 100, koordinator.sh/gpu-memory-ratio: 100") +
            device(gpu + ", " + gpu + ", {type: gpu, minor: 1, health: true, resources: {}}") +
            pod("containers: [{name: c, image: i, resources: {requests: {koordinator.sh/gpu-core: "
                "50, koordinator.sh/gpu-memory-ratio: 50}, limits: {koordinator.sh/gpu-core: 50, "
                "koordinator.sh/gpu-memory-ratio: 50}}}]"));
    CHECK(of.outcome().empty());
    const auto& warnings = of.objects.storage().devices().warnings();
    CHECK(warnings ==
          std::set<std::string>{
              "Device n1: device 0 is listed twice, and gets no pods (expected each "
              "minor once)",
              "Device n1: device 1: the device gets no pods (expected "
              "koordinator.sh/gpu-memory, and 100 of koordinator.sh/gpu-memory-ratio)"});
    of.take(device(gpu));
    CHECK(of.outcome() == "on n1");
    CHECK(warnings.empty());
}

TEST_CASE("live, the first pod that shares a GPU starts though its node was there before") {
    live of;
    of.take("---\napiVersion: v1\nkind: Node\nmetadata: {name: h, annotations: "
            "{volcano.sh/node-vgpu-register: 'g,8,100,NVIDIA-A100,true,hami-core:'}}\nstatus: "
            "{allocatable: {cpu: 8, pods: 110, volcano.sh/vgpu-number: 8, volcano.sh/vgpu-memory: "
            "100, volcano.sh/vgpu-cores: 100}}\n");
    of.objects.tell(of.view, std::exchange(of.first, {}));
    of.take(pod("containers: [{name: c, image: i, resources: {limits: {volcano.sh/vgpu-number: 1, "
                "volcano.sh/vgpu-memory: 50}, requests: {volcano.sh/vgpu-number: 1, "
                "volcano.sh/vgpu-memory: 50}}}]"));
    CHECK(of.outcome() == "on h");
}

TEST_CASE("live, new bus ids of Koordinator's virtual functions are known") {
    const auto device = [](const std::string& bus) {
        return "---\napiVersion: scheduling.koordinator.sh/v1alpha1\nkind: Device\nmetadata: "
               "{name: "
               "n1}\nspec: {devices: [{type: rdma, minor: 0, health: true, resources: "
               "{koordinator.sh/rdma: 100}, vfGroups: [{vfs: [{busID: '" +
               bus + "'}]}]}]}\n";
    };
    const std::string wants =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: "
        "{scheduling.koordinator.sh/device-allocate-hint: '{\"rdma\":{\"vfSelector\":{}}}'}}\n"
        "spec: {schedulerName: gangs, containers: [{name: c, image: i, resources: {limits: "
        "{koordinator.sh/rdma: 1}, requests: {koordinator.sh/rdma: 1}}}]}\n";
    live of;
    of.take(node("n1") + device("1.0") + wants);
    CHECK(of.outcome() == "on n1");
    using buses = std::vector<std::vector<std::string>>;
    CHECK(of.objects.storage().plan().function_ids.at("n1") == buses{{"1.0"}});
    of.take(device("1.1"));
    CHECK(of.outcome() == "on n1");
    CHECK(of.objects.storage().plan().function_ids.at("n1") == buses{{"1.1"}});
}

TEST_CASE("live, an annotation that asks for a share counts though its pod was known before") {
    muster::kube::live_options how = fed_objects::options();
    how.reservations = muster::kube::reservation_options{"reserved", "agent", "", "", "gangs"};
    fed_objects of(std::move(how));
    const std::string annotated =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {gpu-fraction: "
        "'0.5'}}\nspec: {schedulerName: gangs, containers: [{name: c, resources: {limits: "
        "{nvidia.com/gpu: 1}}}]}\n";
    std::string plain = annotated;
    plain.erase(plain.find(", annotations"), 36);
    of.take(node("n1", ", nvidia.com/gpu: 1") + plain);
    of.objects.tell(of.view, std::exchange(of.first, {}));
    CHECK_FALSE(of.objects.storage().plan().find({"team", "a"}));
    of.take(annotated);
    of.objects.tell(of.view, {});
    const auto* const effects = of.objects.storage().plan().find({"team", "a"});
    REQUIRE(effects);
    CHECK(effects->has_shares);
}

TEST_CASE("live, a NodeResourceTopology without news changes nothing") {
    const auto report = [](const std::string& policy, int available, int second) {
        return "---\napiVersion: topology.node.k8s.io/v1alpha2\nkind: NodeResourceTopology\n"
               "metadata: {name: n1, labels: {second: '" +
               std::to_string(second) +
               "'}, managedFields: [{time: '2026-01-01T00:00:" + std::to_string(second) +
               "Z', fieldsV1: {'f:zones': {}}}]}\nattributes: [{name: topologyManagerPolicy, "
               "value: " +
               policy +
               "}]\nzones: [{name: node-0, type: Node, resources: [{name: cpu, capacity: 4, "
               "allocatable: 4, available: " +
               std::to_string(available) + "}]}]\n";
    };
    live of;
    const auto changed = [&](const std::string& text) {
        const auto before = of.objects.storage().devices().changes();
        of.take(text);
        return of.objects.storage().devices().changes() != before;
    };
    CHECK_FALSE(changed(report("none", 4, 10)));
    CHECK_FALSE(changed(report("best-effort", 3, 11)));
    CHECK(changed(report("restricted", 3, 11)));
    CHECK_FALSE(changed(report("restricted", 3, 11)));
    CHECK(changed(report("restricted", 3, 12)));
    CHECK(changed(report("restricted", 2, 12)));
    CHECK(changed(report("none", 2, 12)));
    CHECK(of.objects.copies().node_topologies.size() == 1);
    of.take(report("restricted", 2, 12) + node("n1", ", memory: 9") +
            pod("containers: [{name: c, image: i, resources: {limits: {cpu: 3, memory: 1}, "
                "requests: {cpu: 3, memory: 1}}}]"));
    CHECK(of.outcome().empty());
    of.take(report("none", 2, 13));
    CHECK(of.outcome() == "on n1");
    of.take(report("restricted", 2, 14));
    CHECK(of.outcome().empty());
    of.lose(report("restricted", 2, 14));
    CHECK(of.outcome() == "on n1");
}

TEST_CASE(
    "live, a pod starts where a NUMA zone has room beside pods that started since the report") {
    const auto report = [](const std::string& available, const std::string& second) {
        return "---\napiVersion: topology.node.k8s.io/v1alpha2\nkind: NodeResourceTopology\n"
               "metadata: {name: n1, managedFields: [{time: '2026-01-01T00:00:" +
               second +
               "Z', fieldsV1: {'f:zones': {}}}]}\nattributes: [{name: topologyManagerPolicy, "
               "value: single-numa-node}]\n"
               "zones: [{name: node-0, type: Node, resources: [{name: cpu, capacity: 4, "
               "allocatable: 4, available: " +
               available + "}]}]\n";
    };
    const std::string containers =
        "containers: [{name: c, image: i, resources: {limits: {cpu: 3, memory: 1}, requests: "
        "{cpu: 3, memory: 1}}}]";
    const auto other = [&](const std::string& status) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {nodeName: n1, " +
               containers + "}\nstatus: {" + status + "}\n";
    };
    live of;
    of.take(node("n1", ", memory: 9") + pod(containers));
    CHECK(of.outcome() == "on n1");
    of.take(report("2", "10"));
    CHECK(of.outcome().empty());
    of.take(report("4", "20"));
    CHECK(of.outcome() == "on n1");
    of.take(other("phase: Pending"));
    CHECK(of.outcome().empty());
    of.take(other("phase: Running, startTime: '2026-01-01T00:00:21Z'"));
    CHECK(of.outcome().empty());
    // The report may be about other pods that have ended.
    of.take(report("4", "30"));
    CHECK(of.outcome() == "on n1");
    of.take(report("1", "40"));
    CHECK(of.outcome().empty());
    CHECK(of.objects.copies().node_topologies.size() == 1);
    of.take(report("x", "50"));
    CHECK(of.objects.broken().size() == 1);
    of.lose(report("1", "40"));
    CHECK(of.outcome() == "on n1");
    of.take(report("1", "60"));
    CHECK(of.outcome().empty());
    of.take(node("n2", ", memory: 9"));
    CHECK(of.outcome() == "on n2");
}

TEST_CASE("live, a pod starts where its claim is allocated, or can be") {
    live of;
    of.take(nodes + user);
    CHECK(of.outcome() ==
          "resource claim gpus does not exist (expected a ResourceClaim of that name); ");
    of.take(claim(""));
    CHECK(of.outcome() == "on n1"); // it asks for no device
    of.take(claim(allocated));
    CHECK(of.outcome() == "on n2"); // the claim is reserved before the pod is bound
    of.take(claim(allocated + ", reservedFor: [{resource: pods, name: a, uid: u-a}]"));
    CHECK(of.outcome() == "on n2");
    of.lose(claim(""));
    CHECK(of.outcome() ==
          "resource claim gpus does not exist (expected a ResourceClaim of that name); ");
}

TEST_CASE(
    "live, pods with claims count the devices of nodes, and those of running pods are in use") {
    const std::string asking =
        "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n";
    const auto named = [&](const std::string& name, const std::string& status) {
        return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " +
               name + "}\n" + asking + "status: {" + status + "}\n";
    };
    live of;
    of.take(nodes + gpu_class + user + named("gpus", ""));
    CHECK(of.outcome().empty()); // no node has such a device
    of.take(slice);
    CHECK(of.outcome() == "on n2");
    const std::string other =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {schedulerName: gangs, "
        "nodeName: n2, containers: [{name: c, image: i}], resourceClaims: [{name: g, "
        "resourceClaimName: held}]}\n";
    std::string held = allocated;
    held.replace(held.find("pool: p"), 7, "pool: n2");
    of.take(other + named("held", held + ", reservedFor: [{resource: pods, name: b, uid: u-b}]"));
    CHECK(of.outcome().empty());
    // The device stays in use until the allocation is gone.
    of.lose(other);
    CHECK(of.outcome().empty());
    of.take(named("held", ""));
    CHECK(of.outcome() == "on n2");
}

TEST_CASE("live, a pod waits for a claim that is still to be made from its template") {
    live of;
    of.take(nodes + pod("containers: [{name: c, image: i}], resourceClaims: [{name: g, "
                        "resourceClaimTemplateName: t}]"));
    CHECK(of.outcome() == "the resource claim for g is still to be made from template t; ");
}

TEST_CASE("live, a pod waits if a device of its claim cannot be used") {
    live of;
    std::string broken = allocated;
    broken.replace(broken.find("device: d0"), 10,
                   "device: d0, bindingConditions: [Up], bindingFailureConditions: [Down]");
    of.take(nodes + user + claim(broken));
    CHECK(of.outcome() == "on n2");
    of.take(claim(broken + ", devices: [{driver: x.com, pool: p, device: d0, conditions: [{type: "
                           "Down, status: 'True', message: lost}]}]"));
    CHECK(of.outcome() ==
          "resource claim gpus has a device that cannot be used: Down of device d0: lost; ");
}

TEST_CASE("live, devices of a class serve a resource on nodes that list none of it") {
    live of;
    of.take(nodes + asks);
    CHECK(of.outcome().empty());
    of.take(gpu_class + slice);
    CHECK(of.outcome() == "on n2");
    const auto* const effects = of.objects.storage().plan().find({"team", "a"});
    REQUIRE(effects);
    CHECK(effects->served == std::set<std::string>{"x.com/gpu"});
    of.take(node("n2", ", x.com/gpu: 0") + node("n1", ", x.com/gpu: 1"));
    of.lose(slice);
    CHECK(of.outcome() == "on n1");
    of.take(node("n1"));
    CHECK(of.outcome().empty());
    of.take(slice);
    CHECK(of.outcome() == "on n2");
    of.lose(gpu_class);
    CHECK(of.outcome().empty());
}

TEST_CASE("live, devices that are allocated for a pod's extended resources count once for it") {
    live of;
    const auto made_for = [](const std::string& pod) {
        return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: for-" +
               pod +
               ", annotations: {resource.kubernetes.io/extended-resource-claim: 'true'}, "
               "ownerReferences: [{apiVersion: v1, kind: Pod, name: " +
               pod + ", uid: u-" + pod +
               ", controller: true}]}\nspec: {}\nstatus: {allocation: {nodeSelector: "
               "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: "
               "[n2]}]}]}, devices: {results: [{request: r, driver: x.com, pool: n2, device: "
               "d0}]}}}\n";
    };
    of.take(nodes + gpu_class + slice + asks + made_for("a"));
    CHECK(of.outcome() == "on n2");
    of.lose(made_for("a"));
    // The device of a pod that runs is in use.
    std::string runs = asks;
    runs.replace(runs.find("name: a"), 7, "name: b");
    runs.replace(runs.find("schedulerName"), 0, "nodeName: n2, ");
    of.take(made_for("b") + runs);
    CHECK(of.outcome().empty());
    of.lose(runs);
    of.lose(made_for("b"));
    CHECK(of.outcome() == "on n2");
}

TEST_CASE("live, only the nodes that a pod selects decide how its resource is served") {
    live of;
    of.take(node("n1", ", x.com/gpu: 1") + node("n2") + gpu_class + slice);
    const auto on = [&](const std::string& host) {
        std::string made = asks;
        made.replace(made.find("schedulerName"), 0, "nodeSelector: {host: " + host + "}, ");
        of.take(made);
        return of.outcome();
    };
    CHECK(on("n1") == "on n1");
    CHECK(on("n2") == "on n2");
}

TEST_CASE("live, pods that share a claim stand on nodes that all reach its devices") {
    const std::string shared =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: gpus}\nspec: "
        "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n";
    const auto with = [&](const std::string& of_slice) {
        live known;
        known.take(nodes + node("n3") + gpu_class + shared);
        for (const std::string name : {"a", "b"})
            known.take("---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                       "}\nspec: {schedulerName: gangs, containers: [{name: c, image: i}], "
                       "nodeSelector: {host: n" +
                       (name == "a" ? "1" : "2") +
                       "}, resourceClaims: [{name: g, resourceClaimName: gpus}]}\n");
        static_cast<void>(known.outcome());
        known.take("---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: "
                   "s}\nspec: {driver: x.com, " +
                   of_slice +
                   ", pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: "
                   "d0}]}\n");
        return known.outcome();
    };
    const auto of_hosts = [](const std::string& hosts) {
        return "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: In, "
               "values: [" +
               hosts + "]}]}]}";
    };
    CHECK(with("allNodes: true") == "on n1");
    CHECK(with(of_hosts("n1, n2")) == "on n1");
    CHECK(with(of_hosts("n2, n3")).empty());
}

} // namespace live_devices_test
