// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/koordinator/devices/names.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/document/metadata_text.hpp>
#include <muster/resource/quantity_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Returns a quantity of a JSON object in units, rounded up; nullopt if it is absent, -1 if it is
/// not a quantity of at least 0.
[[nodiscard]] inline std::optional<std::int64_t> json_amount(const boost::json::object& in,
                                                             std::string_view key) {
    const boost::json::value* const value = in.if_contains(key);
    if (value == nullptr || value->is_null())
        return std::nullopt;
    std::string text;
    if (const auto* written = value->if_string())
        text.assign(written->data(), written->size());
    else if (value->is_int64() || value->is_uint64())
        text = boost::json::serialize(*value);
    const auto parsed = parse_quantity(text);
    return parsed && parsed->sign() >= 0 ? parsed->units_up() : -1;
}

/// Reads the bus ids of the virtual functions in an entry's extension. Returns false if they cannot
/// be read.
[[nodiscard]] inline bool read_held_functions(const boost::json::object& entry, held_share& to) {
    const boost::json::value* const extension = entry.if_contains("extension");
    if (extension == nullptr || extension->is_null())
        return true;
    const auto* const object = extension->if_object();
    const boost::json::value* const list = object ? object->if_contains("vfs") : nullptr;
    if (object == nullptr || list == nullptr || list->is_null())
        return object != nullptr;
    if (!list->is_array())
        return false;
    for (const boost::json::value& each : list->get_array()) {
        const auto* const function = each.if_object();
        const auto* const bus = function ? function->if_contains("busID") : nullptr;
        if (bus == nullptr || !bus->is_string())
            return false;
        to.functions.emplace_back(bus->get_string());
    }
    return true;
}

/// Reads one entry of the list of devices of a type. Returns an error message; empty if there is
/// none.
[[nodiscard]] inline std::string read_koordinator_share(const boost::json::value& entry,
                                                        std::string_view type,
                                                        std::vector<held_share>& to) {
    namespace names = koordinator_devices;
    const bool is_gpu = type == names::gpu_type;
    const std::string word = is_gpu ? "GPU" : std::string(type);
    const boost::json::object* const object = entry.if_object();
    if (object == nullptr)
        return "an entry of " + std::string(type) + " is not an object";
    std::int64_t minor = 0;
    if (const boost::json::value* const value = object->if_contains("minor")) {
        const std::int64_t* const number = value->if_int64();
        if (number == nullptr || *number < 0 || *number > std::numeric_limits<std::int32_t>::max())
            return "the minor of a " + word + " is not a whole number from 0 to 2147483647";
        minor = *number;
    }
    held_share share{names::device_id(is_gpu ? std::string_view{} : type, minor)};
    const boost::json::value* const at = object->if_contains("resources");
    const boost::json::object* const resources = at ? at->if_object() : nullptr;
    if (resources == nullptr)
        return word + " " + share.device + " has no resources (expected an object)";
    if (!read_held_functions(*object, share))
        return "the extension of " + word + " " + share.device + " cannot be read";
    if (!is_gpu) {
        const std::int64_t amount = json_amount(*resources, names::resource_of(type)).value_or(0);
        if (amount < 0)
            return "an amount of " + share.device + " is not a quantity of at least 0";
        share.memory = memory_amount{amount};
        to.push_back(std::move(share));
        return {};
    }
    const auto gpu_core = json_amount(*resources, names::core_resource);
    const auto core = gpu_core ? gpu_core : json_amount(*resources, names::npu_core_resource);
    const auto memory = json_amount(*resources, names::memory_resource);
    const auto ratio = json_amount(*resources, names::ratio_resource);
    if (core.value_or(0) < 0 || memory.value_or(0) < 0 || ratio.value_or(0) < 0)
        return "an amount of GPU " + share.device + " is not a quantity of at least 0";
    share.cores = core.value_or(0);
    if (memory)
        share.memory = memory_amount{*memory};
    else if (ratio)
        share.memory = memory_part{*ratio, 100};
    to.push_back(std::move(share));
    return {};
}

} // namespace detail

/// Reads the GPUs, RDMA and FPGA devices that Koordinator gave to a pod. Returns nullopt if the pod
/// has none. If the annotation cannot be read, `unread` is set: the free devices of the pod's node
/// are unknown, so the node must not give any. O(annotation).
[[nodiscard]] inline std::optional<pod_shares> read_koordinator_pod(const object_metadata& pod,
                                                                    diagnostics& out) {
    const metadata_text at(pod, "pod", koordinator_devices::allocated_key, out);
    if (!at.is_present())
        return std::nullopt;
    pod_shares read;
    read.pod = pod.key.name_space + "/" + pod.key.name;
    const auto refuse = [&](const std::string& wrong) {
        read.shares.clear();
        read.unread = at.text_of(wrong);
        at.warning(wrong);
        return read;
    };
    boost::json::error_code error;
    const boost::json::value root = boost::json::parse({at.text().data(), at.text().size()}, error);
    if (error)
        return refuse("not JSON: " + error.message() + " (expected an object)");
    if (root.is_null())
        return std::nullopt;
    const boost::json::object* const types = root.if_object();
    if (types == nullptr)
        return refuse("not a JSON object (expected lists of devices by type)");
    bool has_list = false;
    for (const std::string_view type :
         {koordinator_devices::gpu_type, koordinator_devices::plain_types[0].name,
          koordinator_devices::plain_types[1].name}) {
        const boost::json::value* const list = types->if_contains(type);
        if (list == nullptr || list->is_null())
            continue;
        if (!list->is_array())
            return refuse(std::string(type) + " is not a list");
        has_list = true;
        for (const boost::json::value& entry : list->get_array())
            if (const std::string wrong = detail::read_koordinator_share(entry, type, read.shares);
                !wrong.empty())
                return refuse(wrong);
    }
    return has_list ? std::optional(std::move(read)) : std::nullopt;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
