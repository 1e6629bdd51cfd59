// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/share_rules.hpp>
#include <muster/devices/share_search.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {

enum class share_outcome : std::uint8_t {
    /// Every request has its devices.
    allocated,
    /// No choice of devices serves all requests.
    none,
    /// The steps ended before an answer.
    undecided,
};

/// The answer for a list of requests.
struct share_allocation {
    share_outcome outcome = share_outcome::none;
    /// For each request the indices of its devices, in the order in which they were chosen; empty
    /// unless `allocated`.
    std::vector<std::vector<std::size_t>> devices;
    /// Unless `allocated`, the last request that the search got to: no choice for those before it
    /// leaves room for this one, or the steps ended.
    std::size_t failed_request = 0;
    std::int64_t steps = 0;
};

/// How many requests, and how many shares of devices together, one question can have at most: it
/// bounds the depth of the search.
inline constexpr std::size_t most_share_requests = 1024;
inline constexpr std::int64_t most_shares = 2048;

/// Chooses devices of one node for all requests, or for none. The requests can be of several pods:
/// the answer is whether they fit together, if they come one after the other in this order.
///
/// The first choice that is tried gives each request the first devices of its order, as the
/// requests' system does. Only if a request finds no devices then, other choices are tried. `none`
/// is exact. Devices that no request can tell apart are tried once, and so is each state of the
/// devices. A step is the choice of one device or one look at all devices for a request. Devices
/// get no more than they have; those that have too many shares already get none. A question with
/// more than `most_share_requests` or `most_shares` is undecided.
/// Preconditions: no amount of a device is negative.
[[nodiscard]] inline share_allocation allocate_shares(std::span<const shared_device> devices,
                                                      std::span<const share_request> requests,
                                                      const share_rules& rules,
                                                      std::int64_t max_steps) {
    share_allocation answer;
    std::int64_t shares = 0;
    for (const share_request& request : requests)
        shares = saturating_add(shares, std::max<std::int64_t>(request.count, 0));
    // A request for more devices than there are fails at its turn, without depth.
    const auto most_useful = saturating_multiply(static_cast<std::int64_t>(devices.size()),
                                                 static_cast<std::int64_t>(requests.size()));
    if (requests.size() > most_share_requests || std::min(shares, most_useful) > most_shares) {
        answer.outcome = share_outcome::undecided;
        return answer;
    }
    detail::share_search search(devices, requests, rules, max_steps);
    const bool found = search.run();
    answer.steps = search.steps();
    if (found) {
        answer.outcome = share_outcome::allocated;
        answer.devices = std::move(search).chosen();
    } else {
        answer.outcome = search.has_ended() ? share_outcome::undecided : share_outcome::none;
        answer.failed_request = search.furthest();
    }
    return answer;
}

/// Returns the devices with the shares of an allocation added to what is used. Precondition: the
/// allocation is of these devices and requests. O(shares).
[[nodiscard]] inline std::vector<shared_device> with_shares(std::vector<shared_device> devices,
                                                            std::span<const share_request> requests,
                                                            const share_allocation& allocation) {
    for (std::size_t at = 0; at < allocation.devices.size(); ++at)
        for (const std::size_t index : allocation.devices[at]) {
            detail::add_share(devices[index], devices[index].used, requests[at]);
            if (!requests[at].group.empty())
                devices[index].sharers.push_back({requests[at].pod, requests[at].group});
        }
    return devices;
}

} // namespace v0_1
} // namespace muster
