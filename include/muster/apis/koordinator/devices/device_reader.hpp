// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/koordinator/devices/names.hpp>
#include <muster/apis/koordinator/devices/partition_reader.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Returns an amount of a device in units, rounded down; nullopt if it is absent or malformed.
[[nodiscard]] inline std::optional<std::int64_t> device_amount(object_reader& resources,
                                                               std::string_view resource) {
    const field at = resources.optional(resource);
    const auto found = at.is_present() ? read_quantity(at) : std::nullopt;
    return found ? std::optional(found->units_down()) : std::nullopt;
}

/// Reads the amounts of a GPU. One without memory gets no pods, with a warning, which is added to
/// `remarks` too.
inline void read_gpu_amounts(object_reader& resources, shared_device& to,
                             std::vector<std::string>& remarks) {
    namespace names = koordinator_devices;
    to.cores = device_amount(resources, names::core_resource);
    if (const auto npu = device_amount(resources, names::npu_core_resource); npu && !to.cores) {
        to.model = names::npu_model;
        to.cores = npu;
    }
    const auto memory = device_amount(resources, names::memory_resource);
    const auto ratio = device_amount(resources, names::ratio_resource);
    to.memory = memory.value_or(0);
    if (to.healthy && (!memory || ratio.value_or(100) != 100)) {
        to.healthy = false;
        const std::string why = "the device gets no pods (expected " +
                                std::string(names::memory_resource) + ", and 100 of " +
                                std::string(names::ratio_resource) + ")";
        resources.warning(why);
        remarks.push_back("device " + to.id + ": " + why);
    }
}

[[nodiscard]] inline device_labels read_device_labels(const field& at) {
    device_labels read;
    for (const auto& [key, value] : read_labels(at))
        read.emplace(key, value);
    return read;
}

/// Reads the groups of a device's virtual functions.
inline void read_functions(const field& groups_at, shared_device& to) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const array_reader groups = groups_at.as_array();
    groups.for_each_object([&](object_reader& group) {
        const device_labels labels = read_device_labels(group.optional("labels"));
        const field list_at = group.optional("vfs");
        const array_reader list = list_at.as_array();
        list.for_each_object([&](object_reader& each) {
            const field minor_at = each.optional("minor");
            // Koordinator has -1 for an unknown minor number.
            const auto minor = minor_at.is_present() ? minor_at.as_integer(-1, most) : 0;
            const auto bus = each.optional("busID").as_string();
            each.finish();
            if (minor && bus)
                to.functions.push_back({std::string(*bus), *minor, labels, false});
        });
        group.finish();
    });
    std::stable_sort(to.functions.begin(), to.functions.end(),
                     [](const virtual_function& lhs, const virtual_function& rhs) {
                         return lhs.bus_id < rhs.bus_id;
                     });
    // The same function in two groups is one function: the first group has it.
    to.functions.erase(std::unique(to.functions.begin(), to.functions.end(),
                                   [](const virtual_function& lhs, const virtual_function& rhs) {
                                       return lhs.bus_id == rhs.bus_id;
                                   }),
                       to.functions.end());
}

/// An entry of the list of devices.
struct koordinator_entry {
    shared_device device;
    /// Empty = it has none.
    std::string uuid;
};

/// Reads one device. Returns nullopt if its type is none of GPU, RDMA and FPGA, or if an error was
/// reported.
[[nodiscard]] inline std::optional<koordinator_entry>
read_koordinator_one(object_reader& object, std::vector<std::string>& remarks) {
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
    const bool is_gpu = type && *type == names::gpu_type;
    if (!type || !minor || (!is_gpu && names::resource_of(*type).empty())) {
        object.ignore({"labels", "moduleID", "vfGroups", "conditions"});
        object.finish();
        resources.ignore_rest();
        topology.ignore_rest();
        return std::nullopt;
    }
    read.type = is_gpu ? std::string_view{} : *type;
    read.id = names::device_id(read.type, *minor);
    read.labels = read_device_labels(object.optional("labels"));
    read_functions(object.optional("vfGroups"), read);
    object.ignore({"moduleID", "conditions"});
    object.finish();
    if (is_gpu) {
        read_gpu_amounts(resources, read, remarks);
    } else {
        read.cores = 0;
        read.memory = device_amount(resources, names::resource_of(*type)).value_or(0);
        read.healthy = read.healthy && read.memory > 0;
    }
    resources.ignore_rest();
    if (const auto numa = topology.optional("nodeID").as_integer(-1, most); numa && *numa >= 0)
        read.numa = *numa;
    read.pcie = topology.optional("pcieID").as_string().value_or(std::string_view{});
    topology.ignore({"socketID", "busID"});
    topology.finish();
    return koordinator_entry{std::move(read), std::string(uuid.value_or(std::string_view{}))};
}

} // namespace detail

/// Reads a Device object: its GPUs, RDMA and FPGA devices, and its partitions of GPUs. Devices of
/// other types are ignored. A device that is listed twice, by its minor number or by its id, gets
/// no pods. O(devices²).
[[nodiscard]] inline koordinator_device_object read_koordinator_device(object_reader& object,
                                                                       reading_context& context) {
    koordinator_device_object read;
    read.metadata = read_metadata(object, false, context);
    read.shares.node = read.metadata.key.name;
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    const field devices_at = spec.optional("devices");
    const array_reader devices = devices_at.as_array();
    // The minor number that first had an id, by type and id: a Binding names devices by both.
    std::map<std::pair<std::string, std::string>, std::string> first_with;
    devices.for_each_object([&](object_reader& each) {
        auto entry = detail::read_koordinator_one(each, read.shares.remarks);
        if (!entry)
            return;
        const std::string id = entry->device.id;
        const std::string type = entry->device.type;
        const auto close = [&](const std::string& why, const std::string& also) {
            each.warning("device " + id + " of node " + read.shares.node + why);
            read.shares.remarks.push_back("device " + id + why);
            for (const std::string& closed : {id, also})
                if (shared_device* const device = read.shares.find(closed))
                    close_listed_twice(*device);
            if (read.shares.unread.empty())
                read.shares.unread = "Device " + read.shares.node + ": device " + id + why;
        };
        if (read.shares.find(id)) {
            close(" is listed twice, and gets no pods (expected each minor once)", id);
        } else {
            read.shares.devices.push_back(std::move(entry->device));
            if (!entry->uuid.empty())
                read.uuids.emplace(id, entry->uuid);
        }
        if (entry->uuid.empty())
            return;
        const std::string& first = first_with.try_emplace({type, entry->uuid}, id).first->second;
        if (first != id)
            close(" has the id " + in_quotes(entry->uuid) + " of device " + first +
                      ", and both get no pods (expected each id once)",
                  first);
    });
    spec.finish();
    const auto place = [](const shared_device& of) {
        return std::pair(std::string_view(of.type), koordinator_devices::minor_of(of.id));
    };
    std::stable_sort(read.shares.devices.begin(), read.shares.devices.end(),
                     [&](const shared_device& lhs, const shared_device& rhs) {
                         return place(lhs) < place(rhs);
                     });
    std::string wrong;
    read.partitions = read_koordinator_partitions(read.metadata, read.shares.devices, wrong);
    if (!wrong.empty()) {
        const std::string why = std::string(koordinator_devices::partitions_key) + ": " + wrong +
                                ", so the partitions are ignored; if the Device or node honors "
                                "them, no whole GPUs are given";
        object.warning(why);
        read.shares.remarks.push_back(why);
    }
    read.has_unread_partitions = !wrong.empty();
    if (read.partitions)
        read.partitions->is_required = honors_partitions(read.metadata);
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
