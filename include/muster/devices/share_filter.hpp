// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/devices/device_labels.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

[[nodiscard]] constexpr char upper_ascii(char byte) noexcept {
    return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

/// Returns whether `part` is a substring of the text, ignoring the case of ASCII letters. O(text ×
/// part).
[[nodiscard]] inline bool contains_ignoring_case(std::string_view text,
                                                 std::string_view part) noexcept {
    return std::search(text.begin(), text.end(), part.begin(), part.end(),
                       [](char lhs, char rhs) { return upper_ascii(lhs) == upper_ascii(rhs); }) !=
               text.end() ||
           part.empty();
}

} // namespace detail

/// Which devices a request can use. A default filter accepts all.
struct share_filter {
    /// Substring of the model; case matters.
    std::string kind = {};
    /// At least one is a substring of the model, ignoring case; absent = any model, empty = no
    /// model.
    std::optional<std::vector<std::string>> models = {};
    /// The model must be equal to one of these names; case matters. Absent: any model.
    std::optional<std::vector<std::string>> model_names = {};
    /// None is a substring of the model, ignoring case.
    std::vector<std::string> models_not = {};
    /// Absent = any id, empty = no id.
    std::optional<std::vector<std::string>> ids = {};
    std::vector<std::string> ids_not = {};
    /// Accepted modes; absent = any. A device without a mode is always accepted.
    std::optional<std::vector<std::string>> modes = {};
    /// Must be equal to the device's type.
    std::string type = {};
    std::vector<device_label_check> labels = {};

    /// O(texts of the filter).
    [[nodiscard]] bool accepts(const shared_device& device) const {
        const auto is_part = [&](const std::string& part) {
            return detail::contains_ignoring_case(device.model, part);
        };
        const auto holds = [](const std::vector<std::string>& list, const std::string& text) {
            return std::find(list.begin(), list.end(), text) != list.end();
        };
        return device.type == type && accepts_labels(labels, device.labels) &&
               device.model.find(kind) != std::string::npos &&
               (!models || std::any_of(models->begin(), models->end(), is_part)) &&
               (!model_names || holds(*model_names, device.model)) &&
               std::none_of(models_not.begin(), models_not.end(), is_part) &&
               (!ids || holds(*ids, device.id)) && !holds(ids_not, device.id) &&
               (!modes || device.mode.empty() || holds(*modes, device.mode));
    }

    friend bool operator==(const share_filter&, const share_filter&) = default;
};

} // namespace v0_1
} // namespace muster
