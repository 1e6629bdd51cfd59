// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include <muster/cycle/cycle.hpp>
#include <support/cases.hpp>
#include <support/pod_rules.hpp>

#include "crowded_pods.hpp"
#include "fewest_moves.hpp"

namespace preempt_consolidation_among_pods_test {

namespace {

using namespace muster;
using namespace muster::testing;

/// Most who run have no terms, so that they may move.
world crowded(std::uint64_t seed) {
    return crowded_pods::make(seed, 12);
}

/// No required terms keep it where it is: neither its own nor those of pods that keep it off.
bool is_free(const world_state& known, pod_index pod) {
    const auto mine = seen(known, pod);
    if (mine.spec.where.pods && mine.spec.where.pods->requires_something())
        return false;
    for (const auto& entry : known.pod_keys()) {
        const auto& other = known[entry.second];
        if (!other.charged() || entry.second == pod)
            continue;
        const auto theirs = seen(known, entry.second);
        if (theirs.spec.where.pods)
            for (const affinity_term& term : theirs.spec.where.pods->anti_affinity)
                if (selects(term.pods, mine.spec.labels, mine.tenant))
                    return false;
    }
    return true;
}

std::string check_moves(const world& from, std::map<std::size_t, std::size_t>& counts) {
    const world_state known = to_state(from);
    const auto found = known.find_gang("new");
    if (!found || !pods_bear_on(known, found->index))
        return {};
    const auto fits = [](const world_state& moved, gang_index) {
        return pod_brute_force<world_traits>(moved, moved.find_gang("new")->index).fits();
    };
    return fewest_moves::check(
        from, fewest_moves::rules<decltype(&is_free), decltype(fits)>{&is_free, fits, false},
        counts);
}

TEST_CASE(
    "among terms exactly the fewest pods move that let the gang start, and all of them stand") {
    std::map<std::size_t, std::size_t> counts;
    CHECK(count_faults("consolidation among pods", 1500, crowded,
                       [&](const world& from) { return check_moves(from, counts); }) == 0);
    std::size_t worlds = 0;
    for (const auto& [moves, count] : counts) {
        std::printf("consolidation among pods: %zu moves in %zu worlds\n", moves, count);
        worlds += count;
    }
    if (all_cases(1500))
        CHECK((worlds > 20 && counts.size() > 1));
}

} // namespace

} // namespace preempt_consolidation_among_pods_test
