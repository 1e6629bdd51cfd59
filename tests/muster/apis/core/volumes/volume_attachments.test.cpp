// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/volumes/volume_attachments.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>
#include <muster/resource/storage_kinds.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

namespace codec_volume_attachments_test {

using namespace muster::codec;

namespace {

/// The nodes of the placed pods: "pod=node ", in the order of pods; and the answers of the gangs
/// that wait.
struct outcome {
    std::map<std::string, std::string> nodes;
    std::string placed;
    std::vector<muster::answer> answers;
};

outcome decide(const manifests& objects) {
    outcome made;
    diagnostics out;
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    const auto result = muster::cycle(cluster.state, cluster.now);
    for (const auto& [key, pod] : cluster.state.pod_keys())
        if (cluster.state[pod].node) {
            made.nodes.emplace(key.name, cluster.state.key(*cluster.state[pod].node));
            made.placed += key.name + "=" + made.nodes.at(key.name) + " ";
        }
    for (const muster::decision& each : result.decisions)
        if (each.outcome.kind != muster::answer::admitted)
            made.answers.push_back(each.outcome.kind);
    return made;
}

outcome decide(const std::string& text) {
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    std::string findings;
    for (const diagnostic& each : out.findings())
        findings += to_text(each) + '\n';
    REQUIRE(findings.empty());
    return decide(objects);
}

/// A node to which csi.x attaches at most `count` volumes.
std::string node(const std::string& name, int count) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           "}\nstatus: {allocatable: {cpu: 8, pods: 110}}\n"
           "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: " +
           name + "}\nspec: {drivers: [{name: csi.x, nodeID: i, allocatable: {count: " +
           std::to_string(count) + "}}]}\n";
}
/// A bound claim and its volume `v-CLAIM`, with handle `h-CLAIM`.
std::string csi(const std::string& claim) {
    return "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + claim +
           "}\nspec: {volumeName: v-" + claim +
           ", resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Bound}\n"
           "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v-" +
           claim + "}\nspec: {capacity: {storage: 1Gi}, csi: {driver: csi.x, volumeHandle: h-" +
           claim + "}}\n";
}
std::string pod(const std::string& name, const std::string& claim, const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           "}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1}}}]\n"
           "  volumes: [{name: v, persistentVolumeClaim: {claimName: " +
           claim + "}}]\n" + more;
}
const std::string runs_on_a = "  nodeName: a\nstatus: {phase: Running}\n";

std::string attachment(const std::string& node, const std::string& source,
                       const std::string& attacher = "csi.x") {
    return "---\napiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: csi-" +
           node + "-" + std::to_string(std::hash<std::string>{}(source)) +
           "}\nspec: {attacher: " + attacher + ", nodeName: " + node + ", source: {" + source +
           "}}\nstatus: {attached: true}\n";
}
std::string attached(const std::string& node, const std::string& claim) {
    return attachment(node, "persistentVolumeName: v-" + claim);
}

} // namespace

TEST_CASE("a volume that is attached to a node without pods takes one of the node's limit") {
    const std::string one = node("a", 1) + csi("old") + csi("new") + pod("p", "new");
    CHECK(decide(one).placed == "p=a ");
    const auto full = decide(one + attached("a", "old"));
    CHECK(full.placed.empty());
    // The volume may be detached.
    CHECK(full.answers == std::vector{muster::answer::waiting});
    CHECK(decide(one + node("b", 1) + attached("a", "old")).placed == "p=b ");
    CHECK(decide(one + attached("b", "old")).placed == "p=a ");
    CHECK(decide(one + attachment("a", "persistentVolumeName: v-old", "csi.y")).placed == "p=a ");
    // The volume of a pod that has ended is still attached.
    CHECK(decide(one + attached("a", "old") +
                 pod("r", "old", "  nodeName: a\nstatus: {phase: Succeeded}\n"))
              .nodes.count("p") == 0);
}

TEST_CASE("an attached volume counts once with the pods that use it on the node") {
    const std::string two = node("a", 2) + csi("old") + csi("new") + pod("r", "old", runs_on_a) +
                            pod("p", "new") + attached("a", "old");
    CHECK(decide(two).placed == "p=a r=a ");
    CHECK(decide(two + pod("s", "old", runs_on_a)).placed == "p=a r=a s=a ");
    // The pod runs on another node than that of the attachment.
    CHECK(decide(two + node("b", 1) + pod("q", "third") + csi("third") + attached("b", "old"))
              .placed == "p=a r=a ");
}

TEST_CASE("several volumes that all pods of a gang share take one attachment of a node each") {
    // `size` pods of a gang, each with all of the claims.
    const auto gang = [](const std::string& name, int size, const std::string& claims) {
        std::string volumes;
        std::string made;
        for (const char each : claims) {
            volumes += std::string(volumes.empty() ? "" : ", ") + "{name: v" + each +
                       ", persistentVolumeClaim: {claimName: " + each + "}}";
            made += csi(std::string(1, each));
        }
        for (int rank = 0; rank < size; ++rank)
            made += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "-" +
                    std::to_string(rank) +
                    ", labels: {pod-group.scheduling.sigs.k8s.io/name: " + name +
                    ", pod-group.scheduling.sigs.k8s.io/min-available: \"" + std::to_string(size) +
                    "\"}}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1}}}]\n"
                    "  volumes: [" +
                    volumes + "]\n";
        return made;
    };
    CHECK(decide(node("a", 4) + gang("g", 4, "rst")).nodes.size() == 4);
    CHECK(decide(node("a", 2) + gang("g", 2, "rs")).nodes.size() == 2);
    CHECK(decide(node("a", 8) + node("b", 8) + gang("g", 16, "pqrst")).nodes.size() == 16);
    CHECK(decide(node("a", 2) + gang("g", 4, "rst")).placed.empty());
    // The first of two gangs.
    CHECK(decide(node("a", 4) + gang("g", 2, "rst") + gang("h", 2, "uvw")).placed ==
          "g-0=a g-1=a ");
    // A pod with a volume of its own is not kept off all nodes.
    CHECK(decide(node("a", 2) + gang("g", 2, "rs") + pod("p", "own") + csi("own")).placed ==
          "p=a ");
}

TEST_CASE("no attachment is set aside on a node that the volume does not reach") {
    const auto only = [](std::string text, const std::string& node) {
        const std::string name = "spec: {capacity: {storage: 1Gi}, ";
        return text.replace(text.find(name), name.size(),
                            name +
                                "nodeAffinity: {required: {nodeSelectorTerms: "
                                "[{matchFields: [{key: metadata.name, operator: In, values: [" +
                                node + "]}]}]}}, ");
    };
    // A pod that waits for cpu shares the volume of a.
    std::string large = pod("large", "old");
    large.replace(large.find("cpu: 1"), 6, "cpu: 8");
    CHECK(decide(node("a", 5) + node("b", 1) + only(csi("old"), "a") + pod("r", "old", runs_on_a) +
                 large + csi("new") +
                 pod("p", "new", "  nodeSelector: {kubernetes.io/hostname: b}\n") + "---\n")
              .nodes.count("p") == 0); // b has no such label
    CHECK(decide(node("a", 5) + node("b", 1) + only(csi("old"), "a") + pod("r", "old", runs_on_a) +
                 large + only(csi("new"), "b") + pod("p", "new"))
              .nodes.at("p") == "b");
    // A node without a limit that the volume does not reach has no attachment for it.
    const std::string free = "---\napiVersion: v1\nkind: Node\nmetadata: {name: c}\nstatus: "
                             "{allocatable: {cpu: 8, pods: 110}}\n";
    CHECK(decide(node("a", 1) + free + only(csi("old"), "a") + pod("p", "old") + pod("q", "old"))
              .placed == "p=a q=a ");
}

TEST_CASE("nothing is set aside for a volume that a running pod has for itself") {
    std::string lone = csi("lone");
    lone.insert(lone.find("resources:"), "accessModes: [ReadWriteOncePod], ");
    CHECK(decide(node("a", 1) + node("b", 1) + lone + pod("r", "lone", runs_on_a) +
                 pod("w", "lone") + csi("own") + pod("p", "own"))
              .placed == "p=b r=a ");
}

TEST_CASE("attachments that are kept for a shared volume count apart from those in use") {
    const auto supply = [](const std::string& text) {
        diagnostics out;
        const auto documents = read_documents("f", text, out);
        const manifests objects = read_manifests(documents, {}, out);
        const auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
        return cluster.volumes.kinds.at(muster::storage_kinds::attachments_of("csi.x"));
    };
    // Two pods share c, of which the node cannot attach one for each beside their own volumes.
    const std::string shared = node("a", 3) + csi("c") + csi("d") + csi("e") + pod("p", "c") +
                               pod("q", "c") + pod("r", "d", runs_on_a) + pod("s", "e", runs_on_a);
    const volume_supply kept = supply(shared);
    CHECK(kept.on.at("a") == 2);
    CHECK(kept.set_aside.at("a") == 1);
    CHECK(kept.kept.at("a") == 1);
    // The volume is in use on the node.
    const volume_supply used = supply(shared + pod("x", "c", runs_on_a) + pod("y", "c", runs_on_a));
    CHECK(used.set_aside.at("a") == 1);
    CHECK(used.kept.empty());
}

TEST_CASE("a pod needs no further attachment on a node to which its volume is attached") {
    CHECK(decide(node("a", 1) + csi("c") + pod("p", "c") + attached("a", "c")).placed == "p=a ");
    CHECK(decide(node("a", 1) + csi("c") + pod("p", "c") + pod("q", "c") + attached("a", "c"))
              .placed == "p=a q=a ");
    // Both nodes are full of volumes that the pods use.
    std::string restarted = node("a", 2) + node("b", 2);
    for (const std::string claim : {"c0", "c1", "c2", "c3"})
        restarted +=
            csi(claim) + pod("p-" + claim, claim) + attached(claim < "c2" ? "a" : "b", claim);
    CHECK(decide(restarted).nodes.size() == 4);
    // The old node is gone, or has no room for the pod.
    CHECK(decide(node("b", 1) + csi("c") + pod("p", "c") + attached("a", "c")).placed == "p=b ");
    std::string large = pod("p", "c");
    large.replace(large.find("cpu: 1"), 6, "cpu: 8");
    std::string busy = pod("r", "d", runs_on_a);
    CHECK(decide(node("a", 2) + node("b", 1) + csi("c") + csi("d") + busy + large +
                 attached("a", "c"))
              .placed == "p=b r=a ");
}

namespace {

/// A pod of gang g, which needs `size` pods.
std::string member(const std::string& name, const std::string& claim, const std::string& size) {
    std::string made = pod(name, claim);
    const std::string labels = ", labels: {pod-group.scheduling.sigs.k8s.io/name: g, "
                               "pod-group.scheduling.sigs.k8s.io/min-available: \"" +
                               size + "\"}";
    return made.insert(made.find("}\nspec"), labels);
}

} // namespace

TEST_CASE("a gang whose pods share some volumes starts where its volumes just fit") {
    const std::string gang = csi("c") + csi("d") + member("g-0", "c", "3") +
                             member("g-1", "c", "3") + member("g-2", "d", "3");
    CHECK(decide(node("a", 1) + gang).placed.empty());
    CHECK(decide(node("a", 2) + gang).placed == "g-0=a g-1=a g-2=a ");
    CHECK(decide(node("a", 3) + gang).placed == "g-0=a g-1=a g-2=a ");
    const std::string both = csi("c") + csi("d") + member("g-0", "c", "4") +
                             member("g-1", "c", "4") + member("g-2", "d", "4") +
                             member("g-3", "d", "4");
    CHECK(decide(node("a", 3) + both).nodes.size() == 4);
    CHECK(decide(node("a", 1) + both).placed.empty());
}

TEST_CASE("a shared volume leaves attachments to the other volumes of its gang") {
    // One attachment set aside on each node would leave none for the other pods.
    std::string gang = csi("c") + member("g-0", "c", "4") + member("g-1", "c", "4");
    for (const std::string name : {"a", "b", "d", "e"})
        gang += node(name, 1) + csi("own-" + name) + member("g-" + name, "own-" + name, "4");
    CHECK(decide(gang).nodes.size() == 4);
}

TEST_CASE("an attached volume counts even if its handle is not known") {
    const std::string one = node("a", 1) + csi("new") + pod("p", "new");
    CHECK(decide(one + attached("a", "gone")).placed.empty());
    const std::string inline_spec =
        "inlineVolumeSpec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: "
        "csi.x, volumeHandle: ";
    CHECK(decide(one + attachment("a", inline_spec + "other}}")).placed.empty());
    CHECK(decide(one + attachment("a", inline_spec + "h-new}}")).placed == "p=a ");
    // Of an in-tree plugin that a CSI driver replaces.
    CHECK(decide(one + attachment("a", "inlineVolumeSpec: {awsElasticBlockStore: {volumeID: "
                                       "h-new}}"))
              .placed == "p=a ");
}

namespace {

/// Nodes with limits, volumes, standing pods, attachments of nodes, and gangs that wait.
struct attachment_world {
    manifests objects;
    std::map<std::string, std::int64_t> limits;
    std::map<std::string, std::size_t> gang_sizes;
};

attachment_world random_world(muster::testing::random& chance, bool lone_pod) {
    attachment_world made;
    storage_objects& storage = made.objects.storage;
    for (const std::string name : {"a", "b", "c"}) {
        node_object& node = made.objects.nodes.emplace_back();
        node.metadata.key.name = name;
        node.allocatable = {{"cpu", chance.between(1, 8) * 1000}, {"pods", 110}};
        made.limits[name] = chance.between(1, 4);
        csi_node_object& limited = storage.nodes.emplace_back();
        limited.metadata.key.name = name;
        limited.drivers["csi.x"].most = made.limits[name];
    }
    constexpr std::size_t volumes = 8;
    for (std::size_t at = 0; at < volumes; ++at) {
        const std::string number = std::to_string(at);
        volume_object& volume = storage.volumes.emplace_back();
        volume.metadata.key.name = "v" + number;
        volume.driver = "csi.x";
        volume.handle = "h" + number;
        claim_object& claim = storage.claims.emplace_back();
        claim.metadata.key = {"default", "c" + number};
        claim.asks.volume = "v" + number;
        claim.bound = true;
    }
    const auto add_pod = [&](const std::string& name, std::size_t most_claims) -> pod_object& {
        pod_object& pod = made.objects.pods.emplace_back();
        pod.metadata.key = {"default", name};
        pod.requests["cpu"].milli = 1000;
        std::set<std::size_t> used;
        for (std::size_t count = 1 + chance.below(most_claims); used.size() < count;)
            used.insert(chance.below(volumes));
        for (const std::size_t volume : used) {
            pod_volume& use = pod.volumes.emplace_back();
            use.name = "v" + std::to_string(volume);
            use.claim = "c" + std::to_string(volume);
        }
        return pod;
    };
    for (std::size_t at = 0, count = chance.below(4); at < count; ++at)
        add_pod("r-" + std::to_string(at), 2).node = std::string(1, "abc"[chance.below(3)]);
    for (std::size_t at = 0, count = chance.below(6); at < count; ++at) {
        attachment_object& attachment = storage.attachments.emplace_back();
        attachment.metadata.key.name = "at" + std::to_string(at);
        attachment.driver = "csi.x";
        attachment.node = std::string(1, "abc"[chance.below(3)]);
        attachment.volume = "v" + std::to_string(chance.below(volumes));
    }
    for (std::size_t gang = 0, gangs = lone_pod ? 1 : 1 + chance.below(3); gang < gangs; ++gang) {
        const std::string name = "g" + std::to_string(gang);
        const std::size_t size = lone_pod ? 1 : 1 + chance.below(3);
        made.gang_sizes[name] = size;
        for (std::size_t rank = 0; rank < size; ++rank)
            add_pod(name + "-" + std::to_string(rank), lone_pod ? 1 : 2).metadata.labels = {
                {"pod-group.scheduling.sigs.k8s.io/name", name},
                {"pod-group.scheduling.sigs.k8s.io/min-available", std::to_string(size)}};
    }
    return made;
}

/// The volumes attached to each node when the waiting pods are on the given nodes.
std::map<std::string, std::set<std::string>>
attached_volumes(const manifests& objects, const std::map<std::string, std::string>& placed) {
    std::map<std::string, std::set<std::string>> found;
    for (const attachment_object& each : objects.storage.attachments)
        found[each.node].insert(each.volume);
    for (const pod_object& pod : objects.pods) {
        const auto chosen = placed.find(pod.metadata.key.name);
        const std::string& on = chosen == placed.end() ? pod.node : chosen->second;
        if (!on.empty())
            for (const pod_volume& each : pod.volumes)
                found[on].insert(each.name);
    }
    return found;
}

} // namespace

TEST_CASE("no node gets a volume beyond its limit, with its attachments and its pods") {
    muster::testing::random chance(muster::testing::random_seed());
    std::size_t started = 0;
    const auto cases = muster::testing::case_count(2000);
    for (std::uint64_t at = 0; at < cases; ++at) {
        const attachment_world world = random_world(chance, false);
        const auto placed = decide(world.objects).nodes;
        auto before = attached_volumes(world.objects, {});
        std::map<std::string, std::size_t> sizes;
        for (const auto& [pod, where] : placed)
            if (pod[0] == 'g')
                ++sizes[pod.substr(0, pod.find('-'))];
        CAPTURE(at);
        for (const auto& [name, volumes] : attached_volumes(world.objects, placed)) {
            const auto count = static_cast<std::int64_t>(volumes.size());
            REQUIRE((count <= world.limits.at(name) || volumes == before[name]));
        }
        for (const auto& [gang, size] : sizes)
            REQUIRE(size == world.gang_sizes.at(gang));
        started += sizes.size();
    }
    if (muster::testing::all_cases(2000))
        CHECK(started > 1000);
}

TEST_CASE("a pod with one volume starts if and only if a node has it attached or may attach it") {
    muster::testing::random chance(muster::testing::random_seed() + 1);
    std::size_t started = 0;
    const auto cases = muster::testing::case_count(2000);
    for (std::uint64_t at = 0; at < cases; ++at) {
        const attachment_world world = random_world(chance, true);
        const pod_object& pod = world.objects.pods.back();
        std::map<std::string, std::int64_t> pods_on;
        for (const pod_object& each : world.objects.pods)
            ++pods_on[each.node];
        auto before = attached_volumes(world.objects, {});
        bool fits = false;
        for (const node_object& each : world.objects.nodes) {
            const std::string& name = each.metadata.key.name;
            const std::set<std::string>& volumes = before[name];
            fits |= each.allocatable.at("cpu") >= 1000 * (pods_on[name] + 1) &&
                    (volumes.contains(pod.volumes.front().name) ||
                     static_cast<std::int64_t>(volumes.size()) < world.limits.at(name));
        }
        CAPTURE(at);
        REQUIRE(decide(world.objects).nodes.contains(pod.metadata.key.name) == fits);
        started += fits ? 1U : 0U;
    }
    if (muster::testing::all_cases(2000))
        CHECK(started > 1000);
}

} // namespace codec_volume_attachments_test
