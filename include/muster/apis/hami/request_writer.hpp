// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <muster/apis/hami/pod_requests.hpp>
#include <muster/apis/shares/share_draft.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/share_request.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

inline void write_hami_wishes(const container_share& asked, share_draft& out) {
    const share_filter& filter = asked.request.filter;
    said_wishes said;
    said.models = say_models(asked, hami::use_type_key, out);
    said.models_not = say_words(filter.models_not, hami::no_use_type_key, out);
    if (out.from().has_uuids) {
        said.ids = filter.ids && say_words(*filter.ids, hami::use_id_key, out);
        said.ids_not = say_words(filter.ids_not, hami::no_use_id_key, out);
    }
    const auto is_mode = [](const std::string& each) {
        return each == "hami-core" || each == "mig" || each == "mps";
    };
    if (filter.modes && !filter.modes->empty() &&
        std::all_of(filter.modes->begin(), filter.modes->end(), is_mode))
        said.modes = say_words(*filter.modes, hami::mode_key, out);
    if (asked.request.within == share_nearness::same_numa) {
        out.annotate(hami::numa_bind_key, "true");
        said.nearness = true;
    }
    out.lose_wishes(asked, said);
}

} // namespace detail

/// Writes requests in the notation of HAMi (see share_draft). Whole GPUs are `nvidia.com/gpu`
/// alone. O(requests + items of filters).
inline void write_hami_requests(const std::vector<container_share>& asked, share_draft& out) {
    for (const container_share& each : asked) {
        const share_request& request = each.request;
        out.limit(each.container, hami::count_resource, request.count);
        if (is_whole(request))
            continue;
        bool is_all = false;
        if (const auto* const amount = std::get_if<memory_amount>(&request.memory)) {
            out.limit(each.container, hami::memory_resource, amount->units);
        } else {
            const std::int64_t percent = std::holds_alternative<whole_memory>(request.memory)
                                             ? 100
                                             : out.parts_of(each, 100, "% of the memory");
            out.limit(each.container, hami::percentage_resource, percent);
            is_all = percent == 100;
        }
        // HAMi's webhook requests all cores for all memory.
        if (request.cores > 0 || is_all)
            out.limit(each.container, hami::cores_resource, request.cores);
    }
    detail::write_hami_wishes(asked.front(), out);
    const auto& modes = asked.front().request.filter.modes;
    for (const container_share& each : asked)
        if (modes && *modes == std::vector<std::string>{"mig"} && each.request.count > 1)
            out.lose(out.from().count, each.container,
                     "HAMi can give a container several instances (MIG) of one GPU");
}

} // namespace codec
} // namespace v0_1
} // namespace muster
