// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/share_allocator.hpp>
#include <muster/resource/quantity_text.hpp>

/// What the cases of all systems have in common. A check returns what differs; empty = nothing.
namespace share_cases {

using boost::json::object;
using boost::json::value;
using namespace muster::codec;

[[nodiscard]] inline std::string text_at(const object& in, std::string_view key) {
    const value* const found = in.if_contains(key);
    return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

[[nodiscard]] inline std::int64_t number_at(const object& in, std::string_view key) {
    return in.at(key).to_number<std::int64_t>();
}

/// Sets an annotation unless the case has null.
inline void set_text(object_metadata& pod, std::string_view key, const value& text) {
    if (text.is_string())
        pod.annotations.set(std::string(key), std::string(text.get_string()));
}

inline void set_annotations(object_metadata& pod, const object& annotations) {
    for (const auto& member : annotations)
        set_text(pod, std::string(member.key()), member.value());
}

[[nodiscard]] inline named_amounts amounts_of(const object& texts) {
    named_amounts read;
    for (const auto& member : texts)
        if (const auto amount = muster::parse_quantity(std::string(member.value().as_string())))
            read[std::string(member.key())] = {request_milli(*amount), amount->format()};
    return read;
}

[[nodiscard]] inline std::string compare(std::string_view what, const std::string& expected,
                                         const std::string& got) {
    return expected == got ? std::string()
                           : std::string(what) + ": expected " + expected + ", got " + got;
}

[[nodiscard]] inline std::string compare(std::string_view what, bool expected, bool got) {
    return compare(what, std::string(expected ? "yes" : "no"), std::string(got ? "yes" : "no"));
}

/// A device for a container, as text.
[[nodiscard]] inline std::string share_text(std::size_t container, const std::string& id,
                                            std::int64_t memory, std::int64_t cores) {
    return std::to_string(container) + ":" + id + "(" + std::to_string(memory) + "," +
           std::to_string(cores) + ") ";
}

/// The devices that the case expects.
[[nodiscard]] inline std::string expected_shares(const boost::json::array& list) {
    std::string text;
    for (const value& each : list) {
        const object& share = each.as_object();
        const value* const container = share.if_contains("container");
        std::string id = text_at(share, "id");
        if (const value* const place = share.if_contains("place")) {
            const auto& of = place->as_array();
            id += "[" + text_at(share, "profile") + " " +
                  std::to_string(of[0].to_number<std::int64_t>()) + " " +
                  std::to_string(of[1].to_number<std::int64_t>()) + "]";
        }
        text += share_text(container ? container->to_number<std::size_t>() : 0, id,
                           number_at(share, "memory"), number_at(share, "cores"));
    }
    return text;
}

/// What a case says of an instance: nothing, `id[name]` with what is requested, or `id[profile
/// start size]` with what the instance has.
enum class instance_text { none, by_name, by_place };

/// The devices that are allocated, each request being of the container with its number.
[[nodiscard]] inline std::string
allocated_shares(const std::vector<muster::shared_device>& devices,
                 const std::vector<muster::share_request>& requests,
                 const muster::share_allocation& allocation, instance_text how) {
    std::string text;
    for (std::size_t at = 0; at < allocation.devices.size(); ++at)
        for (std::size_t share = 0; share < allocation.devices[at].size(); ++share) {
            const muster::shared_device& device = devices[allocation.devices[at][share]];
            const std::size_t instance = allocation.instance_of(at, share);
            std::string id = device.id;
            std::int64_t memory = muster::units_of(requests[at].memory, device.memory);
            std::int64_t cores = requests[at].cores;
            if (instance < device.instances.size() && how != instance_text::none) {
                const muster::gpu_instance& of = device.instances[instance];
                id += "[" + of.name;
                if (how == instance_text::by_place) {
                    id += " " + std::to_string(std::countr_zero(of.slices)) + " " +
                          std::to_string(std::popcount(of.slices));
                    memory = of.memory;
                    cores = of.cores.value_or(cores);
                }
                id += "]";
            }
            text += share_text(at, id, memory, cores);
        }
    return text;
}

[[nodiscard]] inline std::string held_shares(const pod_shares& pod) {
    std::string text;
    for (const held_share& share : pod.shares)
        text +=
            share_text(share.container,
                       share.device + (share.instance.empty() ? "" : "[" + share.instance + "]"),
                       muster::units_of(share.memory, 0), share.cores);
    return text;
}

/// A request by HAMi's and Volcano's numbers: memory and a percentage, of which 101 is none.
/// `memory_first`: memory above 0 comes before the percentage.
[[nodiscard]] inline muster::share_memory memory_of(const object& request, bool memory_first) {
    const std::int64_t units = number_at(request, "memory");
    const std::int64_t percent = number_at(request, "percent");
    if (percent == 101 || (memory_first && units > 0))
        return muster::memory_amount{units};
    return muster::memory_part{percent, 100};
}

} // namespace share_cases
