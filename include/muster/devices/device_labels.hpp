// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster {
inline namespace v0_1 {

/// Labels of a device or of a group of its virtual functions.
using device_labels = std::map<std::string, std::string>;

enum class device_label_operator : std::uint8_t { in, not_in, exists, does_not_exist };

/// A requirement on one label. An absent label satisfies `not_in` and `does_not_exist`, as in a
/// Kubernetes LabelSelector.
struct device_label_check {
    std::string key;
    device_label_operator op = device_label_operator::exists;
    /// For `in` and `not_in`.
    std::vector<std::string> values = {};

    /// O(log labels + values).
    [[nodiscard]] bool accepts(const device_labels& labels) const {
        const auto found = labels.find(key);
        const bool is_there = found != labels.end();
        const bool is_listed =
            is_there && std::find(values.begin(), values.end(), found->second) != values.end();
        switch (op) {
        case device_label_operator::in:
            return is_listed;
        case device_label_operator::not_in:
            return !is_listed;
        case device_label_operator::exists:
            return is_there;
        case device_label_operator::does_not_exist:
            break;
        }
        return !is_there;
    }

    friend bool operator==(const device_label_check&, const device_label_check&) = default;
};

/// Returns whether all checks accept the labels. O(checks).
[[nodiscard]] inline bool accepts_labels(const std::vector<device_label_check>& checks,
                                         const device_labels& labels) {
    return std::all_of(checks.begin(), checks.end(),
                       [&](const device_label_check& each) { return each.accepts(labels); });
}

} // namespace v0_1
} // namespace muster
