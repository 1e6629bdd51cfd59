// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/brute_force.hpp>
#include <muster/testing/cases.hpp>
#include <muster/testing/check_placements.hpp>
#include <muster/testing/pod_rules.hpp>
#include <muster/testing/pod_worlds.hpp>
#include <muster/testing/verifier.hpp>

namespace {

using namespace muster;
using namespace muster::testing;

struct tally {
    std::size_t gangs = 0;
    std::size_t borne_on = 0;
    std::size_t fitting = 0;
    std::size_t undecided = 0;
    std::size_t missed = 0;
};

/// Every answer of one cycle, each against the state as it stood when it was made.
std::string check_answers(const world& from, tally& counts) {
    world_state known = to_state(from);
    const cycle_result result = preview(known, 0, policy<>{}, {}, {true});
    for (const decision& made : result.decisions) {
        const std::string who = known[made.gang].key + ": ";
        const auto at = made.outcome.at;
        const bool judged = at == gate::none || at == gate::space || at == gate::quota;
        const bool bears = pods_bear_on(known, made.gang);
        if (!judged)
            continue;
        const std::vector<placement> placed(made.placements.begin(), made.placements.end());
        if (const std::string fault = fault_of(known, made); !fault.empty())
            return fault + ": " + who;
        if (const std::string fault = fault_among_pods(known, made.gang, placed); !fault.empty())
            return fault;
        const bool fits = pod_brute_force<world_traits>(known, made.gang).fits();
        ++counts.gangs;
        counts.borne_on += bears ? 1U : 0U;
        counts.fitting += bears && fits ? 1U : 0U;
        switch (made.outcome.kind) {
        case answer::admitted:
            if (!fits)
                return "admitted though nothing fits: " + who;
            break;
        case answer::undecided:
            if (!bears)
                return "undecided though no terms bear on it: " + who;
            ++counts.undecided;
            counts.missed += fits ? 1U : 0U;
            break;
        case answer::never:
            if (brute_force<world_traits>(known, made.gang, certificate_scope::emptied).fits())
                return "never though the emptied cluster could hold it: " + who;
            [[fallthrough]];
        case answer::waiting:
            if (fits)
                return "refused though it fits: " + who;
            if (!made.outcome.proof ||
                verify(known, made.gang, *made.outcome.proof) != proof_check::valid)
                return "a refusal without a proof that holds: " + who;
            if (bears && made.outcome.could_start)
                return "could start, though that was not shown: " + who;
        }
        observe_bound(known, made);
    }
    return {};
}

} // namespace

TEST_CASE("gangs among pods with terms are placed by the rules, and refused only when none fits") {
    tally counts;
    CHECK(count_faults("terms between pods", 3'000, pod_world,
                       [&](const world& from) { return check_answers(from, counts); }) == 0);
    std::printf("terms between pods: %zu gangs, terms bear on %zu, of which %zu fit; %zu "
                "undecided, %zu of them fit\n",
                counts.gangs, counts.borne_on, counts.fitting, counts.undecided, counts.missed);
    CHECK(counts.borne_on * 2 > counts.gangs);
    CHECK(counts.fitting * 10 > counts.borne_on * 2);
    CHECK(counts.missed * 100 <= counts.fitting);
}
