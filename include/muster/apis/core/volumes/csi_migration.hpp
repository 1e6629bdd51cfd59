// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Returns the CSI driver that replaces an in-tree volume plugin, by the plugin's name. Returns any
/// other name unchanged (Kubernetes CSI migration).
[[nodiscard]] inline std::string_view csi_driver_of(std::string_view plugin) noexcept {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> moved{{
        {"kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
        {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
        {"kubernetes.io/azure-disk", "disk.csi.azure.com"},
        {"kubernetes.io/azure-file", "file.csi.azure.com"},
        {"kubernetes.io/cinder", "cinder.csi.openstack.org"},
        {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"},
        {"kubernetes.io/portworx-volume", "pxd.portworx.com"},
    }};
    for (const auto& [from, to] : moved)
        if (from == plugin)
            return to;
    return plugin;
}

/// An in-tree volume source that CSI migration covers.
struct disk_source {
    std::string_view field;
    std::string_view plugin;
    std::string_view handle; ///< the field that names the disk
    /// Two pods on one node may not use the same disk. With `readers_share` they may if both mount
    /// it read-only.
    bool exclusive = false;
    bool readers_share = false;
    /// A field that the handle belongs to, if it does not name the disk alone.
    std::string_view within{};
};

inline constexpr std::array<disk_source, 7> disk_sources{{
    {"awsElasticBlockStore", "kubernetes.io/aws-ebs", "volumeID", true, false},
    {"gcePersistentDisk", "kubernetes.io/gce-pd", "pdName", true, true},
    {"azureDisk", "kubernetes.io/azure-disk", "diskURI", false, false},
    {"azureFile", "kubernetes.io/azure-file", "shareName", false, false, "secretName"},
    {"cinder", "kubernetes.io/cinder", "volumeID", false, false},
    {"vsphereVolume", "kubernetes.io/vsphere-volume", "volumePath", false, false},
    {"portworxVolume", "kubernetes.io/portworx-volume", "volumeID", false, false},
}};

} // namespace codec
} // namespace v0_1
} // namespace muster
