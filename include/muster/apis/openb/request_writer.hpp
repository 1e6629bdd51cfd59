// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <muster/apis/openb/pod_requests.hpp>
#include <muster/apis/shares/share_draft.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/share_request.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Writes requests in the notation of openb (see share_draft), which has one share for memory and
/// cores: the greater of the two. openb gives GPUs to pods, not to containers, so only whole GPUs
/// of several containers can be added up. The notation cannot express amounts of memory. O(requests
/// + items of filters).
inline void write_openb_requests(const std::vector<container_share>& asked, share_draft& out) {
    const container_share& first = asked.front();
    const bool all_whole = std::all_of(asked.begin(), asked.end(), [](const container_share& each) {
        return is_whole(each.request);
    });
    if (!all_whole && asked.size() > 1)
        return out.refuse(out.from().count, asked[1].container,
                          "openb gives one share to all containers of a pod");
    const share_request& request = first.request;
    if (std::holds_alternative<memory_amount>(request.memory))
        return out.refuse(out.from().amount, first.container,
                          "openb knows parts of GPUs, not amounts of memory");
    const std::int64_t memory = std::holds_alternative<whole_memory>(request.memory)
                                    ? openb::whole_gpu
                                    : out.parts_of(first, openb::whole_gpu, "thousandths");
    const std::int64_t milli = std::max(memory, request.cores * 10);
    if (const std::int64_t cores = (milli + 9) / 10; cores != request.cores)
        out.lose(out.from().cores.empty() ? out.from().part : out.from().cores, first.container,
                 "openb has one share of memory and cores: " + std::to_string(cores) +
                     " % of the cores, not " + std::to_string(request.cores) + " %");
    if (memory < milli)
        out.lose(out.from().part, first.container,
                 "openb has one share of memory and cores: " + std::to_string(milli) +
                     " thousandths of the memory, not " + std::to_string(memory));
    std::int64_t count = 0;
    for (const container_share& each : asked)
        count = saturating_add(count, each.request.count);
    if (count > std::numeric_limits<std::int32_t>::max())
        return out.refuse(out.from().count, first.container, "openb cannot say so many GPUs");
    for (const container_share& each : asked)
        if (asked.size() > 1 || each.container != out.first_container())
            out.lose(out.from().count, each.container,
                     "openb gives the GPUs to the pod, not to container " +
                         out.container(each.container).name);
    out.annotate(openb::milli_key, std::to_string(milli));
    out.annotate(openb::count_key, std::to_string(count));
    said_wishes said;
    const share_filter& filter = request.filter;
    if (filter.models && detail::can_list(*filter.models, '|')) {
        out.annotate(openb::model_key, *filter.models, '|');
        out.lose_match_of_models(first, false);
        said.models = true;
    }
    out.lose_wishes(first, said);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
