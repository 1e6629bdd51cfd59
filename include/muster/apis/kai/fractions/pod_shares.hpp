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

#include <muster/apis/kai/fractions/node_devices.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/document/metadata_text.hpp>
#include <muster/resource/quantity_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace kai_fractions {

inline constexpr std::string_view fraction_key = "gpu-fraction";
inline constexpr std::string_view memory_key = "gpu-memory";
inline constexpr std::string_view count_key = "gpu-fraction-num-devices";
/// The container that uses the shares (default: the first one).
inline constexpr std::string_view container_key = "gpu-fraction-container-name";
inline constexpr std::string_view received_key = "received-resource-type";
inline constexpr std::string_view group_label = "runai-gpu-group";
/// Prefix of the label of each group of a pod with several; its suffix and its value are the group.
inline constexpr std::string_view groups_prefix = "runai-gpu-group/";

} // namespace kai_fractions

/// How KAI orders GPUs: most used memory first (plugin gpupack) or least used first (gpuspread).
enum class kai_order : std::uint8_t { pack, spread };

namespace detail {

/// Returns the share of the annotation `gpu-fraction`: a number above 0 and below 1. nullopt for
/// any other text.
[[nodiscard]] inline std::optional<share_memory> read_kai_fraction(std::string_view text) {
    constexpr std::int64_t whole = 1'000'000'000;
    // KAI does not accept suffixes such as m.
    if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos ||
        text.find_first_of("0123456789") == std::string_view::npos)
        return std::nullopt;
    const auto parsed = parse_quantity(text);
    if (!parsed)
        return std::nullopt;
    const int128 parts = parsed->billionths();
    if (parts <= 0 || parts >= whole)
        return std::nullopt;
    return memory_part{static_cast<std::int64_t>(parts), whole};
}

/// The shares that the annotations of a pod request.
struct kai_annotations {
    std::optional<share_memory> share;
    std::int64_t count = 1;
    std::string wrong;
};

[[nodiscard]] inline kai_annotations read_kai_annotations(const object_metadata& pod,
                                                          diagnostics& out) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const metadata_text fraction(pod, "pod", kai_fractions::fraction_key, out);
    const metadata_text memory(pod, "pod", kai_fractions::memory_key, out);
    const metadata_text count(pod, "pod", kai_fractions::count_key, out);
    kai_annotations read;
    const auto refuse = [&](const metadata_text& at, const char* expected) {
        read.wrong = at.text_of(in_quotes(at.text()) + " (expected " + expected + ")");
        read.share.reset();
        return read;
    };
    if (fraction.is_present() && memory.is_present())
        return refuse(memory, "not both gpu-fraction and gpu-memory");
    if (fraction.is_present()) {
        read.share = read_kai_fraction(fraction.text());
        if (!read.share)
            return refuse(fraction, "a number between 0 and 1");
    }
    if (memory.is_present()) {
        const auto units = whole_number(memory.text(), 1, most);
        if (!units)
            return refuse(memory, "a whole number of MiB, at least 1");
        read.share = memory_amount{*units};
    }
    if (count.is_present()) {
        const auto number = whole_number(count.text(), 1, most);
        if (!number || !read.share)
            return refuse(count,
                          "a whole number, at least 1, together with gpu-fraction or gpu-memory");
        read.count = *number;
    }
    return read;
}

/// Returns the number of whole GPUs that a pod requests: the maximum of each init container's
/// amount and the sum of the containers' amounts. Saturates. O(containers).
[[nodiscard]] inline std::int64_t whole_gpus(const std::vector<container_resources>& containers) {
    std::int64_t running = 0;
    std::int64_t most = 0;
    for (const container_resources& each : containers) {
        const auto amount = find_amount(each, kai_fractions::gpu_resource);
        if (!amount || amount->milli <= 0)
            continue;
        const std::int64_t count = saturate((amount->milli + 999) / 1000);
        if (each.is_init)
            most = std::max(most, count);
        else
            running = saturating_add(running, count);
    }
    return std::max(most, running);
}

} // namespace detail

/// Returns the groups that the labels of a pod name, without duplicates. O(labels + groups²).
[[nodiscard]] inline std::vector<std::string> kai_groups(const object_metadata& pod) {
    std::vector<std::string> groups;
    for (const auto& [key, value] : pod.labels) {
        const bool is_group =
            key == kai_fractions::group_label || key.starts_with(kai_fractions::groups_prefix);
        if (is_group && !value.empty() &&
            std::find(groups.begin(), groups.end(), value) == groups.end())
            groups.push_back(value);
    }
    return groups;
}

/// Reads what a pod holds of the GPUs of its node: shares by its labels and annotations, whole GPUs
/// by its requests. A reservation pod, which is a pod of the namespace `reservations`, holds the
/// GPU of its group. `scheduler`: name of the only scheduler whose reservation pods await sharers;
/// empty = any scheduler of Muster. O(labels + containers).
[[nodiscard]] inline kai_pod
read_kai_pod(const object_metadata& pod, const std::vector<container_resources>& containers,
             diagnostics& out, std::string_view reservations = kai_fractions::reservation_namespace,
             std::string_view scheduler = {}) {
    kai_pod read;
    read.pod = pod.key.name_space + "/" + pod.key.name;
    read.groups = kai_groups(pod);
    read.is_reservation = pod.key.name_space == reservations;
    if (read.is_reservation) {
        const std::string* const maker = pod.annotations.find(kai_fractions::reserved_by);
        read.awaits_sharers =
            !pod.terminating && maker && (scheduler.empty() || *maker == scheduler);
        read.is_ending = pod.terminating;
        if (const std::string* const gpu = pod.annotations.find(kai_fractions::gpu_key))
            read.gpu = *gpu;
        // Its GPU is the device of its group.
        if (read.groups.empty())
            read.whole = detail::whole_gpus(containers);
        return read;
    }
    const detail::kai_annotations asked = detail::read_kai_annotations(pod, out);
    const std::int64_t whole = detail::whole_gpus(containers);
    const metadata_text at(pod, "pod", kai_fractions::group_label, out, "labels");
    if (!asked.wrong.empty()) {
        read.unread = asked.wrong;
        report(out, severity::warning, pod.where, {"metadata", "annotations"}, asked.wrong);
    } else if (asked.share && static_cast<std::int64_t>(read.groups.size()) != asked.count) {
        const std::string wrong = std::to_string(read.groups.size()) + " groups for " +
                                  std::to_string(asked.count) + " GPUs (expected one for each)";
        read.unread = at.text_of(wrong);
        at.warning(wrong);
    } else {
        read.share = asked.share;
    }
    if (!read.share)
        read.groups.clear();
    read.whole = whole;
    return read;
}

/// Reads what a pod requests of KAI's GPUs: shares by its annotations, or else whole GPUs, which
/// need idle devices. O(containers).
[[nodiscard]] inline pod_share_requests
read_kai_requests(const object_metadata& pod, const std::vector<container_resources>& containers,
                  kai_order order, diagnostics& out) {
    pod_share_requests read;
    read.containers = containers.size();
    const detail::kai_annotations asked = detail::read_kai_annotations(pod, out);
    const std::int64_t whole = detail::whole_gpus(containers);
    if (!asked.wrong.empty()) {
        read.unsupported.push_back(asked.wrong);
        return read;
    }
    if (asked.share && whole > 0) {
        read.unsupported.push_back(
            std::string(kai_fractions::gpu_resource) +
            " together with gpu-fraction or gpu-memory (expected one of them)");
        return read;
    }
    if (!asked.share && whole == 0)
        return read;
    share_request request;
    request.count = asked.share ? asked.count : whole;
    request.memory = asked.share ? *asked.share : share_memory(whole_memory{});
    request.needs_idle = !asked.share;
    const device_key key =
        order == kai_order::pack ? device_key::memory_down : device_key::memory_up;
    request.order = {key, device_key::index_up, device_key::index_up};
    read.requests.push_back({0, std::move(request)});
    return read;
}

/// Returns the labels and the annotation from which KAI reads the GPUs of a pod. `groups`: one for
/// each of its shares; empty = the pod has whole GPUs. Precondition: each group has a reservation
/// pod. O(groups).
[[nodiscard]] inline share_marks kai_marks(const std::vector<std::string>& groups) {
    share_marks marks;
    marks.annotations.emplace(kai_fractions::received_key, groups.empty() ? "Regular" : "Fraction");
    if (groups.size() == 1)
        marks.labels.emplace(kai_fractions::group_label, groups.front());
    else
        for (const std::string& group : groups)
            marks.labels.emplace(std::string(kai_fractions::groups_prefix) + group, group);
    return marks;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
