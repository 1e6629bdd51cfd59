// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <muster/base/ranges.hpp>

namespace muster {
inline namespace v0_1 {

enum class taint_effect : std::uint8_t { no_schedule, prefer_no_schedule, no_execute };

/// Keeps pods that do not tolerate it off a node (Kubernetes Taint).
struct taint {
    std::string key;
    std::string value;
    taint_effect effect = taint_effect::no_schedule;

    /// True if Kubernetes sets the taint for a condition of the node, and removes it afterwards.
    [[nodiscard]] bool is_condition() const noexcept {
        return std::string_view(key).starts_with("node.kubernetes.io/");
    }

    [[nodiscard]] friend auto operator<=>(const taint&, const taint&) = default;
};

/// The taint of a cordoned node.
inline constexpr std::string_view unschedulable_taint_key = "node.kubernetes.io/unschedulable";

/// A reader adds this taint to its view of a node of which it could not read something, so that no
/// new pod starts there. The node itself does not have the taint. The taint counts as a condition
/// of the node, so it does not prove that a pod can never start.
inline constexpr std::string_view unread_taint_key = "node.kubernetes.io/unread";

/// O(taints).
[[nodiscard]] inline bool has_taint(const std::vector<taint>& taints,
                                    std::string_view key) noexcept {
    return detail::any_of(taints, [&](const taint& one) { return one.key == key; });
}

/// How the value of a taint must compare with the value of a toleration.
enum class taint_comparison : std::uint8_t { equal, greater, less };

/// Parses a decimal integer without a plus sign or leading zeros. Returns nullopt for any other
/// text and for numbers that int64 cannot hold.
[[nodiscard]] inline std::optional<std::int64_t> taint_number(std::string_view text) noexcept {
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    if (digits.empty() || (digits.front() == '0' && text != "0"))
        return std::nullopt;
    std::int64_t number = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

/// A pod's permission to ignore taints. No key tolerates every key; no value (operator Exists)
/// tolerates every value; no effect tolerates every effect. `greater` and `less` tolerate taints
/// whose value is a number greater or less than `value`. If either value is not a number, they
/// tolerate nothing (Kubernetes Toleration).
struct toleration {
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::optional<taint_effect> effect;
    taint_comparison comparison = taint_comparison::equal;

    [[nodiscard]] bool tolerates(const taint& what) const noexcept {
        return (!effect || *effect == what.effect) && (!key || *key == what.key) &&
               (!value || compares(what.value));
    }

    [[nodiscard]] friend auto operator<=>(const toleration&, const toleration&) = default;

private:
    [[nodiscard]] bool compares(std::string_view found) const noexcept {
        if (comparison == taint_comparison::equal)
            return found == *value;
        const auto number = taint_number(found);
        const auto bound = taint_number(*value);
        if (!number || !bound)
            return false;
        return comparison == taint_comparison::greater ? *number > *bound : *number < *bound;
    }
};

[[nodiscard]] inline bool tolerated(const taint& what,
                                    const std::vector<toleration>& tolerations) noexcept {
    return detail::any_of(tolerations, [&](const toleration& one) { return one.tolerates(what); });
}

} // namespace v0_1
} // namespace muster
