// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace muster::inline v0_1 {

/// Says for how long a gang that lost members may stand below its minima before the others are
/// evicted, in the caller's unit; nothing = for ever. `own` is what the gang itself asks for.
/// `none`: true of a rule that evicts nobody, so that nobody asks it.
template<class Rule>
concept staleness_rule = std::copyable<Rule> && std::equality_comparable<Rule> &&
    requires(const Rule rule, std::optional<std::int64_t> own) {
    { rule(own) }
    noexcept->std::same_as<std::optional<std::int64_t>>;
    { Rule::none } -> std::convertible_to<bool>;
};

} // namespace muster::inline v0_1
