// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What Muster does with a field of a pod.
enum class field_support : std::uint8_t {
    honoured,   ///< every decision takes the field into account
    irrelevant, ///< has no influence on where or whether the pod may run
    refused,    ///< bears on placement and is not modelled: the pod waits
};

/// The JSON type that the API server accepts in a field.
enum class field_type : std::uint8_t { text, integer, boolean, list, object };

struct pod_field {
    std::string_view key;
    field_type type;
    field_support support;
    /// Remark for the compatibility page; may be empty.
    std::string_view note = {};
};

/// The fields of one type of the API, sorted by key.
struct pod_field_place {
    std::string_view name;
    std::span<const pod_field> fields;
    /// If true, a field that is not in the table makes the pod wait. If false, it is a warning.
    bool closed = true;
};

namespace detail::pod_tables {

using enum field_support;
using enum field_type;

inline constexpr std::array spec{
    pod_field{"activeDeadlineSeconds", integer, honoured, "an upper limit of the run time"},
    pod_field{"affinity", object, honoured},
    pod_field{"automountServiceAccountToken", boolean, irrelevant},
    pod_field{"containers", list, honoured},
    pod_field{"dnsConfig", object, irrelevant},
    pod_field{"dnsPolicy", text, irrelevant},
    pod_field{"enableServiceLinks", boolean, irrelevant},
    pod_field{"ephemeralContainers", list, irrelevant, "they request no resources"},
    pod_field{"evictionResponders", list, irrelevant},
    pod_field{"hostAliases", list, irrelevant},
    pod_field{"hostIPC", boolean, irrelevant},
    pod_field{"hostNetwork", boolean, honoured, "container ports become host ports"},
    pod_field{"hostPID", boolean, irrelevant},
    pod_field{"hostUsers", boolean, irrelevant},
    pod_field{"hostname", text, irrelevant},
    pod_field{"hostnameOverride", text, irrelevant},
    pod_field{"imagePullSecrets", list, irrelevant},
    pod_field{"initContainers", list, honoured},
    pod_field{"nodeName", text, honoured},
    pod_field{"nodeSelector", object, honoured},
    pod_field{"os", object, honoured,
              "excludes nodes whose label kubernetes.io/os names another system"},
    pod_field{"overhead", object, honoured},
    pod_field{"preemptionPolicy", text, honoured},
    pod_field{"priority", integer, honoured},
    pod_field{"priorityClassName", text, honoured},
    pod_field{"readinessGates", list, irrelevant},
    pod_field{"resourceClaims", list, honoured, "the pod waits for claims that are not allocated"},
    pod_field{"resources", object, honoured},
    pod_field{"restartPolicy", text, irrelevant},
    pod_field{"runtimeClassName", text, honoured,
              "the API server writes the overhead, selector and tolerations of the class into the "
              "pod; for pods that are not created yet, Muster adds those of a RuntimeClass of the "
              "input (`muster run`: not for replicas of jobs of T9k and Grove)"},
    pod_field{"schedulerName", text, honoured},
    pod_field{"schedulingGates", list, honoured, "the pod waits until the list is empty"},
    pod_field{"schedulingGroup", object, honoured, "the pod's gang"},
    pod_field{"securityContext", object, irrelevant},
    pod_field{"serviceAccount", text, irrelevant},
    pod_field{"serviceAccountName", text, irrelevant},
    pod_field{"setHostnameAsFQDN", boolean, irrelevant},
    pod_field{"shareProcessNamespace", boolean, irrelevant},
    pod_field{"subdomain", text, irrelevant},
    pod_field{"terminationGracePeriodSeconds", integer, irrelevant},
    pod_field{"tolerations", list, honoured},
    pod_field{"topologySpreadConstraints", list, honoured},
    pod_field{"volumes", list, honoured},
    pod_field{"workloadRef", object, honoured, "the pod's gang; Kubernetes 1.35 only"},
};

inline constexpr std::array os{
    pod_field{"name", text, honoured},
};

/// The fields of spec.schedulingGroup.
inline constexpr std::array scheduling_group{
    pod_field{"podGroupName", text, honoured},
};

/// The fields of spec.workloadRef.
inline constexpr std::array workload_reference{
    pod_field{"name", text, honoured},
    pod_field{"podGroup", text, honoured},
    pod_field{"podGroupReplicaKey", text, honoured},
};

inline constexpr std::array affinity{
    pod_field{"nodeAffinity", object, honoured},
    pod_field{"podAffinity", object, honoured},
    pod_field{"podAntiAffinity", object, honoured},
};

/// The fields of nodeAffinity (where `required` is an object), podAffinity and podAntiAffinity.
inline constexpr std::array affinity_kind{
    pod_field{"preferredDuringSchedulingIgnoredDuringExecution", list, honoured},
    pod_field{"requiredDuringSchedulingIgnoredDuringExecution", list, honoured},
};

inline constexpr std::array node_selector{
    pod_field{"nodeSelectorTerms", list, honoured},
};

inline constexpr std::array node_term{
    pod_field{"matchExpressions", list, honoured},
    pod_field{"matchFields", list, honoured, "metadata.name"},
};

inline constexpr std::array preferred_node{
    pod_field{"preference", object, honoured},
    pod_field{"weight", integer, honoured},
};

inline constexpr std::array affinity_term{
    pod_field{"labelSelector", object, honoured},
    pod_field{"matchLabelKeys", list, honoured},
    pod_field{"mismatchLabelKeys", list, honoured},
    pod_field{"namespaceSelector", object, honoured},
    pod_field{"namespaces", list, honoured},
    pod_field{"topologyKey", text, honoured},
};

inline constexpr std::array preferred_affinity{
    pod_field{"podAffinityTerm", object, honoured},
    pod_field{"weight", integer, honoured},
};

inline constexpr std::array label_selector{
    pod_field{"matchExpressions", list, honoured},
    pod_field{"matchLabels", object, honoured},
};

inline constexpr std::array requirement{
    pod_field{"key", text, honoured},
    pod_field{"operator", text, honoured},
    pod_field{"values", list, honoured},
};

inline constexpr std::array spread{
    pod_field{"labelSelector", object, honoured},    pod_field{"matchLabelKeys", list, honoured},
    pod_field{"maxSkew", integer, honoured},         pod_field{"minDomains", integer, honoured},
    pod_field{"nodeAffinityPolicy", text, honoured}, pod_field{"nodeTaintsPolicy", text, honoured},
    pod_field{"topologyKey", text, honoured},        pod_field{"whenUnsatisfiable", text, honoured},
};

inline constexpr std::array toleration{
    pod_field{"effect", text, honoured},
    pod_field{"key", text, honoured},
    pod_field{"operator", text, honoured},
    pod_field{"tolerationSeconds", integer, irrelevant, "applies only after placement"},
    pod_field{"value", text, honoured},
};

/// A volume: its name, and one source.
inline constexpr std::array volume{
    pod_field{"awsElasticBlockStore", object, honoured, "as a volume of its CSI driver"},
    pod_field{"azureDisk", object, honoured, "as a volume of its CSI driver"},
    pod_field{"azureFile", object, honoured, "as a volume of its CSI driver"},
    pod_field{"cephfs", object, irrelevant, "every node can use it"},
    pod_field{"cinder", object, honoured, "as a volume of its CSI driver"},
    pod_field{"configMap", object, irrelevant},
    pod_field{"csi", object, honoured},
    pod_field{"downwardAPI", object, irrelevant},
    pod_field{"emptyDir", object, irrelevant},
    pod_field{"ephemeral", object, honoured},
    pod_field{"fc", object, refused, "only nodes on its fabric can use it"},
    pod_field{"flexVolume", object, irrelevant, "kube-scheduler places it anywhere too"},
    pod_field{"flocker", object, refused, "no kubelet mounts it since 1.25"},
    pod_field{"gcePersistentDisk", object, honoured, "as a volume of its CSI driver"},
    pod_field{"gitRepo", object, irrelevant},
    pod_field{"glusterfs", object, irrelevant, "every node can use it"},
    pod_field{"hostPath", object, irrelevant, "kube-scheduler places it anywhere too"},
    pod_field{"image", object, irrelevant},
    pod_field{"iscsi", object, refused, "two pods on a node may share it only if both only read"},
    pod_field{"name", text, irrelevant},
    pod_field{"nfs", object, irrelevant, "every node can use it"},
    pod_field{"persistentVolumeClaim", object, honoured},
    pod_field{"photonPersistentDisk", object, refused, "no supported kubelet mounts it"},
    pod_field{"portworxVolume", object, honoured, "as a volume of its CSI driver"},
    pod_field{"projected", object, irrelevant},
    pod_field{"quobyte", object, refused, "no kubelet mounts it since 1.25"},
    pod_field{"rbd", object, refused, "two pods on a node may share it only if both only read"},
    pod_field{"scaleIO", object, refused, "no supported kubelet mounts it"},
    pod_field{"secret", object, irrelevant},
    pod_field{"storageos", object, refused, "no kubelet mounts it since 1.25"},
    pod_field{"vsphereVolume", object, honoured, "as a volume of its CSI driver"},
};

inline constexpr std::array claim_source{
    pod_field{"claimName", text, honoured},
    pod_field{"readOnly", boolean, irrelevant},
};

inline constexpr std::array ephemeral_source{
    pod_field{"volumeClaimTemplate", object, honoured},
};

inline constexpr std::array claim_template{
    pod_field{"metadata", object, irrelevant},
    pod_field{"spec", object, honoured},
};

inline constexpr std::array claim_spec{
    pod_field{"accessModes", list, honoured},
    pod_field{"dataSource", object, irrelevant, "applies when the volume is provisioned"},
    pod_field{"dataSourceRef", object, irrelevant, "applies when the volume is provisioned"},
    pod_field{"resources", object, honoured},
    pod_field{"selector", object, honoured},
    pod_field{"storageClassName", text, honoured},
    pod_field{"volumeAttributesClassName", text, honoured},
    pod_field{"volumeMode", text, honoured},
    pod_field{"volumeName", text, honoured},
};

inline constexpr std::array claim_resources{
    pod_field{"limits", object, irrelevant},
    pod_field{"requests", object, honoured, "storage"},
};

inline constexpr std::array csi_source{
    pod_field{"driver", text, honoured},
    pod_field{"fsType", text, irrelevant},
    pod_field{"nodePublishSecretRef", object, irrelevant},
    pod_field{"readOnly", boolean, irrelevant},
    pod_field{"volumeAttributes", object, irrelevant},
};

/// The fields of all in-tree disks that CSI migration covers. A handle that belongs to another type
/// of disk makes the pod wait.
inline constexpr std::array disk_source{
    pod_field{"cachingMode", text, irrelevant},
    pod_field{"diskName", text, irrelevant},
    pod_field{"diskURI", text, honoured},
    pod_field{"fsType", text, irrelevant},
    pod_field{"kind", text, irrelevant},
    pod_field{"partition", integer, irrelevant},
    pod_field{"pdName", text, honoured},
    pod_field{"readOnly", boolean, honoured},
    pod_field{"secretName", text, honoured},
    pod_field{"secretRef", object, irrelevant},
    pod_field{"shareName", text, honoured},
    pod_field{"storagePolicyID", text, irrelevant},
    pod_field{"storagePolicyName", text, irrelevant},
    pod_field{"volumeID", text, honoured},
    pod_field{"volumePath", text, honoured},
};

inline constexpr std::array container{
    pod_field{"args", list, irrelevant},
    pod_field{"command", list, irrelevant},
    pod_field{"env", list, irrelevant},
    pod_field{"envFrom", list, irrelevant},
    pod_field{"image", text, irrelevant, "nodes that have the image are not preferred"},
    pod_field{"imagePullPolicy", text, irrelevant},
    pod_field{"lifecycle", object, irrelevant},
    pod_field{"livenessProbe", object, irrelevant},
    pod_field{"name", text, irrelevant},
    pod_field{"ports", list, honoured, "host ports"},
    pod_field{"readinessProbe", object, irrelevant},
    pod_field{"resizePolicy", list, irrelevant},
    pod_field{"resources", object, honoured,
              "and resources that the kubelet has allocated during a resize"},
    pod_field{"restartPolicy", text, honoured, "Always makes an init container a sidecar"},
    pod_field{"restartPolicyRules", list, irrelevant},
    pod_field{"securityContext", object, irrelevant},
    pod_field{"startupProbe", object, irrelevant},
    pod_field{"stdin", boolean, irrelevant},
    pod_field{"stdinOnce", boolean, irrelevant},
    pod_field{"terminationMessagePath", text, irrelevant},
    pod_field{"terminationMessagePolicy", text, irrelevant},
    pod_field{"tty", boolean, irrelevant},
    pod_field{"volumeDevices", list, irrelevant, "the pod's `volumes` decide"},
    pod_field{"volumeMounts", list, irrelevant, "the pod's `volumes` decide"},
    pod_field{"workingDir", text, irrelevant},
};

/// An entry of a pod's resourceClaims.
inline constexpr std::array resource_claim{
    pod_field{"name", text, honoured},
    pod_field{"resourceClaimName", text, honoured},
    pod_field{"resourceClaimTemplateName", text, honoured},
};

inline constexpr std::array port{
    pod_field{"containerPort", integer, honoured, "with hostNetwork"},
    pod_field{"hostIP", text, honoured},
    pod_field{"hostPort", integer, honoured},
    pod_field{"name", text, irrelevant},
    pod_field{"protocol", text, honoured},
};

inline constexpr std::array resources{
    pod_field{"claims", list, irrelevant, "the pod's `resourceClaims` decide"},
    pod_field{"limits", object, honoured, "used if the request is missing"},
    pod_field{"requests", object, honoured},
};

inline constexpr std::array status{
    pod_field{"allocatedResources", object, irrelevant},
    pod_field{"conditions", list, honoured, "PodScheduled and Ready"},
    pod_field{"containerStatuses", list, honoured, "resources that the kubelet has allocated"},
    pod_field{"ephemeralContainerStatuses", list, irrelevant},
    pod_field{"extendedResourceClaimStatus", object, honoured, "written before the pod is bound"},
    pod_field{"hostIP", text, irrelevant},
    pod_field{"hostIPs", list, irrelevant},
    pod_field{"initContainerStatuses", list, honoured, "resources that the kubelet has allocated"},
    pod_field{"message", text, irrelevant},
    pod_field{"nodeAllocatableResourceClaimStatuses", list, irrelevant},
    pod_field{
        "nominatedNodeName", text, honoured,
        "no gang, of whatever priority, gets the room of a pod that another scheduler has "
        "nominated (in files: a scheduler that belongs to no dialect); written for pods that wait "
        "for evicted pods to end"},
    pod_field{"observedGeneration", integer, irrelevant},
    pod_field{"phase", text, honoured},
    pod_field{"podIP", text, irrelevant},
    pod_field{"podIPs", list, irrelevant},
    pod_field{"qosClass", text, irrelevant},
    pod_field{"reason", text, irrelevant},
    pod_field{"resize", text, irrelevant},
    pod_field{"resourceClaimStatuses", list, honoured, "claims made from templates"},
    pod_field{"resources", object, irrelevant},
    pod_field{"startTime", text, honoured},
    pod_field{"volumeHealth", list, irrelevant},
};

} // namespace detail::pod_tables

/// The parts of a pod that bear on placement, each with all its fields as of Kubernetes 1.37.
inline constexpr std::array pod_field_places{
    pod_field_place{"PodSpec", detail::pod_tables::spec},
    pod_field_place{"PodOS", detail::pod_tables::os},
    pod_field_place{"PodSchedulingGroup", detail::pod_tables::scheduling_group},
    pod_field_place{"WorkloadReference", detail::pod_tables::workload_reference},
    pod_field_place{"Affinity", detail::pod_tables::affinity},
    pod_field_place{"NodeAffinity, PodAffinity, PodAntiAffinity",
                    detail::pod_tables::affinity_kind},
    pod_field_place{"NodeSelector", detail::pod_tables::node_selector},
    pod_field_place{"NodeSelectorTerm", detail::pod_tables::node_term},
    pod_field_place{"PreferredSchedulingTerm", detail::pod_tables::preferred_node},
    pod_field_place{"PodAffinityTerm", detail::pod_tables::affinity_term},
    pod_field_place{"WeightedPodAffinityTerm", detail::pod_tables::preferred_affinity},
    pod_field_place{"LabelSelector", detail::pod_tables::label_selector},
    pod_field_place{"LabelSelectorRequirement, NodeSelectorRequirement",
                    detail::pod_tables::requirement},
    pod_field_place{"TopologySpreadConstraint", detail::pod_tables::spread},
    pod_field_place{"Toleration", detail::pod_tables::toleration},
    pod_field_place{"Volume", detail::pod_tables::volume},
    pod_field_place{"PersistentVolumeClaimVolumeSource", detail::pod_tables::claim_source},
    pod_field_place{"EphemeralVolumeSource", detail::pod_tables::ephemeral_source},
    pod_field_place{"PersistentVolumeClaimTemplate", detail::pod_tables::claim_template},
    pod_field_place{"PersistentVolumeClaimSpec of a template", detail::pod_tables::claim_spec},
    pod_field_place{"VolumeResourceRequirements", detail::pod_tables::claim_resources},
    pod_field_place{"CSIVolumeSource", detail::pod_tables::csi_source},
    pod_field_place{"Volume sources of in-tree disks", detail::pod_tables::disk_source},
    pod_field_place{"PodResourceClaim", detail::pod_tables::resource_claim},
    pod_field_place{"Container", detail::pod_tables::container, false},
    pod_field_place{"ContainerPort", detail::pod_tables::port, false},
    pod_field_place{"ResourceRequirements", detail::pod_tables::resources},
    pod_field_place{"PodStatus", detail::pod_tables::status, false},
};

static_assert(std::ranges::all_of(pod_field_places, [](const pod_field_place& each) {
    return std::ranges::is_sorted(each.fields, {}, &pod_field::key);
}));

/// Returns the row of `key`, or nullptr. O(log fields).
[[nodiscard]] constexpr const pod_field* find_field(std::span<const pod_field> fields,
                                                    std::string_view key) noexcept {
    const auto found = std::ranges::lower_bound(fields, key, {}, &pod_field::key);
    return found == fields.end() || found->key != key ? nullptr : &*found;
}

/// Returns the support of a volume type such as `persistentVolumeClaim`, or nullopt for a type that
/// Kubernetes 1.37 does not have.
[[nodiscard]] constexpr std::optional<field_support>
volume_source_support(std::string_view source) noexcept {
    const pod_field* const found = find_field(detail::pod_tables::volume, source);
    return found && source != "name" ? std::optional(found->support) : std::nullopt;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
