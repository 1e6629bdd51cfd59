// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace koordinator_devices {

inline constexpr std::string_view gpu_resource = "koordinator.sh/gpu";
inline constexpr std::string_view shared_resource = "koordinator.sh/gpu.shared";
inline constexpr std::string_view core_resource = "koordinator.sh/gpu-core";
inline constexpr std::string_view memory_resource = "koordinator.sh/gpu-memory";
inline constexpr std::string_view ratio_resource = "koordinator.sh/gpu-memory-ratio";
inline constexpr std::string_view rdma_resource = "koordinator.sh/rdma";
inline constexpr std::string_view fpga_resource = "koordinator.sh/fpga";
/// Resources of Huawei NPUs, which Koordinator counts as GPUs. Only templates divide an NPU, so
/// the other resources of this prefix are not modelled.
inline constexpr std::string_view npu_core_resource = "huawei.com/npu-core";
inline constexpr std::string_view npu_prefix = "huawei.com/npu-";
/// Whole GPUs of AMD and Hygon, which Koordinator gives from the GPUs of a Device. Not modelled.
inline constexpr std::array<std::string_view, 2> other_whole_resources{"amd.com/gpu",
                                                                       "dcu.com/gpu"};

/// True if Koordinator gives GPUs of a Device for the resource, which is of a vendor other than
/// NVIDIA.
[[nodiscard]] constexpr bool is_of_other_vendor(std::string_view resource) noexcept {
    return resource == other_whole_resources[0] || resource == other_whole_resources[1] ||
           resource.starts_with(npu_prefix);
}

/// The model of a shared_device that is an NPU. Its cores are those of `npu_core_resource`.
inline constexpr std::string_view npu_model = "npu";

inline constexpr std::string_view partition_policy_label =
    "node.koordinator.sh/gpu-partition-policy";
inline constexpr std::string_view vendor_label = "node.koordinator.sh/gpu-vendor";
inline constexpr std::string_view model_label = "node.koordinator.sh/gpu-model";
/// Annotation of a Device.
inline constexpr std::string_view partitions_key = "scheduling.koordinator.sh/gpu-partitions";

inline constexpr std::string_view allocated_key = "scheduling.koordinator.sh/device-allocated";
inline constexpr std::string_view hint_key = "scheduling.koordinator.sh/device-allocate-hint";
inline constexpr std::string_view partition_key = "scheduling.koordinator.sh/gpu-partition-spec";
/// Requests devices of several types at one place.
inline constexpr std::string_view joint_key = "scheduling.koordinator.sh/device-joint-allocate";

inline constexpr std::string_view gpu_type = "gpu";

/// A type of devices that have one amount.
struct plain_type {
    std::string_view name;
    std::string_view resource;
};
inline constexpr std::array<plain_type, 2> plain_types{plain_type{"rdma", rdma_resource},
                                                       plain_type{"fpga", fpga_resource}};

/// Returns the resource that counts devices of the type; empty if it is not one of `plain_types`.
[[nodiscard]] constexpr std::string_view resource_of(std::string_view type) noexcept {
    for (const plain_type& each : plain_types)
        if (each.name == type)
            return each.resource;
    return {};
}

/// Returns the id of a device. `type`: empty for a GPU.
[[nodiscard]] inline std::string device_id(std::string_view type, std::int64_t minor) {
    return (type.empty() ? std::string() : std::string(type) + "/") + std::to_string(minor);
}
/// Returns the minor number in the id of a device.
[[nodiscard]] inline std::int64_t minor_of(std::string_view id) noexcept {
    const std::string_view number = id.substr(id.find('/') + 1);
    return detail::whole_number(number, 0, std::numeric_limits<std::int32_t>::max()).value_or(0);
}

} // namespace koordinator_devices
} // namespace codec
} // namespace v0_1
} // namespace muster
