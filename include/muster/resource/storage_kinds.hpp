// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace muster {
inline namespace v0_1 {

/// Names of resource kinds that count volumes and storage: attachments of a CSI driver to a node,
/// bytes of a storage class, and free volumes of a storage class. No pod requests such a kind; its
/// volumes do. The names are those of Kubernetes' node limits and resource quotas.
namespace storage_kinds {

inline constexpr std::string_view attachments_prefix = "attachable-volumes-csi-";
inline constexpr std::string_view class_suffix = ".storageclass.storage.k8s.io/";

[[nodiscard]] inline std::string attachments_of(std::string_view driver) {
    return std::string(attachments_prefix).append(driver);
}
/// Returns the CSI driver in the name of a kind that counts attachments; empty for other kinds.
[[nodiscard]] constexpr std::string_view driver_in(std::string_view kind) noexcept {
    return kind.starts_with(attachments_prefix) ? kind.substr(attachments_prefix.size())
                                                : std::string_view{};
}
[[nodiscard]] inline std::string bytes_of(std::string_view storage_class) {
    return std::string(storage_class).append(class_suffix).append("requests.storage");
}
[[nodiscard]] inline std::string volumes_of(std::string_view storage_class) {
    return std::string(storage_class).append(class_suffix).append("persistentvolumeclaims");
}
/// True if the kind counts storage of a class: bytes of a pool, or free volumes.
[[nodiscard]] constexpr bool counts_storage(std::string_view kind) noexcept {
    return kind.find(class_suffix) != std::string_view::npos;
}
[[nodiscard]] constexpr bool counts_bytes(std::string_view kind) noexcept {
    return counts_storage(kind) && kind.find("/requests.storage") != std::string_view::npos;
}
/// Returns the storage class in the name of a kind that counts storage.
[[nodiscard]] constexpr std::string_view class_in(std::string_view kind) noexcept {
    return kind.substr(0, kind.find(class_suffix));
}
/// True if the kind counts volumes or storage.
[[nodiscard]] constexpr bool counts_volumes(std::string_view kind) noexcept {
    return counts_storage(kind) || !driver_in(kind).empty();
}

} // namespace storage_kinds

} // namespace v0_1
} // namespace muster
