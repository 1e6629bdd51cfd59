// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/serve/json_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// A column that a table of a custom kind has beside NAME.
struct printed_column {
    std::string name;
    std::string type;
    std::string path;
    std::int64_t priority = 0;
};

/// A kind of objects that the server serves.
struct kind_info {
    std::string group;
    std::string version;
    std::string plural;
    std::string singular;
    std::string kind;
    std::vector<std::string> short_names = {};
    bool namespaced = true;
    /// Its status is written through a subresource only.
    bool has_status = false;
    /// Its metadata count the changes of all but metadata and status.
    bool counts_generations = false;
    /// Deleting one answers with the object, not with a Status.
    bool returns_deleted = false;
    bool custom = false;
    std::vector<std::string> categories = {};
    std::vector<printed_column> columns = {};
    json::object schema = {};

    [[nodiscard]] std::string api_version() const {
        return group.empty() ? version : group + "/" + version;
    }
};

/// What is served without any definition. Of Kubernetes' kinds those that a scheduler and
/// `kubectl apply` of its manifests meet.
[[nodiscard]] inline std::vector<kind_info> built_in_kinds() {
    std::vector<kind_info> made;
    const auto add = [&made](std::string group, std::string version, std::string plural,
                             std::string kind, std::vector<std::string> short_names,
                             bool namespaced) -> kind_info& {
        kind_info one;
        one.group = std::move(group);
        one.version = std::move(version);
        one.plural = std::move(plural);
        one.kind = std::move(kind);
        for (const char c : one.kind)
            one.singular += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        one.short_names = std::move(short_names);
        one.namespaced = namespaced;
        return made.emplace_back(std::move(one));
    };
    const auto with_status = [&](kind_info& one, bool generations) {
        one.has_status = true;
        one.counts_generations = generations;
    };
    with_status(add("", "v1", "namespaces", "Namespace", {"ns"}, false), false);
    with_status(add("", "v1", "nodes", "Node", {"no"}, false), false);
    kind_info& pods = add("", "v1", "pods", "Pod", {"po"}, true);
    with_status(pods, true);
    pods.returns_deleted = true;
    pods.categories = {"all"};
    add("", "v1", "events", "Event", {"ev"}, true);
    add("", "v1", "configmaps", "ConfigMap", {"cm"}, true);
    add("", "v1", "secrets", "Secret", {}, true);
    add("", "v1", "serviceaccounts", "ServiceAccount", {"sa"}, true).returns_deleted = true;
    kind_info& services = add("", "v1", "services", "Service", {"svc"}, true);
    with_status(services, false);
    services.categories = {"all"};
    services.returns_deleted = true;
    kind_info& claims =
        add("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", {"pvc"}, true);
    with_status(claims, false);
    claims.returns_deleted = true;
    kind_info& volumes = add("", "v1", "persistentvolumes", "PersistentVolume", {"pv"}, false);
    with_status(volumes, false);
    volumes.returns_deleted = true;
    for (const auto& [plural, kind, names] : {std::tuple{"deployments", "Deployment", "deploy"},
                                              std::tuple{"replicasets", "ReplicaSet", "rs"},
                                              std::tuple{"statefulsets", "StatefulSet", "sts"},
                                              std::tuple{"daemonsets", "DaemonSet", "ds"}})
        with_status(add("apps", "v1", plural, kind, {names}, true), true);
    with_status(add("batch", "v1", "jobs", "Job", {}, true), true);
    with_status(add("batch", "v1", "cronjobs", "CronJob", {"cj"}, true), true);
    add("coordination.k8s.io", "v1", "leases", "Lease", {}, true);
    with_status(add("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", {"pdb"}, true),
                true);
    for (const auto& [plural, kind, namespaced] :
         {std::tuple{"csinodes", "CSINode", false}, std::tuple{"csidrivers", "CSIDriver", false},
          std::tuple{"csistoragecapacities", "CSIStorageCapacity", true}})
        add("storage.k8s.io", "v1", plural, kind, {}, namespaced).returns_deleted = true;
    kind_info& attachments =
        add("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", {}, false);
    with_status(attachments, false);
    attachments.returns_deleted = true;
    add("storage.k8s.io", "v1", "storageclasses", "StorageClass", {"sc"}, false).returns_deleted =
        true;
    for (const auto& [plural, kind, namespaced] :
         {std::tuple{"deviceclasses", "DeviceClass", false},
          std::tuple{"resourceslices", "ResourceSlice", false},
          std::tuple{"resourceclaimtemplates", "ResourceClaimTemplate", true}})
        add("resource.k8s.io", "v1", plural, kind, {}, namespaced).returns_deleted = true;
    with_status(add("resource.k8s.io", "v1", "devicetaintrules", "DeviceTaintRule", {}, false),
                true);
    kind_info& device_claims =
        add("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", {}, true);
    with_status(device_claims, false);
    device_claims.returns_deleted = true;
    add("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", {"netpol"}, true)
        .counts_generations = true;
    add("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", {"pc"}, false)
        .counts_generations = true;
    add("scheduling.k8s.io", "v1alpha2", "workloads", "Workload", {"wl"}, true).counts_generations =
        true;
    with_status(add("scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", {"pg"}, true), false);
    for (const auto& [plural, kind, namespaced] :
         {std::tuple{"roles", "Role", true}, std::tuple{"rolebindings", "RoleBinding", true},
          std::tuple{"clusterroles", "ClusterRole", false},
          std::tuple{"clusterrolebindings", "ClusterRoleBinding", false}})
        add("rbac.authorization.k8s.io", "v1", plural, kind, {}, namespaced);
    with_status(add("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies",
                    "ValidatingAdmissionPolicy", {}, false),
                true);
    add("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
        "ValidatingAdmissionPolicyBinding", {}, false)
        .counts_generations = true;
    with_status(add("apiextensions.k8s.io", "v1", "customresourcedefinitions",
                    "CustomResourceDefinition", {"crd", "crds"}, false),
                true);
    return made;
}

/// All kinds that are served now. An index stays the same for as long as the kind is served.
class kind_table {
public:
    kind_table() : kinds_(built_in_kinds()), served_(kinds_.size(), true) {}

    [[nodiscard]] const kind_info& operator[](std::size_t at) const { return kinds_[at]; }
    [[nodiscard]] std::size_t size() const noexcept { return kinds_.size(); }
    [[nodiscard]] bool is_served(std::size_t at) const { return served_[at]; }

    [[nodiscard]] std::optional<std::size_t> find(std::string_view group, std::string_view version,
                                                  std::string_view plural) const {
        for (std::size_t at = 0; at < kinds_.size(); ++at)
            if (served_[at] && kinds_[at].plural == plural && kinds_[at].group == group &&
                kinds_[at].version == version)
                return at;
        return std::nullopt;
    }
    [[nodiscard]] std::size_t at(std::string_view group, std::string_view version,
                                 std::string_view plural) const {
        return find(group, version, plural).value_or(kinds_.size());
    }

    /// Serves a kind from now on, or serves it otherwise. Gives its index.
    std::size_t serve(kind_info one) {
        for (std::size_t at = 0; at < kinds_.size(); ++at)
            if (kinds_[at].plural == one.plural && kinds_[at].group == one.group &&
                kinds_[at].version == one.version) {
                kinds_[at] = std::move(one);
                served_[at] = true;
                return at;
            }
        kinds_.push_back(std::move(one));
        served_.push_back(true);
        return kinds_.size() - 1;
    }
    void withdraw(std::size_t at) { served_[at] = false; }

private:
    std::vector<kind_info> kinds_;
    std::vector<bool> served_;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
