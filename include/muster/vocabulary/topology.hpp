// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace muster {
inline namespace v0_1 {

/// The network or physical layout of a cluster: keys of node labels from coarse to fine, such as
/// block, rack, host. A cluster may have several topologies.
///
/// Nodes with the same labels on a level and all coarser levels form a *domain* of that level:
/// racks of the same name in two blocks are two domains. A node that lacks a label is in no domain
/// of that level or of a finer one.
struct topology {
    std::vector<std::string> levels;

    [[nodiscard]] friend auto operator<=>(const topology&, const topology&) = default;
};

/// Which domain members must share; levels are numbers into `within.levels`.
struct topology_constraint {
    topology within;
    /// All of them in one domain of this level, or they are not placed.
    std::optional<std::size_t> required{};
    /// In one domain of this level if they fit one, else of the next coarser one, and so on up to
    /// the required level, or to anywhere. Never decides whether they fit.
    std::optional<std::size_t> preferred{};

    [[nodiscard]] friend bool operator==(const topology_constraint&,
                                         const topology_constraint&) = default;
};

/// True if the levels are distinct, a level is required or preferred, and these levels exist.
[[nodiscard]] inline bool well_formed(const topology_constraint& what) {
    const std::vector<std::string>& levels = what.within.levels;
    for (auto at = levels.begin(); at != levels.end(); ++at)
        if (std::find(levels.begin(), at, *at) != at)
            return false;
    return (what.required || what.preferred) && what.required.value_or(0) < levels.size() &&
           what.preferred.value_or(0) < levels.size();
}

} // namespace v0_1
} // namespace muster
