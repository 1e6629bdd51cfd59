// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/check_placements.hpp>
#include <muster/testing/random.hpp>
#include <support/brute_force.hpp>
#include <support/cases.hpp>

#include "../builders.hpp"
#include "evicting.hpp"
#include "least_victims.hpp"

namespace preempt_eviction_subgroups_test {

namespace {

using namespace builders;
using namespace evicting_clusters;
using namespace muster;
using namespace muster::testing;

const auto fewest = evicting(t9k_preemption{});
const auto in_order = evicting(newest_first<t9k_preemption>{});

void run(cluster& to, const std::string& key, const std::string& gang, vertex_index role,
         std::int64_t cpus, const std::string& node, std::int64_t created = 0) {
    auto pod = in_phase(pod_phase::running, in_role(role, asking(cpus)));
    pod.created = created;
    ok(to.upsert_pod(key, gang, pod, node));
}

// ---- which surplus goes ------------------------------------------------------------------------

TEST_CASE("if one of two subgroups is surplus, the one whose room is needed is evicted") {
    cluster known = machines(2);
    ok(known.upsert_node("n0", machine(4)));
    gang_tree tree;
    tree.require_subgroups(vertex_index{0}, 1);
    const auto a = tree.add(vertex_index{0}, 1, "a");
    const auto inner = tree.add(vertex_index{0}, 0, "inner");
    tree.require_subgroups(inner, 1);
    const auto b = tree.add(inner, 1, "b");
    ok(known.upsert_gang("old", gang_of(tree, "low")));
    run(known, "a", "old", a, 4, "n0");
    run(known, "b", "old", b, 8, "n1");
    add_gang(known, "new", 1, 8, "high");
    SUBCASE("if the fewest go") {
        CHECK(evicted(known, fewest) == keys{"b"});
    }
    SUBCASE("if they go in order") {
        CHECK(evicted(known, in_order) == keys{"b"});
    }
    CHECK(node_of(known, "new-0") == "n1");
}

TEST_CASE("if a subgroup is surplus, it is evicted whole and the other one stays whole") {
    cluster known = machines(2);
    gang_tree tree;
    tree.require_subgroups(vertex_index{0}, 1);
    const auto a = tree.add(vertex_index{0}, 2, "a");
    const auto b = tree.add(vertex_index{0}, 2, "b");
    ok(known.upsert_gang("old", gang_of(tree, "low")));
    run(known, "a-0", "old", a, 4, "n0", 2);
    run(known, "a-1", "old", a, 4, "n0", 2);
    run(known, "b-0", "old", b, 4, "n1", 1);
    run(known, "b-1", "old", b, 4, "n1", 1);
    add_gang(known, "new", 1, 8, "high");
    SUBCASE("the newer one") {
        CHECK(evicted(known, in_order) == keys{"a-0", "a-1"});
    }
    SUBCASE("the older one where the newer makes no room") {
        run(known, "other", "new-2", vertex_index{0}, 1, "n0");
        ok(known.upsert_gang("new-2", gang_of(1, "high")));
        auto wide = machine(9);
        ok(known.upsert_node("n1", wide));
        ok(known.remove_pod("new-0"));
        ok(known.upsert_pod("new-0", "new", asking(9)));
        CHECK(evicted(known, in_order) == keys{"b-0", "b-1"});
    }
}

TEST_CASE("of a gang that may lose one pod at a time, the pod goes whose room is needed") {
    cluster known = machines(3);
    auto picky = gang_of(0, "low");
    picky.created = 2;
    picky.max_disrupted = 1;
    ok(known.upsert_gang("picky", picky));
    run(known, "newer", "picky", vertex_index{0}, 2, "n0", 2);
    run(known, "older", "picky", vertex_index{0}, 8, "n1", 1);
    ok(known.upsert_gang("whole", gang_of(2, "low")));
    run(known, "whole-0", "whole", vertex_index{0}, 4, "n2");
    run(known, "whole-1", "whole", vertex_index{0}, 4, "n2");
    ok(known.upsert_gang("other", gang_of(1, "high")));
    run(known, "other-0", "other", vertex_index{0}, 6, "n0");
    add_gang(known, "new", 1, 8, "high");
    CHECK(evicted(known, in_order) == keys{"older"});
}

/// A gang "below" that lacks members, and "halves" of pods on n0, of which only some may go.
void add_gang_below(cluster& known, int halves) {
    auto below = gang_of(9, "low");
    below.created = 9;
    ok(known.upsert_gang("below", below));
    run(known, "below-0", "below", vertex_index{0}, 8, "n1");
    gang_tree tree;
    tree.require_subgroups(vertex_index{0}, 1);
    const auto one = tree.add(vertex_index{0}, 1, "one");
    const auto rest = tree.add(vertex_index{0}, halves, "rest");
    auto gang = gang_of(tree, "low");
    gang.max_disrupted = halves;
    ok(known.upsert_gang("halves", gang));
    run(known, "one", "halves", one, 1, "n0", 99);
    for (int at = 0; at < halves; ++at)
        run(known, "rest-" + std::to_string(10 + at), "halves", rest, 1, "n0", at);
}

TEST_CASE("a gang below its minima stays if its room is not needed") {
    for (const int halves : {7, 15}) {
        cluster known = machines(2);
        ok(known.upsert_node("n0", machine(halves + 1)));
        add_gang_below(known, halves);
        add_gang(known, "new", 1, halves, "high");
        const keys gone = evicted(known, in_order);
        CHECK(gone.size() == static_cast<std::size_t>(halves));
        CHECK(node_of(known, "below-0") == "n1");
        CHECK(std::ranges::find(gone, "below-0") == gone.end());
    }
}

TEST_CASE("one surplus pod is evicted rather than one beside a gang below its minima") {
    cluster known = machines(2);
    ok(known.upsert_node("n0", machine(5)));
    ok(known.upsert_node("n1", machine(5)));
    auto surplus = gang_of(1, "low");
    surplus.max_disrupted = 1;
    ok(known.upsert_gang("surplus", surplus));
    run(known, "newest", "surplus", vertex_index{0}, 1, "n0", 3);
    run(known, "newer", "surplus", vertex_index{0}, 3, "n1", 1);
    run(known, "oldest", "surplus", vertex_index{0}, 2, "n0", 0);
    auto below = gang_of(2, "low");
    below.created = 9;
    ok(known.upsert_gang("below", below));
    run(known, "below-0", "below", vertex_index{0}, 2, "n1");
    add_gang(known, "new", 1, 4, "high");
    CHECK(evicted(known, in_order) == keys{"oldest"});
}

TEST_CASE("any member beyond the minimum may be evicted, even the oldest") {
    cluster known = machines(3);
    ok(known.upsert_node("n2", machine(4)));
    ok(known.upsert_gang("old", gang_of(12, "low")));
    for (int at = 0; at < 16; ++at)
        run(known, "old-" + std::to_string(10 + at), "old", vertex_index{0}, at < 4 ? 2 : 1,
            at < 4    ? "n0"
            : at < 12 ? "n1"
                      : "n2",
            at);
    add_gang(known, "new", 1, 8, "high");
    SUBCASE("of two nodes the one with surplus enough") {
        CHECK(evicted(known, in_order) == keys{"old-10", "old-11", "old-12", "old-13"});
    }
    SUBCASE("and no other gang is broken for that") {
        ok(known.upsert_gang("newest", gang_of(1, "low")));
        ok(known.upsert_node("n3", machine(8)));
        run(known, "newest-0", "newest", vertex_index{0}, 8, "n3", 99);
        auto gang = gang_of(1, "low");
        gang.created = 99;
        ok(known.upsert_gang("newest", gang));
        CHECK(evicted(known, in_order) == keys{"old-10", "old-11", "old-12", "old-13"});
    }
}

TEST_CASE("a gang that may lose only surplus loses the pods that make room") {
    cluster known = machines(2);
    ok(known.upsert_node("n0", machine(4)));
    ok(known.upsert_gang("old", gang_of(1, "low")));
    run(known, "newer", "old", vertex_index{0}, 4, "n0", 2);
    run(known, "older", "old", vertex_index{0}, 8, "n1", 1);
    const auto started = [&](const std::string& key) {
        auto spec = known.spec_of(known.find_pod(key)->index);
        spec.started = 0;
        ok(known.upsert_pod(key, "old", spec, node_of(known, key)));
    };
    started("newer");
    started("older");
    ok(known.upsert_gang("new", gang_of(2, "high")));
    ok(known.upsert_pod("new-0", "new", asking(6)));
    ok(known.upsert_pod("new-1", "new", asking(2)));
    CHECK(evicted(known, evicting(newest_first<after_min_runtime<t9k_preemption>>{{{}, 100}})) ==
          keys{"older"});
}

// ---- small clusters ----------------------------------------------------------------------------

/// Up to three nodes, up to eight running pods in a few gangs with nested subgroups and minima at
/// any vertex, and a gang "new" that waits.
world nested(std::uint64_t seed) {
    testing::random draw(seed);
    world made;
    made.seed = seed;
    std::vector<std::int64_t> left = add_random_nodes(made, draw, 2);
    for (int at = 0; at < 2; ++at) {
        queue<world_width> spec;
        spec.priority = at;
        made.queues.push_back({"q" + std::to_string(at), spec, {}});
    }
    const bool levels = draw.percent(30);
    for (int at = 0; at < 3 && made.pods.size() < 6; ++at) {
        gang<std::string> spec;
        spec.queue = "q0";
        spec.priority = levels ? draw.between(0, 1) : 0;
        spec.created = draw.between(0, 2);
        if (draw.percent(10))
            spec.max_disrupted = draw.between(1, 3);
        std::vector<vertex_index> inner{vertex_index{0}};
        std::vector<vertex_index> leaves;
        if (draw.percent(50))
            inner.push_back(spec.tree.add(vertex_index{0}, draw.between(0, 1)));
        for (std::size_t count = 0; count < 2 + draw.below(2); ++count)
            leaves.push_back(spec.tree.add(
                inner.size() > 1 && count == 0 ? inner[1] : inner[draw.below(inner.size())],
                draw.between(0, 2)));
        for (const vertex_index each : inner)
            if (draw.percent(70))
                spec.tree.require_subgroups(
                    each, draw.between(0, static_cast<std::int64_t>(spec.tree[each].children)));
        if (draw.percent(30))
            spec.tree.require_members(vertex_index{0}, draw.between(1, 3));
        else if (reaches_minima(spec.tree, std::vector<std::int64_t>(spec.tree.size(), 0)))
            spec.tree.require_members(vertex_index{0}, 1);
        const std::string key = "g" + std::to_string(at);
        for (std::size_t count = 0; count < 2 + draw.below(3); ++count) {
            pod<world_width> one;
            one.role = leaves[draw.below(leaves.size())];
            one.created = draw.between(0, 3);
            one.phase = pod_phase::running;
            one.request[cpu] = draw.between(1, 3);
            one.request[made.pods_kind()] = 1;
            if (const auto node = take(left, draw, one.request[cpu]))
                made.pods.push_back({key + "-" + std::to_string(count), key, one, node});
        }
        made.gangs.push_back({key, spec});
    }
    gang<std::string> spec;
    spec.queue = "q1";
    const std::size_t pods = 1 + draw.below(2);
    spec.tree = gang_tree(static_cast<std::int64_t>(pods));
    for (std::size_t at = 0; at < pods; ++at) {
        pod<world_width> one;
        one.request[cpu] = draw.between(1, 4);
        one.request[made.pods_kind()] = 1;
        made.pods.push_back({"new-" + std::to_string(at), "new", one, {}});
    }
    made.gangs.push_back({"new", spec});
    return made;
}

std::size_t evicting_worlds = 0;

/// True if the gang fits once these pods are gone.
bool fits(const world_state& without) {
    return brute_force<world_traits>(without, without.find_gang("new")->index).fits();
}

std::string check_nested(const world& from) {
    world_state known = to_state(from);
    const auto found = known.find_gang("new");
    if (!found || known[found->index].members.empty())
        return {};
    const gang_index which = found->index;
    const world_state before = known;
    const bool ordered = (from.seed >> 7U & 3U) != 0;
    const cycle_result result = ordered ? cycle(known, 0, in_order) : cycle(known, 0, fewest);
    if (const std::string fault = check_placements(before, result); !fault.empty())
        return "placements: " + fault;
    const auto gone = least_victims::evicted_for(result, which);
    if (!gone)
        return "order: somebody else evicts";
    if (known[which].last.kind == answer::admitted && gone->empty())
        return {};
    const auto level = [&](gang_index of) {
        return std::pair(std::int64_t{0}, before[of].spec.priority);
    };
    const auto least = least_victims::of_all(
        before, which, [](gang_index) { return true; }, level,
        [](const std::vector<pod_index>&) { return true; }, fits);
    if (!least || !ordered)
        return least_victims::difference(before, *gone, least);
    if (gone->empty())
        return least_victims::difference(before, *gone, least);
    ++evicting_worlds;
    const auto broken = least_victims::broken_by(before, *gone);
    if (!broken)
        return "minima: a gang that stays falls below them";
    if (const auto part = least_victims::part_of(before, *gone, false, fits))
        return "not least: " + least_victims::difference(before, *gone, part);
    std::vector<pod_index> all;
    bool one_level = true;
    for (const auto& [key, pod] : before.pod_keys())
        if (before[pod].gang != which) {
            all.push_back(pod);
            one_level = one_level && level(before[pod].gang) == level(before[all[0]].gang);
        }
    if (one_level && *broken > 0)
        if (const auto surplus = least_victims::part_of(before, all, true, fits))
            return "surplus: a gang is broken; " +
                   least_victims::difference(before, *gone, surplus);
    return {};
}

TEST_CASE("with minima at any vertex no victim is needless, and no gang is broken for want of "
          "asking its surplus") {
    CHECK(count_faults("evictions of subgroups", 3000, nested, check_nested) == 0);
    std::printf("evictions of subgroups: in %zu worlds\n", evicting_worlds);
    CHECK(evicting_worlds > 100);
}

} // namespace

} // namespace preempt_eviction_subgroups_test
