// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Adds the models that the request selects: "GPUs of model A100 or H100".
inline void add_models(const share_request& of, std::set<std::string>& to) {
    const auto& models = of.filter.model_names ? of.filter.model_names : of.filter.models;
    if (!models)
        return;
    std::string text;
    for (const std::string& each : *models)
        text += (text.empty() ? "" : " or ") + each;
    to.insert((of.filter.type.empty() ? "GPUs" : of.filter.type) + " of model " +
              (text.empty() ? "(none)" : text));
}

} // namespace detail

/// Returns the device classes and the models of GPUs that the pods ask for: "device class gpu, GPUs
/// of model A100". The devices of a class that are not counted follow its name
/// (`volume_plan::uncounted`). Empty if the pods name neither. O(requests · log requests).
[[nodiscard]] inline std::string asked_devices_text(const volumes_of_pods& pods,
                                                    const volume_plan& plan) {
    std::set<std::string> found;
    for (const auto& each : pods) {
        const device_demand demand = each.second->devices;
        if (demand == device_demand::none)
            continue;
        for (const device_claim* const claim : plan.judge->claims_of(demand))
            for (const device_request& request : claim->requests)
                for (const device_alternative& one : request.alternatives) {
                    const auto why = plan.uncounted.find(one.class_name);
                    found.insert("device class " + one.class_name +
                                 (why == plan.uncounted.end() ? "" : " (" + why->second + ")"));
                }
        for (const auto& [system, requests] : plan.judge->shares_of(demand).asks)
            for (const share_request& request : requests)
                detail::add_models(request, found);
    }
    std::string text;
    for (const std::string& each : found)
        text += (text.empty() ? "" : ", ") + each;
    return text;
}

/// Returns the first register of shared GPUs that cannot be read, and the number of further nodes.
/// Empty if there is none, or if no pod asks for shares of GPUs. O(pods).
[[nodiscard]] inline std::string unread_registers_text(const volumes_of_pods& pods,
                                                       const volume_plan& plan) {
    bool any = false;
    for (const auto& each : pods)
        any = any || (each.second->devices != device_demand::none &&
                      !plan.judge->shares_of(each.second->devices).empty());
    if (!any || plan.unread_registers.empty())
        return {};
    return plan.unread_registers.begin()->second +
           more_text(plan.unread_registers.size() - 1, "node");
}

} // namespace codec
} // namespace v0_1
} // namespace muster
