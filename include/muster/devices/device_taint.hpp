// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster {
inline namespace v0_1 {

/// What a device taint does. Effects that this version does not know are read as `none`.
enum class device_taint_effect : std::uint8_t { none, no_schedule, no_execute };

struct device_taint {
    std::string key;
    std::string value;
    device_taint_effect effect = device_taint_effect::none;
};

struct device_toleration {
    /// Empty = every key.
    std::string key;
    /// Compared if not `exists`.
    std::string value;
    bool exists = false;
    /// Absent = every effect.
    std::optional<device_taint_effect> effect;
    /// How long the taint is tolerated, in seconds; absent = for ever. It bears on evictions alone.
    std::optional<std::int64_t> seconds{};

    friend bool operator==(const device_toleration&, const device_toleration&) = default;
};

/// Returns true if the toleration covers the taint.
[[nodiscard]] inline bool tolerates(const device_toleration& toleration,
                                    const device_taint& taint) noexcept {
    if (toleration.effect && *toleration.effect != taint.effect)
        return false;
    if (!toleration.key.empty() && toleration.key != taint.key)
        return false;
    return toleration.exists || toleration.value == taint.value;
}

/// Returns true if a taint of the device keeps a request with these tolerations off.
[[nodiscard]] inline bool
taints_prevent_allocation(const std::vector<device_taint>& taints,
                          const std::vector<device_toleration>& tolerations) noexcept {
    for (const device_taint& taint : taints) {
        bool tolerated = taint.effect == device_taint_effect::none;
        for (const device_toleration& toleration : tolerations)
            tolerated = tolerated || tolerates(toleration, taint);
        if (!tolerated)
            return true;
    }
    return false;
}

} // namespace v0_1
} // namespace muster
