// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/index/offered_node.hpp>
#include <muster/policy/shared_gpus.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/device_rule.hpp>
#include <muster/vocabulary/gpu_reader.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns the GPUs of nodes and pods to a score: whole GPUs from columns of the amounts, shared
/// GPUs from a reader.
struct gpu_view {
    /// The column of CPUs, in thousandths.
    std::size_t cpu = 0;
    /// The columns that count whole GPUs. Each column is a model.
    std::array<bool, max_kinds> whole{};
    gpu_reader shared{};

    /// The model number of all shared GPUs; those of whole GPUs are their columns.
    static constexpr std::uint32_t shared_model = max_gpu_models - 1;
    static_assert(max_kinds < shared_model);

    /// Returns the free amounts of the node's GPUs and CPUs, in thousandths. If a node has several
    /// kinds of whole GPUs, only the first kind counts; at most `max_node_gpus` GPUs count. `held`:
    /// the device demands of the pods on the node. O(kinds + GPUs) plus gpu_reader::gpus_left().
    template<std::size_t Width>
    [[nodiscard]] shared_gpu_node node(const resources<Width>& capacity,
                                       const resources<Width>& free, device_stock has,
                                       std::span<const device_demand> held) const {
        shared_gpu_node made;
        made.cpu = std::max<std::int64_t>(free[cpu], 0);
        made.gpus = static_cast<std::uint32_t>(shared.gpus_left(has, held, made.left));
        if (made.gpus > 0) {
            made.model = shared_model;
            return made;
        }
        constexpr auto most = static_cast<std::int64_t>(max_node_gpus);
        for (std::size_t column = 0; column < Width; ++column) {
            if (!whole[column] || capacity[column] <= 0)
                continue;
            made.model = static_cast<std::uint32_t>(column);
            made.gpus = static_cast<std::uint32_t>(std::min(capacity[column], most));
            const auto unused = std::clamp<std::int64_t>(free[column], 0, made.gpus);
            std::fill_n(made.left.begin(), static_cast<std::ptrdiff_t>(unused), whole_gpu_milli);
            break;
        }
        return made;
    }
    /// Returns the request of a pod for CPUs and GPUs, in thousandths, on a node with these
    /// devices. Parts of several GPUs count as whole GPUs. O(kinds) plus gpu_reader::part().
    template<std::size_t Width>
    [[nodiscard]] shared_gpu_task task(const resources<Width>& request, device_stock has,
                                       device_demand demand) const {
        shared_gpu_task made;
        made.cpu = std::max<std::int64_t>(request[cpu], 0);
        constexpr auto most = static_cast<std::int64_t>(max_node_gpus) + 1;
        if (const gpu_part part = shared.part(has, demand); part.gpus > 0) {
            made.gpus = static_cast<std::int32_t>(std::min(part.gpus, most));
            made.milli = part.gpus > 1 ? whole_gpu_milli
                                       : static_cast<std::int32_t>(std::clamp<std::int64_t>(
                                             part.milli, 1, whole_gpu_milli));
            made.models = std::uint64_t{1} << shared_model;
        }
        for (std::size_t column = 0; column < Width && made.gpus == 0; ++column)
            if (whole[column] && request[column] > 0) {
                made.gpus = static_cast<std::int32_t>(std::min(request[column], most));
                made.milli = whole_gpu_milli;
                made.models = std::uint64_t{1} << column;
            }
        return made;
    }

    [[nodiscard]] friend bool operator==(const gpu_view&, const gpu_view&) = default;
};

} // namespace v0_1
} // namespace muster
