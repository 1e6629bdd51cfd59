// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/devices/device_allocation.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/devices/device_features.hpp>
#include <muster/devices/device_pools.hpp>
#include <muster/devices/device_search.hpp>
#include <muster/devices/device_usage.hpp>

namespace muster {
inline namespace v0_1 {

/// Allocates devices of one node to all claims, or to none. The result is the first allocation in
/// Kubernetes' order: claims and requests as given, alternatives by preference, devices by pool,
/// slice and position. Selectors are evaluated only where the search gets to.
///
/// `max_steps` bounds the devices that the search tries. The search visits no two states of which
/// one is the other with like devices swapped, so it is exponential only in unlike devices.
[[nodiscard]] inline device_allocation
allocate_devices(const std::vector<device_pool>& pools, const device_usage& usage,
                 const device_classes& classes, const std::vector<device_claim>& claims,
                 const device_features& features, std::int64_t max_steps) {
    device_allocation answer;
    detail::device_table devices(pools, usage, features);
    detail::claim_table requests(devices, classes, features);
    if (!requests.add(claims, pools)) {
        answer.outcome = device_outcome::failed;
        answer.error = requests.error.code;
        answer.text = std::move(requests.error.text);
        answer.claim = requests.error.claim;
        answer.request = requests.error.request;
        return answer;
    }
    detail::device_search search(devices, requests, features, max_steps);
    search.run(answer);
    if (answer.outcome == device_outcome::none)
        for (const device_pool& pool : pools)
            if (pool.state == pool_state::invalid)
                answer.has_invalid_pool = true;
    return answer;
}

} // namespace v0_1
} // namespace muster
