// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {

/// The node label with the node's host name, which may differ from the node's name.
inline constexpr std::string_view hostname_label = "kubernetes.io/hostname";

/// True if the value of a label or of a requirement names the node: the value is the node's name or
/// the host name in its labels.
[[nodiscard]] inline bool names_node(std::string_view value, const std::string& name,
                                     const label_set& labels) {
    const std::string* const host = labels.find(hostname_label);
    return (!name.empty() && value == name) || (host && value == *host);
}

/// True if the requirement names the node and no other.
[[nodiscard]] inline bool names_node(const label_requirement& which, const std::string& name,
                                     const label_set& labels) {
    return which.op == label_operator::in && which.values.size() == 1 &&
           names_node(which.values.front(), name, labels);
}

/// Returns the labels of a copy of the node. Labels that name the node name the copy instead.
[[nodiscard]] inline label_set labels_of_copy(const std::string& name, const label_set& labels,
                                              const std::string& copy) {
    label_set made;
    for (const auto& [key, value] : labels)
        made.set(key, names_node(value, name, labels) ? copy : value);
    return made;
}

} // namespace v0_1
} // namespace muster
