// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Decides which pods may be moved to other nodes so that a waiting gang fits. The rule is
/// evaluated like a victim rule: gangs of lower levels are moved first if that needs no more moves.
/// A gang with `only_surplus` moves only surplus members; a gang with `only_whole` does not move.
/// `rule.kept_until(now)` returns the time at which the target of a pod moved at `now` is given up;
/// absent = never.
template<class Rule>
concept consolidation_rule = victim_rule<Rule> && requires(const Rule rule, std::int64_t now) {
    { rule.kept_until(now) }
    noexcept->std::same_as<std::optional<std::int64_t>>;
};

} // namespace v0_1
} // namespace muster
