// SPDX-License-Identifier: Apache-2.0
#include <muster/preempt/candidates.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/policy/victim_rule.hpp>
#include <muster/problem/counted_class.hpp>
#include <muster/testing/random.hpp>
#include <support/cases.hpp>
#include <support/generator.hpp>
#include <support/world.hpp>

namespace preempt_candidates_test {

namespace {

using namespace muster;
using namespace muster::testing;

using core = core_of<world_traits>;

/// The gang starts once all gangs are gone that the rule admits for it.
bool starts_without_them(const world_state& known, gang_index which,
                         const priority_preemption& rule) {
    world_state emptied = known;
    for (const gang_index each : known.gang_order()) {
        gang_view of = gang_view_of(known, each);
        of.queues_in_common = queues_in_common(known, of.queue, known[which].queue);
        if (each == which || !rule(gang_view_of(known, which), of, 0))
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
        if (!need_of(deciding.members(), deciding.needs(), amount))
            continue;
        among.begin_for(which);
        if (among.may_suffice(rule, 0, amount))
            continue;
        if (starts_without_them(known, which, rule))
            return "gang " + known.key(which) + " starts, although a sum says no\n" + text(from);
    }
    return {};
}

/// The most of each kind that the sums allow the gang, whatever is evicted.
std::vector<std::int64_t> most_of(eviction_candidates<core>& among, gang_index which) {
    const priority_preemption rule{true};
    std::vector<std::int64_t> most;
    for (std::size_t column = 0; column < core::width; ++column) {
        std::int64_t first = 0;
        std::int64_t last = std::int64_t{1} << 50;
        while (first < last) {
            resources<core::width> amount;
            amount[column] = first + (last - first + 1) / 2;
            among.begin_for(which);
            if (among.may_suffice(rule, 0, amount))
                first = amount[column];
            else
                last = amount[column] - 1;
        }
        most.push_back(first);
    }
    return most;
}

std::vector<std::size_t> gangs_of(const eviction_candidates<core>& among) {
    std::vector<std::size_t> gangs;
    for (const auto& each : among.groups())
        for (std::size_t at = each.first; at < each.last; ++at)
            gangs.push_back(among[at].gang.value());
    return gangs;
}

std::string text_of(const eviction_candidates<core>::totals& totals) {
    std::string out;
    for (std::size_t column = 0; column < core::width; ++column) {
        out += std::to_string(saturate(totals.free[column])) + ' ';
        out += std::to_string(saturate(totals.loose[column])) + ' ';
        for (const auto& [least, own] : totals.queues)
            out += std::to_string(least.queue->value()) + ':' + std::to_string(own[column]) + ' ';
    }
    return out;
}

std::size_t evicting_cycles = 0;
std::size_t amounts = 0;

/// After a cycle that evicts pods the candidates that it keeps are those of the state, and so are
/// the amounts that it keeps of waiting gangs.
std::string check_kept(const world& from) {
    world_state known = to_state(from);
    const any_policy<core> how(policy{best_fit{}, priority_then_age{}, priority_then_share{},
                                      no_reservations{}, surplus_at_once{}, most_packed{},
                                      priority_preemption{true}});
    for (std::int64_t now = 0; now < 3; ++now) {
        const cycle_result result = cycle(known, now, how);
        if (result.counters.pods_evicted == 0)
            break;
        ++evicting_cycles;
        detail::cycle_context<core>& cycle_context = detail::context_of(known, how);
        admission<core> deciding;
        for (const gang_index which : known.gang_order()) {
            const resources<core::width>* least = cycle_context.least_use(known, which);
            resources<core::width> amount;
            if (least && deciding.prepare(known, which) &&
                (!need_of(deciding.members(), deciding.needs(), amount) || amount != *least))
                return "amount: the kept one is not that of the members\n" + text(from);
            amounts += least ? 1U : 0U;
        }
        eviction_candidates<core>& kept = cycle_context.candidates;
        eviction_candidates<core> anew;
        kept.look(known);
        anew.look(known);
        if (gangs_of(kept) != gangs_of(anew))
            return "gangs: the kept candidates are not those of the state\n" + text(from);
        // The pass reads totals with the room of leaving pods.
        cycle_context.begin(known);
        cycle_context.journal->assume_released(known.population().anybody_comes());
        const bool same = text_of(kept.totals_of(known)) == text_of(anew.totals_of(known));
        cycle_context.journal->rollback({});
        if (!same)
            return "totals: those kept are not those of the state\n" + text(from);
        for (const gang_index which : known.gang_order())
            if (most_of(kept, which) != most_of(anew, which))
                return "sums: those kept are not those of the state\n" + text(from);
        for (const decision& made : result.decisions)
            for (const pod_index pod : made.evictions)
                static_cast<void>(known.remove_pod(known.key(pod)));
    }
    return {};
}

/// A few full nodes with gangs of any priority, and several gangs that wait, some for part of their
/// members.
world crowded(std::uint64_t seed) {
    testing::random draw(seed);
    world made;
    made.seed = seed;
    made.kinds = 2;
    for (int at = 0; at < 3; ++at) {
        node<world_width> spec;
        spec.allocatable[kind_id{0}] = 6;
        spec.allocatable[made.pods_kind()] = 10;
        made.nodes.push_back({"n" + std::to_string(at), spec});
        queue<world_width> among;
        if (draw.percent(40))
            among.quota.set(kind_id{0}, draw.between(4, 16));
        made.queues.push_back({"q" + std::to_string(at), among, {}});
        if (at > 0 && draw.percent(40))
            made.queues.back().parent = "q" + std::to_string(at - 1);
    }
    std::vector<std::int64_t> left(3, 6);
    for (int at = 0; at < 12; ++at) {
        const std::string key = "g" + std::to_string(at);
        gang<std::string> spec;
        if (draw.percent(80))
            spec.queue = "q" + std::to_string(draw.below(3));
        spec.priority = draw.between(0, 5);
        spec.created = at;
        const std::int64_t pods = draw.between(1, 3);
        spec.tree = gang_tree(pods);
        const std::int64_t running = at < 7 ? pods - (draw.percent(15) ? 1 : 0) : 0;
        made.gangs.push_back({key, spec});
        for (std::int64_t pod_at = 0; pod_at < pods; ++pod_at) {
            pod<world_width> member;
            member.request[kind_id{0}] = draw.between(1, 4);
            member.request[made.pods_kind()] = 1;
            const std::size_t node = draw.below(3);
            std::optional<std::string> on;
            if (pod_at < running && left[node] >= member.request[kind_id{0}]) {
                left[node] -= member.request[kind_id{0}];
                member.phase = pod_phase::running;
                on = "n" + std::to_string(node);
            }
            made.pods.push_back({key + "-" + std::to_string(pod_at), key, member, on});
        }
    }
    return made;
}

} // namespace

TEST_CASE("the candidates that a cycle keeps over its evictions are those of the state") {
    CHECK(count_faults("kept candidates", 2'000, random_world, check_kept) == 0);
    CHECK(count_faults("kept candidates of full nodes", 1'000, crowded, check_kept) == 0);
    std::printf("kept candidates: in %zu cycles with evictions\n", evicting_cycles);
    CHECK(evicting_cycles > 20);
    CHECK(amounts > 20);
}

TEST_CASE("a gang that the sums refuse cannot start without the gangs that the rule admits") {
    CHECK(count_faults("sums over candidates with devices", 2'000, carded_world, check_sums) == 0);
    CHECK(count_faults("sums over candidates", 2'000, random_world, check_sums) == 0);
    CHECK(count_faults("near-critical sums over candidates", 500, critical_world, check_sums) == 0);
}

} // namespace preempt_candidates_test
