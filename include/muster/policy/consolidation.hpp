// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/policy/consolidation_concept.hpp>
#include <muster/policy/victim_rule_adaptors.hpp>

namespace muster {
inline namespace v0_1 {

/// Moves no pods.
struct no_consolidation {
    static constexpr bool none = true;
    static constexpr bool timeless = true;
    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view&, const gang_view&,
                                                         std::int64_t) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::int64_t> kept_until(std::int64_t) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] friend bool operator==(no_consolidation, no_consolidation) = default;
};

/// Moves preemptible pods of any priority, those of gangs of lower priority first. From a gang that
/// has not run for `min_runtime`, moves only surplus members. Times are in the caller's unit.
struct move_preemptible {
    static constexpr bool none = false;
    static constexpr bool timeless = false;
    std::int64_t min_runtime = 0;
    /// How long the target of a moved pod stays reserved; absent = until the replacement comes.
    std::optional<std::int64_t> keeps_place_for{};

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& preemptor,
                                                         const gang_view& victim,
                                                         std::int64_t now) const noexcept {
        return guarded()(preemptor, as_it_is(victim), now);
    }
    [[nodiscard]] std::optional<std::int64_t> next_change(const gang_view& victim,
                                                          std::int64_t now) const noexcept {
        return guarded().next_change(as_it_is(victim), now);
    }
    [[nodiscard]] std::optional<std::int64_t> kept_until(std::int64_t now) const noexcept {
        std::int64_t end = 0;
        if (!keeps_place_for || __builtin_add_overflow(now, *keeps_place_for, &end))
            return std::nullopt;
        return end;
    }
    [[nodiscard]] friend bool operator==(const move_preemptible&,
                                         const move_preemptible&) = default;

private:
    struct anybody {
        static constexpr bool none = false;
        static constexpr bool timeless = true;
        [[nodiscard]] std::optional<victim_terms>
        operator()(const gang_view&, const gang_view& victim, std::int64_t) const noexcept {
            if (!victim.preemptible || !victim.queue_preemptible)
                return std::nullopt;
            return victim_terms{0, victim.priority};
        }
        [[nodiscard]] friend bool operator==(anybody, anybody) = default;
    };
    /// Returns the victim without the minimum run time that its queues set, because a move ends no
    /// pod for good.
    [[nodiscard]] static gang_view as_it_is(gang_view victim) noexcept {
        victim.min_runtime.reset();
        return victim;
    }
    [[nodiscard]] after_min_runtime<anybody> guarded() const noexcept { return {{}, min_runtime}; }
};

} // namespace v0_1
} // namespace muster
