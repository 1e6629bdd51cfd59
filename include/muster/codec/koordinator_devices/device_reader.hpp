// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/codec/field_reader.hpp>
#include <muster/codec/reading_context.hpp>
#include <muster/codec/share_objects.hpp>
#include <muster/devices/shared_device.hpp>

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
inline constexpr std::string_view partition_policy_label =
    "node.koordinator.sh/gpu-partition-policy";

} // namespace koordinator_devices

namespace detail {

/// Reads one device. Returns nullopt if it is not a GPU, or if an error was reported.
[[nodiscard]] inline std::optional<shared_device>
read_koordinator_gpu(object_reader& object, std::map<std::string, std::string>& uuids) {
    namespace names = koordinator_devices;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto type = object.required("type").as_string();
    const field minor_at = object.optional("minor");
    const auto minor = minor_at.is_present() ? minor_at.as_integer(0, most) : 0;
    const auto uuid = object.optional("id").as_string();
    shared_device read;
    read.healthy = object.optional("health").as_boolean().value_or(false);
    const field resources_at = object.optional("resources");
    object_reader resources = resources_at.as_object();
    const field topology_at = object.optional("topology");
    object_reader topology = topology_at.as_object();
    object.ignore({"labels", "moduleID", "vfGroups", "conditions"});
    object.finish();
    if (!type || *type != "gpu" || !minor) {
        resources.ignore_rest();
        topology.ignore_rest();
        return std::nullopt;
    }
    read.id = std::to_string(*minor);
    const auto amount = [&](std::string_view resource) -> std::optional<std::int64_t> {
        const field at = resources.optional(resource);
        const auto found = at.is_present() ? read_quantity(at) : std::nullopt;
        return found ? std::optional(found->units_down()) : std::nullopt;
    };
    read.cores = amount(names::core_resource);
    const auto memory = amount(names::memory_resource);
    const auto ratio = amount(names::ratio_resource);
    resources.ignore_rest();
    read.memory = memory.value_or(0);
    if (read.healthy && (!memory || ratio.value_or(100) != 100)) {
        read.healthy = false;
        resources_at.warning("the device gets no pods (expected " +
                             std::string(names::memory_resource) + ", and 100 of " +
                             std::string(names::ratio_resource) + ")");
    }
    if (const auto numa = topology.optional("nodeID").as_integer(-1, most); numa && *numa >= 0)
        read.numa = *numa;
    read.pcie = topology.optional("pcieID").as_string().value_or(std::string_view{});
    topology.ignore({"socketID", "busID"});
    topology.finish();
    if (uuid)
        uuids.emplace(read.id, *uuid);
    return read;
}

} // namespace detail

/// Reads a Device object. Devices other than GPUs are ignored. A GPU of which the minor number is
/// listed twice gets no pods. A node that honors its GPU partitions is blocked, as partitions are
/// not modelled. O(devices²).
[[nodiscard]] inline koordinator_device_object read_koordinator_device(object_reader& object,
                                                                       reading_context& context) {
    koordinator_device_object read;
    read.metadata = read_metadata(object, false, context);
    read.shares.node = read.metadata.key.name;
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    const field devices_at = spec.optional("devices");
    const array_reader devices = devices_at.as_array();
    devices.for_each_object([&](object_reader& each) {
        auto device = detail::read_koordinator_gpu(each, read.uuids);
        if (!device)
            return;
        if (shared_device* const listed = read.shares.find(device->id)) {
            each.warning("device " + device->id + " of node " + read.shares.node +
                         " is listed twice, and gets no pods (expected each minor once)");
            listed->healthy = false;
            return;
        }
        read.shares.devices.push_back(std::move(*device));
    });
    spec.finish();
    const std::string* const policy =
        read.metadata.labels.find(koordinator_devices::partition_policy_label);
    if (policy && *policy == "Honor")
        read.shares.blocked =
            "node " + read.shares.node + " honors its GPU partitions, which are not modelled";
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
