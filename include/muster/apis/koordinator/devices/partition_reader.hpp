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
#include <tuple>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/koordinator/devices/names.hpp>
#include <muster/apis/shares/node_shares.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/device_partition.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/document/metadata_text.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/resource/quantity_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Returns a quantity of JSON, a string or a number, in thousandths, rounded up to a unit if it is
/// finer; nullopt if it is none or negative.
[[nodiscard]] inline std::optional<std::int64_t> json_milli(const boost::json::value& value) {
    std::string text;
    if (const auto* const written = value.if_string())
        text.assign(written->data(), written->size());
    else if (value.is_number())
        text = boost::json::serialize(value);
    const auto parsed = parse_quantity(text);
    if (!parsed || parsed->sign() < 0)
        return std::nullopt;
    const auto exact = parsed->exact_milli();
    return exact ? saturate(*exact) : saturating_multiply(parsed->units_up(), 1000);
}

/// Returns the index of the GPU with a minor number; the number of devices if there is none.
[[nodiscard]] inline std::size_t gpu_index(std::int64_t minor,
                                           const std::vector<shared_device>& devices) {
    const std::string id = koordinator_devices::device_id({}, minor);
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const shared_device& each) { return each.id == id; });
    return static_cast<std::size_t>(found - devices.begin());
}

/// Reads one partition of a table. Returns an error message; empty if there is none.
[[nodiscard]] inline std::string read_partition(const boost::json::value& at, std::size_t count,
                                                const std::vector<shared_device>& devices,
                                                std::vector<device_partition>& to) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto* const object = at.if_object();
    if (object == nullptr)
        return "a partition is not an object";
    const auto* const listed = object->if_contains("minors");
    const auto* const minors = listed ? listed->if_array() : nullptr;
    if (minors == nullptr)
        return "a partition does not list its minors";
    device_partition made;
    for (const boost::json::value& each : *minors) {
        const std::int64_t* const minor = each.if_int64();
        if (minor == nullptr || *minor < 0 || *minor > most)
            return "a minor of a partition is not a whole number from 0 to 2147483647";
        const std::size_t index = gpu_index(*minor, devices);
        if (std::find(made.devices.begin(), made.devices.end(), index) == made.devices.end())
            made.devices.push_back(index);
    }
    if (made.devices.size() != count || minors->size() != count)
        made.asked = count;
    if (const auto* const score = object->if_contains("allocationScore")) {
        const std::int64_t* const number = score->if_int64();
        if (number == nullptr || *number < -most || *number > most)
            return "an allocationScore is not an integer of 32 bits";
        made.score = *number;
    }
    if (const auto* const bandwidth = object->if_contains("ringBusBandwidth");
        bandwidth && !bandwidth->is_null()) {
        made.bandwidth_milli = json_milli(*bandwidth);
        if (!made.bandwidth_milli)
            return "a ringBusBandwidth is not a quantity of at least 0";
    }
    to.push_back(std::move(made));
    return {};
}

} // namespace detail

/// Maximum number of different partitions of a node, as each is compared with all others.
inline constexpr std::size_t most_partitions = 1024;

/// Reads the table of GPU partitions from a Device's annotations. Returns nullopt if there is none,
/// or if it cannot be read; `wrong` has the reason. A partition that lists fewer or more minors
/// than its key says is never given; Koordinator gives all its GPUs. O(annotation × devices).
[[nodiscard]] inline std::optional<partition_table>
read_koordinator_partitions(const object_metadata& of, const std::vector<shared_device>& devices,
                            std::string& wrong) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::string* const text = of.annotations.find(koordinator_devices::partitions_key);
    if (text == nullptr || text->empty())
        return std::nullopt;
    const auto refuse = [&](std::string why) {
        wrong = std::move(why);
        return std::nullopt;
    };
    boost::json::error_code error;
    const boost::json::value root = boost::json::parse(*text, error);
    if (error || !root.is_object())
        return refuse("not a JSON object (expected partitions by number of GPUs)");
    partition_table read;
    const auto key_of = [](const device_partition& each) {
        return std::tuple(each.devices, each.score, each.bandwidth_milli, each.asked);
    };
    std::set<decltype(key_of(device_partition{}))> known;
    for (const auto& member : root.get_object()) {
        const std::string_view key(member.key().data(), member.key().size());
        const auto count = detail::whole_number(key, 0, most);
        if (!count)
            return refuse(in_quotes(key) + " is not a number of GPUs");
        if (member.value().is_null())
            continue;
        if (!member.value().is_array())
            return refuse("the partitions of " + std::string(key) + " GPUs are not a list");
        for (const boost::json::value& each : member.value().get_array()) {
            if (std::string why = detail::read_partition(each, static_cast<std::size_t>(*count),
                                                         devices, read.partitions);
                !why.empty())
                return refuse(std::move(why));
            if (!known.insert(key_of(read.partitions.back())).second)
                read.partitions.pop_back();
            if (read.partitions.size() > most_partitions)
                return refuse("more than " + std::to_string(most_partitions) + " partitions");
        }
    }
    return read;
}

/// Returns true if the labels of a node or Device restrict requests for whole GPUs to partitions.
[[nodiscard]] inline bool honors_partitions(const object_metadata& of) {
    const std::string* const policy = of.labels.find(koordinator_devices::partition_policy_label);
    return policy && *policy == "Honor";
}

/// Returns the partitions of a node that has none of its own: those of the model that its labels
/// name. Hopper GPUs of NVIDIA (H100, H800, H20) have 1, 2, 4 or 8 adjacent GPUs; other models have
/// none. Koordinator 1.8, pkg/scheduler/plugins/deviceshare/allocator_gpu_helper.go. O(devices).
[[nodiscard]] inline partition_table
koordinator_model_partitions(const object_metadata& node,
                             const std::vector<shared_device>& devices) {
    partition_table made;
    made.is_required = honors_partitions(node);
    const std::string* const vendor = node.labels.find(koordinator_devices::vendor_label);
    const std::string* const model = node.labels.find(koordinator_devices::model_label);
    if (!model || (vendor && !vendor->empty() && *vendor != "nvidia") ||
        (*model != "H100" && *model != "H800" && *model != "H20"))
        return made;
    for (const std::int64_t size : {1, 2, 4, 8})
        for (std::int64_t first = 0; first < 8; first += size) {
            device_partition& each = made.partitions.emplace_back();
            for (std::int64_t minor = first; minor < first + size; ++minor)
                each.devices.push_back(detail::gpu_index(minor, devices));
            each.score = 1;
        }
    return made;
}

/// Returns the partitions of a node with this Device: its own, or those of the node's model. If its
/// own cannot be read, and the Device or the node lets whole GPUs be given by partitions only, no
/// whole GPU is given. O(partitions + devices).
[[nodiscard]] inline partition_table koordinator_partitions(const koordinator_device_object& of,
                                                            const object_metadata& node) {
    if (of.partitions)
        return *of.partitions;
    if (of.has_unread_partitions && (honors_partitions(of.metadata) || honors_partitions(node)))
        return {{}, true};
    return koordinator_model_partitions(node, of.shares.devices);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
