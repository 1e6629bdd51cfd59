// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <muster/codec/metadata_text.hpp>
#include <muster/codec/share_objects.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace hami {

inline constexpr std::string_view register_key = "hami.io/node-nvidia-register";
inline constexpr std::string_view cordon_key = "hami.io/device-cordon";

} // namespace hami

namespace detail {

/// Maximum amount: HAMi stores amounts in 32 bits.
inline constexpr std::int64_t most_hami_amount = std::numeric_limits<std::int32_t>::max();

/// Reads one entry of the JSON form. An absent field is 0, empty or false, as Go omits fields with
/// such values. Returns an error message; empty if there is none.
[[nodiscard]] inline std::string read_hami_entry(const boost::json::object& entry,
                                                 shared_device& to) {
    std::string wrong;
    const auto number = [&](std::string_view key, std::int64_t least, std::int64_t most) {
        const boost::json::value* const value = entry.if_contains(key);
        if (value == nullptr || value->is_null())
            return std::int64_t{0};
        const std::int64_t* const found = value->if_int64();
        if (found == nullptr || *found < least || *found > most) {
            wrong = std::string(key) + " is not a whole number from " + std::to_string(least) +
                    " to " + std::to_string(most);
            return std::int64_t{0};
        }
        return *found;
    };
    const auto text = [&](std::string_view key) {
        const boost::json::value* const value = entry.if_contains(key);
        if (value == nullptr || value->is_null())
            return std::string();
        if (!value->is_string()) {
            wrong = std::string(key) + " is not a string";
            return std::string();
        }
        return std::string(value->get_string().data(), value->get_string().size());
    };
    to.id = text("id");
    to.model = text("type");
    to.mode = text("mode");
    to.slots = number("count", 0, most_hami_amount);
    to.memory = number("devmem", 0, most_hami_amount);
    to.cores = number("devcore", 0, most_hami_amount);
    to.numa = number("numa", -1, most_hami_amount);
    const boost::json::value* const health = entry.if_contains("health");
    to.healthy = health != nullptr && health->is_bool() && health->get_bool();
    if (health != nullptr && !health->is_bool() && !health->is_null())
        wrong = "health is neither true nor false";
    return wrong;
}

/// Reads one entry of the old form: `id,count,memory,cores,type,numa,health`, followed since HAMi
/// 2.6 by `index,mode`. Returns an error message; empty if there is none.
[[nodiscard]] inline std::string read_hami_entry(std::string_view entry, shared_device& to) {
    const std::vector<std::string_view> parts = split_text(entry, ',');
    if (parts.size() != 7 && parts.size() != 9)
        return std::to_string(parts.size()) + " parts between commas (expected 7 or 9)";
    const auto slots = whole_number(parts[1], 0, most_hami_amount);
    const auto memory = whole_number(parts[2], 0, most_hami_amount);
    const auto cores = whole_number(parts[3], 0, most_hami_amount);
    const auto numa = whole_number(parts[5], -1, most_hami_amount);
    const auto health = go_boolean(parts[6]);
    const bool has_index = parts.size() == 7 || whole_number(parts[7], 0, most_hami_amount);
    if (!slots || !memory || !cores || !numa || !has_index)
        return "count, memory, cores, NUMA node or index is not a number (expected whole numbers "
               "from 0 to 2147483647, or -1 as the NUMA node)";
    if (!health)
        return in_quotes(parts[6]) + " is not a health state (expected true or false)";
    to.id = parts[0];
    to.model = parts[4];
    to.mode = parts.size() == 9 ? parts[8] : "hami-core";
    to.slots = *slots;
    to.memory = *memory;
    to.cores = *cores;
    to.numa = *numa;
    to.healthy = *health;
    return {};
}

/// Adds the device of an entry, or warns if `wrong` has an error message.
inline void add_hami_entry(node_shares& to, const std::string& wrong, std::size_t position,
                           shared_device device, const metadata_text& at) {
    device.is_partitioned = device.mode == "mig";
    if (!wrong.empty())
        at.warning("entry " + std::to_string(position) + " is skipped: " + wrong);
    else if (device.id.empty() || device.id.find_first_of(",:;") != std::string::npos)
        at.warning("entry " + std::to_string(position) + " is skipped: " + in_quotes(device.id) +
                   " is not an id (expected a text without , : and ;)");
    else
        add_registered(to, std::move(device), at);
}

} // namespace detail

/// Reads the NVIDIA devices that HAMi's device plugin registered in a node's annotations: the JSON
/// form, or the old form, in which `:` ends each device. Memory is in MiB, cores in percent.
/// Cordoned devices are unhealthy. Returns nullopt if the node has no register. Entries that cannot
/// be read are skipped, with a warning. O(annotation × devices).
[[nodiscard]] inline std::optional<node_shares> read_hami_node(const object_metadata& node,
                                                               diagnostics& out) {
    const metadata_text at(node, "node", hami::register_key, out);
    if (!at.is_present())
        return std::nullopt;
    node_shares read{node.key.name, {}, {}};
    const std::string_view text = detail::without_blanks(at.text());
    if (text.starts_with('[')) {
        boost::json::error_code error;
        const boost::json::value list = boost::json::parse({text.data(), text.size()}, error);
        if (error) {
            at.warning("not JSON: " + error.message() + " (expected a list of devices)");
            return read;
        }
        for (std::size_t index = 0; index < list.get_array().size(); ++index) {
            shared_device device;
            const boost::json::object* const entry = list.get_array()[index].if_object();
            const std::string wrong =
                entry ? detail::read_hami_entry(*entry, device) : "it is not an object";
            detail::add_hami_entry(read, wrong, index, std::move(device), at);
        }
    } else {
        const std::vector<std::string_view> entries = detail::split_text(text, ':');
        if (entries.size() == 1 && text != "null")
            at.warning("found no entry (expected a JSON list, or entries that end with :)");
        for (std::size_t index = 0; index < entries.size() && entries.size() > 1; ++index) {
            if (entries[index].empty())
                continue;
            shared_device device;
            const std::string wrong = detail::read_hami_entry(entries[index], device);
            detail::add_hami_entry(read, wrong, index, std::move(device), at);
        }
    }
    const metadata_text cordon(node, "node", hami::cordon_key, out);
    for (const std::string& id : detail::listed_words(cordon.text()))
        if (shared_device* const device = read.find(id))
            device->healthy = false;
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
