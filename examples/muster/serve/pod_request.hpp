// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <muster/base/checked.hpp>
#include <muster/resource/quantity_text.hpp>
#include <muster/serve/json_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Thousandths by the name of the resource.
using amounts = std::map<std::string, std::int64_t, std::less<>>;

namespace detail {

[[nodiscard]] inline std::int64_t sum_of(std::int64_t a, std::int64_t b) {
    std::int64_t made = 0;
    return __builtin_add_overflow(a, b, &made) ? INT64_MAX : made;
}

/// Thousandths of a quantity; what is none counts nothing. `up`: rounded away from zero.
[[nodiscard]] inline std::int64_t milli_of(const json::value& value, bool up) {
    if (value.is_int64())
        return value.get_int64() > INT64_MAX / 1000 ? INT64_MAX : value.get_int64() * 1000;
    const std::string text =
        value.is_string() ? std::string(view(value.get_string())) : json::serialize(value);
    const auto read = parse_quantity(text);
    return !read ? 0 : up ? read->milli_up() : read->milli_down();
}

[[nodiscard]] inline amounts read_amounts(const json::object* from, bool up) {
    amounts made;
    if (from)
        for (const auto& [name, value] : *from)
            made[std::string(name.data(), name.size())] = milli_of(value, up);
    return made;
}

inline void add_to(amounts& sum, const amounts& more) {
    for (const auto& [name, amount] : more)
        sum[name] = sum_of(sum[name], amount);
}

inline void raise_to(amounts& most, const amounts& other) {
    for (const auto& [name, amount] : other)
        most[name] = std::max(most[name], amount);
}

} // namespace detail

/// What a pod takes of its node, as a kubelet counts: containers and sidecars together, or the
/// largest init container beside the sidecars before it, or what the pod says as a whole; its
/// overhead, and one of `pods`.
[[nodiscard]] inline amounts request_of(const json::object& pod) {
    amounts together;
    amounts sidecars;
    amounts peak;
    const auto requests = [](const json::object& container) {
        return detail::read_amounts(object_at(container, {"resources", "requests"}), true);
    };
    if (const json::array* const list = array_at(pod, {"spec", "initContainers"}))
        for (const json::value& each : *list) {
            if (!each.is_object())
                continue;
            amounts one = requests(each.get_object());
            if (text_at(each.get_object(), {"restartPolicy"}) == "Always") {
                detail::add_to(sidecars, one);
                detail::raise_to(peak, sidecars);
            } else {
                detail::add_to(one, sidecars);
                detail::raise_to(peak, one);
            }
        }
    together = sidecars;
    if (const json::array* const list = array_at(pod, {"spec", "containers"}))
        for (const json::value& each : *list)
            if (each.is_object())
                detail::add_to(together, requests(each.get_object()));
    detail::raise_to(together, peak);
    for (const auto& [name, amount] :
         detail::read_amounts(object_at(pod, {"spec", "resources", "requests"}), true))
        together[name] = amount;
    detail::add_to(together, detail::read_amounts(object_at(pod, {"spec", "overhead"}), true));
    together["pods"] = 1000;
    return together;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
