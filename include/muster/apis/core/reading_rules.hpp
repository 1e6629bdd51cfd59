// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The minor version of Kubernetes whose rules decide how pods are read.
struct kubernetes_version {
    std::int32_t minor = 37;

    /// The versions whose rules are known.
    static constexpr std::int32_t first_minor = 35;
    static constexpr std::int32_t last_minor = 38;

    /// A spread constraint with an empty label selector counts all pods of its namespace. Earlier
    /// versions count none.
    [[nodiscard]] constexpr bool empty_spread_selects_all() const noexcept { return minor >= 38; }

    /// A DeviceTaintRule without a selector taints all devices. From 1.37 on it taints none.
    [[nodiscard]] constexpr bool empty_rule_taints_all() const noexcept { return minor < 37; }

    [[nodiscard]] friend constexpr bool operator==(const kubernetes_version&,
                                                   const kubernetes_version&) = default;
};

/// Options for reading pods, where versions and configurations of Kubernetes differ.
struct reading_rules {
    kubernetes_version kubernetes;
    /// Default spread constraints (as in a kube-scheduler configuration) for pods without their
    /// own. Without selectors; see apply_default_spread().
    std::vector<spread_term> default_spread;
};

/// Parses `1.37`, `v1.37` or `1.37.2`. Returns nullopt for other texts and for versions whose
/// rules are not known.
[[nodiscard]] inline std::optional<kubernetes_version>
parse_kubernetes_version(std::string_view text) noexcept {
    if (text.starts_with('v'))
        text.remove_prefix(1);
    const auto number = [&]() -> std::optional<std::int32_t> {
        std::int32_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || text.starts_with('-'))
            return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return value;
    };
    const auto dot = [&] {
        const bool found = text.starts_with('.');
        text.remove_prefix(found ? 1 : 0);
        return found;
    };
    if (number() != 1 || !dot())
        return std::nullopt;
    const auto minor = number();
    if (!minor || *minor < kubernetes_version::first_minor ||
        *minor > kubernetes_version::last_minor || (dot() && !number()) || !text.empty())
        return std::nullopt;
    return kubernetes_version{*minor};
}

} // namespace codec
} // namespace v0_1
} // namespace muster
