// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/base/checked.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// It takes room on a node.
[[nodiscard]] inline bool is_allocated(const pod_object& pod) {
    return !pod.node.empty() && pod.phase != pod_phase::succeeded && pod.phase != pod_phase::failed;
}

/// The sum of what pods request; each kind is spelled as where it is first asked for.
[[nodiscard]] inline named_amounts sum_of(const std::vector<const pod_object*>& pods) {
    named_amounts sum;
    for (const pod_object* pod : pods)
        for (const auto& [kind, amount] : pod->requests) {
            named_amount& to = sum[kind];
            if (to.milli == 0)
                to.format = amount.format;
            to.milli += amount.milli;
        }
    return sum;
}

/// Amounts as a ResourceList.
[[nodiscard]] inline boost::json::object resource_list(const named_amounts& amounts) {
    boost::json::object out;
    for (const auto& [kind, amount] : amounts) {
        const bool whole = amount.milli % 1000 == 0;
        out[kind] =
            quantity_text(saturate(whole ? amount.milli / 1000 : amount.milli),
                          whole ? quantity_scale::units : quantity_scale::milli, amount.format);
    }
    return out;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
