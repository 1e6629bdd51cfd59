// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/base/checked.hpp>
#include <muster/codec/koordinator_devices/names.hpp>
#include <muster/codec/node_shares.hpp>
#include <muster/codec/share_objects.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

namespace detail {

/// Returns the amounts that the node agent of Koordinator reads for a device. Both the memory of a
/// GPU in bytes and its percentage are written: one as requested, the other computed from it and
/// rounded down.
[[nodiscard]] inline boost::json::object koordinator_amounts_of(const share_request& request,
                                                                const shared_device& device) {
    namespace names = koordinator_devices;
    boost::json::object resources;
    const std::int64_t memory = units_of(request.memory, device.memory);
    if (!device.type.empty()) {
        resources[names::resource_of(device.type)] = std::to_string(memory);
        return resources;
    }
    const auto* const part = std::get_if<memory_part>(&request.memory);
    const std::int64_t ratio =
        part ? units_of(*part, 100)
             : saturate(device.memory == 0 ? 0 : int128{memory} * 100 / device.memory);
    if (request.cores > 0)
        resources[device.model == names::npu_model ? names::npu_core_resource
                                                   : names::core_resource] =
            std::to_string(request.cores);
    resources[names::memory_resource] =
        quantity(memory, quantity_scale::units, quantity_format::binary_si).to_text();
    resources[names::ratio_resource] = std::to_string(ratio);
    return resources;
}

} // namespace detail

/// Returns the annotation that hands devices over to Koordinator's node agent. `chosen` and
/// `functions`: for each request of the pod, the indices of its devices on the node, and of their
/// virtual functions (see share_allocation). O(chosen).
[[nodiscard]] inline share_marks koordinator_marks(
    const pod_share_requests& asked, const std::vector<std::vector<std::size_t>>& chosen,
    const std::vector<std::vector<std::size_t>>& functions, const koordinator_device_object& node) {
    namespace names = koordinator_devices;
    boost::json::object types;
    for (std::size_t at = 0; at < asked.requests.size(); ++at)
        for (std::size_t number = 0; number < chosen[at].size(); ++number) {
            const shared_device& device = node.shares.devices[chosen[at][number]];
            boost::json::object entry;
            entry["minor"] = names::minor_of(device.id);
            entry["resources"] = detail::koordinator_amounts_of(
                part_for(asked.requests[at].request, device), device);
            if (const auto uuid = node.uuids.find(device.id); uuid != node.uuids.end())
                entry["id"] = uuid->second;
            if (const std::size_t function = functions[at][number];
                function < device.functions.size())
                entry["extension"] = {
                    {"vfs", boost::json::array{{{"minor", device.functions[function].minor},
                                                {"busID", device.functions[function].bus_id}}}}};
            boost::json::value& list =
                types[device.type.empty() ? names::gpu_type : std::string_view(device.type)];
            if (!list.is_array())
                list.emplace_array();
            list.get_array().push_back(std::move(entry));
        }
    share_marks marks;
    marks.annotations.emplace(names::allocated_key, boost::json::serialize(types));
    return marks;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
