// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Says whose pods may be moved to other nodes so that a gang that waits fits. It is asked as a
/// victim rule is: gangs of lower levels are moved first where that takes no more moves, and of
/// gangs that keep their minima (`only_surplus`) or go whole or not at all (`only_whole`), members
/// beyond the minima move, or none. `rule.kept_until(now)` is when the place of a pod that is
/// moved at `now` is given up; absent = never.
template<class Rule>
concept consolidation_rule = victim_rule<Rule> && requires(const Rule rule, std::int64_t now) {
    { rule.kept_until(now) }
    noexcept->std::same_as<std::optional<std::int64_t>>;
};

} // namespace v0_1
} // namespace muster
