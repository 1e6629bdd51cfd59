// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <muster/input/cluster_volumes.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/kube/share_binder.hpp>

namespace kube_share_binder_test {

namespace {

using namespace muster::codec;
using muster::kube::share_binder;

struct known_pod {
    pod_object object;
};
using known_pods = std::map<object_key, known_pod>;

std::string node(int gpus) {
    std::string list;
    for (int at = 0; at < gpus; ++at)
        list += "GPU-" + std::to_string(at) + ",10,10000,NVIDIA-A100,true,hami-core:";
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, annotations: "
           "{volcano.sh/node-vgpu-register: '" +
           list +
           "'}}\nstatus: {allocatable: {cpu: 9, pods: 99, volcano.sh/vgpu-number: 99, "
           "volcano.sh/vgpu-memory: 99999, volcano.sh/vgpu-cores: 999}}\n";
}
std::string pod(const std::string& name, int memory, const std::string& on = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           (on.empty() ? "" : ", annotations: {volcano.sh/vgpu-ids-new: '" + on + "'}") +
           "}\nspec: {" + (on.empty() ? "" : "nodeName: n1, ") +
           "containers: [{name: c, resources: {limits: {volcano.sh/vgpu-number: 1, "
           "volcano.sh/vgpu-memory: " +
           std::to_string(memory) + "}}}]}\n";
}

struct scene {
    explicit scene(const std::string& text) : documents(read_documents("f", text, out)) {
        objects = read_manifests(documents, {}, out);
        plan = plan_volumes(objects, out);
        for (const pod_object& each : objects.pods)
            pods.emplace(each.metadata.key, known_pod{each});
    }
    void want(share_binder& binder, const std::string& name) const {
        binder.want({"default", name}, "u-" + name, "n1", plan);
    }
    diagnostics out;
    std::vector<document> documents;
    manifests objects;
    volume_plan plan;
    known_pods pods;
};

const koordinator_device_object* no_gpus(const std::string&) {
    return nullptr;
}

/// The devices in the annotations of the Binding; empty if there are none.
std::string given(const share_binder& binder, const std::string& name) {
    const share_marks marks = binder.marks({"default", name}, 1700000000, no_gpus);
    const auto list = marks.annotations.find("volcano.sh/devices-to-allocate");
    return list == marks.annotations.end() ? "" : list->second;
}

} // namespace

TEST_CASE("pods of one node get shares that fit together with those of standing pods") {
    const scene of(node(2) + pod("s", 4000, "GPU-0,NVIDIA,4000,0:") + pod("a", 6000) +
                   pod("b", 7000) + pod("c", 3000));
    share_binder binder;
    for (const char* name : {"a", "b", "c"})
        of.want(binder, name);
    binder.choose(of.plan, of.pods);
    for (const char* name : {"a", "b", "c"})
        CHECK(binder.lacking({"default", name}).empty());
    CHECK(given(binder, "a") == "GPU-0,NVIDIA,6000,0:");
    CHECK(given(binder, "b") == "GPU-1,NVIDIA,7000,0:");
    CHECK(given(binder, "c") == "GPU-1,NVIDIA,3000,0:");
    CHECK(binder.marks({"default", "a"}, 1700000000, no_gpus)
              .annotations.at("volcano.sh/vgpu-node") == "n1");
}

TEST_CASE("the Binding hands RDMA devices over with their own virtual functions") {
    const auto wants = [](const std::string& name) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
               ", annotations: {scheduling.koordinator.sh/device-joint-allocate: "
               "'{\"deviceTypes\":[\"gpu\",\"rdma\"]}', "
               "scheduling.koordinator.sh/device-allocate-hint: "
               "'{\"rdma\":{\"vfSelector\":{}}}'}}\nspec: {containers: [{name: c, resources: "
               "{limits: {koordinator.sh/gpu: 100, koordinator.sh/rdma: 20}}}]}\n";
    };
    std::string devices;
    for (const char* const minor : {"0", "1"})
        devices += "{type: gpu, minor: " + std::string(minor) +
                   ", health: true, resources: {koordinator.sh/gpu-core: 100, "
                   "koordinator.sh/gpu-memory: 1Gi, koordinator.sh/gpu-memory-ratio: 100}, "
                   "topology: {nodeID: 0, pcieID: p}}, ";
    const scene of(
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: "
        "{cpu: 9, pods: 99}}\n---\napiVersion: scheduling.koordinator.sh/v1alpha1\nkind: "
        "Device\nmetadata: {name: n1}\nspec: {devices: [" +
        devices +
        "{type: rdma, minor: 2, id: nic, health: true, resources: {koordinator.sh/rdma: "
        "100}, topology: {nodeID: 0, pcieID: p}, vfGroups: [{vfs: [{minor: 0, busID: "
        "'1.0'}, {minor: 1, busID: '1.1'}]}]}]}\n" +
        wants("a") + wants("b") + wants("c"));
    const auto gpus_of = [&](const std::string&) { return &of.objects.koordinator_devices[0]; };
    const auto written = [&](const share_binder& binder, const std::string& name) {
        const share_marks marks = binder.marks({"default", name}, 1700000000, gpus_of);
        const auto list = marks.annotations.find("scheduling.koordinator.sh/device-allocated");
        return list == marks.annotations.end() ? std::string() : list->second;
    };
    const auto expected = [](const char* gpu, const char* minor, const char* bus) {
        return R"({"gpu":[{"minor":)" + std::string(gpu) +
               R"(,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"1Gi",)"
               R"("koordinator.sh/gpu-memory-ratio":"100"}}],"rdma":[{"minor":2,"resources":)"
               R"({"koordinator.sh/rdma":"20"},"id":"nic","extension":{"vfs":[{"minor":)" +
               minor + R"(,"busID":")" + bus + R"("}]}}]})";
    };
    share_binder binder;
    of.want(binder, "a");
    binder.choose(of.plan, of.pods);
    CHECK(written(binder, "a") == expected("0", "0", "1.0"));
    // The earlier choice holds its virtual function.
    of.want(binder, "b");
    binder.choose(of.plan, of.pods);
    CHECK(written(binder, "b") == expected("1", "1", "1.1"));
    of.want(binder, "c");
    binder.choose(of.plan, of.pods);
    CHECK_FALSE(binder.lacking({"default", "c"}).empty());
}

namespace {

std::string nic(int minor, const std::vector<std::string>& buses,
                const std::string& more = ", health: true") {
    std::string functions;
    for (const std::string& each : buses)
        functions += "{minor: 0, busID: '" + each + "'}, ";
    return "{type: rdma, minor: " + std::to_string(minor) + more +
           ", resources: {koordinator.sh/rdma: 100}, topology: {nodeID: 0, pcieID: p}, vfGroups: "
           "[{vfs: [" +
           functions + "]}]}, ";
}
const std::string gpu = "{type: gpu, minor: 0, health: true, resources: {koordinator.sh/gpu-core: "
                        "100, koordinator.sh/gpu-memory: 1Gi}, topology: {nodeID: 0, pcieID: p}}, ";
std::string nics_of(const std::string& node, const std::string& devices) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + node +
           "}\nstatus: {allocatable: {cpu: 9, pods: 99}}\n---\napiVersion: "
           "scheduling.koordinator.sh/v1alpha1\nkind: Device\nmetadata: {name: " +
           node + "}\nspec: {devices: [" + devices + "]}\n";
}
/// A pod that requests a virtual function, or holds it on n1.
std::string with_function(const std::string& name, const std::string& holds = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           ", annotations: {" +
           (holds.empty() ? R"(scheduling.koordinator.sh/device-allocate-hint: )"
                            R"('{"rdma":{"vfSelector":{}}}')"
                          : R"(scheduling.koordinator.sh/device-allocated: '{"rdma":[{"minor":2,)"
                            R"("resources":{"koordinator.sh/rdma":"20"},"extension":{"vfs":)"
                            R"([{"busID":")" +
                                holds + R"("}]}}]}')") +
           "}}\nspec: {" + (holds.empty() ? "" : "nodeName: n1, ") +
           "containers: [{name: c, resources: {limits: {koordinator.sh/rdma: 20}}}]}\n";
}
/// The bus id of the virtual function that the Binding names; else why there is no Binding.
std::string function_of(const share_binder& binder, const std::string& name, const scene& now,
                        std::size_t node = 0) {
    const share_marks marks = binder.marks({"default", name}, 1700000000, [&](const std::string&) {
        return &now.objects.koordinator_devices[node];
    });
    if (std::string why = binder.lacking({"default", name}, marks); !why.empty())
        return why;
    const std::string& list = marks.annotations.at("scheduling.koordinator.sh/device-allocated");
    const std::size_t bus = list.find("busID");
    return bus == std::string::npos ? list : list.substr(bus + 8, 3);
}

} // namespace

TEST_CASE("the Binding names the chosen devices and functions though their positions changed, "
          "and there is none if they left or changed") {
    const std::string held = with_function("s", "1.1");
    const scene of(nics_of("n1", nic(2, {"1.1", "1.2"})) + held + with_function("a"));
    share_binder binder;
    of.want(binder, "a");
    binder.choose(of.plan, of.pods);
    const auto now = [&](const std::string& devices) {
        return function_of(binder, "a", scene(nics_of("n1", devices) + held));
    };
    CHECK(now(nic(2, {"1.1", "1.2"})) == "1.2");
    CHECK(now(nic(2, {"1.0", "1.1", "1.2"})) == "1.2");
    CHECK(now(nic(2, {"1.2"})) == "1.2");
    CHECK(now(gpu + nic(2, {"1.1", "1.2"})) == "1.2");
    const std::string changed = "the GPUs of node n1 changed";
    CHECK(now(nic(2, {"1.1"})) == changed);
    CHECK(now(nic(2, {})) == changed);
    CHECK(now(nic(3, {"1.1", "1.2"})) == changed);
    CHECK(now(gpu) == changed);
    CHECK(now("") == changed);
    CHECK(now(nic(2, {"1.1", "1.2"}, ", health: false")) == changed);
    CHECK(now(nic(2, {"1.1", "1.2"}, ", health: true, labels: {a: b}")) == changed);
}

TEST_CASE("an earlier choice keeps its devices and functions though their positions changed") {
    const scene before(nics_of("n1", nic(2, {"1.1", "1.2"})) + with_function("a"));
    share_binder binder;
    before.want(binder, "a");
    binder.choose(before.plan, before.pods);
    const auto next = [&](const std::string& devices) {
        const scene now(nics_of("n1", devices) + with_function("a") + with_function("b"));
        share_binder later = binder;
        now.want(later, "b");
        later.choose(now.plan, now.pods);
        return function_of(later, "b", now);
    };
    CHECK(next(nic(2, {"1.1", "1.2"})) == "1.2");
    CHECK(next(nic(2, {"1.0", "1.1"})) == "1.0");
    CHECK(next(gpu + nic(2, {"1.1", "1.2"})) == "1.2");
    CHECK(next(nic(2, {"1.1"})) ==
          "node n1 can no longer serve the shares of GPUs: its free GPUs do not suffice for all "
          "pods");
    CHECK(next(nic(2, {"1.2"})) == "1.2");
    CHECK(next(gpu + nic(3, {"1.1"})) == "1.1");
}

TEST_CASE("a pod gets the virtual functions of its own node, though another has equal ones") {
    const scene of(nics_of("n1", nic(2, {"1.1"})) + nics_of("n2", nic(2, {"2.1"})) +
                   with_function("a"));
    REQUIRE(of.plan.stock_of("n1") == of.plan.stock_of("n2"));
    share_binder binder;
    binder.want({"default", "a"}, "u-a", "n2", of.plan);
    binder.choose(of.plan, of.pods);
    CHECK(function_of(binder, "a", of, 1) == "2.1");
}

TEST_CASE("the Binding names the instance of a GPU in mode mig, and later pods get other ones") {
    std::string mig = node(1);
    mig.replace(mig.find("10000,NVIDIA-A100,true,hami-core"), 32,
                "40960,NVIDIA-A100-SXM4-40GB,true,mig");
    const scene of(mig + pod("s", 9000, "GPU-0[group2-1],NVIDIA,9000,0:") + pod("a", 9000) +
                   pod("b", 100) + pod("c", 100));
    share_binder binder;
    for (const char* name : {"a", "b"}) {
        of.want(binder, name);
        binder.choose(of.plan, of.pods);
        CHECK(binder.lacking({"default", name}).empty());
    }
    CHECK(given(binder, "a") == "GPU-0[group2-0],NVIDIA,9000,0:");
    CHECK(given(binder, "b") == "GPU-0[group2-2],NVIDIA,100,0:");
    of.want(binder, "c");
    binder.choose(of.plan, of.pods);
    CHECK_FALSE(binder.lacking({"default", "c"}).empty());
}

TEST_CASE("chosen shares count as used until their pod is no longer being started") {
    const scene of(node(1) + pod("a", 6000) + pod("b", 6000));
    share_binder binder;
    of.want(binder, "a");
    binder.choose(of.plan, of.pods);
    of.want(binder, "b");
    binder.choose(of.plan, of.pods);
    CHECK(binder.lacking({"default", "a"}).empty());
    CHECK(binder.lacking({"default", "b"}) == "node n1 can no longer serve the shares of GPUs: its "
                                              "free GPUs do not suffice for all pods");
    CHECK(given(binder, "b").empty());
    binder.review(of.pods, [](const object_key&) { return false; });
    of.want(binder, "b");
    binder.choose(of.plan, of.pods);
    CHECK(given(binder, "b") == "GPU-0,NVIDIA,6000,0:");
    CHECK(given(binder, "a").empty());
}

TEST_CASE("a choice is dropped when its pod has a node, is recreated or is gone") {
    scene of(node(1) + pod("a", 6000));
    share_binder binder;
    of.want(binder, "a");
    binder.choose(of.plan, of.pods);
    const auto starts = [](const object_key&) { return true; };
    binder.review(of.pods, starts);
    CHECK_FALSE(given(binder, "a").empty());
    SUBCASE("it has a node") {
        of.pods.at({"default", "a"}).object.node = "n1";
    }
    SUBCASE("it was recreated") {
        of.pods.at({"default", "a"}).object.metadata.uid = "other";
    }
    SUBCASE("it is gone") {
        of.pods.clear();
    }
    binder.review(of.pods, starts);
    CHECK(given(binder, "a").empty());
}

TEST_CASE("a pod gets the GPUs of its own node, though another has equal ones") {
    std::string other = node(2);
    for (std::size_t at = 0; (at = other.find("GPU-", at)) != std::string::npos;)
        other.replace(at, 4, "XPU-");
    other.replace(other.find("n1"), 2, "n2");
    const scene of(node(2) + other + pod("a", 6000));
    REQUIRE(of.plan.stock_of("n1") == of.plan.stock_of("n2"));
    share_binder binder;
    binder.want({"default", "a"}, "u-a", "n2", of.plan);
    binder.choose(of.plan, of.pods);
    CHECK(given(binder, "a") == "XPU-1,NVIDIA,6000,0:");
}

TEST_CASE("the Binding of a pod that requests no shares has no annotations") {
    const scene of(node(1) + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: u-p}\nspec: "
                             "{containers: [{name: c}]}\n");
    share_binder binder;
    of.want(binder, "p");
    binder.choose(of.plan, of.pods);
    CHECK(binder.lacking({"default", "p"}).empty());
    CHECK(binder.marks({"default", "p"}, 1, no_gpus).annotations.empty());
}

} // namespace kube_share_binder_test
