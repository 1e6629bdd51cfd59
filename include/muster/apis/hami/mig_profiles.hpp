// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/gpu_instance.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace hami {

inline constexpr std::string_view mig_allocations_key = "hami.io/vgpu-mig-allocations";

/// Maximum number of placements of a device in all its profiles, far more than a GPU has. Each
/// choice of an instance reads all of them.
inline constexpr std::size_t most_mig_instances = 256;

} // namespace hami

namespace detail {

/// Returns a member that is a whole number from 0 to int32's maximum; `absent` if it is not there,
/// nullopt if it is anything else.
[[nodiscard]] inline std::optional<std::int64_t>
mig_number(const boost::json::object& in, std::string_view key, std::int64_t absent = 0) {
    const boost::json::value* const value = in.if_contains(key);
    if (value == nullptr || value->is_null())
        return absent;
    const std::int64_t* const found = value->if_int64();
    if (found == nullptr || *found < 0 || *found > std::numeric_limits<std::int32_t>::max())
        return std::nullopt;
    return *found;
}

[[nodiscard]] inline std::string mig_text(const boost::json::object& in, std::string_view key) {
    const boost::json::value* const value = in.if_contains(key);
    return value && value->is_string()
               ? std::string(value->get_string().data(), value->get_string().size())
               : std::string();
}

/// Reads `{"start": 4, "size": 2}`. Returns the slices; 0 if it is malformed.
[[nodiscard]] inline std::uint64_t mig_placement(const boost::json::value* of) {
    const boost::json::object* const object = of ? of->if_object() : nullptr;
    if (object == nullptr)
        return 0;
    const auto start = mig_number(*object, "start");
    const auto size = mig_number(*object, "size");
    return start && size ? slices_at(*start, *size) : 0;
}

struct mig_profile {
    std::string name;
    std::int64_t memory = 0;
    std::int64_t cores = 0;
    std::int64_t slice_count = 0;
    std::vector<std::uint64_t> placements;
};

/// Reads a profile. A placement that is listed again is dropped. Returns an error message; empty if
/// there is none.
[[nodiscard]] inline std::string read_mig_profile(const boost::json::value& from, mig_profile& to) {
    const boost::json::object* const object = from.if_object();
    if (object == nullptr)
        return " is not an object";
    to.name = mig_text(*object, "name");
    if (to.name.empty() || to.name.find_first_of(",:;[]") != std::string::npos)
        return ".name is " + in_quotes(to.name) + " (expected a text without , : ; and brackets)";
    const auto memory = mig_number(*object, "memoryMB");
    const auto cores = mig_number(*object, "core");
    const auto slice_count = mig_number(*object, "sliceCount");
    if (!memory || !cores || !slice_count)
        return " has memoryMB, core or sliceCount that is not a whole number from 0 to 2147483647";
    to.memory = *memory;
    to.cores = *cores;
    to.slice_count = *slice_count;
    const boost::json::value* const list = object->if_contains("placements");
    if (list == nullptr || list->is_null())
        return {};
    if (!list->is_array())
        return ".placements is not a list";
    std::set<std::uint64_t> listed;
    for (std::size_t at = 0; at < list->get_array().size(); ++at) {
        const std::uint64_t slices = mig_placement(&list->get_array()[at]);
        if (slices == 0)
            return ".placements[" + std::to_string(at) +
                   "] is malformed (expected start and size of slices from 0 to 63)";
        if (listed.insert(slices).second)
            to.placements.push_back(slices);
    }
    return {};
}

} // namespace detail

/// Reads the profiles (`migProfiles`) of a device as instances, in the order in which HAMi tries
/// them: by memory, then by number of slices; `1g` and `3g` at the highest place first, others at
/// the lowest. A malformed profile, or one whose name is listed before, is left out. Returns a
/// message for each that is left out. If there are more than `hami::most_mig_instances`, none is
/// read, so that the device gets no pods, and a message is returned. O(n log n) for n placements.
[[nodiscard]] inline std::vector<std::string> read_mig_profiles(const boost::json::value& from,
                                                                std::vector<gpu_instance>& to) {
    if (from.is_null())
        return {};
    if (!from.is_array())
        return {"migProfiles is not a list"};
    std::vector<std::string> wrong;
    std::vector<detail::mig_profile> profiles;
    std::set<std::string> names;
    for (std::size_t at = 0; at < from.get_array().size(); ++at) {
        const std::string place = "migProfiles[" + std::to_string(at) + "]";
        detail::mig_profile read;
        if (const std::string why = detail::read_mig_profile(from.get_array()[at], read);
            !why.empty())
            wrong.push_back(place + why);
        else if (!names.insert(read.name).second)
            wrong.push_back(place + ".name " + in_quotes(read.name) + " is listed before");
        else
            profiles.push_back(std::move(read));
    }
    std::size_t instances = 0;
    for (const detail::mig_profile& each : profiles)
        instances += each.placements.size();
    if (instances > hami::most_mig_instances) {
        wrong.push_back("migProfiles has " + std::to_string(instances) +
                        " placements (expected at most " +
                        std::to_string(hami::most_mig_instances) + ")");
        return wrong;
    }
    std::stable_sort(profiles.begin(), profiles.end(), [](const auto& lhs, const auto& rhs) {
        return std::pair(lhs.memory, lhs.slice_count) < std::pair(rhs.memory, rhs.slice_count);
    });
    for (detail::mig_profile& each : profiles) {
        const bool from_top = each.name.starts_with("1g.") || each.name.starts_with("3g.");
        std::stable_sort(each.placements.begin(), each.placements.end(),
                         [&](std::uint64_t lhs, std::uint64_t rhs) {
                             const int left = std::countr_zero(lhs);
                             const int right = std::countr_zero(rhs);
                             return from_top ? left > right : left < right;
                         });
        for (const std::uint64_t slices : each.placements)
            to.push_back({each.name, each.memory, each.cores, slices, {}, {}});
    }
    return wrong;
}

/// Reads the instances that HAMi reserved for a pod (`hami.io/vgpu-mig-allocations`). If the
/// annotation is malformed, nothing is read, and the message is returned. O(annotation).
[[nodiscard]] inline std::string read_mig_allocations(std::string_view text,
                                                      std::vector<held_instance>& to) {
    if (text.empty())
        return {};
    boost::json::error_code error;
    const boost::json::value list = boost::json::parse({text.data(), text.size()}, error);
    if (error || !list.is_array())
        return "not a JSON list of instances";
    std::vector<held_instance> read;
    std::set<std::pair<std::int64_t, std::int64_t>> positions;
    for (std::size_t at = 0; at < list.get_array().size(); ++at) {
        const std::string place = "entry " + std::to_string(at);
        const boost::json::object* const entry = list.get_array()[at].if_object();
        if (entry == nullptr)
            return place + " is not an object";
        const auto container = detail::mig_number(*entry, "containerIndex");
        const auto device = detail::mig_number(*entry, "deviceIndex");
        held_instance made{detail::mig_text(*entry, "gpuUUID"),
                           detail::mig_placement(entry->if_contains("placement"))};
        if (!container || !device || made.device.empty() || made.slices == 0 ||
            detail::mig_text(*entry, "profile").empty())
            return place + " is incomplete (expected containerIndex, deviceIndex, gpuUUID, profile "
                           "and placement)";
        if (!positions.emplace(*container, *device).second)
            return place + " is listed twice (expected each container and device once)";
        read.push_back(std::move(made));
    }
    to.insert(to.end(), read.begin(), read.end());
    return {};
}

/// Returns the annotation that hands instances over to HAMi's device plugin; empty if no share has
/// one. O(shares).
[[nodiscard]] inline std::string mig_allocations_text(const std::vector<chosen_share>& shares,
                                                      std::size_t containers) {
    boost::json::array list;
    for (std::size_t container = 0; container < containers; ++container) {
        std::int64_t device = 0;
        for (const chosen_share& each : shares) {
            if (each.container != container)
                continue;
            if (each.instance) {
                boost::json::object placement;
                placement["start"] = std::countr_zero(each.instance->slices);
                placement["size"] = std::popcount(each.instance->slices);
                boost::json::object entry;
                entry["containerIndex"] = container;
                entry["deviceIndex"] = device;
                entry["gpuUUID"] = each.device;
                entry["profile"] = each.instance->name;
                entry["placement"] = std::move(placement);
                list.push_back(std::move(entry));
            }
            ++device;
        }
    }
    return list.empty() ? std::string() : boost::json::serialize(list);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
