// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace muster {
inline namespace v0_1 {

/// Returns how long a gang that lost members may be below its minima before its other members are
/// evicted, in the caller's unit; nullopt = forever. `own` is the value that the gang itself
/// declares. `none`: true for a rule that evicts no pods, so that it is never evaluated.
template<class Rule>
concept staleness_rule = std::copyable<Rule> && std::equality_comparable<Rule> &&
    requires(const Rule rule, std::optional<std::int64_t> own) {
    { rule(own) }
    noexcept->std::same_as<std::optional<std::int64_t>>;
    { Rule::none } -> std::convertible_to<bool>;
};

} // namespace v0_1
} // namespace muster
