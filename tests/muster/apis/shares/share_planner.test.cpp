// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/shares/share_planner.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/testing/random.hpp>

namespace codec_share_planner_test {

using namespace muster::codec;

namespace {

/// Returns "pod=node " of the pods with nodes, in the order of pods, without those of
/// reservation().
std::string placed(const std::string& text, std::string* waits = nullptr,
                   std::string* warnings = nullptr) {
    static std::vector<std::vector<document>> kept;
    diagnostics out;
    kept.push_back(read_documents("f", text, out));
    const manifests objects = read_manifests(kept.back(), {}, out);
    for (const diagnostic& each : out.findings())
        if (each.level == severity::error)
            FAIL_CHECK(to_text(each));
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    for (const diagnostic& each : out.findings())
        if (warnings && each.level == severity::warning)
            *warnings += to_text(each) + "\n";
    static_cast<void>(muster::cycle(cluster.state, cluster.now));
    std::string made;
    for (const auto& [key, pod] : cluster.state.pod_keys()) {
        if (cluster.state[pod].node && !key.name.starts_with("z-"))
            made += key.name + "=" + cluster.state.key(*cluster.state[pod].node) + " ";
        if (const auto* effects = cluster.volumes.find(key); effects && waits)
            for (const std::string& each : effects->unmodelled)
                *waits += key.name + ": " + each + "; ";
    }
    return made;
}

std::string node(const std::string& name, const std::string& allocatable,
                 const std::string& metadata = "") {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + metadata +
           "}\nstatus: {allocatable: {cpu: 99, pods: 110" + allocatable + "}}\n";
}

struct pod_text {
    std::string name;
    std::string limits{};
    std::string annotations{};
    std::string labels{};
    std::string node{};
    int gang = 0;
    /// Further objects.
    std::string more{};
};

/// The reservation pod of KAI that holds a GPU of node n1 for a group.
std::string reservation(const std::string& group, const std::string& gpu,
                        const std::string& phase = "Running") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: z-" + group +
           ", namespace: kai-resource-reservation, labels: {runai-gpu-group: " + group +
           "}, annotations: {run.ai/reserve_for_gpu_index: '" + gpu +
           "'}}\nspec: {nodeName: n1, containers: [{name: c}]}\nstatus: {phase: " + phase + "}\n";
}

std::string pod(const pod_text& of) {
    std::string labels = of.labels;
    if (of.gang > 0)
        labels += std::string(labels.empty() ? "" : ", ") +
                  "pod-group.scheduling.sigs.k8s.io/name: g, "
                  "pod-group.scheduling.sigs.k8s.io/min-available: \"" +
                  std::to_string(of.gang) + "\"";
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + of.name + ", uid: u-" + of.name +
           ", labels: {" + labels + "}, annotations: {" + of.annotations + "}}\nspec: {" +
           (of.node.empty() ? "" : "nodeName: " + of.node + ", ") +
           "containers: [{name: c, resources: {limits: {" + of.limits + "}}}]}\n" +
           (of.node.empty() ? "" : "status: {phase: Running}\n") + of.more;
}

/// A notation: a node with GPUs of 10,000 MiB, and a pod that requests a part of one.
struct notation {
    std::string system;
    std::function<std::string(const std::string& name, int gpus)> node;
    /// In tenths of a GPU.
    std::function<pod_text(const std::string& name, int tenths)> pod;
    /// Adds to a pod what makes it a standing pod that holds a part of this GPU.
    std::function<pod_text(pod_text, int tenths, int gpu)> standing;
};

std::string hami_register(int gpus) {
    std::string list;
    for (int at = 0; at < gpus; ++at)
        list += std::string(at > 0 ? "," : "") + "{\"id\":\"GPU-" + std::to_string(at) +
                "\",\"index\":" + std::to_string(at) +
                ",\"count\":10,\"devmem\":10000,\"devcore\":100,\"type\":\"NVIDIA-A100\","
                "\"numa\":0,\"mode\":\"hami-core\",\"health\":true}";
    return "[" + list + "]";
}
std::string volcano_register(int gpus) {
    std::string list;
    for (int at = 0; at < gpus; ++at)
        list += "GPU-" + std::to_string(at) + ",10,10000,NVIDIA-A100,true,hami-core:";
    return list;
}
std::string koordinator_device(const std::string& name, int gpus) {
    std::string list;
    for (int at = 0; at < gpus; ++at)
        list += std::string(at > 0 ? ", " : "") + "{type: gpu, id: GPU-" + std::to_string(at) +
                ", minor: " + std::to_string(at) +
                ", health: true, resources: {koordinator.sh/gpu-core: 100, "
                "koordinator.sh/gpu-memory: 10000Mi, koordinator.sh/gpu-memory-ratio: 100}}";
    return "---\napiVersion: scheduling.koordinator.sh/v1alpha1\nkind: Device\nmetadata: {name: " +
           name + "}\nspec: {devices: [" + list + "]}\n";
}

std::vector<notation> notations() {
    return {
        {"HAMi",
         [](const std::string& name, int gpus) {
             return node(name, ", nvidia.com/gpu: " + std::to_string(10 * gpus),
                         ", annotations: {hami.io/node-nvidia-register: '" + hami_register(gpus) +
                             "'}");
         },
         [](const std::string& name, int tenths) {
             return pod_text{name, "nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: " +
                                       std::to_string(10 * tenths)};
         },
         [](pod_text of, int tenths, int gpu) {
             of.annotations = "hami.io/vgpu-node: n1, hami.io/vgpu-devices-allocated: 'GPU-" +
                              std::to_string(gpu) + ",NVIDIA," + std::to_string(1000 * tenths) +
                              ",0:;'";
             of.node = "n1";
             return of;
         }},
        {"Volcano",
         [](const std::string& name, int gpus) {
             const std::string count = std::to_string(gpus);
             return node(name,
                         ", volcano.sh/vgpu-number: " + count + "0, volcano.sh/vgpu-memory: " +
                             count + "0000, volcano.sh/vgpu-cores: " + count + "00",
                         ", annotations: {volcano.sh/node-vgpu-register: '" +
                             volcano_register(gpus) + "'}");
         },
         [](const std::string& name, int tenths) {
             return pod_text{name, "volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: " +
                                       std::to_string(1000 * tenths)};
         },
         [](pod_text of, int tenths, int gpu) {
             of.annotations = "volcano.sh/vgpu-node: n1, volcano.sh/vgpu-ids-new: 'GPU-" +
                              std::to_string(gpu) + ",NVIDIA," + std::to_string(1000 * tenths) +
                              ",0:'";
             of.node = "n1";
             return of;
         }},
        {"Koordinator",
         [](const std::string& name, int gpus) {
             const std::string count = std::to_string(gpus);
             return node(name, ", koordinator.sh/gpu-core: " + count +
                                   "00, koordinator.sh/gpu-memory-ratio: " + count + "00") +
                    koordinator_device(name, gpus);
         },
         [](const std::string& name, int tenths) {
             const std::string percent = std::to_string(10 * tenths);
             return pod_text{name, "koordinator.sh/gpu-core: " + percent +
                                       ", koordinator.sh/gpu-memory-ratio: " + percent};
         },
         [](pod_text of, int tenths, int gpu) {
             const std::string percent = std::to_string(10 * tenths);
             of.annotations = "scheduling.koordinator.sh/device-allocated: '{\"gpu\":[{\"minor\":" +
                              std::to_string(gpu) +
                              ",\"resources\":{\"koordinator.sh/gpu-core\":\"" + percent +
                              "\",\"koordinator.sh/gpu-memory-ratio\":\"" + percent + "\"}}]}'";
             of.node = "n1";
             return of;
         }},
        {"KAI",
         [](const std::string& name, int gpus) {
             return node(name, ", nvidia.com/gpu: " + std::to_string(gpus),
                         ", labels: {nvidia.com/gpu.memory: \"10000\"}");
         },
         [](const std::string& name, int tenths) {
             return pod_text{name, "", "gpu-fraction: '0." + std::to_string(tenths) + "'"};
         },
         [](pod_text of, int, int gpu) {
             const std::string group = "group-" + std::to_string(gpu);
             of.labels = "runai-gpu-group: " + group;
             of.node = "n1";
             of.more = reservation(group, std::to_string(gpu));
             return of;
         }},
        {"openb",
         [](const std::string& name, int gpus) {
             return node(name, ", alibabacloud.com/gpu-count: " + std::to_string(gpus));
         },
         [](const std::string& name, int tenths) {
             return pod_text{name, "",
                             "alibabacloud.com/gpu-count: '1', alibabacloud.com/gpu-milli: '" +
                                 std::to_string(100 * tenths) + "'"};
         },
         [](pod_text of, int, int gpu) {
             of.annotations += ", alibabacloud.com/gpu-index: '" + std::to_string(gpu) + "'";
             of.node = "n1";
             return of;
         }},
    };
}

} // namespace

TEST_CASE("a gang of four half GPUs starts on two GPUs of one node, in each notation") {
    for (const notation& with : notations()) {
        CAPTURE(with.system);
        std::string four;
        for (const char* name : {"a", "b", "c", "d"}) {
            pod_text half = with.pod(name, 5);
            half.gang = 4;
            four += pod(half);
        }
        CHECK(placed(with.node("n1", 2) + four) == "a=n1 b=n1 c=n1 d=n1 ");
        // On one GPU there is room for two.
        CHECK(placed(with.node("n1", 1) + four).empty());
        CHECK(placed(with.node("n1", 1) + with.node("n2", 1) + four) == "a=n1 b=n1 c=n2 d=n2 ");
        CHECK(placed(node("n1", "") + four).empty());
    }
}

TEST_CASE("different shares of one GPU are placed together, up to its capacity") {
    for (const notation& with : notations()) {
        CAPTURE(with.system);
        const std::string all = with.node("n1", 2) + pod(with.pod("a", 7)) + pod(with.pod("b", 7));
        CHECK(placed(all + pod(with.pod("c", 3)) + pod(with.pod("d", 3))) ==
              "a=n1 b=n1 c=n1 d=n1 ");
        CHECK(placed(all + pod(with.pod("c", 5))) == "a=n1 b=n1 ");
    }
}

TEST_CASE("shares that standing pods hold are not given to others") {
    for (const notation& with : notations()) {
        CAPTURE(with.system);
        const std::string all = with.node("n1", 2) + pod(with.standing(with.pod("s", 6), 6, 0)) +
                                pod(with.standing(with.pod("t", 6), 6, 1));
        CHECK(placed(all + pod(with.pod("a", 4)) + pod(with.pod("b", 4))) ==
              "a=n1 b=n1 s=n1 t=n1 ");
        CHECK(placed(all + pod(with.pod("a", 5))) == "s=n1 t=n1 ");
    }
}

TEST_CASE("a node gives no GPUs if the devices of one of its pods are unknown") {
    for (const notation& with : notations()) {
        CAPTURE(with.system);
        pod_text standing = with.pod("s", 3);
        standing.node = "n1";
        CHECK(placed(with.node("n1", 2) + pod(standing) + pod(with.pod("a", 2))) == "s=n1 ");
    }
}

namespace {

/// Checks that a node with two GPUs gives none because of what the standing pod lists, with a
/// warning that ends with `why`; and that it gives one if the pod has the annotations `complete`.
void check_closes(const notation& with, pod_text standing, const std::string& complete,
                  const std::string& why) {
    CAPTURE(with.system);
    CAPTURE(standing.annotations);
    standing.name = "s";
    standing.node = "n1";
    const std::string waiting = pod(with.pod("a", 2));
    std::string warnings;
    CHECK(placed(with.node("n1", 2) + pod(standing) + waiting, nullptr, &warnings) == "s=n1 ");
    CHECK(warnings.find("pod default/s: ") != std::string::npos);
    CHECK(warnings.find(why) != std::string::npos);
    if (complete.empty())
        return;
    standing.annotations = complete;
    warnings.clear();
    CHECK(placed(with.node("n1", 2) + pod(standing) + waiting, nullptr, &warnings) == "a=n1 s=n1 ");
    CHECK(warnings.empty());
}

} // namespace

TEST_CASE("a node gives no GPUs if one of its pods requests more than it lists, with a warning") {
    const std::vector<notation> all = notations();
    const std::string one_of_two =
        "the pod requests 2 and lists 1 of the GPUs of node n1; which ones it uses is unknown, so "
        "the node gives none";
    const auto list = [](const std::string& key, const std::string& text) {
        return key + ": '" + text + "'";
    };
    const std::string hami = "hami.io/vgpu-devices-allocated";
    const std::string first = "GPU-0,NVIDIA,5000,0:";
    const std::string second = "GPU-1,NVIDIA,5000,0:";
    const std::string both_hami = list(hami, first + second + ";");
    for (const std::string& text : {first + ";", first + first + ";", first + "GPU-9,N,1,0:;"})
        check_closes(all[0], {"", "nvidia.com/gpu: 2", list(hami, text)}, both_hami, one_of_two);
    const std::string volcano = "volcano.sh/vgpu-ids-new";
    const std::string two = "volcano.sh/vgpu-number: 2, volcano.sh/vgpu-memory: 5000";
    check_closes(all[1], {"", two, list(volcano, first)}, list(volcano, first + second),
                 one_of_two);
    const std::string koordinator = "scheduling.koordinator.sh/device-allocated";
    const std::string amounts = R"(,"resources":{"koordinator.sh/gpu-memory-ratio":"50"}})";
    check_closes(
        all[2],
        {"", "koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory-ratio: 100",
         list(koordinator, R"({"gpu":[{"minor":0)" + amounts + "]}")},
        list(koordinator, R"({"gpu":[{"minor":0)" + amounts + R"(,{"minor":1)" + amounts + "]}"),
        one_of_two);
    const std::string openb =
        "alibabacloud.com/gpu-milli: '500', alibabacloud.com/gpu-count: '2', ";
    for (const char* const index : {"0", "0-7"})
        check_closes(all[4], {"", "", openb + list("alibabacloud.com/gpu-index", index)},
                     openb + list("alibabacloud.com/gpu-index", "0-1"), one_of_two);
}

TEST_CASE("a standing pod without marks, or with empty ones, is named in a warning") {
    const std::vector<notation> all = notations();
    const std::string none = "the pod requests 1 and lists 0 of the GPUs of node n1; ";
    for (const notation& with : all)
        if (with.system != "KAI")
            check_closes(with, with.pod("s", 3), "", none);
    pod_text hami = all[0].pod("s", 3);
    pod_text volcano = all[1].pod("s", 3);
    for (const char* const empty : {"''", "';'"}) {
        hami.annotations = std::string("hami.io/vgpu-devices-allocated: ") + empty;
        check_closes(all[0], hami, "", none);
        volcano.annotations = std::string("volcano.sh/vgpu-ids-new: ") + empty;
        check_closes(all[1], volcano, "", none);
    }
    check_closes(all[3], all[3].pod("s", 3), "", "0 groups for 1 GPUs");
    hami.annotations =
        "hami.io/vgpu-node: n2, hami.io/vgpu-devices-allocated: 'GPU-0,NVIDIA,1,0:;'";
    check_closes(all[0], hami, "",
                 "the devices are those of node n2, but the pod is on node n1, which gives none");
}

TEST_CASE("shares of containers that run together add up beside init containers and sidecars") {
    const std::vector<notation> all = notations();
    // Starts if the standing pod of two containers and a container in front holds 10 - `tenths`.
    const auto starts = [&](const notation& with, const std::string& front,
                            const std::string& limits, const std::string& list, int tenths) {
        const std::string standing =
            "---\napiVersion: v1\nkind: Pod\nmetadata: {name: s, uid: u, annotations: {" + list +
            "'}}\nspec: {nodeName: n1, initContainers: [" + front +
            "], containers: [{name: c, resources: {limits: {" + limits +
            "}}}, {name: d, resources: {limits: {" + limits + "}}}]}\nstatus: {phase: Running}\n";
        return placed(with.node("n1", 1) + standing + pod(with.pod("a", tenths))) == "a=n1 s=n1 ";
    };
    const std::string volcano = "volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 4000";
    const std::string of_volcano =
        "volcano.sh/vgpu-ids-new: 'GPU-0,NVIDIA,4000,0:;GPU-0,NVIDIA,4000,0:";
    CHECK(starts(all[1], "{name: i}", volcano, of_volcano, 2));
    CHECK_FALSE(starts(all[1], "{name: i}", volcano, of_volcano, 3));
    const std::string key = "hami.io/vgpu-devices-allocated: '";
    const std::string four = "GPU-0,NVIDIA,4000,0:;";
    const std::string hami = "nvidia.com/gpu: 1, nvidia.com/gpumem: 4000";
    // Without positions of init containers, and with an init container that uses the GPU before.
    CHECK_FALSE(starts(all[0], "{name: i}", hami, key + four + four, 3));
    const std::string init = "{name: i, resources: {limits: {" + hami + "}}}";
    CHECK(starts(all[0], init, hami, key + four + four + four, 2));
    const std::string sidecar = "{name: k, restartPolicy: Always, resources: {limits: {"
                                "nvidia.com/gpu: 1, nvidia.com/gpumem: 1000}}}";
    CHECK_FALSE(starts(all[0], sidecar + ", {name: i}", hami,
                       key + "GPU-0,NVIDIA,1000,0:;;" + four + four, 2));
    CHECK(starts(all[0], sidecar + ", {name: i}", hami,
                 key + "GPU-0,NVIDIA,1000,0:;;" + four + four, 1));
}

TEST_CASE("a standing pod may list a device whose entry in the register cannot be read") {
    const std::string with_broken = node("n1", ", nvidia.com/gpu: 20",
                                         ", annotations: {hami.io/node-nvidia-register: "
                                         "'GPU-0,10,10000,100,NVIDIA-A100,0,true:GPU-1,many:'}");
    const pod_text standing{"s", "nvidia.com/gpu: 1",
                            "hami.io/vgpu-devices-allocated: 'GPU-1,NVIDIA,9000,0:;'", "", "n1"};
    CHECK(placed(with_broken + pod(standing) + pod(notations()[0].pod("a", 5))) == "a=n1 s=n1 ");
}

namespace {

/// A node with one GPU of 40 GB in mode mig, in the notation of HAMi or Volcano.
std::string partitioned(bool of_hami, const std::string& name,
                        const std::string& model = "NVIDIA-A100-SXM4-40GB") {
    if (!of_hami)
        return node(name,
                    ", volcano.sh/vgpu-number: 10, volcano.sh/vgpu-memory: 40960, "
                    "volcano.sh/vgpu-cores: 100",
                    ", annotations: {volcano.sh/node-vgpu-register: 'GPU-0,10,40960," + model +
                        ",true,mig:'}");
    std::string ones;
    for (int start = 0; start < 7; ++start)
        ones += std::string(start > 0 ? "," : "") + "{\"start\":" + std::to_string(start) +
                ",\"size\":1}";
    return node(name, ", nvidia.com/gpu: 10",
                ", annotations: {hami.io/node-nvidia-register: '[{\"id\":\"GPU-0\",\"count\":10,"
                "\"devmem\":40960,\"devcore\":100,\"type\":\"" +
                    model +
                    "\",\"mode\":\"mig\",\"health\":true,\"migProfiles\":["
                    "{\"name\":\"1g.5gb\",\"memoryMB\":5120,\"core\":14,\"sliceCount\":1,"
                    "\"placements\":[" +
                    ones +
                    "]},{\"name\":\"2g.10gb\",\"memoryMB\":10240,\"core\":28,\"sliceCount\":2,"
                    "\"placements\":[{\"start\":0,\"size\":2},{\"start\":2,\"size\":2},"
                    "{\"start\":4,\"size\":2}]},"
                    "{\"name\":\"3g.20gb\",\"memoryMB\":20480,\"core\":42,\"sliceCount\":3,"
                    "\"placements\":[{\"start\":0,\"size\":4},{\"start\":4,\"size\":4}]}]}]'}");
}
pod_text asking(bool of_hami, const std::string& name, int memory) {
    const std::string amount = std::to_string(memory);
    return {name, of_hami ? "nvidia.com/gpu: 1, nvidia.com/gpumem: " + amount
                          : "volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: " + amount};
}
/// Makes a pod stand on n1 with an instance of two slices of HAMi, or this instance of Volcano.
std::string standing(bool of_hami, pod_text of, int start, const std::string& instance) {
    of.annotations = of_hami ? "hami.io/vgpu-node: n1, hami.io/vgpu-devices-allocated: "
                               "'GPU-0,NVIDIA,10240,28:;', hami.io/vgpu-mig-allocations: "
                               "'[{\"containerIndex\":0,\"deviceIndex\":0,\"gpuUUID\":\"GPU-0\","
                               "\"profile\":\"2g.10gb\",\"placement\":{\"start\":" +
                                   std::to_string(start) + ",\"size\":2}}]'"
                             : "volcano.sh/vgpu-node: n1, volcano.sh/vgpu-ids-new: 'GPU-0[" +
                                   instance + "],NVIDIA,9000,0:'";
    of.node = "n1";
    return pod(of);
}

} // namespace

TEST_CASE("seven pods of a gang start on one GPU in mode mig, and eight do not") {
    for (const bool of_hami : {true, false}) {
        CAPTURE(of_hami);
        std::string gang;
        std::string all;
        for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
            pod_text one = asking(of_hami, name, 5000);
            one.gang = 7;
            gang += pod(one);
            all += std::string(name) + "=n1 ";
        }
        CHECK(placed(partitioned(of_hami, "n1") + gang) == all);
        for (std::size_t at = gang.find("\"7\""); at != std::string::npos;
             at = gang.find("\"7\"", at))
            gang.replace(at, 3, "\"8\"");
        pod_text eighth = asking(of_hami, "h", 5000);
        eighth.gang = 8;
        CHECK(placed(partitioned(of_hami, "n1") + gang + pod(eighth)).empty());
    }
}

TEST_CASE("pods whose cores exceed a GPU in mode mig start if its instances use fewer cores") {
    const auto thirty = [](const std::string& name) {
        return pod_text{name,
                        "nvidia.com/gpu: 1, nvidia.com/gpumem: 4000, nvidia.com/gpucores: 30"};
    };
    const std::string node = partitioned(true, "n1");
    std::string pods;
    for (const char* const name : {"a", "b", "c", "d", "e", "f"})
        pods += pod(thirty(name));
    // Of 14 cores each: the sixth one requests 30 of 30 that are free, and the seventh 30 of 16.
    CHECK(placed(node + pods) == "a=n1 b=n1 c=n1 d=n1 e=n1 f=n1 ");
    CHECK(placed(node + pods + pod(thirty("g"))).find("g=") == std::string::npos);
    pod_text old = thirty("s");
    old.limits = "nvidia.com/gpu: 1, nvidia.com/gpumem: 9000, nvidia.com/gpucores: 90";
    CHECK(placed(node + standing(true, old, 0, "") + pods) == "a=n1 b=n1 c=n1 d=n1 s=n1 ");
}

TEST_CASE("pods get the instances that standing pods leave free") {
    for (const bool of_hami : {true, false}) {
        CAPTURE(of_hami);
        const std::string two = partitioned(of_hami, "n1") +
                                standing(of_hami, asking(of_hami, "s", 9000), 0, "group2-0") +
                                standing(of_hami, asking(of_hami, "t", 9000), 4, "group2-2");
        // One place of two slices is left, and none of four.
        CHECK(placed(two + pod(asking(of_hami, "a", 9000)) + pod(asking(of_hami, "b", 9000))) ==
              "a=n1 s=n1 t=n1 ");
        CHECK(placed(two + pod(asking(of_hami, "a", 15'000))) == "s=n1 t=n1 ");
    }
}

TEST_CASE("a GPU in mode mig gives nothing if an instance that a pod holds is unknown") {
    for (const bool of_hami : {true, false}) {
        CAPTURE(of_hami);
        pod_text old = asking(of_hami, "s", 9000);
        old.node = "n1";
        old.annotations =
            of_hami ? "hami.io/vgpu-node: n1, hami.io/vgpu-devices-allocated: "
                      "'GPU-0,NVIDIA,10240,28:;'"
                    : "volcano.sh/vgpu-node: n1, volcano.sh/vgpu-ids-new: 'GPU-0,NVIDIA,9000,0:'";
        CHECK(placed(partitioned(of_hami, "n1") + pod(old) + pod(asking(of_hami, "a", 100))) ==
              "s=n1 ");
        CHECK(placed(partitioned(of_hami, "n1") + partitioned(of_hami, "n2") + pod(old) +
                     pod(asking(of_hami, "a", 100))) == "a=n2 s=n1 ");
    }
    CHECK(placed(partitioned(false, "n1", "NVIDIA-H200") + pod(asking(false, "a", 100))).empty());
}

TEST_CASE("an instance that HAMi reserved for a pod is in use even if no list names its device") {
    pod_text reserved{"s"};
    reserved.node = "n1";
    reserved.annotations = "hami.io/vgpu-node: n1, hami.io/vgpu-mig-allocations: "
                           "'[{\"containerIndex\":0,\"deviceIndex\":0,\"gpuUUID\":\"GPU-0\","
                           "\"profile\":\"3g.20gb\",\"placement\":{\"start\":0,\"size\":4}}]'";
    const std::string two = pod(asking(true, "a", 20'000)) + pod(asking(true, "b", 20'000));
    CHECK(placed(partitioned(true, "n1") + two) == "a=n1 b=n1 ");
    CHECK(placed(partitioned(true, "n1") + pod(reserved) + two) == "a=n1 s=n1 ");
    // A pod that requests shares can have others, too.
    reserved.limits = "nvidia.com/gpu: 2, nvidia.com/gpumem: 20000";
    CHECK(placed(partitioned(true, "n1") + pod(reserved) + two) == "s=n1 ");
    reserved.limits.clear();
    reserved.annotations = "hami.io/vgpu-node: n1, hami.io/vgpu-mig-allocations: '{'";
    CHECK(placed(partitioned(true, "n1") + pod(reserved) + two) == "s=n1 ");
}

TEST_CASE("unknown instances of standing pods, and those that overlap, are warnings") {
    for (const bool of_hami : {true, false}) {
        CAPTURE(of_hami);
        std::string warnings;
        const std::string both = partitioned(of_hami, "n1") +
                                 standing(of_hami, asking(of_hami, "s", 9000), 0, "group2-0") +
                                 standing(of_hami, asking(of_hami, "t", 9000), 0, "group2-0");
        // Two places of two slices are left.
        CHECK(placed(both + pod(asking(of_hami, "a", 9000)) + pod(asking(of_hami, "b", 9000)) +
                         pod(asking(of_hami, "c", 9000)),
                     nullptr, &warnings) == "a=n1 b=n1 s=n1 t=n1 ");
        CHECK(
            warnings.find("pod default/t holds an instance (MIG) of device \"GPU-0\" that overlaps "
                          "one of another pod") != std::string::npos);
        warnings.clear();
        CHECK(placed(partitioned(of_hami, "n1") +
                         standing(of_hami, asking(of_hami, "s", 9000), 90, "group9-0") +
                         pod(asking(of_hami, "a", 100)),
                     nullptr, &warnings) == "s=n1 ");
        CHECK(warnings.find("pod default/s holds an unknown instance (MIG) of device \"GPU-0\", "
                            "which gets no pods") != std::string::npos);
    }
}

TEST_CASE("a pod that wishes a mode gets a GPU in this mode") {
    for (const bool of_hami : {true, false}) {
        CAPTURE(of_hami);
        const notation shared = notations()[of_hami ? 0 : 1];
        const std::string nodes = partitioned(of_hami, "n1") + shared.node("n2", 1);
        const std::string key = of_hami ? "nvidia.com/vgpu-mode: " : "volcano.sh/vgpu-mode: ";
        for (const auto& [mode, name] :
             std::vector<std::pair<std::string, std::string>>{{"mig", "n1"}, {"hami-core", "n2"}}) {
            pod_text one = asking(of_hami, "a", 4000);
            one.annotations = key + mode;
            CHECK(placed(nodes + pod(one)) == "a=" + name + " ");
        }
        pod_text third = asking(of_hami, "a", 4000);
        third.annotations = key + "mps";
        CHECK(placed(nodes + pod(third)).empty());
    }
}

TEST_CASE("a pod that requests whole GPUs gets none that others share") {
    const notation kai = notations()[3];
    const auto whole = [](const std::string& name, int count) {
        return pod_text{name, "nvidia.com/gpu: " + std::to_string(count)};
    };
    CHECK(placed(kai.node("n1", 2) + pod(kai.standing(kai.pod("s", 5), 5, 0)) + pod(whole("a", 1)) +
                 pod(whole("b", 1))) == "a=n1 s=n1 ");
    CHECK(placed(kai.node("n1", 2) + pod(kai.pod("a", 5)) + pod(whole("b", 2))) == "a=n1 ");
    CHECK(placed(kai.node("n1", 2) + kai.node("n2", 2) + pod(kai.pod("a", 5)) +
                 pod(whole("b", 2))) == "a=n1 b=n2 ");
}

TEST_CASE("a GPU that awaits sharers of KAI gets a fraction, and no pod with a whole GPU") {
    const std::string reserved =
        node("n1", ", nvidia.com/gpu: 1", ", labels: {nvidia.com/gpu.memory: \"10000\"}") +
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: r, namespace: kai-resource-reservation, "
        "labels: {runai-gpu-group: g}, annotations: {muster.dev/reserved-by: gangs}}\nspec: "
        "{nodeName: n1, containers: [{name: c}]}\n";
    const std::string whole = pod({"w", "nvidia.com/gpu: 1"});
    CHECK(placed(reserved + whole) == "r=n1 ");
    CHECK(placed(reserved + whole + pod({"a", "", "gpu-fraction: '0.5'"})) == "a=n1 r=n1 ");
    std::string kais = reserved;
    kais.replace(kais.find("muster.dev/reserved-by"), 22, "other");
    CHECK(placed(kais + pod({"a", "", "gpu-fraction: '0.5'"})) == "r=n1 ");
}

TEST_CASE(
    "GPUs of KAI that no reservation pod of their own names get no fraction in a plan either") {
    const auto sharer = [](const std::string& name, const std::string& group) {
        return pod({name, "", "gpu-fraction: '0.2'", "runai-gpu-group: " + group, "n1"});
    };
    const auto starts = [&](const std::string& more, std::string& warnings) {
        // The group g is on one of two GPUs. A pod w with a whole GPU takes the other one.
        const std::string found = placed(
            node("n1", ", nvidia.com/gpu: 2", ", labels: {nvidia.com/gpu.memory: \"10000\"}") +
                sharer("s", "g") + more + pod({"a", "", "gpu-fraction: '0.5'"}),
            nullptr, &warnings);
        return found.find("a=n1 ") != std::string::npos;
    };
    const std::string whole = pod({"w", "nvidia.com/gpu: 1", "", "", "n1"});
    const auto check = [&](const std::string& more, const std::string& why) {
        CAPTURE(more);
        std::string warnings;
        CHECK(starts(more, warnings) == why.empty());
        CHECK((why.empty() ? warnings.empty() : warnings.find(why) != std::string::npos));
    };
    check(whole + reservation("g", "0"), "");
    check(whole, "node n1: GPU group g gets no pods: it has sharers, and no reservation pod");
    check(sharer("t", "h") + reservation("g", "0") + reservation("h", "1"), "");
    for (const char* const phase : {"Running", "Failed"})
        check(
            sharer("t", "h") + reservation("g", "0") + reservation("h", "0", phase),
            "node n1: GPU group g gets no pods: its reservation pod names GPU 0, as that of group "
            "h does");
}

TEST_CASE(
    "GPUs of openb have the model of their node, and a pod can name several models and GPUs") {
    const auto gpu_node = [](const std::string& name, const std::string& model) {
        return node(name, ", nvidia.com/gpu: 4",
                    ", labels: {alibabacloud.com/gpu-card-model: " + model + "}");
    };
    const auto asks = [](const std::string& name, const std::string& more) {
        return pod({name, "",
                    "alibabacloud.com/gpu-milli: '600', alibabacloud.com/gpu-count: '2'" + more});
    };
    const std::string nodes = gpu_node("n1", "A100") + gpu_node("n2", "A10");
    const std::string a10 = ", alibabacloud.com/gpu-card-model: A10|T4";
    CHECK(placed(nodes + asks("a", a10)) == "a=n2 ");
    CHECK(placed(nodes + asks("a", ", alibabacloud.com/gpu-card-model: A")).empty());
    CHECK(placed(nodes + asks("a", a10) + asks("b", a10) + asks("c", a10)) == "a=n2 b=n2 ");
    // Without GPUs it can run anywhere.
    const std::string none = "alibabacloud.com/gpu-milli: '0'";
    const std::string both = placed(node("m", "") + gpu_node("n1", "A10") +
                                    pod({"v", "cpu: 60", none}) + pod({"w", "cpu: 60", none}));
    CHECK(both.find("=m ") != std::string::npos);
    CHECK(both.find("=n1 ") != std::string::npos);
    // A pod that names its GPUs waits for them.
    const std::string second = ", alibabacloud.com/gpu-index: 1-2";
    CHECK(placed(gpu_node("n1", "A10") + asks("a", second) + asks("b", second)) == "a=n1 ");
    // Whole GPUs are idle ones.
    const std::string whole = pod({"w", "nvidia.com/gpu: 3"});
    CHECK(placed(gpu_node("n1", "A10") + asks("a", "") + whole) == "a=n1 ");
    CHECK(placed(gpu_node("n1", "A10") + gpu_node("n2", "A10") + asks("a", "") + whole) ==
          "a=n1 w=n2 ");
}

TEST_CASE("a pod that one system cannot serve starts where it needs none") {
    // HAMi's requests of init containers are not modelled.
    const std::string asks =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {initContainers: [{name: i, "
        "resources: {limits: {nvidia.com/gpu: 1}}}], containers: [{name: c}]}\n";
    const notation hami = notations().front();
    CHECK(placed(hami.node("n1", 2) + asks).empty());
    CHECK(placed(hami.node("n1", 2) + node("n2", ", nvidia.com/gpu: 1") + asks) == "a=n2 ");
}

TEST_CASE("a pod waits for a register that cannot be read, and its certificate is not never") {
    const std::string asks = pod({"a", "nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 50"});
    const auto with = [&](const std::string& value) {
        return node("n1", ", nvidia.com/gpu: 10",
                    ", annotations: {hami.io/node-nvidia-register: '" + value + "'}") +
               asks;
    };
    const auto decide = [](const std::string& text) {
        diagnostics out;
        const std::vector<document> documents = read_documents("f", text, out);
        const manifests objects = read_manifests(documents, {}, out);
        auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
        const auto found = muster::cycle(cluster.state, cluster.now);
        REQUIRE(found.decisions.size() == 1);
        const auto supply = cluster.volumes.kinds.find("nvidia.com/gpumem-percentage");
        return std::pair(found.decisions.front().outcome.kind,
                         supply == cluster.volumes.kinds.end() ? "" : supply->second.lack);
    };
    const std::string one = "GPU-0,10,10000,100,NVIDIA,0,true:";
    for (const std::string& broken : {std::string("[{"), std::string("GPU-0,10:"), one + one}) {
        const auto [answer, lack] = decide(with(broken));
        CHECK(answer == muster::answer::waiting);
        CHECK(lack.starts_with("node n1: hami.io/node-nvidia-register: "));
    }
    // Without devices there is nothing to mend.
    CHECK(decide(with("[]")).first == muster::answer::never);
    CHECK(decide(with(hami_register(1))).first == muster::answer::admitted);
    // Volcano's nodes say nothing about HAMi's.
    const std::string of_volcano = node(
        "n2", ", volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 1, volcano.sh/vgpu-cores: 1",
        ", annotations: {volcano.sh/node-vgpu-register: 'GPU-0'}");
    CHECK(decide(with("[]") + of_volcano).first == muster::answer::never);
}

TEST_CASE("a device that is listed twice supplies nothing, and no pod is told never for it") {
    const auto check = [](const std::string& text, const std::string& resource) {
        CAPTURE(resource);
        diagnostics out;
        const std::vector<document> documents = read_documents("f", text, out);
        const manifests objects = read_manifests(documents, {}, out);
        auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
        const auto found = muster::cycle(cluster.state, cluster.now);
        REQUIRE(found.decisions.size() == 1);
        CHECK(found.decisions.front().outcome.kind == muster::answer::waiting);
        const volume_supply& supply = cluster.volumes.kinds.at(resource);
        CHECK(supply.on.at("n1") == 0);
        CHECK(supply.lack.find("n1: ") != std::string::npos);
        CHECK(supply.lack.find(" and ") != std::string::npos);
    };
    const auto two = [](const std::string& limits) {
        pod_text a{"a", limits};
        pod_text b{"b", limits};
        a.gang = b.gang = 2;
        return pod(a) + pod(b);
    };
    const std::string of_hami = "GPU-0,10,10000,100,NVIDIA,0,true:";
    check(node("n1", ", nvidia.com/gpu: 10",
               ", annotations: {hami.io/node-nvidia-register: '" + of_hami + of_hami + "'}") +
              two("nvidia.com/gpu: 1, nvidia.com/gpumem: 7000"),
          "nvidia.com/gpumem");
    std::string device = koordinator_device("n1", 2);
    device.replace(device.find("GPU-1"), 5, "GPU-0");
    check(node("n1", "") + device + two("koordinator.sh/gpu: 100"), "koordinator.sh/gpu");
}

TEST_CASE("a pod that holds shares stays on its node") {
    const notation volcano = notations()[1];
    diagnostics out;
    const std::vector<document> documents = read_documents(
        "f", volcano.node("n1", 2) + pod(volcano.standing(volcano.pod("s", 6), 6, 0)), out);
    const manifests objects = read_manifests(documents, {}, out);
    const volume_plan plan = plan_volumes(objects, out);
    const pod_object& standing = objects.pods.front();
    const auto* const effects = plan.find(standing.metadata.key);
    REQUIRE(effects != nullptr);
    CHECK(core_pod<4>(standing, muster::vertex_index{0}, muster::kind_table{}, muster::kind_id{0},
                      effects)
              .where.tied_to_node);
}

TEST_CASE("a pod with a request that is not modelled waits, with the reason") {
    const notation koordinator = notations()[2];
    std::string waits;
    CHECK(placed(koordinator.node("n1", 2) +
                     pod({"a", "koordinator.sh/gpu-core: 150, koordinator.sh/gpu-memory-ratio: "
                               "150"}),
                 &waits)
              .empty());
    CHECK(waits.find("a: share of a GPU: ") == 0);
}

TEST_CASE("a request for a share that is malformed is an unsupported constraint, not a volume") {
    diagnostics out;
    const std::vector<document> documents =
        read_documents("f",
                       notations().front().node("n1", 2) +
                           pod({"a", "nvidia.com/gpu: 1, nvidia.com/gpumem: 500m"}),
                       out);
    const manifests objects = read_manifests(documents, {}, out);
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    const auto found = muster::cycle(cluster.state, cluster.now);
    REQUIRE(found.decisions.size() == 1);
    CHECK(found.decisions.front().outcome.kind == muster::answer::waiting);
    CHECK(found.decisions.front().outcome.at == muster::gate::unsupported);
    const auto unmodelled = unmodelled_of(objects.pods.front(),
                                          cluster.volumes.find(objects.pods.front().metadata.key));
    REQUIRE(unmodelled.size() == 1);
    CHECK(unmodelled.front().starts_with("share of a GPU: nvidia.com/gpumem of container \"c\""));
}

namespace {

/// A node with a Device of four GPUs and two NICs with two virtual functions each: two GPUs and a
/// NIC at each of two PCIe roots.
std::string joint_node(const std::string& name, const std::string& labels = "",
                       const std::string& partitions = "") {
    std::string list;
    const auto place = [](int root) {
        return ", health: true, topology: {nodeID: 0, pcieID: '" + std::to_string(root) + "'}";
    };
    for (int at = 0; at < 4; ++at)
        list += "{type: gpu, minor: " + std::to_string(at) + place(at / 2) +
                ", resources: {koordinator.sh/gpu-core: 100, koordinator.sh/gpu-memory: 10000Mi, "
                "koordinator.sh/gpu-memory-ratio: 100}}, ";
    for (int at = 0; at < 2; ++at)
        list += "{type: rdma, minor: " + std::to_string(at) + place(at) + ", labels: {port: p" +
                std::to_string(at) +
                "}, resources: {koordinator.sh/rdma: 100}, vfGroups: [{vfs: [{busID: '" +
                std::to_string(at) + ".0'}, {busID: '" + std::to_string(at) + ".1'}]}]}, ";
    return node(name, "", labels.empty() ? "" : ", labels: {" + labels + "}") +
           "---\napiVersion: scheduling.koordinator.sh/v1alpha1\nkind: Device\nmetadata: {name: " +
           name +
           (partitions.empty() ? ""
                               : ", annotations: {scheduling.koordinator.sh/gpu-partitions: '" +
                                     partitions + "'}") +
           "}\nspec: {devices: [" + list + "]}\n";
}

/// A pod with percentages of GPUs and of NICs at the same PCIe roots.
pod_text joint_pod(const std::string& name, int gpus, int rdma, const std::string& hints = "") {
    return {name,
            "koordinator.sh/gpu: " + std::to_string(gpus) +
                ", koordinator.sh/rdma: " + std::to_string(rdma),
            "scheduling.koordinator.sh/device-joint-allocate: "
            "'{\"deviceTypes\":[\"gpu\",\"rdma\"],\"requiredScope\":\"SamePCIe\"}'" +
                (hints.empty()
                     ? ""
                     : ", scheduling.koordinator.sh/device-allocate-hint: '" + hints + "'")};
}

} // namespace

TEST_CASE("a gang that needs GPUs and RDMA at the same PCIe roots starts as a whole") {
    const auto gang = [](int size, int gpus, int rdma) {
        std::string all;
        for (int at = 0; at < size; ++at) {
            pod_text one = joint_pod(std::string(1, static_cast<char>('a' + at)), gpus, rdma);
            one.gang = size;
            all += pod(one);
        }
        return all;
    };
    CHECK(placed(joint_node("n1") + gang(2, 200, 100)) == "a=n1 b=n1 ");
    CHECK(placed(joint_node("n1") + gang(3, 100, 100)).empty());
    CHECK(placed(joint_node("n1") + gang(4, 100, 50)) == "a=n1 b=n1 c=n1 d=n1 ");
    CHECK(placed(joint_node("n1") + joint_node("n2") + gang(3, 200, 100)) == "a=n1 b=n1 c=n2 ");
    // Three GPUs are at two roots, so the pod gets a part of both NICs.
    CHECK(placed(joint_node("n1") + gang(1, 300, 60) + pod({"z", "koordinator.sh/rdma: 60"})) ==
          "a=n1 ");
    CHECK(placed(node("n1", ", koordinator.sh/rdma: 200") + gang(1, 100, 100)).empty());
}

TEST_CASE("RDMA devices and virtual functions that standing pods hold are not given to others") {
    const std::string any_function = R"({"rdma":{"vfSelector":{},"selector":{"matchLabels":)"
                                     R"({"port":"p0"}}}})";
    const auto wants = [&](const std::string& name) {
        return pod(joint_pod(name, 50, 1, any_function));
    };
    CHECK(placed(joint_node("n1") + wants("a") + wants("b") + wants("c")) == "a=n1 b=n1 ");
    const auto holds = [](const std::string& text) {
        return pod({"s", "koordinator.sh/rdma: 1",
                    "scheduling.koordinator.sh/device-allocated: '" + text + "'", "", "n1"});
    };
    CHECK(placed(joint_node("n1") +
                 holds(R"({"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"1"},)"
                       R"("extension":{"vfs":[{"busID":"0.1"}]}}]})") +
                 wants("a") + wants("b")) == "a=n1 s=n1 ");
    const std::string whole = pod(joint_pod("a", 100, 100)) + pod(joint_pod("b", 100, 100));
    CHECK(placed(joint_node("n1") + whole) == "a=n1 b=n1 ");
    CHECK(placed(joint_node("n1") +
                 holds(R"({"rdma":[{"minor":1,"resources":{"koordinator.sh/rdma":"5"}}]})") +
                 whole) == "a=n1 s=n1 ");
}

TEST_CASE("a node that honors its partitions gives whole GPUs by them only") {
    const std::string honors = "node.koordinator.sh/gpu-partition-policy: Honor";
    const std::string three = pod({"a", "koordinator.sh/gpu: 300"});
    CHECK(placed(joint_node("n1") + three) == "a=n1 ");
    // Without a table, no set of GPUs is allowed; shares of a GPU are.
    CHECK(placed(joint_node("n1", honors) + three).empty());
    CHECK(placed(joint_node("n1", honors) + pod({"a", "koordinator.sh/gpu: 50"})) == "a=n1 ");
    const std::string hopper = honors + ", node.koordinator.sh/gpu-model: H800";
    CHECK(placed(joint_node("n1", hopper) + three).empty());
    CHECK(placed(joint_node("n1", hopper) + pod({"a", "koordinator.sh/gpu: 200"}) +
                 pod({"b", "koordinator.sh/gpu: 200"})) == "a=n1 b=n1 ");
    const std::string spec = "scheduling.koordinator.sh/gpu-partition-spec: '{}'";
    const std::string table = R"({"2":[{"minors":[0,3]}]})";
    const std::string asks = pod({"a", "koordinator.sh/gpu: 200", spec});
    CHECK(placed(joint_node("n1") + asks).empty());
    CHECK(placed(joint_node("n1", "", table) + asks) == "a=n1 ");
    CHECK(placed(joint_node("n1", "", table) + asks +
                 pod({"b", "koordinator.sh/gpu: 200", spec})) == "a=n1 ");
}

TEST_CASE("what is not modelled of Koordinator's devices makes a pod wait, and is named") {
    std::string waits;
    CHECK(placed(joint_node("n1") + pod(joint_pod("a", 100, 150)) +
                     pod(joint_pod("b", 100, 50, R"({"gpu":{"vfSelector":{}}})")),
                 &waits)
              .empty());
    CHECK(waits.find("a: share of a GPU: koordinator.sh/rdma") != std::string::npos);
    CHECK(waits.find("device-allocate-hint: gpu.vfSelector is not modelled") != std::string::npos);
}

TEST_CASE("a pod with whole GPUs of another vendor gets none of Koordinator, with the reason") {
    const std::string with_amd = joint_node("n1") + node("n2", ", amd.com/gpu: 2");
    // n2 has no Device: its device plugin gives the GPUs.
    CHECK(placed(with_amd + pod({"a", "amd.com/gpu: 1"}) + pod({"b", "amd.com/gpu: 1"})) ==
          "a=n2 b=n2 ");
    std::string amd_device = joint_node("n1");
    amd_device.replace(amd_device.find("pods: 110"), 9, "pods: 110, amd.com/gpu: 4");
    CHECK(placed(amd_device + pod({"a", "amd.com/gpu: 1"})).empty());
    std::string waits;
    pod_text with_rdma = joint_pod("a", 100, 20);
    with_rdma.limits = "amd.com/gpu: 1, koordinator.sh/rdma: 20";
    CHECK(placed(amd_device + pod(with_rdma), &waits).empty());
    CHECK(waits == "a: share of a GPU: amd.com/gpu: whole GPUs of "
                   "this vendor are not modelled; ");
}

TEST_CASE("a standing pod closes the devices of each type that it requests and does not list") {
    const auto holds = [](const std::string& limits, const std::string& text) {
        return pod(
            {"s", limits,
             text.empty() ? "" : "scheduling.koordinator.sh/device-allocated: '" + text + "'", "",
             "n1"});
    };
    const std::string gpu = pod({"a", "koordinator.sh/gpu: 100"});
    const std::string nic = pod({"a", "koordinator.sh/rdma: 100"});
    const auto starts = [&](const std::string& standing, const std::string& waiting) {
        return placed(joint_node("n1") + standing + waiting) == "a=n1 s=n1 ";
    };
    const std::string list_gpu = R"("gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"50",)"
                                 R"("koordinator.sh/gpu-memory-ratio":"50"}}])";
    const std::string list_nic = R"("rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"20"}}])";
    const std::string both = "koordinator.sh/gpu: 50, koordinator.sh/rdma: 20";
    CHECK(starts(holds(both, "{" + list_gpu + "," + list_nic + "}"), gpu));
    CHECK(starts(holds(both, "{" + list_gpu + "," + list_nic + "}"), nic));
    for (const char* const absent : {"", R"(,"rdma":[])", R"(,"rdma":null)"}) {
        CHECK(starts(holds(both, "{" + list_gpu + absent + "}"), gpu));
        CHECK_FALSE(starts(holds(both, "{" + list_gpu + absent + "}"), nic));
    }
    const std::string amd = holds("amd.com/gpu: 1, koordinator.sh/rdma: 20", "{" + list_nic + "}");
    CHECK(starts(amd, nic));
    CHECK_FALSE(starts(amd, gpu));
    const std::string npu = holds("huawei.com/npu-core: 1", "");
    CHECK(starts(npu, nic));
    CHECK_FALSE(starts(npu, gpu));
    CHECK_FALSE(starts(holds(both, ""), nic));
    CHECK_FALSE(starts(holds(both, ""), gpu));
}

TEST_CASE("a pod with an NPU is planned, but waits where pods are bound") {
    const std::string npu =
        node("n1", ", huawei.com/npu-core: 8") +
        "---\napiVersion: scheduling.koordinator.sh/v1alpha1\nkind: Device\nmetadata: {name: n1}\n"
        "spec: {devices: [{type: gpu, minor: 0, health: true, resources: {huawei.com/npu-core: 8, "
        "koordinator.sh/gpu-memory: 24Gi, koordinator.sh/gpu-memory-ratio: 100}}]}\n" +
        pod({"a", "huawei.com/npu-core: 8, koordinator.sh/gpu-memory-ratio: 100"});
    CHECK(placed(npu) == "a=n1 ");
    diagnostics out;
    const std::vector<document> documents = read_documents("f", npu, out);
    const manifests objects = read_manifests(documents, {}, out);
    const std::array nodes{&objects.nodes.front()};
    const std::array pods{&objects.pods.front()};
    share_planner::options how;
    how.binds_pods = true;
    volume_plan plan;
    share_planner(nodes, pods, objects.koordinator_devices, out, how).plan(plan);
    CHECK(plan.find(objects.pods.front().metadata.key)->unmodelled ==
          std::vector<std::string>{
              "huawei.com/npu-core: the annotations of its device plugin are not written"});
}

TEST_CASE("where pods are bound, an NPU gets no pod that requests memory without cores") {
    const std::string npu =
        node("n1", "") +
        "---\napiVersion: scheduling.koordinator.sh/v1alpha1\nkind: Device\nmetadata: {name: n1}\n"
        "spec: {devices: [{type: gpu, minor: 0, health: true, resources: {huawei.com/npu-core: 8, "
        "koordinator.sh/gpu-memory: 24Gi, koordinator.sh/gpu-memory-ratio: 100}}]}\n" +
        pod({"a", "koordinator.sh/gpu-memory-ratio: 100"});
    diagnostics out;
    const std::vector<document> documents = read_documents("f", npu, out);
    const manifests objects = read_manifests(documents, {}, out);
    const std::array nodes{&objects.nodes.front()};
    const std::array pods{&objects.pods.front()};
    const auto room = [&](bool binds_pods) {
        share_planner::options how;
        how.binds_pods = binds_pods;
        volume_plan plan;
        share_planner(nodes, pods, objects.koordinator_devices, out, how).plan(plan);
        return plan.judge->room(plan.stock_of("n1"), {},
                                plan.find(objects.pods.front().metadata.key)->devices, 1);
    };
    CHECK(room(false) == 1);
    CHECK(room(true) == 0);
}

namespace {

/// True if parts, in tenths of a GPU, fit in the free tenths of GPUs. Tries every choice.
bool fits(const std::vector<int>& parts, std::size_t at, std::vector<int>& free) {
    if (at == parts.size())
        return true;
    for (int& each : free) {
        if (each < parts[at])
            continue;
        each -= parts[at];
        const bool found = fits(parts, at + 1, free);
        each += parts[at];
        if (found)
            return true;
    }
    return false;
}

} // namespace

TEST_CASE("a gang of shares starts if and only if some choice of GPUs has room for all") {
    for (const notation& with : notations()) {
        CAPTURE(with.system);
        int started = 0;
        int waited = 0;
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            CAPTURE(seed);
            muster::testing::random draw(seed);
            std::vector<int> free;
            std::string text;
            for (int at = 1; at <= 2; ++at) {
                const auto gpus = static_cast<int>(draw.between(1, 2));
                text += with.node("n" + std::to_string(at), gpus);
                free.insert(free.end(), static_cast<std::size_t>(gpus), 10);
            }
            std::vector<int> parts;
            const auto pods = static_cast<int>(draw.between(3, 7));
            for (int at = 0; at < pods; ++at) {
                parts.push_back(static_cast<int>(draw.between(2, 8)));
                pod_text one = with.pod("p" + std::to_string(at), parts.back());
                one.gang = pods;
                text += pod(one);
            }
            const bool starts = !placed(text).empty();
            CHECK(starts == fits(parts, 0, free));
            ++(starts ? started : waited);
        }
        CHECK(started > 5);
        CHECK(waited > 5);
    }
}

} // namespace codec_share_planner_test
