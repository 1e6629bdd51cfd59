// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include <muster/devices/device_labels.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/share_rules.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// What a request accepts of the devices of a node, whatever their use. A search computes it once,
/// as the steps of the search do not count the label checks of a request.
struct share_acceptance {
    /// Indices of the devices that the filter accepts.
    std::vector<std::size_t> filtered = {};
    /// Indices of those that can serve the request; see is_candidate().
    std::vector<std::size_t> candidates = {};
    /// By device, whether each of its virtual functions is accepted. Empty if the request needs
    /// none; a device that is no candidate has none.
    std::vector<std::vector<bool>> functions = {};
    /// For each partner of the request.
    std::vector<share_acceptance> partners = {};

    /// O(log candidates).
    [[nodiscard]] bool accepts(std::size_t device) const {
        return std::binary_search(candidates.begin(), candidates.end(), device);
    }
    /// Returns the position of the first virtual function of a candidate from `from` on that is
    /// free and accepted; their number if there is none. O(functions).
    [[nodiscard]] std::size_t next_function(std::size_t device, const std::vector<bool>& in_use,
                                            std::size_t from) const {
        const std::vector<bool>& accepted = functions[device];
        while (from < accepted.size() && (in_use[from] || !accepted[from]))
            ++from;
        return from;
    }
};

/// Functions of one group have the same labels, so the labels are checked once per group.
[[nodiscard]] inline std::vector<bool>
accepted_functions(const std::vector<device_label_check>& checks, const shared_device& device) {
    std::vector<bool> accepted;
    for (std::size_t at = 0; at < device.functions.size(); ++at) {
        const device_labels& labels = device.functions[at].labels;
        accepted.push_back(at > 0 && labels == device.functions[at - 1].labels
                               ? accepted.back()
                               : accepts_labels(checks, labels));
    }
    return accepted;
}

/// O(checks × (devices + groups of virtual functions)), also for each partner.
[[nodiscard]] inline share_acceptance acceptance_of(const share_request& request,
                                                    std::span<const shared_device> devices) {
    share_acceptance made;
    if (request.function)
        made.functions.resize(devices.size());
    for (std::size_t index = 0; index < devices.size(); ++index) {
        if (!request.filter.accepts(devices[index]))
            continue;
        made.filtered.push_back(index);
        if (!is_candidate(devices[index], request))
            continue;
        made.candidates.push_back(index);
        if (request.function)
            made.functions[index] = accepted_functions(*request.function, devices[index]);
    }
    for (const share_request& partner : request.partners)
        made.partners.push_back(acceptance_of(partner, devices));
    return made;
}

/// Returns true only if both requests accept the same. O(checks).
[[nodiscard]] inline bool accept_the_same(const share_request& lhs, const share_request& rhs) {
    return lhs.filter == rhs.filter && lhs.function == rhs.function && lhs.within == rhs.within &&
           lhs.partition.has_value() == rhs.partition.has_value() &&
           is_well_formed(lhs) == is_well_formed(rhs) &&
           std::equal(lhs.partners.begin(), lhs.partners.end(), rhs.partners.begin(),
                      rhs.partners.end(), accept_the_same);
}

/// Returns for each virtual function of each device a number that functions have in common if and
/// only if the same requests accept them; 0 = none does. O(functions × acceptances × log).
[[nodiscard]] inline std::vector<std::vector<std::size_t>>
function_kinds(const std::vector<share_acceptance>& all, std::span<const shared_device> devices) {
    std::vector<const share_acceptance*> with_functions;
    for (const share_acceptance& each : all) {
        if (!each.functions.empty())
            with_functions.push_back(&each);
        for (const share_acceptance& partner : each.partners)
            if (!partner.functions.empty())
                with_functions.push_back(&partner);
    }
    std::map<std::vector<bool>, std::size_t> numbers{{std::vector<bool>(with_functions.size()), 0}};
    std::vector<std::vector<std::size_t>> kinds(devices.size());
    for (std::size_t index = 0; index < devices.size(); ++index)
        for (std::size_t at = 0; at < devices[index].functions.size(); ++at) {
            std::vector<bool> by;
            for (const share_acceptance* const each : with_functions)
                by.push_back(at < each->functions[index].size() && each->functions[index][at]);
            kinds[index].push_back(numbers.emplace(std::move(by), numbers.size()).first->second);
        }
    return kinds;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
