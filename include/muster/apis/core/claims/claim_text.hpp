// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <muster/devices/device_claim.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Bytes of a selector that reasons show.
inline constexpr std::size_t longest_selector_text = 200;

/// Returns a text that is equal for two alternatives if they select devices in the same way.
/// O(text).
[[nodiscard]] inline std::string selection_text(const device_alternative& of) {
    std::string text = of.class_name;
    for (const request_selector& each : of.selectors)
        text += "\nwhere " + each.text;
    for (const device_toleration& each : of.tolerations)
        text += "\ntolerates " + each.key + (each.exists ? "" : "=" + each.value) + ":" +
                (each.effect ? std::to_string(static_cast<int>(*each.effect)) : "");
    for (const derived_attribute& each : of.derived)
        text += "\nderives " + each.name + " by " + each.text;
    return text;
}

/// Returns a text that is equal for two claims if they ask for the same. O(text).
[[nodiscard]] inline std::string claim_text(const device_claim& of) {
    std::string text;
    for (const device_request& request : of.requests) {
        text += "request " + request.name + (request.is_prioritized ? " first of" : "") + "\n";
        for (const device_alternative& each : request.alternatives) {
            text += each.name + " " + std::to_string(static_cast<int>(each.mode)) + " " +
                    std::to_string(each.count) + (each.admin_access ? " admin " : " ") +
                    selection_text(each) + "\n";
            for (const auto& [name, amount] : each.capacities)
                text += "capacity " + name + " " + amount.to_text() + "\n";
        }
    }
    for (const device_constraint& each : of.constraints) {
        text += "constraint " + std::to_string(static_cast<int>(each.kind)) + " " + each.attribute;
        for (const std::string& request : each.requests)
            text += " " + request;
        text += "\n";
    }
    if (of.among)
        for (const device_id& each : *of.among)
            text += "among " + each.driver + "/" + each.pool + "/" + each.device + "\n";
    return text;
}

/// Returns the name of the devices that a request selects, for reasons: "devices of class gpu".
/// Long selectors are shortened, so different devices can have one name.
[[nodiscard]] inline std::string set_name(const device_alternative& of) {
    std::string selectors;
    for (const request_selector& each : of.selectors)
        selectors += (selectors.empty() ? "" : " and ") + each.text;
    return "devices of class " + of.class_name + (selectors.empty() ? "" : " where ") +
           shortened(selectors, longest_selector_text);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
