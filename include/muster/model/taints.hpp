// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::inline v0_1 {

enum class taint_effect : std::uint8_t { no_schedule, prefer_no_schedule, no_execute };

/// A node's repulsion of pods that do not tolerate it (Kubernetes Taint).
struct taint {
    std::string key;
    std::string value;
    taint_effect effect = taint_effect::no_schedule;

    /// Taints by which Kubernetes marks a node's condition; they pass with the condition.
    [[nodiscard]] bool is_condition() const noexcept {
        return std::string_view(key).starts_with("node.kubernetes.io/");
    }

    [[nodiscard]] friend auto operator<=>(const taint&, const taint&) = default;
};

/// The taint that stands for a cordon.
inline constexpr std::string_view unschedulable_taint_key = "node.kubernetes.io/unschedulable";

/// A pod's permission to ignore taints. No key tolerates every key; no value (operator Exists)
/// tolerates every value; no effect every effect (Kubernetes Toleration).
struct toleration {
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::optional<taint_effect> effect;

    [[nodiscard]] bool tolerates(const taint& what) const noexcept {
        return (!effect || *effect == what.effect) && (!key || *key == what.key) &&
               (!value || *value == what.value);
    }

    [[nodiscard]] friend auto operator<=>(const toleration&, const toleration&) = default;
};

[[nodiscard]] inline bool tolerated(const taint& what,
                                    const std::vector<toleration>& tolerations) noexcept {
    return std::ranges::any_of(tolerations,
                               [&](const toleration& one) { return one.tolerates(what); });
}

} // namespace muster::inline v0_1
