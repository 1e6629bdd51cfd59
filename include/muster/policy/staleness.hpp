// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/staleness_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Never evicts a gang that is below its minima.
struct keep_stale {
    static constexpr bool none = true;
    [[nodiscard]] std::optional<std::int64_t>
    operator()(std::optional<std::int64_t>) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend bool operator==(keep_stale, keep_stale) = default;
};

/// Evicts the remaining members of a gang that has been below its minima for the time that the gang
/// declares or, if it declares none, for `grace`. A negative time means never.
struct evict_stale {
    static constexpr bool none = false;
    /// Default time, in the caller's unit.
    std::int64_t grace = 0;

    [[nodiscard]] std::optional<std::int64_t>
    operator()(std::optional<std::int64_t> own) const noexcept {
        const std::int64_t given = own.value_or(grace);
        return given < 0 ? std::nullopt : std::optional(given);
    }
    [[nodiscard]] friend bool operator==(evict_stale, evict_stale) = default;
};

} // namespace v0_1
} // namespace muster
