// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>
#include <vector>

#include <muster/apis/shares/share_draft.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/apis/volcano/vgpu/node_register.hpp>
#include <muster/apis/volcano/vgpu/pod_requests.hpp>
#include <muster/devices/share_request.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Writes requests in the notation of Volcano's vGPUs (see share_draft), as limits: Volcano reads
/// no requests. O(requests + items of filters).
inline void write_volcano_vgpu_requests(const std::vector<container_share>& asked,
                                        share_draft& out) {
    for (const container_share& each : asked) {
        const share_request& request = each.request;
        out.limit(each.container, volcano_vgpu::count_resource, request.count);
        if (const auto* const amount = std::get_if<memory_amount>(&request.memory))
            out.limit(each.container, volcano_vgpu::memory_resource, amount->units);
        else if (std::holds_alternative<memory_part>(request.memory))
            out.limit(each.container, volcano_vgpu::percentage_resource,
                      out.parts_of(each, 100, "% of the memory"));
        if (request.cores > 0)
            out.limit(each.container, volcano_vgpu::cores_resource, request.cores);
    }
    const container_share& first = asked.front();
    const share_filter& filter = first.request.filter;
    said_wishes said;
    said.models = detail::say_models(first, volcano_vgpu::use_type_key, out);
    // Volcano reads only one of the two.
    said.models_not =
        !said.models && detail::say_words(filter.models_not, volcano_vgpu::no_use_type_key, out);
    if (out.from().has_uuids) {
        said.ids = filter.ids && detail::say_words(*filter.ids, volcano_vgpu::use_id_key, out);
        said.ids_not = detail::say_words(filter.ids_not, volcano_vgpu::no_use_id_key, out);
    }
    if (filter.modes && filter.modes->size() == 1) {
        out.annotate(volcano_vgpu::mode_key, filter.modes->front());
        said.modes = true;
        for (const container_share& each : asked)
            if (filter.modes->front() == "mig" && each.request.count > 1)
                out.lose(out.from().count, each.container,
                         "Volcano gives a container instances (MIG) of different GPUs only");
    }
    out.lose_wishes(first, said);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
