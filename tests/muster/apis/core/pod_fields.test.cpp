// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/pod_fields.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/core/volumes/csi_migration.hpp>
#include <muster/apis/shares/device_shares.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_pod_fields_test {

using namespace muster::codec;

namespace {

struct read_result {
    pod_object pod;
    std::string findings;
};

read_result read(const std::string& spec) {
    diagnostics found;
    const auto documents = read_documents("f", "metadata: {name: p}\nspec:\n" + spec, found);
    REQUIRE(documents.size() == 1);
    object_reader object(documents[0], found);
    reading_context context;
    read_result result;
    result.pod = read_pod(object, context);
    for (const diagnostic& each : found.findings())
        result.findings += to_text(each) + '\n';
    return result;
}

const std::string containers = "  containers: [{}]\n";

std::string unsupported(const std::string& spec) {
    std::string all;
    for (const std::string& each : read(containers + spec).pod.unsupported)
        all += (all.empty() ? "" : " ") + each;
    return all;
}

/// A value that no field of this type accepts.
std::string_view wrong_value(field_type type) {
    return type == field_type::text ? "7" : "wrong";
}

std::string_view name_of(field_support support) {
    switch (support) {
    case field_support::honoured:
        return "honoured";
    case field_support::irrelevant:
        return "irrelevant";
    case field_support::refused:
        return "refused";
    }
    return "";
}

/// The compatibility page.
std::string page() {
    std::ostringstream out;
    out << "# Compatibility\n\n"
           "What Muster does with every field of a pod that Kubernetes 1.37 knows. "
           "`pod_fields.hpp` "
           "is the source\nof this page.\n\n"
           "- **honoured**: every decision takes the field into account.\n"
           "- **irrelevant**: has no influence on where or whether the pod may run.\n"
           "- **refused**: bears on placement and is not modelled. The pod waits with the reason\n"
           "  `UnsupportedConstraint`, which names the field.\n\n"
           "A field that is not listed makes the pod wait in the same way, with a warning, except "
           "in the places\nmarked \"open\". A field of a container that stands in the PodSpec is a "
           "warning only: the API server\ndrops it.\n";
    for (const pod_field_place& place : pod_field_places) {
        out << "\n## " << place.name << (place.closed ? "" : " (open)") << "\n\n"
            << "| field | answer | note |\n|---|---|---|\n";
        for (const pod_field& each : place.fields)
            out << "| `" << each.key << "` | " << name_of(each.support) << " | " << each.note
                << (each.note.empty() ? "|\n" : " |\n");
    }
    out << "\n## Shares of devices\n\n"
           "The node agent of the named scheduler gives a pod the devices that were written into "
           "it. Honoured if nodes\nof the cluster register such devices: HAMi's of NVIDIA, "
           "Volcano's `vgpu-*`, Koordinator's GPUs, and in plans\nKAI's and openb's. Refused "
           "otherwise. One "
           "`*` matches any text.\n\n"
           "| resource or annotation | served by |\n|---|---|\n";
    for (const device_share& each : share_resources)
        out << "| resource `" << each.key << "` | " << each.scheduler << " |\n";
    for (const device_share& each : share_annotations)
        out << "| annotation `" << each.key << "` | " << each.scheduler << " |\n";
    for (const agent_node& each : agent_nodes)
        out << "| resource `" << each.resource << "` of nodes with annotation `" << each.annotation
            << "` | " << each.scheduler << " |\n";
    out << "\n## Versions of Kubernetes\n\n"
           "`--kubernetes` (1.35 to 1.38, default: 1.37) selects the version whose rules apply to "
           "pods.\n\n"
           "| rule | before 1.38 | from 1.38 on | Muster |\n|---|---|---|---|\n"
           "| spread constraint with an empty label selector | counts no pods | counts all pods of "
           "its namespace | follows the version |\n"
           "| quantity beyond int64 | wraps, often to 0 | saturates | saturates at every version "
           "|\n\n"
           "`--kubernetes` does not affect quantities: Muster computes them exactly, and an amount "
           "beyond\nint64 counts as the largest int64. A request beyond int64 therefore fits no "
           "node, while a\nkube-scheduler before 1.38 reads `100E` as 0 and starts the pod. An "
           "allocatable amount beyond 2^57\ncounts as 2^57, with a warning. Negative requests, "
           "which 1.38 rounds differently, are errors.\n";
    return out.str();
}

} // namespace

TEST_CASE("the compatibility page prints the table of pod fields") {
    const std::string path =
        std::string(MUSTER_TEST_DATA) + "/../../include/muster/apis/core/COMPATIBILITY.md";
    if (std::getenv("MUSTER_UPDATE"))
        std::ofstream(path) << page();
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    // MUSTER_UPDATE=1 rewrites it.
    CHECK(text.str() == page());
}

TEST_CASE("a field of the wrong type is an error, whatever its support") {
    for (const pod_field& each : detail::pod_tables::spec) {
        CAPTURE(each.key);
        if (each.support == field_support::refused)
            continue;
        const std::string text =
            "  " + std::string(each.key) + ": " + std::string(wrong_value(each.type)) + "\n";
        const auto result = read(each.key == "containers" ? text : containers + text);
        CHECK(result.findings.find("spec." + std::string(each.key) + ": found ") !=
              std::string::npos);
    }
}

TEST_CASE("a pod with a refused field waits and names it") {
    CHECK(unsupported("  resourceClaims: [{name: a}]\n") == "spec.resourceClaims[0]");
    CHECK(unsupported("  resourceClaims: [{name: a, resourceClaimName: c, "
                      "resourceClaimTemplateName: t}]\n") == "spec.resourceClaims[0]");
    for (const pod_field& each : detail::pod_tables::volume) {
        if (each.support == field_support::honoured)
            continue;
        CAPTURE(each.key);
        const std::string key(each.key);
        CHECK(unsupported("  volumes: [{" + key + (key == "name" ? ": v" : ": {}") + "}]\n") ==
              (each.support == field_support::refused ? "spec.volumes[0]." + key : ""));
    }
}

TEST_CASE("an unknown field makes the pod wait where it bears on placement") {
    const auto at = [](const std::string& spec) {
        const auto result = read(containers + spec);
        CHECK(result.findings.find("unknown field, and the pod waits") != std::string::npos);
        REQUIRE(result.pod.unsupported.size() == 1);
        return result.pod.unsupported.front();
    };
    const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
    const std::string preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    const std::string node = "  affinity: {nodeAffinity: {";
    const std::string pods = "  affinity: {podAntiAffinity: {";
    CHECK(at("  x: 1\n") == "spec.x");
    CHECK(at("  affinity: {x: {}}\n") == "spec.affinity.x");
    CHECK(at(node + "requiredDuringSchedulingRequiredDuringExecution: {}}}\n") ==
          "spec.affinity.nodeAffinity.requiredDuringSchedulingRequiredDuringExecution");
    CHECK(at(node + required + ": {nodeSelectorTerms: [{x: []}, {x: 1}]}}}\n") ==
          "spec.affinity.nodeAffinity." + required + ".nodeSelectorTerms[1].x");
    CHECK(at(node + required + ": {nodeSelectorTerms: [], x: 1}}}\n") ==
          "spec.affinity.nodeAffinity." + required + ".x");
    CHECK(
        at(node + required +
           ": {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists, x: 1}]}]}}}\n") ==
        "spec.affinity.nodeAffinity." + required + ".nodeSelectorTerms[0].matchExpressions[0].x");
    CHECK(at(node + preferred + ": [{weight: 1, preference: {}, x: 1}]}}\n") ==
          "spec.affinity.nodeAffinity." + preferred + "[0].x");
    CHECK(at(pods + "x: 1}}\n") == "spec.affinity.podAntiAffinity.x");
    CHECK(at(pods + required + ": [{topologyKey: z, x: 1}]}}\n") ==
          "spec.affinity.podAntiAffinity." + required + "[0].x");
    CHECK(at(pods + required + ": [{topologyKey: z, labelSelector: {x: 1}}]}}\n") ==
          "spec.affinity.podAntiAffinity." + required + "[0].labelSelector.x");
    CHECK(at(pods + required + ": [{topologyKey: z, namespaceSelector: {x: 1}}]}}\n") ==
          "spec.affinity.podAntiAffinity." + required + "[0].namespaceSelector.x");
    CHECK(at(pods + preferred + ": [{weight: 1, podAffinityTerm: {topologyKey: z}, x: 1}]}}\n") ==
          "spec.affinity.podAntiAffinity." + preferred + "[0].x");
    CHECK(at("  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: "
             "ScheduleAnyway, x: 1}]\n") == "spec.topologySpreadConstraints[0].x");
    CHECK(at("  tolerations: [{operator: Exists, x: 1}]\n") == "spec.tolerations[0].x");
    CHECK(at("  volumes: [{name: v, x: {}}]\n") == "spec.volumes[0].x");
    CHECK(at("  resourceClaims: [{name: a, resourceClaimName: c, x: 1}]\n") ==
          "spec.resourceClaims[0].x");
    CHECK(at("  resources: {x: 1}\n") == "spec.resources.x");
    CHECK(at("  initContainers: [{resources: {x: 1}}]\n") == "spec.initContainers[0].resources.x");
    const std::string volume = "  volumes: [{name: v, ";
    const std::string claim = volume + "ephemeral: {volumeClaimTemplate: {";
    const std::string claim_path = "spec.volumes[0].ephemeral.volumeClaimTemplate";
    CHECK(at(volume + "persistentVolumeClaim: {claimName: c, x: 1}}]\n") ==
          "spec.volumes[0].persistentVolumeClaim.x");
    CHECK(at(volume + "ephemeral: {volumeClaimTemplate: {spec: {}}, x: 1}}]\n") ==
          "spec.volumes[0].ephemeral.x");
    CHECK(at(claim + "spec: {}, x: 1}}}]\n") == claim_path + ".x");
    CHECK(at(claim + "spec: {x: 1}}}}]\n") == claim_path + ".spec.x");
    CHECK(at(claim + "spec: {resources: {x: 1}}}}}]\n") == claim_path + ".spec.resources.x");
    CHECK(at(claim + "spec: {selector: {x: 1}}}}}]\n") == claim_path + ".spec.selector.x");
    CHECK(at(volume + "csi: {driver: d, x: 1}}]\n") == "spec.volumes[0].csi.x");
    for (const disk_source& each : disk_sources) {
        const std::string disk(each.field);
        CAPTURE(disk);
        CHECK(at(volume + disk + ": {" + std::string(each.handle) + ": h, x: 1}}]\n") ==
              "spec.volumes[0]." + disk + ".x");
    }
}

TEST_CASE("every field that Kubernetes knows in a volume that is honoured lets the pod run") {
    const std::string claim =
        "accessModes: [ReadWriteOnce], dataSource: {}, dataSourceRef: {}, resources: {limits: {}, "
        "requests: {storage: 1Gi}}, selector: {}, storageClassName: s, volumeAttributesClassName: "
        "a, volumeMode: Block, volumeName: v";
    for (const std::string& source :
         {std::string("persistentVolumeClaim: {claimName: c, readOnly: true}"),
          "ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: {" + claim + "}}}",
          std::string("csi: {driver: d, fsType: f, nodePublishSecretRef: {}, readOnly: true, "
                      "volumeAttributes: {a: b}}"),
          std::string("awsElasticBlockStore: {fsType: f, partition: 1, readOnly: true, volumeID: "
                      "v}"),
          std::string("azureDisk: {cachingMode: None, diskName: d, diskURI: u, fsType: f, kind: "
                      "Managed, readOnly: true}"),
          std::string("azureFile: {readOnly: true, secretName: s, shareName: a}"),
          std::string("cinder: {fsType: f, readOnly: true, secretRef: {}, volumeID: v}"),
          std::string("gcePersistentDisk: {fsType: f, partition: 1, pdName: p, readOnly: true}"),
          std::string("portworxVolume: {fsType: f, readOnly: true, volumeID: v}"),
          std::string("vsphereVolume: {fsType: f, storagePolicyID: i, storagePolicyName: a, "
                      "volumePath: p}")}) {
        CAPTURE(source);
        const auto result = read(containers + "  volumes: [{name: v, " + source + "}]\n");
        CHECK(result.pod.unsupported.empty());
        CHECK(result.findings.empty());
    }
}

TEST_CASE("an unknown field of a gang reference or of the system makes the pod wait") {
    const auto with = [](const std::string& spec) {
        CHECK(read(containers + spec).findings.find("unknown field, and the pod waits") !=
              std::string::npos);
        return unsupported(spec);
    };
    CHECK(with("  schedulingGroup: {podGroupName: g, x: 7}\n") ==
          "spec.schedulingGroup.x spec.schedulingGroup");
    CHECK(with("  workloadRef: {name: w, podGroup: g, podGroupReplicaKey: '1', x: 7}\n") ==
          "spec.workloadRef.x spec.workloadRef");
    CHECK(with("  os: {name: linux, x: 7}\n") == "spec.os.x");
    // Only the reference itself is a mark, which counts no more once the pod is in its gang.
    CHECK(read(containers + "  schedulingGroup: {podGroupName: g, x: 7}\n").pod.gang_marks ==
          std::vector<std::string>{"spec.schedulingGroup"});
}

TEST_CASE("an unknown field that is null or an empty list is ignored") {
    CHECK(unsupported("  x: null\n  y: []\n") == "");
}

TEST_CASE("a field of a container in the pod's spec is a warning, and the pod does not wait") {
    for (const std::string key : {"imagePullPolicy: Always", "image: a", "env: []", "ports: [{}]",
                                  "volumeMounts: [{name: v, mountPath: /v}]", "command: [run]"}) {
        CAPTURE(key);
        const auto result = read(containers + "  " + key + "\n");
        CHECK(result.pod.unsupported.empty());
        CHECK(result.findings.find("spec." + key.substr(0, key.find(':')) +
                                   ": a field of containers") != std::string::npos);
    }
}

TEST_CASE("an unknown field of a container is a warning only") {
    const auto result = read("  containers: [{x: 1, ports: [{y: 1}]}]\n");
    CHECK(result.pod.unsupported.empty());
    CHECK(result.findings.find("containers[0].x: unknown field, ignored") != std::string::npos);
}

TEST_CASE("the support of a type of volume is known by its name") {
    CHECK(volume_source_support("persistentVolumeClaim") == field_support::honoured);
    CHECK(volume_source_support("emptyDir") == field_support::irrelevant);
    CHECK(volume_source_support("fc") == field_support::refused);
    CHECK_FALSE(volume_source_support("name"));
    CHECK_FALSE(volume_source_support("magnetic"));
}

} // namespace codec_pod_fields_test
