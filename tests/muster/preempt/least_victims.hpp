// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <support/world.hpp>

#include "budget_rules.hpp"

/// The victims that a gang must have, by trying every set: what the searches for them are held to.
namespace least_victims {

using namespace muster;
using namespace muster::testing;

/// Returns the number of gangs that these pods remove as a whole; absent if a gang would stay below
/// its minima or lose more members at a time than it may.
inline std::optional<std::size_t> broken_by(const world_state& known,
                                            const std::vector<pod_index>& pods) {
    std::map<gang_index, std::int64_t> taken;
    for (const pod_index pod : pods)
        ++taken[known[pod].gang];
    std::size_t broken = 0;
    for (const auto& [which, number] : taken) {
        const auto& group = known[which];
        std::vector<std::int64_t> stay(group.spec.tree.size(), 0);
        std::int64_t all = 0;
        for (const pod_index member : group.members) {
            ++all;
            // A shrunk world may have members of roles that their gang does not have.
            if (known[member].role.value() < stay.size() &&
                std::find(pods.begin(), pods.end(), member) == pods.end())
                ++stay[known[member].role.value()];
        }
        if (group.spec.max_disrupted && number > *group.spec.max_disrupted)
            return std::nullopt;
        if (number == all)
            ++broken;
        else if (!reaches_minima(group.spec.tree, stay))
            return std::nullopt;
    }
    return broken;
}

/// Finds a proper subset of these pods that may go and makes the gang fit. With `surplus`, finds a
/// set that removes no whole gang; it may be all of the pods. O(2^pods).
template<class Fits>
std::optional<std::vector<pod_index>> part_of(const world_state& known,
                                              const std::vector<pod_index>& pods, bool surplus,
                                              const Fits& fits) {
    const std::size_t sets = (std::size_t{1} << pods.size()) - (surplus ? 0 : 1);
    for (std::size_t set = 0; set < sets; ++set) {
        std::vector<pod_index> part;
        for (std::size_t at = 0; at < pods.size(); ++at)
            if ((set >> at & 1U) != 0)
                part.push_back(pods[at]);
        const auto broken = broken_by(known, part);
        if (!broken || (surplus && *broken > 0) || !budget_rules::kept(known, part))
            continue;
        world_state without = known;
        for (const pod_index pod : part)
            expect_applied(without.remove_pod(known.key(pod)));
        if (fits(without))
            return part;
    }
    return std::nullopt;
}

/// Of all sets with which the gang fits, the one that comes first: by the highest level taken, by
/// gangs broken up, by pods, by who is newest. `allowed(gang)`: whether it may be a victim;
/// `level(gang)`: a pair, who is lower goes first; `kept(pods)`: whether another rule spares the
/// set; `fits(state)`: whether the gang fits without them. O(2^candidates).
template<class Allowed, class Level, class Kept, class Fits>
std::optional<std::vector<pod_index>> of_all(const world_state& known, gang_index by,
                                             const Allowed& allowed, const Level& level,
                                             const Kept& kept, const Fits& fits) {
    struct choice {
        std::tuple<std::pair<std::int64_t, std::int64_t>, std::size_t, std::size_t,
                   std::vector<std::size_t>>
            key;
        std::vector<pod_index> pods;
    };
    std::vector<pod_index> candidates;
    for (const auto& [key, pod] : known.pod_keys())
        if (known[pod].charged() && known[pod].gang != by && allowed(known[pod].gang))
            candidates.push_back(pod);
    const auto rank = [&](pod_index pod) {
        const auto& group = known[known[pod].gang];
        return std::tuple(level(known[pod].gang), -group.spec.created, known.key(known[pod].gang),
                          -known[pod].created, known[pod].role.value(), known.key(pod));
    };
    std::sort(candidates.begin(), candidates.end(),
              [&](pod_index lhs, pod_index rhs) { return rank(lhs) < rank(rhs); });
    std::optional<choice> best;
    for (std::size_t set = 1; set < std::size_t{1} << candidates.size(); ++set) {
        choice mine;
        auto& [highest, broken, count, newest] = mine.key;
        constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
        highest = {lowest, lowest};
        broken = count = 0;
        for (std::size_t at = candidates.size(); at-- > 0;) {
            if ((set >> at & 1U) == 0)
                continue;
            const gang_index of = known[candidates[at]].gang;
            mine.pods.push_back(candidates[at]);
            newest.push_back(at);
            ++count;
            highest.first = std::max(highest.first, level(of).first);
            highest.second = std::max(highest.second, level(of).second);
        }
        const auto whole = broken_by(known, mine.pods);
        broken = whole.value_or(0);
        if (!whole || (best && best->key <= mine.key) || !budget_rules::kept(known, mine.pods) ||
            !kept(mine.pods))
            continue;
        world_state without = known;
        for (const pod_index pod : mine.pods)
            expect_applied(without.remove_pod(known.key(pod)));
        if (fits(without))
            best = std::move(mine);
    }
    if (!best)
        return std::nullopt;
    return std::move(best->pods);
}

/// The pods that a cycle evicts, or nothing when another gang than this one, nominated, has some
/// evicted.
inline std::optional<std::vector<pod_index>> evicted_for(const cycle_result& result,
                                                         gang_index which) {
    std::vector<pod_index> gone;
    for (const decision& made : result.decisions) {
        gone.insert(gone.end(), made.evictions.begin(), made.evictions.end());
        if (!made.evictions.empty() && (made.gang != which || !made.nominated))
            return std::nullopt;
    }
    return gone;
}

/// How those who go differ from those who must; nothing when they are the same.
inline std::string difference(const world_state& before, const std::vector<pod_index>& gone,
                              const std::optional<std::vector<pod_index>>& expected) {
    if (!expected)
        return gone.empty() ? "" : "needless: somebody was evicted though that helps nobody";
    const auto names = [&](std::vector<pod_index> pods) {
        std::string out;
        std::sort(pods.begin(), pods.end());
        for (const pod_index pod : pods)
            out += before.key(pod) + " ";
        return out;
    };
    if (gone.empty())
        return "missed: " + names(*expected) + "could have been evicted";
    if (names(gone) != names(*expected))
        return "not least: " + names(gone) + "instead of " + names(*expected);
    return {};
}

} // namespace least_victims
