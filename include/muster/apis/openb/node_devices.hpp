// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/kai/fractions/node_devices.hpp>
#include <muster/apis/openb/pod_requests.hpp>
#include <muster/apis/shares/node_shares.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Returns the GPUs of a node of openb, by index. Their number is the amount of
/// `alibabacloud.com/gpu-count` or, if the node names the model of its GPUs, of `nvidia.com/gpu`.
/// Memory is in thousandths of a GPU. Returns nullopt for other nodes. `allocatable`: amounts by
/// resource. O(devices).
[[nodiscard]] inline std::optional<node_shares>
read_openb_node(const object_metadata& node,
                const std::map<std::string, std::int64_t>& allocatable) {
    const std::string* const model = node.labels.find(openb::model_key);
    const auto amount = [&](std::string_view resource) {
        const auto found = allocatable.find(std::string(resource));
        return found == allocatable.end() ? std::int64_t{0} : found->second;
    };
    std::int64_t count = amount(openb::count_key);
    if (count <= 0 && model)
        count = amount(kai_fractions::gpu_resource);
    if (count <= 0)
        return std::nullopt;
    node_shares made{node.key.name, {}, {}};
    for (std::int64_t index = 0; index < std::min(count, kai_fractions::most_gpus); ++index) {
        shared_device device;
        device.id = std::to_string(index);
        device.model = model ? *model : std::string();
        device.memory = openb::whole_gpu;
        made.devices.push_back(std::move(device));
    }
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
