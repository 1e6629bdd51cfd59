// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/base/checked.hpp>
#include <muster/codec/koordinator_devices/device_reader.hpp>
#include <muster/codec/koordinator_devices/pod_shares.hpp>
#include <muster/codec/metadata_text.hpp>
#include <muster/codec/share_objects.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Returns the annotation that hands GPUs over to Koordinator's node agent. `chosen`: indices of
/// the node's devices for the pod's request. Both the memory in bytes and its percentage are
/// written: one as requested, the other computed from it and rounded down. O(chosen).
[[nodiscard]] inline share_marks koordinator_marks(const share_request& request,
                                                   const std::vector<std::size_t>& chosen,
                                                   const koordinator_device_object& node) {
    namespace names = koordinator_devices;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    boost::json::array list;
    for (const std::size_t index : chosen) {
        const shared_device& device = node.shares.devices[index];
        const std::int64_t memory = units_of(request.memory, device.memory);
        const auto* const part = std::get_if<memory_part>(&request.memory);
        const std::int64_t ratio =
            part ? units_of(*part, 100)
                 : saturate(device.memory == 0 ? 0 : int128{memory} * 100 / device.memory);
        boost::json::object resources;
        if (request.cores > 0)
            resources[names::core_resource] = std::to_string(request.cores);
        resources[names::memory_resource] =
            quantity(memory, quantity_scale::units, quantity_format::binary_si).to_text();
        resources[names::ratio_resource] = std::to_string(ratio);
        boost::json::object entry;
        entry["minor"] = detail::whole_number(device.id, 0, most).value_or(0);
        entry["resources"] = std::move(resources);
        if (const auto uuid = node.uuids.find(device.id); uuid != node.uuids.end())
            entry["id"] = uuid->second;
        list.push_back(std::move(entry));
    }
    boost::json::object types;
    types["gpu"] = std::move(list);
    share_marks marks;
    marks.annotations.emplace(names::allocated_key, boost::json::serialize(types));
    return marks;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
