// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/devices/device_taint.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Key of the taints of a rule with an unread part. Its value is the name of the rule.
inline constexpr std::string_view unread_rule_key = "muster.dev/unread-taint-rule";

/// Returns true if the rule may match a device of the slice. O(1).
[[nodiscard]] inline bool may_match(const device_taint_rule_object& rule,
                                    const device_slice& slice) {
    return (!rule.matches_none || rule.is_unread) &&
           (!rule.driver || *rule.driver == slice.driver) &&
           (!rule.pool || *rule.pool == slice.pool);
}

/// Adds the taints of the rules to the devices that they match. A rule with an unread part taints
/// with both effects, under a key that only tolerations of all keys cover. Returns true if some
/// rule matches a device. O(rules · devices).
[[nodiscard]] inline bool add_taints(const std::vector<const device_taint_rule_object*>& rules,
                                     device_slice& to) {
    bool any = false;
    for (const device_taint_rule_object* const rule : rules) {
        if (!may_match(*rule, to))
            continue;
        for (device& each : to.devices) {
            if (rule->device && *rule->device != each.name)
                continue;
            any = true;
            if (!rule->is_unread) {
                each.taints.push_back(rule->taint);
                continue;
            }
            for (const auto effect :
                 {device_taint_effect::no_schedule, device_taint_effect::no_execute})
                each.taints.push_back(
                    {std::string(unread_rule_key), rule->metadata.key.name, effect});
        }
    }
    return any;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
