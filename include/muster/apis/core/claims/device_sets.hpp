// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/claim_text.hpp>
#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Positions of devices in a list, ascending.
using device_set = std::vector<std::size_t>;

/// Sorts the devices and removes repeated ones. O(devices · log devices).
inline void sort_devices(device_set& devices) {
    std::ranges::sort(devices);
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
}

/// True if every device of `inner` is in `outer`. O(inner + outer).
[[nodiscard]] inline bool is_within(const device_set& inner, const device_set& outer) {
    return std::ranges::includes(outer, inner);
}

/// True if no device is in both. O(lhs + rhs).
[[nodiscard]] inline bool are_apart(const device_set& lhs, const device_set& rhs) {
    device_set both;
    std::ranges::set_intersection(lhs, rhs, std::back_inserter(both));
    return both.empty();
}

/// The devices that a request can have, or why this is not known.
struct selected_devices {
    device_set devices;
    /// Devices that the request selects, but with taints that it does not tolerate.
    device_set tainted;
    /// The first device for which a selector fails or is not supported, why, and the selector; the
    /// latter two are shortened. Empty = every selector was decided.
    std::string undecided;
    /// True if the selector in `undecided` is one of the class.
    bool is_of_class = false;
};

/// Finds the devices that meet all selectors of a class, and of the request if there is one,
/// whether or not they are in use. The attributes that the request derives must have values.
/// O(devices × selectors).
[[nodiscard]] inline selected_devices select_devices(const std::vector<pooled_device>& devices,
                                                     const device_class& of_class,
                                                     const device_alternative* asked = nullptr) {
    selected_devices found;
    const auto fail = [&](const pooled_device& each, const std::string& why,
                          const std::string& selector, bool is_of_class) {
        if (!found.undecided.empty())
            return;
        found.undecided =
            "device " + each.id.device + " of pool " + each.id.pool + " (" +
            shortened(why.empty() ? each.of->unreadable : why, longest_selector_text) +
            "): " + shortened(selector, longest_selector_text);
        found.is_of_class = is_of_class;
    };
    const auto meets = [&](const pooled_device& each, const request_selector& selector,
                           bool is_of_class) {
        const selector_verdict verdict = selector.matches(each.of->attributes);
        const bool is_decided = selector.is_known && each.of->unreadable.empty() &&
                                (verdict.outcome == selector_outcome::matches ||
                                 verdict.outcome == selector_outcome::differs);
        if (!is_decided)
            fail(each, verdict.text, selector.text, is_of_class);
        return verdict.outcome == selector_outcome::matches;
    };
    const auto derives = [&](const pooled_device& each, const derived_attribute& of) {
        const derived_value made = of.of(each.of->attributes);
        const bool is_decided = made.value && each.of->unreadable.empty();
        if (!is_decided)
            fail(each, made.text, of.text, false);
    };
    for (std::size_t at = 0; at < devices.size(); ++at) {
        const auto meets_all = [&](const std::vector<request_selector>& all, bool is_of_class) {
            return std::ranges::all_of(all, [&](const request_selector& one) {
                return meets(devices[at], one, is_of_class);
            });
        };
        if (!meets_all(of_class.selectors, true))
            continue;
        if (asked && !meets_all(asked->selectors, false))
            continue;
        if (asked)
            for (const derived_attribute& one : asked->derived)
                derives(devices[at], one);
        const bool is_barred =
            asked && taints_prevent_allocation(devices[at].of->taints, asked->tolerations);
        (is_barred ? found.tainted : found.devices).push_back(at);
    }
    return found;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
