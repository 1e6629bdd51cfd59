// SPDX-License-Identifier: Apache-2.0
#include <muster/input/cluster_volumes.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>

namespace codec_volume_rules_test {

using namespace muster::codec;
using muster::reason_code;

namespace {

/// The result of a cycle on a cluster with storage.
struct outcome {
    /// "pod=node ", in the order of pods; pods without a node are left out.
    std::string placed;
    /// For each waiting gang: the code of its first reason, and "never" or "waiting".
    std::vector<reason_code> codes;
    std::vector<muster::answer> answers;
    /// Texts of volumes that are not ready, of all pods.
    std::string waits;
    /// The pods for which binding their claims does not help.
    std::string unusable;
    std::string findings;
};

outcome decide(const std::string& text) {
    outcome made;
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    for (const diagnostic& each : out.findings())
        made.findings += to_text(each) + '\n';
    REQUIRE(out.ok());
    diagnostics later;
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, later);
    const auto result = muster::cycle(cluster.state, cluster.now);
    for (const auto& [key, pod] : cluster.state.pod_keys()) {
        if (cluster.state[pod].node && objects.pods.size() > 0)
            made.placed += key.name + "=" + cluster.state.key(*cluster.state[pod].node) + " ";
        if (const auto* volumes = cluster.volumes.find(key))
            for (const std::string& each : volumes->waits)
                made.waits += each + "; ";
        if (const auto* volumes = cluster.volumes.find(key); volumes && volumes->unusable)
            made.unusable += key.name + " ";
    }
    for (const muster::decision& each : result.decisions) {
        if (each.outcome.kind == muster::answer::admitted)
            continue;
        made.answers.push_back(each.outcome.kind);
        const auto why = muster::explain(cluster.state, each.gang);
        if (!why.empty())
            made.codes.push_back(why.front().code);
    }
    for (const diagnostic& each : later.findings())
        made.findings += to_text(each) + '\n';
    return made;
}

/// Two nodes in each of two zones.
const std::string nodes = [] {
    std::string made;
    for (const std::string zone : {"a", "b"})
        for (const std::string number : {"1", "2"})
            made += "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + zone + number +
                    ", labels: {topology.kubernetes.io/zone: " + zone +
                    ", kubernetes.io/hostname: " + zone + number +
                    "}}\nstatus: {allocatable: {cpu: 8, pods: 110}}\n";
    return made;
}();

std::string pod(const std::string& name, const std::string& claim, const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           "}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1}}}]\n"
           "  volumes: [{name: v, persistentVolumeClaim: {claimName: " +
           claim + "}}]\n" + more;
}
/// A pod of a gang of the given size.
std::string member(const std::string& name, const std::string& claim, int of) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", labels: {pod-group.scheduling.sigs.k8s.io/name: g, "
           "pod-group.scheduling.sigs.k8s.io/min-available: \"" +
           std::to_string(of) +
           "\"}}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1}}}]\n"
           "  volumes: [{name: v, persistentVolumeClaim: {claimName: " +
           claim + "}}]\n";
}
std::string bound(const std::string& claim, const std::string& volume,
                  const std::string& mode = "ReadWriteOnce") {
    return "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + claim +
           ", uid: u-" + claim + "}\nspec: {volumeName: " + volume + ", accessModes: [" + mode +
           "], resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Bound}\n";
}
std::string unbound(const std::string& claim, const std::string& storage_class,
                    const std::string& size = "1Gi", const std::string& more = "") {
    return "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + claim +
           ", uid: u-" + claim + "}\nspec: {storageClassName: " + storage_class +
           ", accessModes: [ReadWriteOnce], resources: {requests: {storage: " + size + "}}" + more +
           "}\nstatus: {phase: Pending}\n";
}
std::string volume(const std::string& name, const std::string& more, const std::string& meta = "",
                   const std::string& size = "10Gi") {
    return "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + name + meta +
           "}\nspec: {capacity: {storage: " + size + "}, accessModes: [ReadWriteOnce]" + more +
           "}\n";
}
std::string on_node(const std::string& name) {
    return ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
           "kubernetes.io/hostname, operator: In, values: [" +
           name + "]}]}]}}";
}
std::string storage_class(const std::string& name, const std::string& provisioner,
                          const std::string& more = "volumeBindingMode: WaitForFirstConsumer\n") {
    return "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " + name +
           "}\nprovisioner: " + provisioner + "\n" + more;
}
std::string capacity(const std::string& name, const std::string& of, const std::string& topology,
                     const std::string& amounts) {
    return "---\napiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: " +
           name + "}\nstorageClassName: " + of + "\nnodeTopology: {matchLabels: {" + topology +
           "}}\n" + amounts + "\n";
}
const std::string local = storage_class("local", "kubernetes.io/no-provisioner");
const std::string tracking =
    "---\napiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: csi.x}\nspec: "
    "{storageCapacity: true}\n";
const std::string some_volume = volume("other", "");

/// The documents as the items of one List.
std::string in_list(const std::string& documents, const std::string& metadata = "") {
    std::string made = "---\napiVersion: v1\nkind: List\n" + metadata + "items:";
    const std::string rest = documents + "---\n";
    for (std::size_t at = 4; at < rest.size();) {
        const std::size_t end = rest.find("---\n", at);
        std::string item = rest.substr(at, end - at);
        for (std::size_t line = item.find('\n'); line + 1 < item.size();
             line = item.find('\n', line + 3))
            item.replace(line, 1, "\n  ");
        made += "\n- " + item;
        at = end + 4;
    }
    return made;
}
std::string listing(const std::string& kinds) {
    return "metadata: {annotations: {muster.dev/listed-kinds: \"" + kinds + "\"}}\n";
}
/// A pod on node a1.
std::string running(const std::string& name, const std::string& claim) {
    return pod(name, claim, "  nodeName: a1\nstatus: {phase: Running}\n");
}

} // namespace

TEST_CASE("without claims in the input, claims count as usable everywhere, with one warning") {
    const auto made = decide(nodes + pod("p", "data") + pod("q", "data"));
    CHECK(made.placed.find("p=") != std::string::npos);
    CHECK(made.placed.find("q=") != std::string::npos);
    CHECK(made.findings.find("2 volumes of pods count as usable on every node: the input holds no "
                             "PersistentVolumeClaims") != std::string::npos);
}

TEST_CASE("a claim that a declared complete listing lacks makes its pod wait") {
    const std::string missing =
        "claim data does not exist (expected a PersistentVolumeClaim of that name); ";
    const std::string both = nodes + pod("p", "data");
    const std::string every = "v1/Node,v1/PersistentVolumeClaim,v1/PersistentVolume,v1/Pod,"
                              "storage.k8s.io/v1/StorageClass";
    CHECK(decide(in_list(both, listing(every))).waits == missing);
    CHECK(decide(in_list(nodes, listing(every)) + pod("p", "data")).waits == missing);
    CHECK(decide(in_list(both, listing("v1/PersistentVolumeClaim"))).waits == missing);
    // Declared for other kinds only, for a list that is continued, and not declared.
    CHECK(decide(in_list(both, listing("v1/Node,v1/Pod,v1/PersistentVolume"))).placed == "p=a1 ");
    CHECK(decide(in_list(both, "metadata: {continue: x, annotations: {muster.dev/listed-kinds: "
                               "v1/PersistentVolumeClaim}}\n"))
              .placed == "p=a1 ");
    CHECK(decide(in_list(both)).placed == "p=a1 ");
    // A list of the one kind.
    CHECK(decide(both + "---\n{apiVersion: v1, kind: PersistentVolumeClaimList, items: []}\n")
              .waits == missing);
}

TEST_CASE("a claim that a List with storage objects lacks makes its pod wait") {
    const std::string both = nodes + pod("p", "data");
    const std::string csi_node =
        "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a1}\nspec: "
        "{drivers: []}\n";
    for (const std::string& one :
         {csi_node, tracking, local, some_volume,
          capacity("c", "x", "topology.kubernetes.io/zone: a", "capacity: 1Gi")}) {
        CAPTURE(one);
        CHECK(decide(in_list(both + one)).waits ==
              "claim data does not exist (expected a PersistentVolumeClaim of that name); ");
        // Storage objects outside a List of several kinds may be only a part of the cluster's.
        CHECK(decide(both + one).placed == "p=a1 ");
        CHECK(decide(both + in_list(one)).placed == "p=a1 ");
    }
}

TEST_CASE("claims or volumes that a List left out count as usable") {
    const auto of_pod = decide(in_list(nodes + pod("p", "data") + running("r", "other") + local));
    CHECK(of_pod.placed == "p=a1 r=a1 ");
    CHECK(of_pod.findings.find("the input holds no PersistentVolumeClaims") != std::string::npos);
    const std::string in_use = "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\n"
                               "spec: {capacity: {storage: 1Gi}, claimRef: {namespace: default, "
                               "name: other}}\nstatus: {phase: ";
    CHECK(decide(in_list(nodes + pod("p", "data") + in_use + "Bound}\n")).placed == "p=a1 ");
    CHECK(decide(in_list(nodes + pod("p", "data") + in_use + "Released}\n")).placed.empty());
    const std::string claims = bound("data", "pv") + bound("other", "pw");
    const auto of_claim =
        decide(in_list(nodes + pod("p", "data") + running("r", "other") + claims));
    CHECK(of_claim.placed == "p=a1 r=a1 ");
    CHECK(of_claim.findings.find("the input holds no PersistentVolumes") != std::string::npos);
}

TEST_CASE("a volume or class that a complete listing lacks makes its pod wait") {
    const std::string missing =
        "claim data is bound to volume pv, which does not exist (expected a "
        "PersistentVolume of that name); ";
    const std::string both = nodes + pod("p", "data") + bound("data", "pv");
    CHECK(decide(in_list(both)).waits == missing);
    CHECK(decide(in_list(both, listing("v1/PersistentVolume"))).waits == missing);
    CHECK(decide(both).placed == "p=a1 ");
    const auto user = [](const std::string& meta) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p" + meta +
               "}\nspec:\n  containers: [{name: c}]\n  volumes: [{name: scratch, ephemeral: "
               "{volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], storageClassName: "
               "nosuch, resources: {requests: {storage: 1Gi}}}}}}]\n";
    };
    const std::string no_class =
        "claim p-scratch is not bound, and there is no StorageClass nosuch; ";
    CHECK(decide(in_list(nodes + user("") + tracking)).waits == no_class);
    CHECK(decide(in_list(nodes + user(""), listing("storage.k8s.io/v1/StorageClass"))).waits ==
          no_class);
    CHECK(decide(nodes + user("")).placed == "p=a1 ");
    // Also of a pod that exists, in an input without claims.
    CHECK(decide(nodes + user(", uid: u") + local).waits == no_class);
    CHECK(decide(nodes + user(", uid: u")).placed == "p=a1 ");
}

TEST_CASE("if the input has other claims, a missing claim makes its pod wait and is named") {
    const auto made = decide(nodes + pod("p", "data") + bound("other", "pv"));
    CHECK(made.placed.empty());
    CHECK(made.waits ==
          "claim data does not exist (expected a PersistentVolumeClaim of that name); ");
    CHECK(made.codes == std::vector{reason_code::volume_not_ready});
    CHECK(made.answers == std::vector{muster::answer::waiting});
}

TEST_CASE("a claim that is lost or being deleted makes its pod wait") {
    const auto lost =
        decide(nodes + pod("p", "data") + unbound("data", "x", "1Gi", ", volumeName: v") +
               "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: l, "
               "uid: u}\nspec: {volumeName: gone}\nstatus: {phase: Lost}\n" +
               pod("q", "l"));
    CHECK(lost.waits.find("claim l has lost its volume gone") != std::string::npos);
    const auto deleted =
        decide(nodes + pod("p", "data") +
               "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, "
               "deletionTimestamp: \"2026-01-01T00:00:00Z\"}\nspec: {volumeName: v}\nstatus: "
               "{phase: Bound}\n");
    CHECK(deleted.waits == "claim data is being deleted: create it again once it is gone; ");
    CHECK(lost.unusable == "q ");
    CHECK(deleted.unusable == "p ");
}

TEST_CASE("a claim with a volume is bound by the annotation bind-completed or by its phase") {
    const auto with = [](const std::string& meta, const std::string& spec,
                         const std::string& status) {
        return decide(nodes + pod("p", "data") +
                      "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data" +
                      meta + "}\nspec: {" + spec + "resources: {requests: {storage: 1Gi}}}\n" +
                      status + volume("v", on_node("b1")));
    };
    const std::string uid = ", uid: u";
    const std::string completed = ", annotations: {pv.kubernetes.io/bind-completed: \"yes\"}";
    const std::string of_v = "volumeName: v, ";
    const std::string phase_bound = "status: {phase: Bound}\n";
    for (const std::string& own : {uid, std::string()}) {
        CAPTURE(own);
        // kube-scheduler does not read the phase.
        for (const char* const status : {"", "status: {}\n", "status: {phase: Pending}\n"})
            CHECK(with(own + completed, of_v, status).placed == "p=b1 ");
        CHECK(with(own, of_v, phase_bound).placed == "p=b1 ");
        CHECK(with(own, of_v, "").waits == "claim data is not bound to volume v yet; ");
        CHECK(with(own + completed, "", phase_bound).placed.empty());
        CHECK(with(own + completed, of_v, "status: {phase: Lost}\n").placed.empty());
    }
}

TEST_CASE("no binding helps a claim whose volume is missing, kept for another claim, or not "
          "understood") {
    const auto named = [](const std::string& of_volume) {
        return decide(nodes + pod("p", "data") + unbound("data", "x", "1Gi", ", volumeName: v") +
                      some_volume + of_volume);
    };
    const auto missing = named("");
    CHECK(missing.waits == "claim data is not bound to volume v, which does not exist (expected a "
                           "PersistentVolume of that name); ");
    CHECK(missing.unusable == "p ");
    const auto kept = named(volume("v", ", claimRef: {namespace: ns, name: other}"));
    CHECK(kept.waits == "claim data is not bound to volume v, which is kept for claim ns/other; ");
    CHECK(kept.unusable == "p ");
    const auto own = named(volume("v", ", claimRef: {namespace: default, name: data}"));
    CHECK(own.waits == "claim data is not bound to volume v yet; ");
    CHECK(own.unusable.empty());
    CHECK(named(volume("v", "")).unusable.empty());
    CHECK(decide(nodes + pod("p", "data") + bound("data", "pv") + some_volume).unusable == "p ");
    const std::string odd =
        ", nodeAffinity: {required: {nodeSelectorTerms: [{matchOddly: [{key: k}]}]}}";
    CHECK(decide(nodes + pod("p", "data") + bound("data", "pv") + volume("pv", odd)).unusable ==
          "p ");
    CHECK(decide(nodes + pod("p", "data") + bound("other", "pv")).unusable.empty());
    CHECK(decide(nodes + pod("p", "data") + unbound("data", "none") + local).unusable.empty());
    CHECK(decide(nodes + local + pod("p", "data") + unbound("data", "local")).unusable.empty());
}

TEST_CASE("the node affinity of a bound volume restricts the nodes of its pod") {
    const auto made =
        decide(nodes + pod("p", "data") + bound("data", "pv") + volume("pv", on_node("b2")));
    CHECK(made.placed == "p=b2 ");
    const auto gone =
        decide(nodes + pod("p", "data") + bound("data", "pv") + volume("pv", on_node("c9")));
    CHECK(gone.placed.empty());
    CHECK(gone.codes == std::vector{reason_code::volume_out_of_reach});
    CHECK(gone.answers == std::vector{muster::answer::never});
}

TEST_CASE("a node must match every volume of a pod and the pod's own affinity") {
    const std::string two =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  nodeSelector: "
        "{topology.kubernetes.io/zone: b}\n  containers: [{name: c}]\n  volumes: [{name: v, "
        "persistentVolumeClaim: {claimName: one}}, {name: w, persistentVolumeClaim: {claimName: "
        "two}}]\n";
    const std::string either = ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
                               "[{key: kubernetes.io/hostname, operator: In, values: [a1, b1]}]}, "
                               "{matchExpressions: [{key: kubernetes.io/hostname, operator: In, "
                               "values: [b2]}]}]}}";
    CHECK(decide(nodes + two + bound("one", "v1") + bound("two", "v2") + volume("v1", either) +
                 volume("v2", on_node("b1")))
              .placed == "p=b1 ");
    CHECK(decide(nodes + two + bound("one", "v1") + bound("two", "v2") + volume("v1", either) +
                 volume("v2", on_node("a1")))
              .placed.empty());
}

TEST_CASE("zone labels of a bound volume restrict nodes that have any; values are joined by __") {
    const auto zoned = [](const std::string& labels) {
        return decide(nodes + pod("p", "data") + bound("data", "pv") +
                      volume("pv", "", ", labels: {" + labels + "}"));
    };
    CHECK(zoned("topology.kubernetes.io/zone: b").placed == "p=b1 ");
    CHECK(zoned("topology.kubernetes.io/zone: b__c").placed == "p=b1 ");
    CHECK(zoned("topology.kubernetes.io/zone: c").placed.empty());
    // The deprecated label of a volume also matches the new label of nodes.
    CHECK(zoned("failure-domain.beta.kubernetes.io/zone: b").placed == "p=b1 ");
    // Nodes with a zone label but no region label do not match a region.
    CHECK(zoned("topology.kubernetes.io/region: r").placed.empty());
    const std::string plain = "---\napiVersion: v1\nkind: Node\nmetadata: {name: z}\nstatus: "
                              "{allocatable: {cpu: 8, pods: 110}}\n";
    CHECK(decide(plain + pod("p", "data") + bound("data", "pv") +
                 volume("pv", "", ", labels: {topology.kubernetes.io/zone: c}"))
              .placed == "p=z ");
}

TEST_CASE("a bound claim whose volume is missing waits where the input holds volumes") {
    CHECK(decide(nodes + pod("p", "data") + bound("data", "pv") + some_volume).waits ==
          "claim data is bound to volume pv, which does not exist (expected a PersistentVolume of "
          "that name); ");
    const auto silent = decide(nodes + pod("p", "data") + bound("data", "pv"));
    CHECK(silent.placed == "p=a1 ");
    CHECK(silent.findings.find("the input holds no PersistentVolumes") != std::string::npos);
}

TEST_CASE("an unbound claim of a class that binds immediately waits") {
    const auto made = decide(nodes + pod("p", "data") + unbound("data", "fast") +
                             storage_class("fast", "csi.x", ""));
    CHECK(made.waits == "claim data is not bound (volumes of class fast are bound before pods are "
                        "placed); ");
    CHECK(decide(nodes + pod("p", "data") + unbound("data", "none") + local).waits ==
          "claim data is not bound, and there is no StorageClass none; ");
}

TEST_CASE("the claim of an ephemeral volume is named after pod and volume, which controls it") {
    const std::string user =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: u1}\nspec:\n  containers: "
        "[{name: c}]\n  volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: "
        "{accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: "
        "1Gi}}}}}}]\n";
    const auto owned = [](const std::string& uid) {
        return "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: p-scratch, "
               "ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: " +
               uid + ", controller: true}]}\nspec: {volumeName: pv}\nstatus: {phase: Bound}\n";
    };
    CHECK(decide(nodes + user + owned("u1") + volume("pv", on_node("a2"))).placed == "p=a2 ");
    CHECK(decide(nodes + user + owned("u2") + volume("pv", on_node("a2"))).waits ==
          "claim p-scratch was not made for the pod (expected the pod as its controller): delete "
          "the claim, so that it is made anew; ");
    CHECK(decide(nodes + user + owned("u2") + volume("pv", on_node("a2"))).unusable == "p ");
    CHECK(decide(nodes + user + bound("other", "pv")).unusable.empty());
    CHECK(decide(nodes + user + bound("other", "pv")).waits ==
          "claim p-scratch is still to be made for the pod; ");
}

TEST_CASE("the claim of an ephemeral volume counts as usable where it is made with the pod") {
    const auto user = [](const std::string& meta, const std::string& of_class) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p" + meta +
               "}\nspec:\n  containers: [{name: c}]\n  volumes: [{name: scratch, ephemeral: "
               "{volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], storageClassName: " +
               of_class + ", resources: {requests: {storage: 1Gi}}}}}}]\n";
    };
    const std::string fast = storage_class("fast", "csi.x", "");
    // A pod that exists, in an input without claims.
    const auto exists = decide(nodes + fast + user(", uid: u1", "fast"));
    CHECK(exists.placed == "p=a1 ");
    CHECK(exists.findings.find("the input holds no PersistentVolumeClaims") != std::string::npos);
    // A pod still to be made, of a class that binds at once.
    const auto made = decide(nodes + fast + user("", "fast") + bound("other", "pv"));
    CHECK(made.placed == "p=a1 ");
    CHECK(made.findings.find("their claims are made with the pods, and bound before pods are "
                             "placed") != std::string::npos);
    // Of a class that waits for its consumer: by its rules.
    CHECK(decide(nodes + local + user("", "local")).placed.empty());
    CHECK(decide(nodes + local + user("", "local") +
                 volume("v", ", storageClassName: local" + on_node("b1")))
              .placed == "p=b1 ");
}

TEST_CASE("a claim that waits for its consumer goes where a free volume matches") {
    const std::string free = ", storageClassName: local" + on_node("a2");
    CHECK(decide(nodes + local + pod("p", "data") + unbound("data", "local") + volume("pv", free))
              .placed == "p=a2 ");
    // No match: too small, another class, reserved for another claim, another mode, or bound.
    const auto none = [&](const std::string& of) {
        return decide(nodes + local + pod("p", "data") + unbound("data", "local", "5Gi") + of)
            .placed.empty();
    };
    CHECK(none(volume("pv", free, "", "1Gi")));
    CHECK(none(volume("pv", ", storageClassName: fast" + on_node("a2"))));
    CHECK(none(volume("pv", free + ", claimRef: {namespace: default, name: other}")));
    CHECK(none(volume("pv", free + ", volumeMode: Block")));
    CHECK(none(volume("pv", free) + "status: {phase: Released}\n"));
    CHECK(none(volume("pv", free) + "status: {phase: Pending}\n"));
    CHECK_FALSE(none(volume("pv", free)));
}

TEST_CASE("access modes, selector and attributes class of a claim select volumes") {
    const std::string free = ", storageClassName: local" + on_node("a2");
    const auto placed = [&](const std::string& of_claim, const std::string& of_volume,
                            const std::string& meta = "") {
        return decide(nodes + local + pod("p", "data") + unbound("data", "local", "1Gi", of_claim) +
                      volume("pv", free + of_volume, meta))
            .placed;
    };
    CHECK(placed(", selector: {matchLabels: {disk: ssd}}", "").empty());
    CHECK(placed(", selector: {matchLabels: {disk: ssd}}", "", ", labels: {disk: ssd}") == "p=a2 ");
    CHECK(placed(", volumeAttributesClassName: gold", "").empty());
    CHECK(placed(", volumeAttributesClassName: gold", ", volumeAttributesClassName: gold") ==
          "p=a2 ");
    CHECK(decide(nodes + local + pod("p", "data") +
                 "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, uid: "
                 "u}\nspec: {storageClassName: local, accessModes: [ReadWriteMany]}\n" +
                 volume("pv", free))
              .placed.empty());
}

TEST_CASE("a claim with a reserved volume may get no other volume") {
    const std::string of_class = ", storageClassName: local";
    CHECK(decide(nodes + local + pod("p", "data") + unbound("data", "local") +
                 volume("small", of_class + on_node("a1"), "", "1Gi") +
                 volume("kept",
                        of_class + on_node("b1") + ", claimRef: {namespace: default, name: data}"))
              .placed == "p=b1 ");
}

TEST_CASE("a volume that names a claim serves it whatever the claim selects") {
    const std::string kept =
        ", storageClassName: local, claimRef: {namespace: default, name: data}" + on_node("b1");
    CHECK(decide(nodes + local + pod("p", "data") +
                 unbound("data", "local", "1Gi", ", selector: {matchLabels: {disk: ssd}}") +
                 volume("kept", kept))
              .placed == "p=b1 ");
    CHECK(decide(nodes + local + pod("p", "data") + unbound("data", "local", "20Gi") +
                 volume("kept", kept))
              .placed.empty());
}

TEST_CASE("two members never get the same volume") {
    const std::string both = member("g-0", "d0", 2) + member("g-1", "d1", 2) +
                             unbound("d0", "local") + unbound("d1", "local");
    const std::string of_class = ", storageClassName: local";
    // Volumes of one node.
    CHECK(decide(nodes + local + both + volume("v0", of_class + on_node("a1"))).placed.empty());
    CHECK(decide(nodes + local + both + volume("v0", of_class + on_node("a1")) +
                 volume("v1", of_class + on_node("b2")))
              .placed.size() == 14);
    // Volumes that every node can use.
    CHECK(decide(nodes + local + both + volume("v0", of_class)).placed.empty());
    CHECK(decide(nodes + local + both + volume("v0", of_class) + volume("v1", of_class))
              .placed.size() == 14);
}

TEST_CASE("claims of two sizes get volumes of a node so that the larger claims get large ones") {
    const std::string both = member("g-0", "small", 2) + member("g-1", "large", 2) +
                             unbound("small", "local", "1Gi") + unbound("large", "local", "50Gi");
    const std::string at = ", storageClassName: local" + on_node("a1");
    CHECK(
        decide(nodes + local + both + volume("v0", at, "", "100Gi") + volume("v1", at, "", "10Gi"))
            .placed == "g-0=a1 g-1=a1 ");
    CHECK(decide(nodes + local + both + volume("v0", at, "", "20Gi") + volume("v1", at, "", "10Gi"))
              .placed.empty());
    CHECK(decide(nodes + local + both + volume("v0", at, "", "100Gi")).placed.empty());
}

TEST_CASE("if two gangs compete for one set of volumes, one starts whole and the other waits") {
    std::string all;
    for (const std::string gang : {"g", "h"})
        for (const std::string rank : {"0", "1"})
            all += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + gang + rank +
                   ", labels: {pod-group.scheduling.sigs.k8s.io/name: " + gang +
                   ", pod-group.scheduling.sigs.k8s.io/min-available: \"2\"}}\nspec:\n  "
                   "containers: [{name: c}]\n  volumes: [{name: v, persistentVolumeClaim: "
                   "{claimName: c" +
                   gang + rank + "}}]\n" + unbound("c" + gang + rank, "local");
    for (const std::string& where : {std::string(), on_node("a1")}) {
        std::string volumes;
        for (const std::string name : {"v0", "v1", "v2"})
            volumes += volume(name, ", storageClassName: local" + where);
        const auto made = decide(nodes + local + all + volumes);
        CHECK(made.placed.size() == std::string("g0=a1 g1=a1 ").size());
        CHECK(made.placed.starts_with("g0="));
    }
}

TEST_CASE("volumes that another gang got never prove that a gang cannot ever start") {
    std::string all;
    for (const auto& [pod, claim] :
         {std::pair("g1", "c3"), {"g2", "c4"}, {"h0", "c4"}, {"h1", "c5"}})
        all += std::string("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ") + pod +
               ", labels: {pod-group.scheduling.sigs.k8s.io/name: " + pod[0] +
               ", pod-group.scheduling.sigs.k8s.io/min-available: \"2\"}}\nspec:\n  "
               "containers: [{name: c}]\n  volumes: [{name: v, persistentVolumeClaim: "
               "{claimName: " +
               claim + "}}]\n";
    // The class makes volumes where no node is.
    const std::string elsewhere =
        storage_class("local", "csi.x",
                      "volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: "
                      "[{matchLabelExpressions: [{key: "
                      "topology.kubernetes.io/zone, values: [nowhere]}]}]\n");
    const std::string at = ", storageClassName: local" + on_node("a1");
    const auto made =
        decide(nodes.substr(0, nodes.find("---", 4)) + elsewhere + all +
               unbound("c3", "local", "3Gi") + unbound("c4", "local") + unbound("c5", "local") +
               volume("v0", at, "", "2Gi") + volume("v1", at, "", "5Gi"));
    CHECK(made.placed == "g1=a1 g2=a1 ");
    CHECK(made.answers == std::vector{muster::answer::waiting});
}

TEST_CASE("a pod with a node and a volume is tied to its node") {
    diagnostics out;
    const auto documents =
        read_documents("f", nodes + running("with", "data") + pod("waits", "data"), out);
    const manifests objects = read_manifests(documents, {}, out);
    REQUIRE(out.ok());
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    for (const auto& [key, pod] : cluster.state.pod_keys())
        CHECK(cluster.state.where(pod).value.tied_to_node == (key.name == "with"));
    CHECK(cluster.state.pod_keys().size() == 2);
}

TEST_CASE("a claim restricts its pod to nodes where its class may provision volumes") {
    CHECK(decide(nodes + pod("p", "data") + unbound("data", "net") +
                 storage_class("net", "csi.x",
                               "volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: "
                               "[{matchLabelExpressions: [{key: topology.kubernetes.io/zone, "
                               "values: [b]}]}]\n"))
              .placed == "p=b1 ");
    CHECK(decide(nodes + pod("p", "data") + unbound("data", "net") + storage_class("net", "csi.x"))
              .placed == "p=a1 ");
    CHECK(decide(nodes + local + pod("p", "data") + unbound("data", "local")).waits ==
          "claim data is not bound: there is no volume of class \"local\"; ");
}

TEST_CASE("a claim that is being provisioned for a node keeps its pod there") {
    CHECK(decide(nodes + pod("p", "data") + storage_class("net", "csi.x") +
                 "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, "
                 "annotations: {volume.kubernetes.io/selected-node: b2}}\nspec: "
                 "{storageClassName: net}\n")
              .placed == "p=b2 ");
}

TEST_CASE("claims on a storage pool of one node add up") {
    const std::string pools =
        tracking + storage_class("lvm", "csi.x") +
        capacity("a1", "lvm", "kubernetes.io/hostname: a1", "capacity: 15Gi") +
        capacity("b1", "lvm", "kubernetes.io/hostname: b1", "capacity: 12Gi");
    const std::string two = member("g-0", "d0", 2) + member("g-1", "d1", 2) +
                            unbound("d0", "lvm", "10Gi") + unbound("d1", "lvm", "10Gi");
    const auto apart = decide(nodes + pools + two);
    CHECK(apart.placed.find("=a1") != std::string::npos);
    CHECK(apart.placed.find("=b1") != std::string::npos);
    const std::string three = two + member("g-2", "d2", 2) + unbound("d2", "lvm", "10Gi");
    CHECK(decide(nodes + pools + three).placed.size() == 14);
    const std::string four = member("g-0", "d0", 3) + member("g-1", "d1", 3) +
                             member("g-2", "d2", 3) + unbound("d0", "lvm", "10Gi") +
                             unbound("d1", "lvm", "10Gi") + unbound("d2", "lvm", "10Gi");
    CHECK(decide(nodes + pools + four).placed.empty());
}

std::string in_zone(const std::string& zone) {
    return ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
           "topology.kubernetes.io/zone, operator: In, values: [" +
           zone + "]}]}]}}";
}
/// "KIND: NODE has AMOUNT, of it AMOUNT not its own; " for each amount of storage.
std::string supplies(const std::string& text) {
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const volume_plan made = plan_volumes(read_manifests(documents, {}, out), out);
    std::string found;
    for (const auto& [kind, supply] : made.kinds)
        for (const auto& [name, amount] : supply.on) {
            const auto foreign = supply.not_of_node.find(name);
            found += name + " " + std::to_string(amount) + "-" +
                     std::to_string(foreign == supply.not_of_node.end() ? 0 : foreign->second) +
                     " ";
        }
    return found;
}

TEST_CASE("a storage pool belongs to a node if it names the node, a free volume never does") {
    const std::string one = pod("p", "d");
    const std::string a1 = nodes.substr(0, nodes.find("---", 4));
    const std::string asks = one + unbound("d", "local") + local;
    const std::string of_class = ", storageClassName: local";
    CHECK(supplies(a1 + asks + volume("v", of_class + on_node("a1"))) == "a1 1-1 ");
    CHECK(supplies(a1 + asks + volume("v", of_class + in_zone("a"))) == "a1 1-1 ");
    CHECK(supplies(a1 + asks + volume("v", of_class + on_node("a1")) +
                   volume("w", of_class + in_zone("a"))) == "a1 2-2 ");
    const std::string pools = tracking + storage_class("lvm", "csi.x") + one + unbound("d", "lvm");
    CHECK(
        supplies(a1 + pools + capacity("x", "lvm", "kubernetes.io/hostname: a1", "capacity: 15")) ==
        "a1 15-0 ");
    CHECK(supplies(a1 + pools +
                   capacity("x", "lvm", "topology.kubernetes.io/zone: a", "capacity: 15")) ==
          "a1 15-15 ");
    // A free volume beside a pool that has too little for two claims counts as 10 bytes.
    const std::string beside = tracking + storage_class("lvm", "csi.x") + pod("p", "d") +
                               pod("q", "e") + unbound("d", "lvm", "10") +
                               unbound("e", "lvm", "10") +
                               volume("v", ", storageClassName: lvm" + on_node("a1"));
    CHECK(supplies(a1 + beside +
                   capacity("x", "lvm", "kubernetes.io/hostname: a1", "capacity: 15")) ==
          "a1 25-10 ");
    CHECK(supplies(a1 + beside +
                   capacity("x", "lvm", "topology.kubernetes.io/zone: a", "capacity: 15")) ==
          "a1 25-25 ");
}

/// The same pod, on nodes with that label value.
std::string pinned(std::string pod, const std::string& key, const std::string& value) {
    pod.replace(pod.find("spec:\n"), 6, "spec:\n  nodeSelector: {" + key + ": " + value + "}\n");
    return pod;
}
std::string with_cpu(std::string pod, const std::string& cpu) {
    pod.replace(pod.find("cpu: 1"), 6, "cpu: " + cpu);
    return pod;
}
const std::string zone_key = "topology.kubernetes.io/zone";

TEST_CASE("volumes are handed to claims whose pods may be placed where they are") {
    const std::string of_class = ", storageClassName: local";
    const std::string claims = unbound("d0", "local") + unbound("d1", "local");
    const std::string zonal =
        volume("pa", of_class + in_zone("a")) + volume("pb", of_class + in_zone("b"));
    for (const bool swapped : {false, true}) {
        const std::string first = swapped ? "b" : "a";
        const std::string second = swapped ? "a" : "b";
        const auto made = decide(nodes + local + claims + zonal +
                                 pinned(member("g-0", "d0", 2), zone_key, first) +
                                 pinned(member("g-1", "d1", 2), zone_key, second));
        CHECK(made.placed == "g-0=" + first + "1 g-1=" + second + "1 ");
    }
    // One zone has room for one of the two pods alone.
    const std::string two_in_a = zonal + volume("pa2", of_class + in_zone("a"));
    CHECK(
        decide(nodes + local + unbound("d2", "local") + claims + two_in_a +
               pinned(pod("r", "d9", "  nodeName: a2\nstatus: {phase: Running}\n"), zone_key, "a") +
               with_cpu(member("g-0", "d0", 2), "8") + with_cpu(member("g-1", "d1", 2), "8"))
            .placed.size() == std::string("g-0=a1 g-1=b1 r=a2 ").size());
}

TEST_CASE("a claim that a volume is kept for leaves the matching of others as it is") {
    const std::string of_class = ", storageClassName: local";
    const auto made = decide(
        nodes + local + unbound("d0", "local") + unbound("d1", "local") + unbound("k", "local") +
        volume("pk", of_class + on_node("b2") + ", claimRef: {namespace: default, name: k}") +
        volume("pa", of_class + on_node("a1")) + volume("pb", of_class + on_node("b1")) +
        pod("k", "k") + pinned(member("g-0", "d0", 2), "kubernetes.io/hostname", "a1") +
        pinned(member("g-1", "d1", 2), "kubernetes.io/hostname", "b1"));
    CHECK(made.placed == "g-0=a1 g-1=b1 k=b2 ");
}

TEST_CASE("a gang that does not start keeps no volume or storage from others") {
    const std::string of_class = ", storageClassName: local";
    const std::string hog = with_cpu(pod("a-hog", "h0"), "1000") + unbound("h0", "local");
    CHECK(decide(nodes + local + hog + pod("z", "d0") + unbound("d0", "local") +
                 volume("pa", of_class + in_zone("a")))
              .placed == "z=a1 ");
    // Also one that no single node is too small for.
    std::string wide = unbound("c0", "local") + unbound("c1", "local");
    for (const std::string rank : {"0", "1"})
        wide += pinned(with_cpu(member("g-" + rank, "c" + rank, 2), "8"), "kubernetes.io/hostname",
                       "a1");
    CHECK(decide(nodes + local + wide + pod("z", "d0") + unbound("d0", "local") +
                 volume("pa", of_class + in_zone("a")) + volume("pb", of_class + in_zone("a")))
              .placed == "z=a1 ");

    const std::string pools =
        tracking + storage_class("zonal", "csi.x") +
        capacity("ka", "zonal", "topology.kubernetes.io/zone: a", "capacity: 100Gi") +
        capacity("kb", "zonal", "topology.kubernetes.io/zone: b", "capacity: 60Gi");
    const std::string tenant =
        pinned(pod("x", "d0"), zone_key, "b") + unbound("d0", "zonal", "30Gi");
    // A claim that no pool has room for, and one whose pod fits no node.
    CHECK(decide(nodes + pools + tenant + pod("a", "big") + unbound("big", "zonal", "500Gi"))
              .placed == "x=b1 ");
    CHECK(decide(nodes + pools + tenant + with_cpu(pod("a", "big"), "1000") +
                 unbound("big", "zonal", "60Gi"))
              .placed == "x=b1 ");
}

TEST_CASE("a gang with more claims than free volumes says how many of each there are") {
    const std::string of_class = ", storageClassName: local";
    const std::string gang = member("g-0", "c0", 2) + member("g-1", "c1", 2) +
                             unbound("c0", "local") + unbound("c1", "local");
    const auto made = decide(nodes + local + gang + volume("pa", of_class));
    CHECK(made.waits ==
          "claim c1 is not bound: 2 claims of the gang match 1 free volume of class \"local\"; ");
    CHECK(made.placed.empty());
}

TEST_CASE("members beyond the minimum that get no volume or storage keep nobody from starting") {
    const std::string of_class = ", storageClassName: local" + in_zone("a");
    const std::string three = member("g-0", "c0", 2) + member("g-1", "c1", 2) +
                              member("g-2", "c2", 2) + unbound("c0", "local") +
                              unbound("c1", "local") + unbound("c2", "local");
    const std::string one = local + volume("pa", of_class);
    CHECK(decide(nodes + three + one).placed.empty());
    const auto made = decide(nodes + three + one + volume("pb", of_class));
    CHECK(made.placed.size() == 14);
    CHECK(made.waits ==
          "claim c2 is not bound: 3 claims of the gang match 2 free volumes of class \"local\"; ");
    const std::string pool =
        tracking + storage_class("zonal", "csi.x") +
        capacity("a", "zonal", "topology.kubernetes.io/zone: a", "capacity: 15Gi");
    const std::string large = member("g-0", "c0", 2) + member("g-1", "c1", 2) +
                              member("g-2", "c2", 2) + unbound("c0", "zonal", "12Gi") +
                              unbound("c1", "zonal", "7Gi") + unbound("c2", "zonal", "7Gi");
    const auto pooled = decide(nodes + large + pool);
    CHECK(pooled.placed.find("g-0") == std::string::npos);
    CHECK(pooled.placed.find("g-1") != std::string::npos);
    CHECK(pooled.placed.find("g-2") != std::string::npos);
}

TEST_CASE("a pod gets all of its volumes or none, so that others get them") {
    const std::string of_class = ", storageClassName: local" + in_zone("a");
    std::string both = member("g-0", "c0", 1);
    both.insert(both.rfind("}]"), "}, {name: w, persistentVolumeClaim: {claimName: c9}");
    const auto made =
        decide(nodes + local + both + member("g-1", "c1", 1) + unbound("c0", "local") +
               unbound("c9", "local") + unbound("c1", "local") + volume("pa", of_class));
    CHECK(made.placed.find("g-1=a") != std::string::npos);
    CHECK(made.placed.find("g-0") == std::string::npos);
}

TEST_CASE("of a class that makes volumes, free ones are used where none can be made") {
    const std::string made_in_a =
        storage_class("net", "csi.x",
                      "volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: "
                      "[{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: "
                      "[a]}]}]\n");
    const std::string free = volume("pv", ", storageClassName: net" + in_zone("b"));
    CHECK(decide(nodes + made_in_a + free + unbound("data", "net") +
                 pinned(pod("p", "data"), zone_key, "b"))
              .placed == "p=b1 ");
    CHECK(
        decide(nodes + made_in_a + unbound("data", "net") + pinned(pod("p", "data"), zone_key, "b"))
            .placed.empty());
    CHECK(decide(nodes + tracking + storage_class("net", "csi.x") +
                 capacity("k", "net", zone_key + ": a", "capacity: 1Gi") + free +
                 unbound("data", "net", "5Gi") + pod("p", "data"))
              .placed == "p=b1 ");
}

TEST_CASE("of a class that makes volumes in a zone, free ones are used on other nodes, too") {
    const std::string made_in_a =
        storage_class("net", "csi.x",
                      "volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: "
                      "[{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: "
                      "[a]}]}]\n");
    const std::string of_class = ", storageClassName: net";
    std::string gang;
    for (const std::string rank : {"0", "1", "2", "3"})
        gang += with_cpu(member("m" + rank, "d" + rank, 4), "8") + unbound("d" + rank, "net");
    const auto with = [&](const std::string& volumes) {
        return decide(nodes + made_in_a + gang + volumes).placed.size() / 6;
    };
    // Two nodes are left, which need a free volume each.
    CHECK(with("") == 0);
    CHECK(with(volume("v", of_class + on_node("b1"))) == 0);
    CHECK(with(volume("v", of_class + on_node("b1")) + volume("w", of_class + on_node("b1"))) == 0);
    CHECK(with(volume("v", of_class + on_node("b1")) + volume("w", of_class + on_node("b2"))) == 4);
    CHECK(with(volume("v", of_class + in_zone("b")) + volume("w", of_class + on_node("b2"))) == 4);
    CHECK(with(volume("v", of_class + in_zone("b"))) == 0);
    CHECK(with(volume("v", of_class + in_zone("b")) + volume("w", of_class + in_zone("b"))) == 4);
}

TEST_CASE("free volumes are used beside the storage pool of a node") {
    const std::string lvm = tracking + storage_class("lvm", "csi.x") +
                            capacity("a1", "lvm", "kubernetes.io/hostname: a1", "capacity: 10Gi");
    const std::string of_class = ", storageClassName: lvm";
    const std::string gang = member("m0", "d0", 2) + member("m1", "d1", 2) +
                             unbound("d0", "lvm", "8Gi") + unbound("d1", "lvm", "8Gi");
    CHECK(decide(nodes + lvm + gang).placed.empty());
    CHECK(decide(nodes + lvm + gang + volume("v", of_class + on_node("a1"))).placed ==
          "m0=a1 m1=a1 ");
    CHECK(decide(nodes + lvm + gang + volume("v", of_class + on_node("b1"))).placed.size() == 12);
    CHECK(decide(nodes + lvm + gang + volume("v", of_class + on_node("a1"), "", "7Gi"))
              .placed.empty());
    // The larger claim goes to the pool, the smaller one gets the volume.
    const std::string mixed = member("m0", "d0", 2) + member("m1", "d1", 2) +
                              unbound("d0", "lvm", "8Gi") + unbound("d1", "lvm", "9Gi");
    CHECK(decide(nodes + lvm + mixed + volume("v", of_class + on_node("a1"), "", "8Gi")).placed ==
          "m0=a1 m1=a1 ");
}

TEST_CASE("a storage pool without a capacity counts as a finite amount beside free volumes") {
    const std::string at_a1 = "kubernetes.io/hostname: a1";
    CHECK(decide(nodes + tracking + storage_class("lvm", "csi.x") +
                 capacity("k0", "lvm", at_a1, "capacity: 2Gi") +
                 capacity("k1", "lvm", at_a1, "maximumVolumeSize: 3Gi") + member("m0", "d0", 2) +
                 member("m1", "d1", 2) + unbound("d0", "lvm", "2Gi") + unbound("d1", "lvm", "1Gi") +
                 volume("v", ", storageClassName: lvm" + on_node("a1"), "", "5Gi"))
              .placed == "m0=a1 m1=a1 ");
}

TEST_CASE("a volume is not larger than the maximum volume size of its storage pool") {
    const std::string pools = tracking + storage_class("lvm", "csi.x") +
                              capacity("a1", "lvm", "kubernetes.io/hostname: a1",
                                       "capacity: 100Gi\nmaximumVolumeSize: 5Gi") +
                              capacity("b1", "lvm", "kubernetes.io/hostname: b1", "capacity: 20Gi");
    CHECK(decide(nodes + pools + pod("p", "data") + unbound("data", "lvm", "10Gi")).placed ==
          "p=b1 ");
}

TEST_CASE("claims on a storage pool of a zone add up, gang by gang") {
    const std::string pools =
        tracking + storage_class("zonal", "csi.x") +
        capacity("a", "zonal", "topology.kubernetes.io/zone: a", "capacity: 15Gi");
    const auto gang = [](const std::string& name, const std::string& size) {
        std::string all;
        for (const std::string rank : {"0", "1"})
            all += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + rank +
                   ", labels: {pod-group.scheduling.sigs.k8s.io/name: " + name +
                   ", pod-group.scheduling.sigs.k8s.io/min-available: \"2\"}}\nspec:\n  "
                   "containers: [{name: c}]\n  volumes: [{name: v, persistentVolumeClaim: "
                   "{claimName: c" +
                   name + rank + "}}]\n" + unbound("c" + name + rank, "zonal", size);
        return all;
    };
    CHECK(decide(nodes + pools + gang("g", "10Gi")).placed.empty());
    CHECK(decide(nodes + pools + gang("g", "7Gi")).placed.size() == 12);
    const auto made = decide(nodes + pools + gang("g", "5Gi") + gang("h", "5Gi"));
    CHECK(made.placed.size() == 12);
    CHECK(made.placed.starts_with("g0="));
    CHECK(made.answers == std::vector{muster::answer::waiting});
    const std::string waits = decide(nodes + pools + gang("g", "9Gi")).waits;
    CHECK(waits.find("storage pools of class \"zonal\" have no room for 2 claims of the gang: 18Gi "
                     "needed, 15Gi free in a (zone a)") != std::string::npos);
}

TEST_CASE("a member whose claim no pool can serve does not change the pools of the others") {
    const auto pools = [](const std::string& a, const std::string& b) {
        return tracking + storage_class("zonal", "csi.x") +
               capacity("a", "zonal", "topology.kubernetes.io/zone: a", a) +
               capacity("b", "zonal", "topology.kubernetes.io/zone: b", b);
    };
    const std::string too_large = member("g-2", "c2", 2) + unbound("c2", "zonal", "50Gi");
    // One member may only be placed in zone b.
    const auto apart = decide(
        nodes + pools("capacity: 2Gi", "capacity: 2Gi") + member("g-0", "c0", 2) +
        "  nodeSelector: {topology.kubernetes.io/zone: b}\n" + unbound("c0", "zonal", "1Gi") +
        member("g-1", "c1", 2) + unbound("c1", "zonal", "2Gi") + too_large);
    CHECK(apart.placed == "g-0=b1 g-1=a1 ");
    // One member has two claims, which must be in one zone.
    const std::string one = "{claimName: c0}}";
    std::string of_two = member("g-0", "c0", 2);
    of_two.insert(of_two.find(one) + one.size(),
                  ", {name: w, persistentVolumeClaim: {claimName: c3}}");
    of_two += unbound("c0", "zonal", "1Gi") + unbound("c3", "zonal", "3Gi");
    const auto one_zone =
        decide(nodes + pools("capacity: 8Gi\nmaximumVolumeSize: 4Gi", "capacity: 4Gi") + of_two +
               member("g-1", "c1", 2) + unbound("c1", "zonal", "2Gi") + too_large);
    CHECK(one_zone.placed.find("g-0=a") != std::string::npos);
    CHECK(one_zone.placed.find("g-1=") != std::string::npos);
    CHECK(one_zone.placed.find("g-2=") == std::string::npos);
}

TEST_CASE("members that share a new volume are in one of the class's topologies without CSINodes") {
    const auto decided = [](const std::string& topologies) {
        const std::string of_class =
            storage_class("net", "csi.x", "volumeBindingMode: WaitForFirstConsumer\n" + topologies);
        return decide(nodes + of_class + unbound("c", "net") +
                      with_cpu(member("g-0", "c", 3), "8") + with_cpu(member("g-1", "c", 3), "8") +
                      with_cpu(member("g-2", "c", 3), "8"));
    };
    // A zone has two nodes, and each member needs one.
    CHECK(decided("").placed.find("g-2=") != std::string::npos);
    CHECK(decided("allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, "
                  "values: [a, b]}]}]\n")
              .placed.empty());
}

TEST_CASE("of too few free volumes, the pods that a gang's roles need get theirs first") {
    const auto of_role = [](const std::string& name, const std::string& role,
                            const std::string& size) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
               ", namespace: default, labels: {scheduler.tensorstack.dev/group-name: g, "
               "scheduler.tensorstack.dev/role: " +
               role +
               "}}\nspec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: "
               "{claimName: c-" +
               name + "}}]}\n" + unbound("c-" + name, "local", size);
    };
    const std::string group =
        "---\napiVersion: scheduler.tensorstack.dev/v1beta1\nkind: PodGroup\nmetadata: {name: g, "
        "namespace: default}\nspec: {minMember: 2, roles: [{name: a, minMember: 1}, {name: b, "
        "minMember: 1}]}\n";
    const std::string of_class = ", storageClassName: local" + in_zone("a");
    const auto made =
        decide(nodes + local + group + of_role("a-0", "a", "1Gi") + of_role("a-1", "a", "1Gi") +
               of_role("b-0", "b", "5Gi") + volume("pv", of_class) + volume("pw", of_class));
    CHECK(made.placed.find("a-0=") != std::string::npos);
    CHECK(made.placed.find("a-1=") == std::string::npos);
    CHECK(made.placed.find("b-0=") != std::string::npos);
}

TEST_CASE("a gang gets the volumes that gangs before it leave, if its minimum needs no more") {
    const auto gang = [](const std::string& name, int least, const std::vector<int>& ranks) {
        std::string all;
        for (const int rank : ranks) {
            const std::string own = name + std::to_string(rank);
            all += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + own +
                   ", labels: {pod-group.scheduling.sigs.k8s.io/name: " + name +
                   ", pod-group.scheduling.sigs.k8s.io/min-available: \"" + std::to_string(least) +
                   "\"}}\nspec:\n  containers: [{name: c}]\n  volumes: [{name: v, "
                   "persistentVolumeClaim: {claimName: c" +
                   own + "}}]\n" + unbound("c" + own, "local");
        }
        return all;
    };
    std::string free;
    for (const std::string name : {"pv", "pw", "px"})
        free += volume(name, ", storageClassName: local" + in_zone("a"));
    const auto made = decide(nodes + local + gang("g", 2, {0, 1}) + gang("h", 1, {0, 1}) + free);
    CHECK(made.placed.find("g0=") != std::string::npos);
    CHECK(made.placed.find("g1=") != std::string::npos);
    CHECK(made.placed.find("h0=") != std::string::npos);
    CHECK(made.placed.find("h1=") == std::string::npos);
    CHECK(made.waits.find("2 claims of the gang match 3 free volumes of class \"local\", some or "
                          "all of which go to gangs before it") != std::string::npos);
    // Its minimum needs both: then it is asked for as if it were alone.
    const auto both = decide(nodes + local + gang("g", 2, {0, 1}) + gang("h", 2, {0, 1}) + free);
    CHECK(both.placed.size() == 12);
    CHECK(both.waits.empty());
}

TEST_CASE("ReadWriteOncePod excludes a second pod, and a gang that needs two never starts") {
    const std::string lone = bound("data", "pv", "ReadWriteOncePod") + volume("pv", "");
    const auto two = decide(nodes + pod("p", "data") + pod("q", "data") + lone);
    CHECK(two.placed == "p=a1 ");
    CHECK(two.answers == std::vector{muster::answer::waiting});
    const auto gang = decide(nodes + member("g-0", "data", 2) + member("g-1", "data", 2) + lone);
    CHECK(gang.placed.empty());
    CHECK(gang.answers == std::vector{muster::answer::never});
    const std::string running = pod("r", "data") + "  nodeName: a2\nstatus: {phase: Running}\n";
    CHECK(decide(nodes + running + pod("p", "data") + lone).placed == "r=a2 ");
}

TEST_CASE("members of two roles that must both start never share a ReadWriteOncePod claim") {
    const std::string lone = bound("data", "pv", "ReadWriteOncePod") + volume("pv", "") +
                             bound("more", "pw", "ReadWriteOncePod") + volume("pw", "");
    const auto group = [](int least, const std::string& roles) {
        return "---\napiVersion: scheduler.tensorstack.dev/v1beta1\nkind: PodGroup\nmetadata: "
               "{name: g, namespace: default}\nspec: {minMember: " +
               std::to_string(least) + ", roles: [" + roles + "]}\n";
    };
    const auto of_role = [](const std::string& name, const std::string& role,
                            const std::string& claims) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
               ", namespace: default, labels: {scheduler.tensorstack.dev/group-name: g, "
               "scheduler.tensorstack.dev/role: " +
               role + "}}\nspec: {containers: [{name: c}], volumes: [" + claims + "]}\n";
    };
    const std::string data = "{name: v, persistentVolumeClaim: {claimName: data}}";
    const std::string more = "{name: w, persistentVolumeClaim: {claimName: more}}";
    const std::string both = of_role("g-a", "a", data) + of_role("g-b", "b", data);
    const auto two =
        decide(nodes + group(2, "{name: a, minMember: 1}, {name: b, minMember: 1}") + both + lone);
    CHECK(two.answers == std::vector{muster::answer::never});
    const auto either =
        decide(nodes + group(1, "{name: a, minMember: 0}, {name: b, minMember: 0}") + both + lone);
    CHECK(either.placed.size() == 7);
    // Each of two pods uses both claims: one of them starts.
    const auto one = decide(nodes + group(1, "{name: a, minMember: 0}, {name: b, minMember: 0}") +
                            of_role("g-a", "a", data + ", " + more) +
                            of_role("g-b", "a", data + ", " + more) + lone);
    CHECK(one.placed.size() == 7);
}

TEST_CASE("one claim for one pod bears on a gang that needs only some of its subgroups") {
    muster::gang_tree tree;
    for (int role = 0; role < 3; ++role)
        tree.add(muster::vertex_index{0}, 1);
    const auto meets = [&](std::int64_t required) {
        tree.require_subgroups(muster::vertex_index{0}, required);
        // Roles 1 and 2 have one pod each, with one claim; the pods of role 3 have none.
        std::vector<std::int64_t> counts{0, 0, 0, 2};
        const std::vector<detail::lone_users> claims{{{1, 1}, {2, 1}}};
        std::size_t tries = 1000;
        return detail::meets_minima(tree, counts, claims, tries);
    };
    CHECK(meets(2));
    CHECK_FALSE(meets(3));
}

TEST_CASE("a node attaches at most as many volumes of a driver as its CSINode allows") {
    const std::string limit =
        "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a1}\nspec: {drivers: "
        "[{name: ebs.csi.aws.com, nodeID: i, topologyKeys: [], allocatable: {count: 1}}]}\n";
    const std::string only = "---\napiVersion: v1\nkind: Node\nmetadata: {name: a1}\nstatus: "
                             "{allocatable: {cpu: 8, pods: 110}}\n";
    const auto csi = [](const std::string& name, const std::string& handle) {
        return bound(name, "v-" + name) +
               volume("v-" + name,
                      ", csi: {driver: ebs.csi.aws.com, volumeHandle: " + handle + "}");
    };
    CHECK(decide(only + limit + pod("p", "one") + csi("one", "h1")).placed == "p=a1 ");
    CHECK(decide(only + limit + pod("p", "one") + pod("q", "two") + csi("one", "h1") +
                 csi("two", "h2"))
              .placed == "p=a1 ");
    const auto full = [](const std::string& name) {
        return "  nodeName: " + name + "\nstatus: {phase: Running}\n";
    };
    // A volume that two pods of a node share counts once.
    const std::string two_slots = limit.substr(0, limit.find("count: 1")) + "count: 2}}]}\n";
    CHECK(decide(only + two_slots + pod("r", "one", full("a1")) + pod("s", "one", full("a1")) +
                 pod("p", "two") + csi("one", "h1") + csi("two", "h2"))
              .placed == "p=a1 r=a1 s=a1 ");
    CHECK(decide(only + limit + pod("r", "one", full("a1")) + pod("p", "two") + csi("one", "h1") +
                 csi("two", "h2"))
              .placed == "r=a1 ");
}

TEST_CASE("a free volume of a CSI driver takes an attachment, and never proves never") {
    const std::string slot =
        "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a1}\nspec: {drivers: "
        "[{name: csi.x, nodeID: i, topologyKeys: [], allocatable: {count: 1}}]}\n";
    const std::string only = "---\napiVersion: v1\nkind: Node\nmetadata: {name: a1}\nstatus: "
                             "{allocatable: {cpu: 8, pods: 110}}\n";
    const auto free = [](const std::string& name, const std::string& csi = "csi.x") {
        return volume(name, ", storageClassName: net, csi: {driver: " + csi + ", volumeHandle: h-" +
                                name + "}");
    };
    const std::string all = only + slot + storage_class("net", "kubernetes.io/no-provisioner") +
                            unbound("c", "net") + unbound("d", "net") + pod("p", "c") +
                            pod("q", "d");
    const auto full = decide(all + free("v") + free("w"));
    CHECK(full.placed == "p=a1 ");
    CHECK(full.answers == std::vector{muster::answer::waiting});
    // If the volumes are of several drivers, none is counted.
    CHECK(decide(all + free("v") + free("w", "csi.y")).placed == "p=a1 q=a1 ");
    // A volume that suits neither claim does not matter.
    CHECK(decide(all + free("v") + free("w") +
                 volume("x", ", storageClassName: net, volumeMode: Block"))
              .placed == "p=a1 ");
    // A volume that no driver attaches may come to serve the claim.
    const std::string none = "  containers: [{name: c}]\n  volumes: [{name: v, "
                             "persistentVolumeClaim: {claimName: c}}, {name: w, "
                             "persistentVolumeClaim: {claimName: d}}]\n";
    const auto both = decide(only + slot + storage_class("net", "kubernetes.io/no-provisioner") +
                             unbound("c", "net") + unbound("d", "net") + free("v") + free("w") +
                             "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n" + none);
    CHECK(both.placed.empty());
    CHECK(both.answers == std::vector{muster::answer::waiting});
}

TEST_CASE("a claim that pods share takes one attachment of a node") {
    const auto slots = [](const std::string& name, int count) {
        return "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: " + name +
               "}\nspec: {drivers: [{name: csi.x, nodeID: i, topologyKeys: [], allocatable: "
               "{count: " +
               std::to_string(count) + "}}]}\n";
    };
    const std::string only = "---\napiVersion: v1\nkind: Node\nmetadata: {name: a1}\nstatus: "
                             "{allocatable: {cpu: 64, pods: 110}}\n";
    const auto csi = [](const std::string& name) {
        return bound(name, "v-" + name) +
               volume("v-" + name, ", csi: {driver: csi.x, volumeHandle: h-" + name + "}");
    };
    const std::string on_a1 = "  nodeName: a1\nstatus: {phase: Running}\n";
    std::string gang;
    for (int rank = 0; rank < 8; ++rank)
        gang += member("g-" + std::to_string(rank), "c", 8);
    CHECK(decide(only + slots("a1", 2) + gang + csi("c")).placed.size() == 8 * 7);
    CHECK(decide(only + slots("a1", 1) + gang + csi("c")).placed.size() == 8 * 7);
    // A node has it attached already.
    CHECK(decide(only + slots("a1", 1) + pod("r", "c", on_a1) + pod("x", "c") + csi("c")).placed ==
          "r=a1 x=a1 ");
    // Another volume holds the only attachment, for now.
    const auto held =
        decide(only + slots("a1", 1) + pod("r", "d", on_a1) + gang + csi("c") + csi("d"));
    CHECK(held.placed == "r=a1 ");
    CHECK(held.answers == std::vector{muster::answer::waiting});
    // Beside the shared volume there is room for one more, not for two.
    CHECK(
        decide(only + slots("a1", 2) + gang + csi("c") + pod("x", "d") + csi("d")).placed.size() ==
        8 * 7 + 5);
    CHECK(decide(only + slots("a1", 2) + gang + csi("c") + pod("x", "d") + pod("z", "e") +
                 csi("d") + csi("e"))
              .placed.size() == 8 * 7 + 5);
    // Volumes of their own: the limit of the nodes proves that a gang never starts.
    const auto many = decide(only + slots("a1", 1) + member("g-0", "d", 2) + member("g-1", "e", 2) +
                             csi("d") + csi("e"));
    CHECK(many.answers == std::vector{muster::answer::never});
}

TEST_CASE("too little free storage never proves that a pod cannot ever start") {
    const std::string pools = tracking + storage_class("lvm", "csi.x") +
                              capacity("a1", "lvm", "kubernetes.io/hostname: a1", "capacity: 5Gi");
    const auto pool = decide(nodes + pools + pod("p", "data") + unbound("data", "lvm", "10Gi"));
    CHECK(pool.answers == std::vector{muster::answer::waiting});
    CHECK(pool.codes == std::vector{reason_code::insufficient_resource});
    const std::string two = member("g-0", "d0", 2) + member("g-1", "d1", 2) +
                            unbound("d0", "local") + unbound("d1", "local");
    CHECK(decide(nodes + local + two + volume("v0", ", storageClassName: local" + on_node("a1")))
              .answers == std::vector{muster::answer::waiting});
    // What else it asks for does.
    std::string large = pod("p", "data");
    large.replace(large.find("cpu: 1"), 6, "cpu: 9");
    CHECK(decide(nodes + pools + large + unbound("data", "lvm", "10Gi")).answers ==
          std::vector{muster::answer::never});
}

TEST_CASE("disks of in-tree plugins count towards the CSI driver that replaces the plugin") {
    const std::string limit =
        "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a1}\nspec: {drivers: "
        "[{name: ebs.csi.aws.com, nodeID: i, topologyKeys: [], allocatable: {count: 1}}]}\n";
    const std::string only = "---\napiVersion: v1\nkind: Node\nmetadata: {name: a1}\nstatus: "
                             "{allocatable: {cpu: 8, pods: 110}}\n";
    const std::string moved =
        bound("one", "v1") + volume("v1", ", awsElasticBlockStore: {volumeID: vol-1}");
    const std::string inline_disk =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec: {containers: [{name: c}], "
        "volumes: [{name: v, awsElasticBlockStore: {volumeID: vol-2}}]}\n";
    CHECK(decide(only + limit + pod("p", "one") + inline_disk + moved).placed == "p=a1 ");
    const std::string inline_csi =
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec: {containers: [{name: c}], "
        "volumes: [{name: v, csi: {driver: ebs.csi.aws.com}}]}\n";
    CHECK(decide(only + limit + pod("p", "one") + inline_csi + moved).placed == "p=a1 ");
}

TEST_CASE("Azure disks are known by their URI, Azure shares by secret and name") {
    const std::string only = "---\napiVersion: v1\nkind: Node\nmetadata: {name: a1}\nstatus: "
                             "{allocatable: {cpu: 8, pods: 110}}\n";
    const auto limit = [](const std::string& driver) {
        return "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a1}\nspec: "
               "{drivers: [{name: " +
               driver + ", nodeID: i, topologyKeys: [], allocatable: {count: 1}}]}\n";
    };
    const auto user = [](const std::string& name, const std::string& source) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
               "}\nspec: {containers: [{name: c}], volumes: [{name: v, " + source + "}]}\n";
    };
    const std::string disks =
        only + limit("disk.csi.azure.com") + user("p", "azureDisk: {diskName: d, diskURI: one}");
    CHECK(decide(disks + user("q", "azureDisk: {diskName: d, diskURI: two}")).placed == "p=a1 ");
    CHECK(decide(disks + user("q", "azureDisk: {diskName: e, diskURI: one}")).placed ==
          "p=a1 q=a1 ");
    CHECK(decide(only + limit("file.csi.azure.com") +
                 user("p", "azureFile: {secretName: s, shareName: d}") +
                 user("q", "azureFile: {secretName: t, shareName: d}"))
              .placed == "p=a1 ");
    // The zone of an EBS volume is no part of its name.
    CHECK(decide(only + limit("ebs.csi.aws.com") +
                 user("p", "awsElasticBlockStore: {volumeID: \"aws://a/vol-1\"}") + pod("q", "c") +
                 bound("c", "v") + volume("v", ", awsElasticBlockStore: {volumeID: vol-1}"))
              .placed == "p=a1 q=a1 ");
}

TEST_CASE("a pod whose volumes a node has attached starts there above the node's limit") {
    const std::string slots =
        "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a1}\nspec: {drivers: "
        "[{name: csi.x, nodeID: i, topologyKeys: [], allocatable: {count: 1}}]}\n";
    const std::string only = "---\napiVersion: v1\nkind: Node\nmetadata: {name: a1}\nstatus: "
                             "{allocatable: {cpu: 8, pods: 110}}\n";
    const auto csi = [](const std::string& name) {
        return bound(name, "v-" + name) +
               volume("v-" + name, ", csi: {driver: csi.x, volumeHandle: h-" + name + "}");
    };
    const auto both = [](const std::string& name, const std::string& more = "") {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
               "}\nspec:\n  containers: [{name: c}]\n  volumes: [{name: v, "
               "persistentVolumeClaim: {claimName: one}}, {name: w, persistentVolumeClaim: "
               "{claimName: two}}]\n" +
               more;
    };
    const std::string all = only + slots + csi("one") + csi("two");
    CHECK(
        decide(all + both("r", "  nodeName: a1\nstatus: {phase: Running}\n") + both("p")).placed ==
        "p=a1 r=a1 ");
    CHECK(decide(all + both("p")).answers == std::vector{muster::answer::never});
}

TEST_CASE("a claim for which a node is selected gets a new volume, not a free one") {
    const std::string selected =
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, uid: u-c, "
        "annotations: {volume.kubernetes.io/selected-node: a1}}\nspec: {storageClassName: net, "
        "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\nstatus: {phase: "
        "Pending}\n";
    const std::string free = volume("v", ", storageClassName: net" + on_node("a1"));
    const std::string only_b =
        "volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: [{matchLabelExpressions: "
        "[{key: topology.kubernetes.io/zone, values: [b]}]}]\n";
    CHECK(decide(nodes + storage_class("net", "csi.x") + selected + free + pod("p", "c")).placed ==
          "p=a1 ");
    CHECK(decide(nodes + storage_class("net", "csi.x", only_b) + selected + free + pod("p", "c"))
              .placed.empty());
    const auto none = decide(nodes + storage_class("net", "kubernetes.io/no-provisioner") +
                             selected + free + pod("p", "c"));
    CHECK(none.placed.empty());
    CHECK(none.waits.find("a node is selected for it, and class \"net\" makes no volumes") !=
          std::string::npos);
}

TEST_CASE("a volume that is kept for a claim and too small for it leaves others to it") {
    const auto kept = [](const std::string& size) {
        return volume("a-kept",
                      ", storageClassName: local, claimRef: {kind: PersistentVolumeClaim, "
                      "namespace: default, name: c}" +
                          on_node("a1"),
                      "", size);
    };
    const std::string other = volume("other", ", storageClassName: local" + on_node("b1"));
    const std::string asking = nodes + local + unbound("c", "local", "5Gi") + pod("p", "c");
    CHECK(decide(asking + kept("5Gi") + other).placed == "p=a1 ");
    CHECK(decide(asking + kept("4Gi") + other).placed == "p=b1 ");
}

/// Which pods of other gangs use a claim bears on no count of storage.
TEST_CASE("a pod that cannot start neither frees the claims that it shares nor steers them") {
    const std::string pooled =
        nodes + storage_class("net", "csi.x") + tracking +
        capacity("pool", "net", "topology.kubernetes.io/zone: a", "capacity: 15Gi") +
        unbound("c1", "net", "10Gi") + unbound("c2", "net", "10Gi") + member("w-0", "c1", 2) +
        member("w-1", "c2", 2);
    const std::string apart = "  nodeSelector: {x: nowhere}\n";
    CHECK(decide(pooled).placed.empty());
    CHECK(decide(pooled + pod("other", "c2", apart)).placed.empty());
    CHECK(decide(pooled + pod("other", "c2", "  schedulingGates: [{name: g}]\n")).placed.empty());
    CHECK(decide(pooled + pod("other", "c2", "  nodeSelector: {kubernetes.io/hostname: b1}\n"))
              .placed.empty());
    // Two claims, one volume; the pod that shares one of them waits for another claim.
    const std::string two = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: other}\nspec:\n"
                            "  containers: [{name: c}]\n  volumes: [{name: v, "
                            "persistentVolumeClaim: {claimName: c2}}, {name: w, "
                            "persistentVolumeClaim: {claimName: missing}}]\n";
    const std::string one_volume = nodes + local + volume("v", ", storageClassName: local") +
                                   unbound("c1", "local") + unbound("c2", "local") +
                                   member("w-0", "c1", 2) + member("w-1", "c2", 2);
    CHECK(decide(one_volume + two).placed.empty());
    // A free volume on a1 or a new one: the pod that may only be placed in zone b gets a new one.
    CHECK(decide(nodes + storage_class("net", "csi.x") + unbound("c", "net") +
                 volume("v", ", storageClassName: net" + on_node("a1")) +
                 pod("x", "c", "  nodeSelector: {x: nowhere}\n") +
                 pod("p", "c", "  nodeSelector: {topology.kubernetes.io/zone: b}\n"))
              .placed == "p=b1 ");
}

TEST_CASE("a gang that cannot start keeps no volume from the gangs after it") {
    // One volume that several nodes reach, and one node that is full without it.
    const auto of = [](std::string text, const std::string& gang, const std::string& more = "") {
        text.replace(text.find("name: g,"), 7, "name: " + gang);
        return text + more;
    };
    const auto without_volume = [&](const std::string& name, const std::string& gang, int of_gang,
                                    const std::string& cpu) {
        std::string text = of(member(name, "x", of_gang), gang);
        text.replace(text.find("cpu: 1"), 6, "cpu: " + cpu);
        return text.substr(0, text.find("  volumes"));
    };
    const std::string any = volume("v", ", storageClassName: local");
    const std::string claims = unbound("c0", "local") + unbound("c1", "local");
    const std::string later = of(member("p", "c1", 1), "h");
    // No node has room for the other pod of the first gang.
    CHECK(decide(nodes + local + any + claims + of(member("a-0", "c0", 2), "a") +
                 without_volume("a-1", "a", 2, "9") + later)
              .placed == "p=a1 ");
    // All nodes together have too little for it.
    std::string large = of(member("a-0", "c0", 6), "a");
    for (int rank = 1; rank < 6; ++rank)
        large += without_volume("a-" + std::to_string(rank), "a", 6, "7");
    CHECK(decide(nodes + local + any + claims + large + later).placed == "p=a1 ");
    // The same if the gang after it has another pod, whose claim has no class.
    CHECK(decide(nodes + local + any + claims + large + later + unbound("c2", "none") +
                 of(member("q", "c2", 1), "h"))
              .placed == "p=a1 ");
}

TEST_CASE("a pod that no node serves with all of its volumes keeps none from its gang") {
    const std::string two = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: g-0, labels: "
                            "{pod-group.scheduling.sigs.k8s.io/name: g, "
                            "pod-group.scheduling.sigs.k8s.io/min-available: \"1\"}}\nspec:\n  "
                            "containers: [{name: c, resources: {requests: {cpu: 1}}}]\n  volumes: "
                            "[{name: v, persistentVolumeClaim: {claimName: c0}}, {name: w, "
                            "persistentVolumeClaim: {claimName: c1}}]\n";
    const std::string in_b =
        ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
        "topology.kubernetes.io/zone, operator: In, values: [b]}]}]}}";
    const auto made = decide(nodes + local + two + unbound("c0", "local") + unbound("c1", "local") +
                             member("g-1", "c2", 1) + unbound("c2", "local") +
                             volume("v0", ", storageClassName: local" + on_node("a1")) +
                             volume("v1", ", storageClassName: local" + in_b));
    CHECK((made.placed == "g-1=a1 " || made.placed == "g-1=b1 "));
    CHECK(made.waits.find("no node reaches free volumes or storage for all claims of the pod") !=
          std::string::npos);
}

TEST_CASE("the volume of a shared claim is chosen for a pod that can reach it") {
    const std::string far = "  nodeSelector: {topology.kubernetes.io/zone: b}\n";
    const std::string v = volume("v", ", storageClassName: local" + on_node("a1"));
    CHECK(decide(nodes + local + unbound("c", "local") + pod("p", "c", far) + pod("q", "c") + v)
              .placed == "q=a1 ");
}

TEST_CASE("storage of a zone in which the class makes no volumes is handed to nobody") {
    const std::string only_b =
        storage_class("lvm", "csi.x",
                      "volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: "
                      "[{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: "
                      "[b]}]}]\n");
    const auto pool = [](const std::string& zone, const std::string& size) {
        return capacity("pool-" + zone, "lvm", "topology.kubernetes.io/zone: " + zone,
                        "capacity: " + size);
    };
    const std::string all = nodes + tracking + only_b + unbound("c", "lvm", "3Gi") + pod("p", "c") +
                            unbound("d", "lvm", "10Gi") + pod("q", "d");
    CHECK(decide(all + pool("a", "20Gi") + pool("b", "10Gi")).placed == "p=b1 ");
    CHECK(decide(all + pool("a", "20Gi") + pool("b", "13Gi")).placed == "p=b1 q=b1 ");
    CHECK(decide(all + pool("a", "20Gi")).placed.empty());
}

TEST_CASE("a shared claim gets a volume where there is room for all pods that use it") {
    std::string two = member("g-0", "c", 2) + member("g-1", "c", 2);
    two.replace(two.find("cpu: 1"), 6, "cpu: 5");
    two.replace(two.find("cpu: 1"), 6, "cpu: 5");
    const std::string large = "---\napiVersion: v1\nkind: Node\nmetadata: {name: z, labels: "
                              "{kubernetes.io/hostname: z}}\nstatus: {allocatable: {cpu: 16, "
                              "pods: 110}}\n";
    const auto disk = [](const std::string& name, const std::string& node) {
        return volume(name, ", storageClassName: local" + on_node(node));
    };
    CHECK(decide(nodes + large + local + unbound("c", "local") + two + disk("v0", "a1") +
                 disk("v1", "z"))
              .placed == "g-0=z g-1=z ");
    CHECK(decide(nodes + large + local + unbound("c", "local") + two + disk("v0", "a1"))
              .placed.empty());
}

TEST_CASE("inline CSI volumes count, and never prove never") {
    std::string gang;
    for (const std::string rank : {"0", "1"}) {
        gang += member("g-" + rank, "x", 2);
        gang.replace(gang.rfind("persistentVolumeClaim: {claimName: x}"), 37,
                     "csi: {driver: csi.x}");
    }
    const auto made =
        decide("---\napiVersion: v1\nkind: Node\nmetadata: {name: a1}\nstatus: {allocatable: "
               "{cpu: 8, pods: 110}}\n---\napiVersion: storage.k8s.io/v1\nkind: "
               "CSINode\nmetadata: {name: a1}\nspec: {drivers: [{name: csi.x, nodeID: i, "
               "allocatable: {count: 1}}]}\n" +
               gang);
    CHECK(made.placed.empty());
    CHECK(made.answers == std::vector{muster::answer::waiting});
}

TEST_CASE("a pod waits for a volume of which a field is unknown, as it may bear on nodes") {
    const std::string typo = ", nodeAffinty: {required: {}}";
    diagnostics out;
    const auto documents = read_documents("f", volume("v", typo), out);
    static_cast<void>(read_manifests(documents, {}, out));
    REQUIRE(out.findings().size() == 1);
    CHECK(to_text(out.findings().front()).find("spec.nodeAffinty: unknown field") !=
          std::string::npos);
    CHECK(out.ok());
    // A bound volume, and a free one.
    for (const std::string& claim : {bound("c", "v"), unbound("c", "local")})
        for (const std::string& more : {std::string(), typo}) {
            const auto made = decide(nodes + local + claim + pod("p", "c") +
                                     volume("v", ", storageClassName: local" + more));
            CHECK(made.placed == (more.empty() ? "p=a1 " : ""));
            CHECK((made.waits.find("not understood") != std::string::npos) == !more.empty());
        }
}

TEST_CASE("a pod never gets one volume for two claims, though one is another gang's as well") {
    // The first gang uses c3 and never starts, as no node has a zone z.
    const auto first = [](const std::string& name, const std::string& claims,
                          const std::string& more) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
               ", labels: {pod-group.scheduling.sigs.k8s.io/name: a, "
               "pod-group.scheduling.sigs.k8s.io/min-available: \"2\"}}\nspec:\n  containers: "
               "[{name: c}]\n  volumes: [" +
               claims + "]\n" + more;
    };
    const std::string both = "{name: v, persistentVolumeClaim: {claimName: c2}}, {name: w, "
                             "persistentVolumeClaim: {claimName: c3}}";
    const std::string two_nodes = ", nodeAffinity: {required: {nodeSelectorTerms: "
                                  "[{matchExpressions: [{key: kubernetes.io/hostname, operator: "
                                  "In, values: [a1, b1]}]}]}}";
    const auto made =
        decide(nodes + local + unbound("c2", "local") + unbound("c3", "local", "2Gi") +
               volume("pv0", ", storageClassName: local" + two_nodes) +
               volume("pv1", ", storageClassName: local" + on_node("a1")) +
               first("a-0", "{name: v, persistentVolumeClaim: {claimName: c3}}",
                     "  nodeSelector: {kubernetes.io/hostname: b1}\n") +
               first("a-1", "", "  nodeSelector: {topology.kubernetes.io/zone: z}\n") +
               "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  nodeSelector: "
               "{kubernetes.io/hostname: b1}\n  containers: [{name: c}]\n  volumes: [" +
               both + "]\n");
    CHECK(made.placed.empty());
}

TEST_CASE("too few volumes go to the claims by which the gang's minimum is met") {
    std::string gang = member("g-0", "c0", 3);
    for (const std::string rank : {"1", "2", "3"})
        gang += member("g-" + rank, "c1", 3);
    CHECK(decide(nodes + local + volume("v", ", storageClassName: local") + unbound("c0", "local") +
                 unbound("c1", "local") + gang)
              .placed == "g-1=a1 g-2=a1 g-3=a1 ");
}

TEST_CASE("two pods on one node never use the same in-tree disk") {
    const auto user = [](const std::string& name, const std::string& source) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
               "}\nspec: {nodeSelector: {kubernetes.io/hostname: a1}, containers: [{name: c}], "
               "volumes: [{name: v, " +
               source + "}]}\n";
    };
    const std::string ebs = "awsElasticBlockStore: {volumeID: vol-1}";
    CHECK(decide(nodes + user("p", ebs) + user("q", ebs)).placed == "p=a1 ");
    const std::string gce = "gcePersistentDisk: {pdName: d, readOnly: true}";
    CHECK(decide(nodes + user("p", gce) + user("q", gce)).placed == "p=a1 q=a1 ");
}

TEST_CASE("pods wait for nodes with the CSI driver if the driver requires that") {
    const std::string driver =
        "---\napiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: csi.x}\nspec: "
        "{preventPodSchedulingIfMissing: true}\n";
    const std::string on = "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: "
                           "b2}\nspec: {drivers: [{name: csi.x, nodeID: i}]}\n";
    CHECK(decide(nodes + driver + on + pod("p", "data") + bound("data", "pv") +
                 volume("pv", ", csi: {driver: csi.x, volumeHandle: h}"))
              .placed == "p=b2 ");
}

TEST_CASE("a pod with more volumes than empty nodes attach never starts, even if it shares one") {
    const auto limited = [](const std::string& most) {
        std::string all = nodes + storage_class("net", "csi.x") + unbound("shared", "net") +
                          unbound("own", "net");
        for (const std::string node : {"a1", "a2", "b1", "b2"})
            all += "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: " + node +
                   "}\nspec: {drivers: [{name: csi.x, nodeID: i, topologyKeys: [], allocatable: "
                   "{count: " +
                   most + "}}]}\n";
        return decide(all + pod("other", "shared") +
                      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: "
                      "[{name: c}]\n  volumes: [{name: v, persistentVolumeClaim: {claimName: "
                      "shared}}, {name: w, persistentVolumeClaim: {claimName: own}}]\n");
    };
    CHECK(limited("1").placed == "other=a1 ");
    CHECK(limited("1").answers == std::vector{muster::answer::never});
    CHECK(limited("2").answers.empty());
}

TEST_CASE("pods that share an unprovisioned claim are placed in one topology domain") {
    const std::string zonal =
        storage_class("zonal", "csi.x") +
        "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a1}\nspec: {drivers: "
        "[{name: csi.x, nodeID: i, topologyKeys: [topology.kubernetes.io/zone]}]}\n";
    std::string gang;
    for (const std::string rank : {"0", "1", "2"})
        gang += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: g-" + rank +
                ", labels: {pod-group.scheduling.sigs.k8s.io/name: g, "
                "pod-group.scheduling.sigs.k8s.io/min-available: \"3\"}}\nspec:\n  containers: "
                "[{name: c, resources: {requests: {cpu: 8}}}]\n  volumes: [{name: v, "
                "persistentVolumeClaim: {claimName: data}}]\n";
    // Three pods that fill a node each do not fit two nodes of one zone.
    const auto apart = decide(nodes + zonal + gang + unbound("data", "zonal"));
    CHECK(apart.placed.empty());
    CHECK(apart.answers == std::vector{muster::answer::never});
    const auto busy = decide(nodes +
                             "---\napiVersion: v1\nkind: Node\nmetadata: {name: a3, labels: "
                             "{topology.kubernetes.io/zone: a}}\nstatus: {allocatable: {cpu: 8, "
                             "pods: 110}}\n" +
                             zonal + gang + unbound("data", "zonal") +
                             pod("old", "data", "  nodeName: a3\nstatus: {phase: Running}\n"));
    CHECK(busy.placed == "old=a3 ");
    CHECK(busy.answers == std::vector{muster::answer::waiting});
    CHECK(decide(nodes + gang + storage_class("zonal", "csi.x") + unbound("data", "zonal"))
              .placed.size() == std::string("g-0=a1 g-1=a2 g-2=b1 ").size());
}

} // namespace codec_volume_rules_test
