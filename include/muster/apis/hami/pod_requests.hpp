// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The settings of HAMi's scheduler that affect requests, with their defaults.
struct hami_options {
    /// Number of devices for a container that requests memory or cores, but no count.
    std::int64_t default_count = 1;
    /// Memory per device in MiB if a container requests none; 0 = all memory.
    std::int64_t default_memory = 0;
    std::int64_t default_cores = 0;
    /// MiB per unit of `nvidia.com/gpumem`.
    std::int64_t memory_factor = 1;
    /// Policy of pods without the annotation `hami.io/gpu-scheduler-policy`.
    std::string policy = "spread";
};

namespace hami {

inline constexpr std::string_view count_resource = "nvidia.com/gpu";
inline constexpr std::string_view memory_resource = "nvidia.com/gpumem";
inline constexpr std::string_view percentage_resource = "nvidia.com/gpumem-percentage";
inline constexpr std::string_view cores_resource = "nvidia.com/gpucores";

inline constexpr std::string_view use_type_key = "nvidia.com/use-gputype";
inline constexpr std::string_view no_use_type_key = "nvidia.com/nouse-gputype";
inline constexpr std::string_view use_id_key = "nvidia.com/use-gpuuuid";
inline constexpr std::string_view no_use_id_key = "nvidia.com/nouse-gpuuuid";
inline constexpr std::string_view numa_bind_key = "nvidia.com/numa-bind";
inline constexpr std::string_view mode_key = "nvidia.com/vgpu-mode";
inline constexpr std::string_view policy_key = "hami.io/gpu-scheduler-policy";
inline constexpr std::string_view weights_key = "hami.io/device-scoring-weights";
/// Annotation with a preference among nodes, which is not modelled.
inline constexpr std::string_view node_policy_key = "hami.io/node-scheduler-policy";

} // namespace hami

namespace detail {

/// Returns the words of an annotation; nullopt if it is absent or blank, so that it restricts
/// nothing.
[[nodiscard]] inline std::optional<std::vector<std::string>>
restricting_words(const object_metadata& pod, std::string_view key) {
    const std::string* const text = pod.annotations.find(key);
    if (text == nullptr || without_blanks(*text).empty())
        return std::nullopt;
    return listed_words(*text);
}

[[nodiscard]] inline share_filter read_hami_filter(const object_metadata& pod) {
    share_filter filter;
    filter.models = restricting_words(pod, hami::use_type_key);
    filter.models_not =
        restricting_words(pod, hami::no_use_type_key).value_or(std::vector<std::string>{});
    filter.ids = restricting_words(pod, hami::use_id_key);
    filter.ids_not =
        restricting_words(pod, hami::no_use_id_key).value_or(std::vector<std::string>{});
    if (const std::string* const mode = pod.annotations.find(hami::mode_key)) {
        // HAMi accepts a device if its mode is a substring of the annotation.
        filter.modes.emplace();
        for (const char* const each : {"hami-core", "mig", "mps"})
            if (mode->find(each) != std::string::npos)
                filter.modes->emplace_back(each);
    }
    return filter;
}

/// Returns the order in which HAMi tries devices under a policy. HAMi sorts them in the opposite
/// order and starts at the end. Each word of a list of policies is a sort key, except `mutex` and
/// `topology-aware`; a list without a key means `spread`.
[[nodiscard]] inline device_order hami_order(std::string_view policy, bool numa_bind) {
    const bool is_list = policy.find(',') != std::string_view::npos || policy == "numa";
    if (policy == "mutex")
        return {device_key::slots_up, device_key::numa_down, device_key::index_down};
    if (!is_list) {
        const bool packs = policy == "binpack";
        const device_key load = packs ? device_key::load_down : device_key::load_up;
        if (numa_bind)
            return {packs ? device_key::numa_up : device_key::numa_down, load,
                    device_key::index_down};
        return {load, device_key::numa_down, device_key::index_down};
    }
    std::vector<device_key> keys;
    const auto add = [&](device_key key) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end())
            keys.push_back(key);
    };
    for (const std::string& word : listed_words(policy)) {
        if (word == "binpack")
            add(device_key::load_down);
        else if (word == "spread")
            add(device_key::load_up);
        else if (word == "numa")
            add(device_key::numa_down);
    }
    if (keys.empty())
        keys.push_back(device_key::load_up);
    if (numa_bind && keys.front() != device_key::numa_down) {
        std::erase(keys, device_key::numa_down);
        keys.insert(keys.begin(), device_key::numa_down);
    }
    // If the list has both binpack and spread, the first of them decides.
    keys.resize(std::min<std::size_t>(keys.size(), 2));
    keys.resize(3, device_key::index_down);
    return {keys[0], keys[1], keys[2]};
}

/// Reads `slot=1,core=1,memory=3`: each weight once, from 0 to int32's maximum, and not all 0.
/// Returns nullopt if the text is anything else.
[[nodiscard]] inline std::optional<load_weights> read_hami_weights(std::string_view text) {
    load_weights read{-1, -1, -1};
    const std::vector<std::string_view> parts = split_text(text, ',');
    for (const std::string_view part : parts) {
        const std::size_t sign = part.find('=');
        if (sign == std::string_view::npos)
            return std::nullopt;
        const std::string_view name = without_blanks(part.substr(0, sign));
        std::int64_t* const weight = name == "slot"     ? &read.slots
                                     : name == "core"   ? &read.cores
                                     : name == "memory" ? &read.memory
                                                        : nullptr;
        const auto number = whole_number(without_blanks(part.substr(sign + 1)), 0,
                                         std::numeric_limits<std::int32_t>::max());
        if (weight == nullptr || *weight != -1 || !number)
            return std::nullopt;
        *weight = *number;
    }
    const bool is_whole = read.slots >= 0 && read.cores >= 0 && read.memory >= 0;
    return is_whole && read != load_weights{0, 0, 0} ? std::optional(read) : std::nullopt;
}

/// Reads what one container requests. Returns nullopt if it requests no device, or if an amount is
/// malformed, which is then added to `unsupported`. `is_admitted`: HAMi's webhook has processed the
/// pod.
[[nodiscard]] inline std::optional<share_request>
read_hami_container(const container_resources& of, const hami_options& options, bool is_admitted,
                    std::vector<std::string>& unsupported) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::size_t before = unsupported.size();
    const auto read = [&](std::string_view resource, std::int64_t limit) {
        return read_share_amount(of, resource, limit, unsupported);
    };
    const std::int64_t factor = std::max<std::int64_t>(options.memory_factor, 1);
    std::optional<std::int64_t> count = read(hami::count_resource, most);
    const auto memory = read(hami::memory_resource, most / factor);
    // HAMi caps percentages at 100.
    const auto percentage =
        read(hami::percentage_resource, std::numeric_limits<std::int64_t>::max());
    std::optional<std::int64_t> cores = read(hami::cores_resource, most);
    if (unsupported.size() != before)
        return std::nullopt;
    if (!is_admitted) {
        // HAMi's webhook writes these defaults into pods when they are created.
        if (!count && (memory || percentage || cores) && options.default_count > 0)
            count = options.default_count;
        if (count && !cores && (percentage ? *percentage == 100 : !memory))
            cores = 100;
    }
    if (!count.value_or(0))
        return std::nullopt;
    share_request request;
    request.count = *count;
    request.cores = std::min<std::int64_t>(cores.value_or(options.default_cores), 100);
    if (memory.value_or(0) > 0)
        request.memory = memory_amount{*memory * factor};
    else if (percentage.value_or(0) > 0)
        request.memory = memory_part{std::min<std::int64_t>(*percentage, 100), 100};
    else if (options.default_memory > 0)
        request.memory = memory_amount{options.default_memory};
    return request;
}

} // namespace detail

/// Reads what a pod requests of HAMi's NVIDIA devices: `nvidia.com/gpu` with `gpumem`,
/// `gpumem-percentage` and `gpucores`, and the annotations that restrict the devices. 0 MiB and 0 %
/// of memory count as absent, as in HAMi. A pod without a uid is not created yet: it gets the
/// defaults that HAMi's webhook would write. Init containers with requests are not modelled.
/// `containers`: init containers first. O(containers + annotations).
[[nodiscard]] inline pod_share_requests
read_hami_requests(const object_metadata& pod, const std::vector<container_resources>& containers,
                   const hami_options& options, diagnostics& out) {
    pod_share_requests read;
    read.containers = containers.size();
    const std::string* const named = pod.annotations.find(hami::policy_key);
    const std::string& policy = named ? *named : options.policy;
    const std::vector<std::string> words = detail::listed_words(policy);
    const metadata_text numa_at(pod, "pod", hami::numa_bind_key, out);
    const auto binds = detail::go_boolean(numa_at.text());
    share_request like;
    like.filter = detail::read_hami_filter(pod);
    like.within = binds.value_or(false) ? share_nearness::same_numa : share_nearness::anywhere;
    like.order = detail::hami_order(policy, binds.value_or(false));
    like.needs_idle = std::find(words.begin(), words.end(), "mutex") != words.end();
    like.prefers_links = std::find(words.begin(), words.end(), "topology-aware") != words.end();
    const std::string* const weights = pod.annotations.find(hami::weights_key);
    const std::optional<load_weights> weighted =
        weights ? detail::read_hami_weights(*weights) : load_weights{};
    for (std::size_t index = 0; index < containers.size(); ++index) {
        auto request = detail::read_hami_container(containers[index], options, !pod.uid.empty(),
                                                   read.unsupported);
        if (!request)
            continue;
        if (containers[index].is_init) {
            read.unsupported.push_back("shares of GPUs for init container " +
                                       in_quotes(containers[index].name));
            continue;
        }
        request->filter = like.filter;
        request->within = like.within;
        request->order = like.order;
        request->needs_idle = like.needs_idle;
        request->prefers_links = like.prefers_links;
        request->weights = weighted.value_or(load_weights{});
        read.requests.push_back({index, std::move(*request)});
    }
    // HAMi places no pod with malformed weights.
    if (!weighted && !read.requests.empty())
        read.unsupported.push_back("metadata.annotations[" + std::string(hami::weights_key) + "] " +
                                   in_quotes(*weights) +
                                   " (expected slot=1,core=1,memory=1 with weights from 0 to "
                                   "2147483647, not all 0)");
    if (numa_at.is_present() && !binds && !read.empty())
        numa_at.warning(in_quotes(numa_at.text()) + " is ignored (expected true or false)");
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
