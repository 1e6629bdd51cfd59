// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace cli {

/// The pod waits for a scheduler that is not among `names` and takes no room: it is neither on a
/// node nor nominated to one.
[[nodiscard]] inline bool waits_for_others(const boost::json::object& pod,
                                           const std::vector<std::string>& names) {
    const auto text = [&](const char* part, const char* key) -> std::string_view {
        const boost::json::value* const object = pod.if_contains(part);
        const boost::json::value* const value =
            object && object->is_object() ? object->get_object().if_contains(key) : nullptr;
        return value && value->is_string() ? std::string_view(value->get_string())
                                           : std::string_view{};
    };
    return !names.empty() && text("spec", "nodeName").empty() &&
           text("status", "nominatedNodeName").empty() &&
           std::ranges::find(names, text("spec", "schedulerName")) == names.end();
}

} // namespace cli
