// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <muster/apis/kai/fractions/node_devices.hpp>
#include <muster/apis/koordinator/devices/device_reader.hpp>
#include <muster/apis/koordinator/devices/pod_requests.hpp>
#include <muster/apis/shares/share_draft.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/share_request.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Writes the shares of one container. Koordinator's amounts are sums over the devices.
inline void write_koordinator_share(const container_share& asked, share_draft& out) {
    namespace names = koordinator_devices;
    // Koordinator's amounts must fit int64 in thousandths.
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 1000;
    constexpr std::int64_t mib = 1024 * 1024;
    const share_request& request = asked.request;
    const std::int64_t cores = request.cores * request.count;
    if (request.count > 1)
        out.limit(asked.container, names::shared_resource, request.count);
    if (const auto* const amount = std::get_if<memory_amount>(&request.memory)) {
        const int128 sum = static_cast<int128>(amount->units) * request.count;
        if (sum * mib > most)
            return out.refuse(out.from().amount, asked.container,
                              "Koordinator cannot say so much memory");
        out.limit(asked.container, names::memory_resource,
                  std::to_string(static_cast<std::int64_t>(sum)) + "Mi");
    } else {
        const std::int64_t percent = std::holds_alternative<whole_memory>(request.memory)
                                         ? 100
                                         : out.parts_of(asked, 100, "% of the memory");
        if (percent == request.cores && request.count == 1)
            return out.limit(asked.container, names::gpu_resource, percent);
        out.limit(asked.container, names::ratio_resource, percent * request.count);
    }
    if (cores > 0)
        out.limit(asked.container, names::core_resource, cores);
}

} // namespace detail

/// Writes requests in the notation of Koordinator (see share_draft). Koordinator gives GPUs to
/// pods, not to containers, so its notation cannot express shares of several containers. Whole GPUs
/// are `nvidia.com/gpu`. O(requests).
inline void write_koordinator_requests(const std::vector<container_share>& asked,
                                       share_draft& out) {
    const container_share& first = asked.front();
    const bool all_whole = std::all_of(asked.begin(), asked.end(), [](const container_share& each) {
        return is_whole(each.request);
    });
    if (!all_whole && asked.size() > 1)
        return out.refuse(out.from().count, asked[1].container,
                          "Koordinator adds up the shares of several containers");
    if (all_whole)
        for (const container_share& each : asked)
            out.limit(each.container, kai_fractions::gpu_resource, each.request.count);
    else
        detail::write_koordinator_share(first, out);
    said_wishes said;
    const bool is_shared = !std::holds_alternative<whole_memory>(first.request.memory);
    // Koordinator refuses a scope for shares of several GPUs.
    if (first.request.within == share_nearness::same_numa &&
        !(is_shared && first.request.count > 1) && asked.size() == 1) {
        out.annotate(koordinator_devices::hint_key,
                     R"({"gpu":{"requiredTopologyScope":"NUMANode"}})");
        said.nearness = true;
    }
    out.lose_wishes(first, said);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
