// SPDX-License-Identifier: Apache-2.0
#include <muster/preempt/victim_fit.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/policy/victim_rule.hpp>
#include <muster/preempt/victim_search.hpp>
#include <muster/problem/counted_class.hpp>
#include <muster/testing/random.hpp>

#include "crowded_queues.hpp"
#include "evicting.hpp"

namespace preempt_victim_fit_test {

namespace {

using namespace muster;
using namespace builders;

using core = core_of<traits>;
using context = detail::cycle_context<core>;

/// Searches pod by pod even if all pods together do not suffice.
struct patient_count : counted_fit<core> {
    bool may_suffice_open(const victim_list<core>&) { return true; }
};

struct result {
    victim_search<core>::outcome outcome{};
    std::int64_t steps = 0;
    std::int64_t most_room = 0;
    std::vector<pod_index> chosen;

    friend bool operator==(const result&, const result&) = default;
};

/// A gang that waits, in a plan for the time when terminating pods have left.
struct waiting_gang {
    cluster& known;
    context& derived;
    gang_index which;
    std::size_t only = 0;
    std::int64_t need = 0;
    resources<core::width> amount;

    /// Prepares what is counted. Returns false if the count alone does not decide.
    [[nodiscard]] bool prepare() {
        if (!derived.deciding.prepare(known, which))
            return false;
        const auto* needs = derived.deciding.needs();
        const auto counted = counted_class(known, which, derived.deciding.members(), needs);
        if (!counted || !need_of(derived.deciding.members(), needs, amount))
            return false;
        only = *counted;
        need = (*needs)[only];
        return true;
    }
    /// Returns false if the quotas are not counted.
    template<class Fit>
    [[nodiscard]] bool begin(Fit& counted) {
        const auto& members = derived.deciding.members();
        quota_tally<core> quotas;
        if (!quotas.begin(known, members.queue, amount, false))
            return false;
        const shape_index shape = members.classes[only].shape;
        const auto nodes = members.queue_nodes;
        counted.begin(known, detail::query_for(known, shape, nodes), need,
                      derived.finder.room(known, shape, nodes, need));
        counted.mind(quotas);
        return true;
    }
    template<class Fit>
    [[nodiscard]] result search(Fit& fit, const any_victim_rule& rule, std::int64_t& left) {
        derived.candidates.forget();
        derived.candidates.look(known);
        derived.candidates.begin_for(which);
        queue_use<core> reclaim;
        victim_search<core> searching;
        result made;
        const std::int64_t steps = left;
        made.outcome =
            searching.run(known, which, rule, 0, derived.candidates, reclaim, fit, left, false);
        made.steps = steps - left;
        made.chosen = searching.chosen();
        return made;
    }
    [[nodiscard]] tried_fit<core> trying(std::int64_t& left) {
        return {known, *derived.journal, derived.finder, derived.placing, derived.deciding, left};
    }
};

struct totals {
    std::size_t found = 0;
    std::size_t impossible = 0;
    std::size_t cut_short = 0;
};

void note(totals& in, const result& made, std::int64_t left) {
    in.found += made.outcome == victim_search<core>::outcome::found ? 1U : 0U;
    in.impossible += made.outcome == victim_search<core>::outcome::impossible ? 1U : 0U;
    in.cut_short += left <= 0 ? 1U : 0U;
}

/// Calls `compare(gang, rule, steps)` for the gangs that wait in many clusters.
template<class Compare>
void for_waiting_gangs(std::uint64_t seed, const Compare& compare) {
    testing::random draw(seed);
    for (int round = 0; round < 120; ++round) {
        const priority_preemption rule{draw.percent(50)};
        const any_policy<core> how(evicting_clusters::evicting(rule));
        // With few gangs, it is likely that all of them may lose all their pods.
        cluster known = crowded_queues::crowded(draw, static_cast<int>(draw.between(2, 30)));
        context& derived = detail::context_of(known, how);
        for (int at = 0; at < 6; ++at) {
            derived.finder.catch_up(known);
            derived.begin(known);
            derived.journal->assume_released(known.population().anybody_comes());
            waiting_gang gang{known, derived, gang_at(known, "w" + std::to_string(at)), 0, 0, {}};
            const std::int64_t steps = draw.percent(70) ? 100'000 : draw.between(1, 120);
            if (gang.prepare())
                compare(gang, how.victims, steps);
            derived.journal->rollback({});
        }
    }
}

} // namespace

TEST_CASE("a count of all pods at once ends a search as the search would end") {
    totals all;
    for_waiting_gangs(1, [&](waiting_gang& gang, const any_victim_rule& rule, std::int64_t steps) {
        counted_fit<core> quick;
        patient_count patient;
        if (!gang.begin(quick) || !gang.begin(patient))
            return;
        std::int64_t left = steps;
        result expected = gang.search(patient, rule, left);
        note(all, expected, left);
        std::int64_t quick_left = steps;
        result made = gang.search(quick, rule, quick_left);
        if (expected.outcome == victim_search<core>::outcome::impossible) {
            expected.most_room = patient.most_room();
            made.most_room = quick.most_room();
        }
        CHECK(made == expected);
    });
    CHECK(all.found > 30);
    CHECK(all.impossible > 100);
    CHECK(all.cut_short > 10);
}

TEST_CASE("pods are chosen alike whether the gang is counted or placed") {
    totals all;
    for_waiting_gangs(2, [&](waiting_gang& gang, const any_victim_rule& rule, std::int64_t steps) {
        counted_fit<core> counted;
        if (!gang.begin(counted))
            return;
        std::int64_t left = steps;
        tried_fit<core> placing = gang.trying(left);
        const result expected = gang.search(placing, rule, left);
        CHECK(placing.sure());
        note(all, expected, left);
        gang.derived.journal->rollback({});
        gang.derived.journal->assume_released(gang.known.population().anybody_comes());
        std::int64_t counted_left = steps;
        tried_fit<core> counting = gang.trying(counted_left);
        counting.count_by(counted);
        CHECK(gang.search(counting, rule, counted_left) == expected);
    });
    CHECK(all.found > 30);
    CHECK(all.impossible > 100);
    CHECK(all.cut_short > 10);
}

} // namespace preempt_victim_fit_test
