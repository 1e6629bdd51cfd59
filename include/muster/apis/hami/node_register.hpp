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

#include <muster/apis/hami/mig_profiles.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/shared_device.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace hami {

inline constexpr std::string_view register_key = "hami.io/node-nvidia-register";
inline constexpr std::string_view cordon_key = "hami.io/device-cordon";
inline constexpr std::string_view links_key = "hami.io/node-nvidia-score";

} // namespace hami

namespace detail {

/// Maximum amount: HAMi stores amounts in 32 bits.
inline constexpr std::int64_t most_hami_amount = std::numeric_limits<std::int32_t>::max();

/// Reads one entry of the JSON form; `remarks` are what was left out of it. An absent field is 0,
/// empty or false, as Go omits fields with such values. Returns an error message; empty if there is
/// none.
[[nodiscard]] inline std::string read_hami_entry(const boost::json::object& entry,
                                                 shared_device& to,
                                                 std::vector<std::string>& remarks) {
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
    const boost::json::value* const profiles = entry.if_contains("migProfiles");
    if (to.mode == "mig" && profiles != nullptr)
        remarks = read_mig_profiles(*profiles, to.instances);
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
    const bool is_closed = device.is_partitioned && device.instances.empty();
    if (!wrong.empty())
        note_unread(to, "entry " + std::to_string(position) + " is skipped: " + wrong, at);
    else if (device.id.empty() || device.id.find_first_of(",:;") != std::string::npos)
        note_unread(to,
                    "entry " + std::to_string(position) + " is skipped: " + in_quotes(device.id) +
                        " is not an id (expected a text without , : and ;)",
                    at);
    else {
        if (is_closed)
            at.warning("device " + in_quotes(device.id) +
                       " has mode mig and gets no pods: it lists no placement of a profile "
                       "(expected migProfiles with placements)");
        add_registered(to, std::move(device), at);
    }
}

/// Reads the scores of the links between devices: `[{"uuid": "a", "score": {"b": 100}}]`. If an id
/// is listed twice, the first entry counts. Returns an error message, and reads nothing, if the
/// text is malformed; else an empty text. O(text × devices).
[[nodiscard]] inline std::string read_hami_links(std::string_view text, node_shares& to) {
    boost::json::error_code error;
    const boost::json::value list = boost::json::parse({text.data(), text.size()}, error);
    if (error || !list.is_array())
        return "not a JSON list of scores";
    std::vector<std::vector<std::int64_t>> links(to.devices.size());
    for (const boost::json::value& each : list.get_array()) {
        const boost::json::object* const entry = each.if_object();
        const boost::json::value* const scores = entry ? entry->if_contains("score") : nullptr;
        if (entry == nullptr || (scores && !scores->is_object() && !scores->is_null()))
            return "an entry is malformed (expected uuid and an object score)";
        const shared_device* const device = to.find(mig_text(*entry, "uuid"));
        if (device == nullptr || scores == nullptr || !scores->is_object())
            continue;
        std::vector<std::int64_t>& row =
            links[static_cast<std::size_t>(device - to.devices.data())];
        if (!row.empty())
            continue;
        row.resize(to.devices.size());
        for (const auto& [id, score] : scores->get_object()) {
            if (!score.is_int64())
                return "a score is not a whole number";
            if (const shared_device* const other = to.find({id.data(), id.size()}))
                row[static_cast<std::size_t>(other - to.devices.data())] = score.get_int64();
        }
    }
    for (std::size_t at = 0; at < links.size(); ++at)
        to.devices[at].links = std::move(links[at]);
    return {};
}

} // namespace detail

/// Reads the NVIDIA devices that HAMi's device plugin registered in a node's annotations: the JSON
/// form, or the old form, in which `:` ends each device. Memory is in MiB, cores in percent.
/// Devices in mode `mig` are partitioned; only the JSON form lists their instances. Cordoned
/// devices are unhealthy. Returns nullopt if the node has no register. Entries that cannot be read
/// are skipped, with a warning. O(annotation × devices).
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
            note_unread(read, "not JSON: " + error.message() + " (expected a list of devices)", at);
            return read;
        }
        for (std::size_t index = 0; index < list.get_array().size(); ++index) {
            shared_device device;
            const boost::json::object* const entry = list.get_array()[index].if_object();
            std::vector<std::string> remarks;
            const std::string wrong =
                entry ? detail::read_hami_entry(*entry, device, remarks) : "it is not an object";
            for (const std::string& each : remarks)
                note_unread(read,
                            "entry " + std::to_string(index) + ": " + each + "; it is skipped", at);
            detail::add_hami_entry(read, wrong, index, std::move(device), at);
        }
    } else {
        const std::vector<std::string_view> entries = detail::split_text(text, ':');
        if (text == "null")
            at.warning("it is null, and the node has no devices that pods share (expected a JSON "
                       "list)");
        else if (detail::has_no_entry(entries))
            note_unread(read, "found no entry (expected a JSON list, or entries that end with :)",
                        at);
        for (std::size_t index = 0; index < entries.size() && entries.size() > 1; ++index) {
            if (entries[index].empty())
                continue;
            shared_device device;
            const std::string wrong = detail::read_hami_entry(entries[index], device);
            detail::add_hami_entry(read, wrong, index, std::move(device), at);
        }
    }
    const metadata_text cordon(node, "node", hami::cordon_key, out);
    for (const std::string& id : detail::listed_words(cordon.text())) {
        shared_device* const device = read.find(id);
        if (device)
            device->healthy = false;
        cordon.warning(device ? "device " + in_quotes(id) + " is cordoned, and gets no pods"
                              : in_quotes(id) + " is not a device of the node (expected the id of "
                                                "a registered device)");
    }
    const metadata_text links(node, "node", hami::links_key, out);
    if (links.is_present())
        if (const std::string wrong = detail::read_hami_links(links.text(), read); !wrong.empty())
            links.warning(wrong + "; the links of the devices are ignored");
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
