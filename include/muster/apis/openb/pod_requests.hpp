// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/kai/fractions/pod_shares.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
/// The notation of the traces openb and of the simulator that replays them
/// (hkust-adsl/kubernetes-scheduler-simulator, pkg/type/open-gpu-share).
namespace openb {

/// Annotation of pods: thousandths of each GPU. Also a resource of nodes.
inline constexpr std::string_view milli_key = "alibabacloud.com/gpu-milli";
/// Annotation of pods, and resource of nodes: number of GPUs.
inline constexpr std::string_view count_key = "alibabacloud.com/gpu-count";
/// Annotation of pods: indices of their GPUs, separated by `-`.
inline constexpr std::string_view index_key = "alibabacloud.com/gpu-index";
/// Label of nodes: the model. Annotation of pods: the accepted models, separated by `|`.
inline constexpr std::string_view model_key = "alibabacloud.com/gpu-card-model";

/// One GPU in thousandths.
inline constexpr std::int64_t whole_gpu = 1000;

} // namespace openb

namespace detail {

/// Returns the indices of an annotation `2-3`; nullopt if the text is not a list of different
/// indices. O(text × log indices).
[[nodiscard]] inline std::optional<std::vector<std::string>> openb_indices(std::string_view text) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    std::vector<std::string> indices;
    std::set<std::int64_t> seen;
    for (const std::string_view part : split_text(text, '-')) {
        const auto index = whole_number(part, 0, most);
        if (!index)
            return std::nullopt;
        if (!seen.insert(*index).second)
            return std::nullopt;
        indices.push_back(std::to_string(*index));
    }
    return indices;
}

/// Reads what a pod requests of openb's GPUs, apart from their indices; see read_openb_requests().
[[nodiscard]] inline pod_share_requests
read_openb_amounts(const object_metadata& pod, const std::vector<container_resources>& containers,
                   diagnostics& out) {
    const metadata_text milli_at(pod, "pod", openb::milli_key, out);
    const metadata_text count_at(pod, "pod", openb::count_key, out);
    pod_share_requests read;
    read.containers = containers.size();
    const auto refuse = [&](const metadata_text& at, const char* expected) {
        read.unsupported.push_back(
            at.text_of(in_quotes(at.text()) + " (expected " + expected + ")"));
        return read;
    };
    share_request request;
    if (const std::int64_t whole = detail::whole_gpus(containers); whole > 0) {
        if (milli_at.is_present())
            return refuse(milli_at, "not together with nvidia.com/gpu");
        request.count = whole;
        request.cores = 100;
        request.needs_idle = true;
        read.requests.push_back({0, std::move(request)});
        return read;
    }
    if (!milli_at.is_present())
        return read;
    const auto milli = detail::whole_number(milli_at.text(), 0, openb::whole_gpu);
    if (!milli)
        return refuse(milli_at, "a whole number from 0 to 1000");
    if (*milli == 0)
        return read;
    const auto count =
        detail::whole_number(count_at.text(), 1, std::numeric_limits<std::int32_t>::max());
    if (!count)
        return refuse(count_at, "a whole number, at least 1");
    request.count = *count;
    if (*milli < openb::whole_gpu)
        request.memory = memory_part{*milli, openb::whole_gpu};
    request.cores = (*milli + 9) / 10;
    if (const std::string* const models = pod.annotations.find(openb::model_key)) {
        std::vector<std::string> names;
        for (const std::string_view name : detail::split_text(*models, '|'))
            if (!name.empty())
                names.emplace_back(name);
        if (!names.empty())
            request.filter.model_names = std::move(names);
    }
    // The tightest GPU for one share; the first ones for several.
    if (*count == 1)
        request.order = {device_key::memory_down, device_key::index_up, device_key::index_up};
    read.requests.push_back({0, std::move(request)});
    return read;
}

} // namespace detail

/// Reads what a pod requests of openb's GPUs. Annotations request for all containers together. A
/// pod without them requests whole GPUs by its resources, which need idle devices. 0 thousandths
/// request nothing. A share counts for memory and for cores; cores are rounded up to whole percent.
/// O(annotations + containers).
[[nodiscard]] inline pod_share_requests
read_openb_requests(const object_metadata& pod, const std::vector<container_resources>& containers,
                    diagnostics& out) {
    const metadata_text index_at(pod, "pod", openb::index_key, out);
    pod_share_requests read = detail::read_openb_amounts(pod, containers, out);
    const bool has_annotations = pod.annotations.find(openb::milli_key) != nullptr;
    if (read.requests.empty() || !has_annotations || index_at.text().empty())
        return read;
    share_request& request = read.requests.front().request;
    request.filter.ids = detail::openb_indices(index_at.text());
    if (!request.filter.ids ||
        static_cast<std::int64_t>(request.filter.ids->size()) != request.count) {
        read.requests.clear();
        read.unsupported.push_back(index_at.text_of(in_quotes(index_at.text()) +
                                                    " (expected as many different indices as "
                                                    "GPUs)"));
    }
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
