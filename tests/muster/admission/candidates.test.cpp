// SPDX-License-Identifier: Apache-2.0
#include <muster/admission/candidates.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include <muster/admission/counted_class.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/policy/victim_rule.hpp>
#include <muster/testing/cases.hpp>
#include <muster/testing/generator.hpp>
#include <muster/testing/world.hpp>

namespace admission_candidates_test {

namespace {

using namespace muster;
using namespace muster::testing;

using core = core_of<world_traits>;

/// The gang starts once all gangs are gone that the rule admits for it.
bool starts_without_them(const world_state& known, gang_index which,
                         const priority_preemption& rule) {
    world_state emptied = known;
    for (const gang_index each : known.gang_order()) {
        contender of = contender_of(known, each);
        of.queues_in_common = queues_in_common(known, of.queue, known[which].queue);
        if (each == which || !rule(contender_of(known, which), of, 0))
            continue;
        const std::vector<pod_index> members = known[each].members;
        for (const pod_index pod : members)
            if (known[pod].charged())
                static_cast<void>(emptied.remove_pod(known.key(pod)));
    }
    cycle_result result;
    start(emptied, which, policy<>{}, {}, result);
    return result.counters.pods_placed > 0;
}

std::string check_sums(const world& from) {
    world_state known = to_state(from);
    const priority_preemption rule{true};
    eviction_candidates<core> among;
    among.look(known);
    admission<core> deciding;
    for (const gang_index which : known.gang_order()) {
        if (!deciding.prepare(known, which) || !deciding.needs())
            continue;
        resources<core::width> amount;
        if (!need_of(deciding.members(), deciding.needs(), amount) ||
            among.may_suffice(which, rule, 0, amount))
            continue;
        if (starts_without_them(known, which, rule))
            return "gang " + known.key(which) + " starts, although a sum says no\n" + text(from);
    }
    return {};
}

} // namespace

TEST_CASE("a gang that the sums refuse cannot start without the gangs that the rule admits") {
    CHECK(count_faults("sums over candidates", 2'000, random_world, check_sums) == 0);
    CHECK(count_faults("near-critical sums over candidates", 500, critical_world, check_sums) == 0);
}

} // namespace admission_candidates_test
