// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <muster/devices/device_partition.hpp>
#include <muster/devices/share_acceptance.hpp>
#include <muster/devices/share_places.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// What makes devices of different kinds for some request, apart from their own fields.
struct kind_criteria {
    bool by_place = false;
    bool by_partition = false;
};
[[nodiscard]] inline kind_criteria kind_criteria_of(std::span<const share_request> requests,
                                                    const partition_table& partitions) {
    kind_criteria made;
    for (const share_request& request : requests) {
        made.by_place = made.by_place || request.within != share_nearness::anywhere ||
                        !request.partners.empty();
        made.by_partition =
            made.by_partition || (request.partition && !partitions.partitions.empty() &&
                                  (request.partition->is_required || partitions.is_required ||
                                   request.within != share_nearness::anywhere));
    }
    return made;
}

/// Returns for each device the first device of its kind. For the requests, devices of one kind
/// differ only in their use. `accepted`: what the requests accept. `functions`: the kinds of the
/// virtual functions, empty if no request needs one. O(devices² × acceptances).
[[nodiscard]] inline std::vector<std::size_t>
device_kinds(std::span<const shared_device> devices, std::span<const share_request> requests,
             const partition_table& partitions, const std::vector<share_acceptance>& accepted,
             const std::vector<std::vector<std::size_t>>& functions) {
    const kind_criteria criteria = kind_criteria_of(requests, partitions);
    std::vector<std::vector<bool>> accepting(devices.size());
    for (std::size_t index = 0; index < devices.size(); ++index)
        for (const share_acceptance& each : accepted) {
            accepting[index].push_back(each.accepts(index));
            for (const share_acceptance& partner : each.partners)
                accepting[index].push_back(partner.accepts(index));
        }
    const auto are_alike = [&](std::size_t lhs, std::size_t rhs) {
        const shared_device& left = devices[lhs];
        const shared_device& right = devices[rhs];
        return left.memory == right.memory && left.cores == right.cores &&
               left.slots == right.slots && left.type == right.type &&
               (functions.empty() || functions[lhs] == functions[rhs]) &&
               accepting[lhs] == accepting[rhs] && left.is_partitioned == right.is_partitioned &&
               left.instances == right.instances &&
               (!criteria.by_place || at_same_place(left, right, share_nearness::same_pcie));
    };
    std::vector<std::size_t> kinds;
    for (std::size_t index = 0; index < devices.size(); ++index) {
        std::size_t like = criteria.by_partition ? index : 0;
        while (like < index && !are_alike(like, index))
            ++like;
        kinds.push_back(like);
    }
    return kinds;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
