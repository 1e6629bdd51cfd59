// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

#include <muster/apis/koordinator/devices/names.hpp>
#include <muster/apis/shares/node_shares.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/share_search.hpp>
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

/// Returns the device of the node with this id, if a request that was given the earlier device
/// could be given the present one; otherwise nullptr.
[[nodiscard]] inline const shared_device* find_unchanged(const shared_device& earlier,
                                                         const koordinator_device_object& node) {
    const auto& all = node.shares.devices;
    const auto found = std::find_if(all.begin(), all.end(), [&](const shared_device& each) {
        return each.id == earlier.id && each.type == earlier.type;
    });
    return found != all.end() && found->healthy && found->memory == earlier.memory &&
                   found->cores == earlier.cores && found->model == earlier.model &&
                   found->numa == earlier.numa && found->pcie == earlier.pcie &&
                   found->labels == earlier.labels
               ? &*found
               : nullptr;
}
/// The same for a virtual function of the device.
[[nodiscard]] inline const virtual_function* find_unchanged(const virtual_function& earlier,
                                                            const shared_device& device) {
    const auto found = std::find_if(
        device.functions.begin(), device.functions.end(), [&](const virtual_function& each) {
            return each.bus_id == earlier.bus_id && each.labels == earlier.labels;
        });
    return found != device.functions.end() ? &*found : nullptr;
}

} // namespace detail

/// Returns the annotation that hands devices over to Koordinator's node agent; no annotation if a
/// chosen device or virtual function is no longer on the node, or changed there. `chosen` and
/// `functions`: for each request of the pod, the indices of its devices, and of their virtual
/// functions (see share_allocation). `devices`: those of the node when they were chosen, with their
/// ids and bus ids. `node`: the present ones, which can have other indices. O(chosen × devices).
[[nodiscard]] inline share_marks
koordinator_marks(const pod_share_requests& asked, const std::vector<shared_device>& devices,
                  const std::vector<std::vector<std::size_t>>& chosen,
                  const std::vector<std::vector<std::size_t>>& functions,
                  const koordinator_device_object& node) {
    namespace names = koordinator_devices;
    boost::json::object types;
    for (std::size_t at = 0; at < asked.requests.size(); ++at)
        for (std::size_t number = 0; number < chosen[at].size(); ++number) {
            const shared_device& before = devices[chosen[at][number]];
            const shared_device* const found = detail::find_unchanged(before, node);
            if (found == nullptr)
                return {};
            const shared_device& device = *found;
            boost::json::object entry;
            entry["minor"] = names::minor_of(device.id);
            entry["resources"] = detail::koordinator_amounts_of(
                part_for(asked.requests[at].request, device), device);
            if (const auto uuid = node.uuids.find(device.id); uuid != node.uuids.end())
                entry["id"] = uuid->second;
            if (const std::size_t position = functions[at][number]; position != no_function) {
                const virtual_function* const function =
                    detail::find_unchanged(before.functions[position], device);
                if (function == nullptr)
                    return {};
                entry["extension"] = {{"vfs", boost::json::array{{{"minor", function->minor},
                                                                  {"busID", function->bus_id}}}}};
            }
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
