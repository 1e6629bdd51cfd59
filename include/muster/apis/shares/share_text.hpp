// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <muster/apis/shares/share_demand.hpp>
#include <muster/devices/device_labels.hpp>
#include <muster/devices/device_partition.hpp>
#include <muster/devices/gpu_instance.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

inline void append_words(const std::vector<std::string>& words, std::string& to) {
    to += '[';
    for (const std::string& each : words)
        to += std::to_string(each.size()) + ':' + each;
    to += ']';
}
inline void append_words(const std::optional<std::vector<std::string>>& words, std::string& to) {
    if (words)
        append_words(*words, to);
    to += ';';
}

inline void append_checks(const std::vector<device_label_check>& checks, std::string& to) {
    for (const device_label_check& each : checks) {
        to += '?' + std::to_string(static_cast<int>(each.op));
        append_words({each.key}, to);
        append_words(each.values, to);
    }
    to += ';';
}
inline void append_labels(const device_labels& labels, std::string& to) {
    std::vector<std::string> words;
    for (const auto& [key, value] : labels) {
        words.push_back(key);
        words.push_back(value);
    }
    append_words(words, to);
}
inline void append_instances(const shared_device& of, std::string& to) {
    to += " " + std::to_string(of.used.slices);
    for (const gpu_instance& each : of.instances) {
        to += " " + std::to_string(each.memory) + " " +
              (each.cores ? std::to_string(*each.cores) : "-") + " " + std::to_string(each.slices) +
              " " + std::to_string(each.apart_from) + " " + std::to_string(each.beside);
        append_words({each.name}, to);
    }
}

} // namespace detail

/// Returns a text that is equal if and only if the requests are equal, apart from `pod` and
/// `near_order`. O(text).
[[nodiscard]] inline std::string share_text(const share_request& of) {
    std::string text = std::to_string(of.count) + " of ";
    if (const auto* const amount = std::get_if<memory_amount>(&of.memory))
        text += std::to_string(amount->units);
    else if (const auto* const part = std::get_if<memory_part>(&of.memory))
        text += std::to_string(part->parts) + "/" + std::to_string(part->of);
    text += " " + std::to_string(of.cores) + " " + std::to_string(static_cast<int>(of.within)) +
            (of.prefers_near ? " near" : "") + (of.needs_idle ? " idle" : "") +
            (of.apart_from_group ? " apart" : "");
    for (const device_key key : of.order)
        text += " " + std::to_string(static_cast<int>(key));
    if (of.weights != load_weights{})
        text += " by " + std::to_string(of.weights.slots) + " " +
                std::to_string(of.weights.memory) + " " + std::to_string(of.weights.cores);
    text += of.prefers_links ? " linked" : "";
    detail::append_words({of.group, of.filter.kind}, text);
    detail::append_words(of.filter.models, text);
    detail::append_words(of.filter.model_names, text);
    detail::append_words(of.filter.models_not, text);
    detail::append_words(of.filter.ids, text);
    detail::append_words(of.filter.ids_not, text);
    detail::append_words(of.filter.modes, text);
    detail::append_words({of.filter.type}, text);
    detail::append_checks(of.filter.labels, text);
    text += of.takes_all ? " all" : "";
    if (of.function) {
        text += " function";
        detail::append_checks(*of.function, text);
    }
    if (of.partition)
        text +=
            std::string(" partition") + (of.partition->is_required ? " required" : "") +
            (of.partition->least_score_only ? " least " : " any ") +
            (of.partition->bandwidth_milli ? std::to_string(*of.partition->bandwidth_milli) : "");
    for (const share_request& partner : of.partners)
        text += (of.partners_at_same_roots ? " at same roots {" : " with {") + share_text(partner) +
                '}';
    return text;
}

/// Returns a text that is equal if and only if the demands are equal (see above). O(text).
[[nodiscard]] inline std::string share_text(const share_demand& of) {
    std::string text = of.only ? "only " + std::to_string(static_cast<int>(*of.only)) : "";
    for (const share_system system : of.refused)
        text += "\nnot on " + std::to_string(static_cast<int>(system));
    for (const auto& [system, requests] : of.asks) {
        text += "\non " + std::to_string(static_cast<int>(system));
        for (const share_request& each : requests)
            text += "\n" + share_text(each);
    }
    if (of.held_gpus.gpus > 0)
        text += "\nholds " + std::to_string(of.held_gpus.gpus) + " GPUs " +
                std::to_string(of.held_gpus.milli);
    for (const held_device_share& each : of.held) {
        text += "\nholds " + std::to_string(each.at) + " " + std::to_string(each.amounts.slots) +
                " " + std::to_string(each.amounts.memory) + " " +
                std::to_string(each.amounts.cores) + " " + std::to_string(each.amounts.slices);
        detail::append_words({each.group}, text);
        for (const std::size_t function : each.functions)
            text += " " + std::to_string(function);
    }
    return text;
}

/// Returns a text that is equal if and only if the nodes have equal devices. Ids are compared only
/// with `with_ids`; sharers are not compared. O(text).
[[nodiscard]] inline std::string share_text(const share_stock& of, bool with_ids) {
    std::string text = of.system ? std::to_string(static_cast<int>(*of.system)) : "none";
    const auto append = [&](const std::optional<std::int64_t>& amount) {
        text += amount ? " " + std::to_string(*amount) : " -";
    };
    for (const shared_device& each : of.devices) {
        text += "\n" + std::to_string(each.memory);
        append(each.cores);
        append(each.slots);
        append(each.numa);
        text += (each.healthy ? "" : " closed") + std::string(each.is_partitioned ? " mig" : "");
        text += " " + std::to_string(each.used.slots) + " " + std::to_string(each.used.memory) +
                " " + std::to_string(each.used.cores);
        detail::append_words({each.model, each.pcie, each.mode, with_ids ? each.id : ""}, text);
        detail::append_words({each.type}, text);
        detail::append_labels(each.labels, text);
        for (const virtual_function& function : each.functions) {
            text += function.in_use ? " used" : " free";
            detail::append_labels(function.labels, text);
        }
        if (each.is_partitioned)
            detail::append_instances(each, text);
        for (const std::int64_t link : each.links)
            text += " " + std::to_string(link);
    }
    text += of.partitions.is_required ? "\npartitions only" : "\n";
    for (const device_partition& each : of.partitions.partitions) {
        text += "\n" + std::to_string(each.score);
        append(each.bandwidth_milli);
        text += each.asked ? " for " + std::to_string(*each.asked) : "";
        for (const std::size_t index : each.devices)
            text += ' ' + std::to_string(index);
    }
    return text;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
