// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/check_placements.hpp>
#include <muster/testing/random.hpp>
#include <muster/testing/shortage_verifier.hpp>
#include <support/brute_force.hpp>
#include <support/cases.hpp>
#include <support/generator.hpp>

#include "budget_rules.hpp"
#include "evicting.hpp"
#include "least_victims.hpp"

namespace preempt_eviction_properties_test {

namespace {

using namespace muster;
using namespace muster::testing;
using namespace evicting_clusters;

constexpr kind_id cpu{0};

/// Up to three nodes and ten running pods in a few gangs and queues, and a gang "new" that waits.
world crowded(std::uint64_t seed) {
    testing::random draw(seed);
    world made;
    made.seed = seed;
    std::vector<std::int64_t> left = add_random_nodes(made, draw, 1);
    for (int at = 0; at < 3; ++at) {
        queue<world_width> spec;
        spec.priority = draw.between(0, 2);
        spec.preemptible = draw.percent(85);
        if (draw.percent(30))
            spec.quota.set(cpu, draw.between(2, 9));
        if (draw.percent(70))
            spec.deserved.set(cpu, draw.between(0, 6));
        made.queues.push_back({"q" + std::to_string(at), spec, {}});
        if (at > 0 && draw.percent(30))
            made.queues.back().parent = "q" + std::to_string(at - 1);
    }
    const auto add_gang = [&](const std::string& key, bool stands, std::size_t most) {
        gang<std::string> spec;
        spec.queue = "q" + std::to_string(draw.below(3));
        spec.priority = draw.between(0, 2);
        spec.created = draw.between(0, 3);
        if (stands && draw.percent(10))
            spec.preemptible = false;
        if (stands && draw.percent(15))
            spec.max_disrupted = draw.between(0, 3);
        const std::size_t pods = 1 + draw.below(most);
        std::vector<vertex_index> roles{vertex_index{0}};
        const auto some = [&](std::size_t of) {
            return draw.between(0, static_cast<std::int64_t>(of));
        };
        if (draw.percent(30)) {
            gang_tree tree(std::max<std::int64_t>(1, some(pods)));
            roles = {tree.add(vertex_index{0}, some(1)), tree.add(vertex_index{0}, 0)};
            spec.tree = tree;
        } else {
            spec.tree = gang_tree(std::max<std::int64_t>(1, some(pods)));
        }
        if (!stands && roles.size() == 1)
            spec.tree = gang_tree(static_cast<std::int64_t>(pods));
        for (std::size_t at = 0; at < pods; ++at) {
            pod<world_width> one;
            one.role = roles[at % roles.size()];
            one.created = draw.between(0, 3);
            one.request[cpu] = draw.between(1, 3);
            one.request[made.pods_kind()] = 1;
            if (draw.percent(10))
                one.where.claims.ports.push_back({"TCP", "", 80});
            std::optional<std::string> on;
            if (stands) {
                one.phase = pod_phase::running;
                on = take(left, draw, one.request[cpu]);
                if (!on)
                    continue;
                one.where.claims.ports.clear();
            }
            made.pods.push_back({key + "-" + std::to_string(at), key, one, on});
        }
        made.gangs.push_back({key, spec});
    };
    for (int at = 0; at < 6 && made.pods.size() < 7; ++at)
        add_gang("g" + std::to_string(at), true, 4);
    add_gang("new", false, 3);
    return made;
}

/// The same with budgets.
world protected_crowd(std::uint64_t seed) {
    world made = crowded(seed);
    testing::random draw(seed ^ 0x5bd1e995U);
    budget_rules::add(made, draw);
    return made;
}

// ---- the rules once more, by definition --------------------------------------------------------

enum class rule_kind { t9k, t9k_inside, by_priority, reclaim };

bool allowed(const world_state& known, rule_kind rule, gang_index by, gang_index of) {
    const auto& mine = known[by];
    const auto& theirs = known[of];
    const auto& my_queue = known[*mine.queue].spec;
    const auto& their_queue = known[*theirs.queue].spec;
    const bool own = mine.queue == theirs.queue;
    if (!theirs.spec.preemptible)
        return false;
    if (rule == rule_kind::by_priority)
        return theirs.spec.priority < mine.spec.priority && (own || their_queue.preemptible);
    if (!their_queue.preemptible)
        return false;
    if (rule == rule_kind::reclaim)
        return !own;
    return their_queue.priority < my_queue.priority ||
           (rule == rule_kind::t9k_inside && own && theirs.spec.priority < mine.spec.priority);
}

/// Use of a queue and those below it, of the pods that are not in `gone`.
std::int64_t use_of(const world_state& known, queue_index queue,
                    const std::vector<pod_index>& gone) {
    std::int64_t sum = 0;
    for (const auto& [key, pod] : known.pod_keys()) {
        if (!known[pod].charged() || std::find(gone.begin(), gone.end(), pod) != gone.end())
            continue;
        for (auto at = known[known[pod].gang].queue; at; at = known[*at].parent)
            if (*at == queue)
                sum += known.request(pod)[cpu];
    }
    return sum;
}

std::vector<queue_index> chain(const world_state& known, std::optional<queue_index> from) {
    std::vector<queue_index> all;
    for (; from; from = known[*from].parent)
        all.push_back(*from);
    return all;
}

/// Queues keep what they deserve, up to where they meet the gang's.
bool within_what_is_deserved(const world_state& known, gang_index by,
                             const std::vector<pod_index>& gone) {
    std::int64_t need = 0;
    for (const pod_index member : known[by].members)
        need += known.request(member)[cpu];
    const auto mine = chain(known, known[by].queue);
    for (const pod_index pod : gone) {
        const auto theirs = chain(known, known[known[pod].gang].queue);
        for (const queue_index at : theirs) {
            if (std::find(mine.begin(), mine.end(), at) != mine.end())
                break;
            const auto deserved = known[at].spec.deserved[cpu];
            if (!deserved || use_of(known, at, gone) < *deserved)
                return false;
        }
        if (std::find(mine.begin(), mine.end(), theirs.front()) != mine.end())
            return false;
        for (const queue_index at : mine) {
            if (std::find(theirs.begin(), theirs.end(), at) != theirs.end())
                break;
            const auto deserved = known[at].spec.deserved[cpu];
            if (deserved && use_of(known, at, {}) + need > *deserved)
                return false;
        }
    }
    return true;
}

/// The least set of all, by trying every one.
std::optional<std::vector<pod_index>> least_of_all(const world_state& known, rule_kind rule,
                                                   gang_index by) {
    const auto allow = [&](gang_index which) { return allowed(known, rule, by, which); };
    const auto level = [&](gang_index which) {
        const auto& group = known[which];
        return std::pair(rule != rule_kind::by_priority ? known[*group.queue].spec.priority : 0,
                         group.spec.priority);
    };
    const auto kept = [&](const std::vector<pod_index>& pods) {
        return rule != rule_kind::reclaim || within_what_is_deserved(known, by, pods);
    };
    return least_victims::of_all(known, by, allow, level, kept, [](const world_state& without) {
        return brute_force<world_traits>(without, without.find_gang("new")->index).fits();
    });
}

/// Worlds in which somebody was evicted.
std::size_t evicting_worlds = 0;
/// Worlds in which it was said what evictions leave the gang short of.
std::size_t shortages = 0;

template<class Policy>
std::string judge(const world& from, rule_kind rule, const Policy& evicting) {
    world_state known = to_state(from);
    const auto found = known.find_gang("new");
    if (!found || !known[found->index].queue || known[found->index].members.empty())
        return {};
    const gang_index which = found->index;
    for (const auto& [key, gang] : known.gang_keys())
        if (!known[gang].queue)
            return {};
    // What a gang takes is plain only where it needs all its members.
    if (rule == rule_kind::reclaim && known[which].spec.tree[0].min_member !=
                                          static_cast<std::int64_t>(known[which].members.size()))
        return {};
    const world_state before = known;
    const cycle_result result = cycle(known, 0, evicting);
    if (const std::string fault = check_placements(before, result); !fault.empty())
        return "placements: " + fault;
    const auto evicted = least_victims::evicted_for(result, which);
    if (!evicted)
        return "order: somebody else evicts";
    const std::vector<pod_index>& gone = *evicted;
    for (const decision& made : result.decisions)
        if (const auto& lacks = made.short_after_evictions; lacks && made.gang == which) {
            ++shortages;
            if (!verify(before, which, evicting.victims, *lacks))
                return "shortage: " + std::to_string(lacks->needed) + " needed, " +
                       std::to_string(lacks->there) + " there is not so";
            eviction_shortage wrong = *lacks;
            wrong.needed += 1'000;
            if (verify(before, which, evicting.victims, wrong))
                return "verifier: takes a need for granted";
            wrong = *lacks;
            wrong.there = -1;
            if (verify(before, which, evicting.victims, wrong))
                return "verifier: takes what is there for granted";
        }
    const bool starts = known[which].last.kind == answer::admitted;
    if (starts && gone.empty())
        return {};
    const bool asked = known[which].last.at == gate::space || known[which].last.at == gate::quota;
    if (!starts && !asked)
        return {};
    const auto expected = least_of_all(before, rule, which);
    if (std::string fault = least_victims::difference(before, gone, expected);
        !fault.empty() || !expected)
        return fault;
    ++evicting_worlds;
    if (known[which].nominated == 0)
        return "nominated: nobody comes for who goes";
    const auto accounts = known.accounts();
    if (!cycle(known, 1, evicting).decisions.empty() && known.accounts() != accounts)
        return "again: a cycle on an unchanged cluster changes something";
    for (const pod_index pod : gone)
        expect_applied(known.remove_pod(before.key(pod)));
    const world_state left = known;
    const cycle_result coming = cycle(known, 2, evicting);
    if (const std::string fault = check_placements(left, coming); !fault.empty())
        return "placements of those who come: " + fault;
    if (known[which].nominated > 0)
        return "bound: who was nominated did not come";
    return {};
}

std::string check_evictions(const world& from) {
    switch (static_cast<rule_kind>(from.seed >> 7U & 3U)) {
    case rule_kind::t9k:
        return judge(from, rule_kind::t9k, evicting(t9k_preemption{}));
    case rule_kind::t9k_inside:
        return judge(from, rule_kind::t9k_inside, evicting(t9k_preemption{true}));
    case rule_kind::by_priority:
        return judge(from, rule_kind::by_priority, evicting(priority_preemption{true}));
    case rule_kind::reclaim:
        return judge(from, rule_kind::reclaim, evicting(reclaim_above_deserved{}));
    }
    return {};
}

/// Pods that a cycle evicts and how many are to come, by key.
template<class Policy>
std::pair<keys, std::size_t> exchanged(world_state& known, const Policy& how) {
    const cycle_result result = cycle(known, 0, how);
    std::size_t coming = 0;
    for (const decision& made : result.decisions)
        coming += made.nominated ? made.placements.size() : 0;
    return {evicted_by(known, result), coming};
}

/// Worlds in which somebody was evicted for surplus.
std::size_t serving_worlds = 0;

/// A gang that needs nobody and gets one member is served as one that needs one.
template<class Rule>
std::string judge_one_more(world from, Rule rule) {
    for (auto& gang : from.gangs)
        if (gang.key == "new")
            gang.spec.tree = gang_tree(0);
    world needy = from;
    for (auto& gang : needy.gangs)
        if (gang.key == "new")
            gang.spec.tree = gang_tree(1);
    for (world* each : {&from, &needy})
        for (auto& pod : each->pods)
            if (pod.gang == "new")
                pod.spec.role = vertex_index{0};
    world_state known = to_state(from);
    const auto found = known.find_gang("new");
    if (!found || known[found->index].members.empty())
        return {};
    const world_state before = known;
    if (cycle(known, 0, evicting(no_eviction{})).counters.pods_placed > 0)
        return {};
    world_state other = to_state(needy);
    known = before;
    if (!exchanged(known, evicting(rule)).first.empty())
        return "unasked: somebody goes for surplus";
    known = before;
    const auto mine = exchanged(known, evicting(for_surplus_too<Rule>{rule}));
    if (mine != exchanged(other, evicting(rule)))
        return "otherwise: " + std::to_string(mine.first.size()) + " go, not those of one in need";
    if (mine.first.empty())
        return {};
    ++serving_worlds;
    // Each member more costs somebody, so that it ends.
    for (std::size_t rounds = from.pods.size();; --rounds) {
        std::vector<std::string> gone;
        for (const auto& [key, pod] : known.pod_keys())
            if (known[pod].evicted)
                gone.push_back(key);
        for (const std::string& key : gone)
            expect_applied(known.remove_pod(key));
        const auto next = cycle(known, 1, evicting(for_surplus_too<Rule>{rule})).counters;
        if (gone.empty() && next.pods_evicted == 0)
            return {};
        if (rounds == 0)
            return "end: members go on being evicted";
    }
}

std::string check_one_more(const world& from) {
    switch (static_cast<rule_kind>(from.seed >> 7U & 3U)) {
    case rule_kind::t9k:
        return judge_one_more(from, t9k_preemption{});
    case rule_kind::t9k_inside:
        return judge_one_more(from, t9k_preemption{true});
    case rule_kind::by_priority:
        return judge_one_more(from, priority_preemption{true});
    case rule_kind::reclaim:
        return judge_one_more(from, reclaim_above_deserved{});
    }
    return {};
}

TEST_CASE("where surplus is served a gang gets one member more as one in need of it would") {
    serving_worlds = 0;
    CHECK(count_faults("evictions for surplus", 1000, crowded, check_one_more) == 0);
    std::printf("evictions for surplus: in %zu worlds\n", serving_worlds);
    CHECK(serving_worlds > 0);
}

TEST_CASE("on small clusters exactly the least set of victims goes, and the gang starts") {
    evicting_worlds = 0;
    CHECK(count_faults("evictions", 1000, crowded, check_evictions) == 0);
    CHECK(count_faults(
              "evictions with devices", 1000,
              [](std::uint64_t seed) { return with_cards(crowded(seed)); }, check_evictions) == 0);
    std::printf("evictions: in %zu worlds, %zu shortages\n", evicting_worlds, shortages);
    CHECK(evicting_worlds > 0);
    CHECK(shortages > 0);
}

TEST_CASE("with budgets, too, exactly the least set that keeps to all of them goes") {
    evicting_worlds = 0;
    CHECK(count_faults("evictions with budgets", 1000, protected_crowd, check_evictions) == 0);
    std::printf("evictions with budgets: in %zu worlds\n", evicting_worlds);
    CHECK(evicting_worlds > 0);
}

} // namespace

} // namespace preempt_eviction_properties_test
