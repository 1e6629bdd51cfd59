// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <muster/devices/numa_zones.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Names of resources are free text: the length tells where a name ends.
inline void append_name(const std::string& name, std::string& to) {
    to += std::to_string(name.size()) + ":" + name + "=";
}

inline void append_amounts(const numa_amounts& amounts, std::string& to) {
    to += '[';
    for (const auto& [resource, amount] : amounts) {
        append_name(resource, to);
        to += std::to_string(amount) + " ";
    }
    to += ']';
}

} // namespace detail

/// Returns a text that is equal if and only if the demands are equal. O(text).
[[nodiscard]] inline std::string numa_text(const numa_demand& of) {
    std::string text = of.has_init ? "init " : "";
    for (const numa_amounts& each : of.containers)
        detail::append_amounts(each, text);
    text += " together ";
    detail::append_amounts(of.together, text);
    return text;
}

/// Returns a text that is equal if and only if the zones are equal, apart from their ids: only the
/// order of zones counts. O(text).
[[nodiscard]] inline std::string numa_text(const numa_zones& of) {
    std::string text = of.policy == numa_policy::restricted ? "restricted" : "single";
    text += of.scope == numa_scope::pod ? " pod" : " container";
    text += of.closed ? " closed" : "";
    for (const numa_zone& zone : of.zones) {
        text += '\n';
        for (const auto& [resource, has] : zone.supplies) {
            detail::append_name(resource, text);
            text += std::to_string(has.capacity) + "," + std::to_string(has.allocatable) + "," +
                    std::to_string(has.available) + " ";
        }
    }
    return text;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
