// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/shares/share_objects.hpp>
#include <muster/apis/volcano/vgpu/mig_geometries.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace volcano_vgpu {

inline constexpr std::string_view register_key = "volcano.sh/node-vgpu-register";
inline constexpr std::string_view count_resource = "volcano.sh/vgpu-number";
inline constexpr std::string_view memory_resource = "volcano.sh/vgpu-memory";
inline constexpr std::string_view percentage_resource = "volcano.sh/vgpu-memory-percentage";
inline constexpr std::string_view cores_resource = "volcano.sh/vgpu-cores";

} // namespace volcano_vgpu

namespace detail {

/// Reads `id,count,memory,type,health,mode`. Further parts, of newer versions, are ignored. Returns
/// an error message; empty if there is none.
[[nodiscard]] inline std::string read_volcano_entry(std::string_view entry, shared_device& to) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::vector<std::string_view> parts = split_text(entry, ',');
    if (parts.size() < 6)
        return "it has " + std::to_string(parts.size()) +
               " parts between commas (expected id,count,memory,type,health,mode)";
    const auto slots = whole_number(parts[1], 0, most);
    const auto memory = whole_number(parts[2], 0, most);
    const auto health = go_boolean(parts[4]);
    if (!slots || !memory)
        return "its count or memory is not a whole number from 0 to 2147483647";
    if (!health)
        return in_quotes(parts[4]) + " is not a health state (expected true or false)";
    if (parts[0].empty() || parts[0].find_first_of(";[]") != std::string_view::npos)
        return in_quotes(parts[0]) + " is not an id (expected a text without ; and brackets)";
    to.id = parts[0];
    to.slots = *slots;
    to.memory = *memory;
    to.cores = 100;
    to.model = parts[3];
    to.healthy = *health;
    // Volcano treats every mode but MIG as hami-core.
    to.mode = parts[5] == "mig" ? "mig" : "hami-core";
    return {};
}

} // namespace detail

/// Reads the devices that Volcano's vGPU device plugin registered in a node's annotations. Memory
/// is in MiB, cores in percent. Returns nullopt if the node has no register, or if one of the
/// resources that the plugin reports is 0 or absent; then Volcano assigns no devices of the node.
/// The mode of the last device applies to the whole node, as in Volcano. Unlike in Volcano,
/// unhealthy devices get no pods. Entries that cannot be read are skipped, with a warning. On a
/// node in mode `mig` the devices have the instances of their model's `geometries`; Volcano's
/// scheduler and device plugin must be configured with these. If no geometry of the model is known,
/// the device gets no pods, with a warning; Volcano would share the device as in mode `hami-core`.
/// O(annotation × devices).
[[nodiscard]] inline std::optional<node_shares>
read_volcano_vgpu_node(const object_metadata& node,
                       const std::map<std::string, std::int64_t>& allocatable, diagnostics& out,
                       const volcano_vgpu::mig_config& geometries) {
    const metadata_text at(node, "node", volcano_vgpu::register_key, out);
    if (!at.is_present())
        return std::nullopt;
    for (const std::string_view resource :
         {volcano_vgpu::count_resource, volcano_vgpu::memory_resource,
          volcano_vgpu::cores_resource}) {
        const auto found = allocatable.find(std::string(resource));
        if (found == allocatable.end() || found->second <= 0)
            return std::nullopt;
    }
    node_shares read{node.key.name, {}, {}};
    const std::vector<std::string_view> entries = detail::split_text(at.text(), ':');
    if (detail::has_no_entry(entries))
        note_unread(read, "found no entry (expected entries that end with :)", at);
    std::string mode;
    for (std::size_t index = 0; index < entries.size() && entries.size() > 1; ++index) {
        if (detail::without_blanks(entries[index]).empty())
            continue;
        shared_device device;
        const std::string wrong = detail::read_volcano_entry(entries[index], device);
        if (!wrong.empty()) {
            note_unread(read, "entry " + std::to_string(index) + " is skipped: " + wrong, at);
            continue;
        }
        mode = device.mode;
        add_registered(read, std::move(device), at);
    }
    for (shared_device& device : read.devices) {
        device.mode = mode;
        device.is_partitioned = mode == "mig";
        if (!device.is_partitioned)
            continue;
        if (const auto* const found = find_geometries(geometries, device.model))
            device.instances = mig_instances(*found);
        if (device.instances.empty())
            at.warning("device " + in_quotes(device.id) +
                       " has mode mig and gets no pods: no geometry of model " +
                       in_quotes(device.model) + " is known");
    }
    return read;
}

/// The same with known_mig_geometries(); one warning for a node whose devices have instances of
/// them says so.
[[nodiscard]] inline std::optional<node_shares>
read_volcano_vgpu_node(const object_metadata& node,
                       const std::map<std::string, std::int64_t>& allocatable, diagnostics& out) {
    auto read =
        read_volcano_vgpu_node(node, allocatable, out, volcano_vgpu::known_mig_geometries());
    const auto has_instances = [](const shared_device& each) { return !each.instances.empty(); };
    if (read && std::any_of(read->devices.begin(), read->devices.end(), has_instances))
        metadata_text(node, "node", volcano_vgpu::register_key, out)
            .warning("the node has mode mig: its devices have the geometries of Volcano's "
                     "documented configuration, and not those of its ConfigMap, which is not read");
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
