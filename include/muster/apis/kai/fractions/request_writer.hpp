// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <muster/apis/kai/fractions/pod_shares.hpp>
#include <muster/apis/shares/share_draft.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/share_request.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Returns billionths as a decimal fraction. Precondition: from 1 to 999,999,999.
[[nodiscard]] inline std::string fraction_text(std::int64_t billionths) {
    std::string digits = std::to_string(billionths);
    digits.insert(0, 9 - digits.size(), '0');
    digits.erase(digits.find_last_not_of('0') + 1);
    return "0." + digits;
}

} // namespace detail

/// Writes requests in the notation of KAI (see share_draft): all memory of a GPU as whole GPUs, the
/// shares of one container as annotations. The notation cannot express shares of several
/// containers. KAI does not limit cores, so a share without cores loses nothing. O(requests).
inline void write_kai_requests(const std::vector<container_share>& asked, share_draft& out) {
    constexpr std::int64_t whole = 1'000'000'000;
    const container_share& first = asked.front();
    const bool all_whole = std::all_of(asked.begin(), asked.end(), [](const container_share& each) {
        return std::holds_alternative<whole_memory>(each.request.memory);
    });
    if (all_whole) {
        for (const container_share& each : asked) {
            out.limit(each.container, kai_fractions::gpu_resource, each.request.count);
            if (each.request.cores != 100)
                out.lose(out.from().cores, each.container,
                         "KAI gives whole GPUs: all cores, not " +
                             std::to_string(each.request.cores) + " %");
        }
        return out.lose_wishes(first, {});
    }
    if (asked.size() > 1)
        return out.refuse(out.from().count, asked[1].container,
                          "KAI gives shares to one container of a pod");
    const share_request& request = first.request;
    if (const auto* const amount = std::get_if<memory_amount>(&request.memory))
        out.annotate(kai_fractions::memory_key, std::to_string(amount->units));
    else
        out.annotate(kai_fractions::fraction_key,
                     detail::fraction_text(out.parts_of(first, whole, "billionths")));
    if (request.count > 1)
        out.annotate(kai_fractions::count_key, std::to_string(request.count));
    if (first.container != out.first_container())
        out.annotate(kai_fractions::container_key, out.container(first.container).name);
    if (request.cores > 0)
        out.lose(out.from().cores, first.container,
                 "KAI does not limit cores: " + std::to_string(request.cores) +
                     " % are not reserved");
    out.lose_wishes(first, {});
}

} // namespace codec
} // namespace v0_1
} // namespace muster
