// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <muster/builders.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain.hpp>
#include <muster/testing/check_placements.hpp>
#include <muster/testing/verifier.hpp>
#include <support/brute_force.hpp>
#include <support/cases.hpp>
#include <support/pod_rules.hpp>
#include <support/pod_worlds.hpp>

namespace greedy_affinity_place_test {

namespace {

using namespace muster;
using namespace muster::testing;

struct tally {
    std::size_t gangs = 0;
    std::size_t borne_on = 0;
    std::size_t fitting = 0;
    std::size_t undecided = 0;
    std::size_t missed = 0;
    /// Refused by what terms come to on each node, and of these for good.
    std::size_t capped = 0;
    std::size_t never = 0;
};

/// Every answer of one cycle, each against the state as it stood when it was made.
std::string check_answers(const world& from, tally& counts) {
    world_state known = to_state(from);
    const cycle_result result = preview(known, 0, policy<>{}, {}, {true});
    const auto proven = [&](const decision& made) {
        return made.outcome.proof &&
               verify(known, made.gang, *made.outcome.proof) == proof_check::valid;
    };
    world_state after = to_state(from);
    static_cast<void>(cycle(after, 0));
    for (const auto& [key, gang] : after.gang_keys()) {
        const std::vector<reason> why = explain(after, gang);
        if (after[gang].last.kind != answer::admitted && why.empty())
            return "no reason why it waits: " + key;
        if (!why.empty() && why.front().code == reason_code::fits_by_now &&
            !pod_brute_force<world_traits>(after, gang).fits())
            return "does not fit by now: " + key;
    }
    // Kept out by those that start after it was asked, and undecided until then.
    std::vector<const decision*> closed_out;
    for (const decision& made : result.decisions) {
        const std::string who = known.key(made.gang) + ": ";
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
            if (pod_brute_force<world_traits>(known, made.gang, certificate_scope::empty_cluster)
                    .fits())
                return "never though the emptied cluster could hold it: " + who;
            [[fallthrough]];
        case answer::waiting:
            if (bears && at == gate::quota && !proven(made)) {
                closed_out.push_back(&made);
                break;
            }
            if (fits)
                return "refused though it fits: " + who;
            if (!proven(made))
                return "a refusal without a proof that holds: " + who;
            if (bears && made.outcome.could_start)
                return "could start, though that was not shown: " + who;
            if (made.outcome.proof->caps.empty())
                break;
            ++counts.capped;
            counts.never += made.outcome.kind == answer::never ? 1U : 0U;
        }
        observe_bound(known, made);
    }
    for (const decision* made : closed_out)
        if (!proven(*made))
            return "closed out without a proof that holds: " + known.key(made->gang);
    return {};
}

} // namespace

TEST_CASE("a role is placed after the one whose members it seeks") {
    using namespace builders;
    cluster known;
    for (const char* node : {"a0", "b0"}) {
        auto spec = machine(4);
        spec.labels = {{"zone", std::string(1, node[0])}};
        ok(known.upsert_node(node, spec));
    }
    gang_tree tree;
    const auto follower = tree.add(vertex_index{0}, 2);
    const auto leader = tree.add(vertex_index{0}, 1);
    ok(known.upsert_gang("g", gang_of(tree)));
    auto seeks = in_role(follower, asking(1));
    seeks.where.pods.emplace();
    seeks.where.pods->affinity.push_back({{label_is("app", "leader"), {}}, "zone"});
    ok(known.upsert_pod("f-0", "g", seeks));
    ok(known.upsert_pod("f-1", "g", seeks));
    auto leads = in_role(leader, asking(3));
    leads.labels = {{"app", "leader"}};
    SUBCASE("in whichever domain holds both") {
        // The leader's own best node leaves too little beside it: all must go elsewhere.
        auto roomy = machine(6);
        roomy.labels = {{"zone", "b"}};
        ok(known.upsert_node("b0", roomy));
    }
    SUBCASE("on several nodes of it") {
        auto more = machine(1);
        more.labels = {{"zone", "b"}};
        ok(known.upsert_node("b1", more));
    }
    ok(known.upsert_pod("l-0", "g", leads));
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::admitted));
    for (const char* pod : {"f-0", "f-1", "l-0"})
        CHECK(node_of(known, pod).substr(0, 1) == "b");
}

TEST_CASE("members that keep apart go to a node each, and none is placed when one is left over") {
    using namespace builders;
    cluster known;
    const auto add_host = [&](const std::string& name) {
        auto spec = machine(9);
        spec.labels = {{"host", name}};
        ok(known.upsert_node(name, spec));
    };
    add_host("a");
    add_host("b");
    ok(known.upsert_gang("g", gang_of(3)));
    auto spec = asking(1);
    spec.labels = {{"app", "web"}};
    spec.where.pods.emplace();
    spec.where.pods->anti_affinity.push_back({{label_is("app", "web"), {}}, "host"});
    add_members(known, "g", 4, spec);
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::never, gate::space));
    CHECK(free_cpu(known, "a") == 9);
    add_host("c");
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::admitted));
    CHECK(free_cpu(known, "a") == 8);
    CHECK(free_cpu(known, "b") == 8);
    CHECK(free_cpu(known, "c") == 8);
    // The surplus member comes when there is a node for it.
    add_host("d");
    static_cast<void>(cycle(known, 0));
    CHECK(free_cpu(known, "d") == 8);
}

TEST_CASE("members with terms are charged as firmly as their gang is") {
    using namespace builders;
    cluster known;
    for (const char* name : {"a", "b"}) {
        auto spec = machine(9);
        spec.labels = {{"host", name}};
        ok(known.upsert_node(name, spec));
    }
    cluster::queue_type queue;
    queue.non_preemptible_quota.set(cpu, 1);
    ok(known.upsert_queue("q", queue));
    auto group = gang_of(1, "q");
    SUBCASE("who may not be preempted keeps to what the queue may hold firmly") {
        group.preemptible = false;
    }
    SUBCASE("who may be takes more") {}
    ok(known.upsert_gang("g", group));
    auto spec = asking(1);
    spec.labels = {{"app", "web"}};
    spec.where.pods.emplace();
    spec.where.pods->anti_affinity.push_back({{label_is("app", "web"), {}}, "host"});
    add_members(known, "g", 2, spec);
    const cycle_result result = cycle(known, 0);
    CHECK(is(answered(known, "g"), answer::admitted));
    CHECK(result.counters.pods_placed == (group.preemptible ? 2U : 1U));
}

TEST_CASE("what would not fit without any terms is refused with the proof of that") {
    using namespace builders;
    cluster known;
    ok(known.upsert_node("a", machine(2)));
    ok(known.upsert_gang("g", gang_of(3)));
    auto spec = asking(1);
    spec.where.pods.emplace();
    spec.where.pods->anti_affinity.push_back({{label_is("app", "web"), {}}, "host"});
    add_members(known, "g", 3, spec);
    const cycle_result result = cycle(known, 0);
    CHECK(is(answered(known, "g"), answer::never, gate::space));
    CHECK(result.decisions.front().outcome.proof.has_value());
}

TEST_CASE("a gang that others let come by starting after its turn is told that it fits by now") {
    using namespace builders;
    cluster known;
    for (const char* host : {"a", "b"}) {
        auto spec = machine(9);
        spec.labels = {{"host", host}, {"zone", host}};
        ok(known.upsert_node(host, spec));
    }
    auto spread = asking(1);
    spread.labels = {{"app", "web"}};
    spread.where.selector = label_is("zone", "a");
    spread.where.pods.emplace();
    spread_term term{{label_is("app", "web"), {}}, "host"};
    term.honor_affinity = false;
    spread.where.pods->spread.push_back(term);
    ok(known.upsert_gang("g", gang_of(2)));
    add_members(known, "g", 2, spread);
    auto other = asking(1);
    other.labels = {{"app", "web"}};
    other.where.selector = label_is("zone", "b");
    ok(known.upsert_gang("other", gang_of(1)));
    ok(known.upsert_pod("other", "other", other));

    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "other"), answer::admitted));
    CHECK(is(answered(known, "g"), answer::waiting, gate::space));
    const auto why = explain(known, gang_at(known, "g"));
    REQUIRE(why.size() == 1);
    CHECK(why.front().code == reason_code::fits_by_now);

    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::admitted));
    CHECK(explain(known, gang_at(known, "g")).empty());
}

TEST_CASE("those who keep a member off are told where it takes another's room elsewhere") {
    using namespace builders;
    cluster known;
    for (const char* host : {"a", "b"}) {
        auto spec = machine(2);
        spec.labels = {{"host", host}};
        ok(known.upsert_node(host, spec));
    }
    auto alone = asking(0);
    alone.where.pods.emplace();
    alone.where.pods->anti_affinity.push_back({{label_is("app", "web"), {}}, "host"});
    ok(known.upsert_gang("alone", gang_of(1)));
    ok(known.upsert_pod("alone", "alone", in_phase(pod_phase::running, alone), "b"));
    gang_tree tree;
    const auto kept_off = tree.add(vertex_index{0}, 1);
    const auto bound = tree.add(vertex_index{0}, 1);
    ok(known.upsert_gang("g", gang_of(tree)));
    auto web = in_role(kept_off, asking(1));
    web.labels = {{"app", "web"}};
    ok(known.upsert_pod("g-0", "g", web));
    auto large = in_role(bound, asking(2));
    large.where.selector = label_is("host", "a");
    ok(known.upsert_pod("g-1", "g", large));

    static_cast<void>(cycle(known, 0));
    CHECK_FALSE(is(answered(known, "g"), answer::admitted));
    const auto why = explain(known, gang_at(known, "g"));
    REQUIRE_FALSE(why.empty());
    CHECK(why.front().code == reason_code::kept_off_by_others);
    CHECK(why.front().topology == "host");
}

TEST_CASE("terms that keep a gang off room which it lacks contribute, and no others do") {
    using namespace builders;
    cluster known;
    for (const char* host : {"a", "b", "full"}) {
        auto spec = machine(std::string(host) == "b" ? 3 : 1);
        spec.labels = {{"host", host}};
        ok(known.upsert_node(host, spec));
    }
    const auto repels = [](std::int64_t cpus) {
        auto made = asking(cpus);
        made.where.pods.emplace();
        made.where.pods->anti_affinity.push_back({{label_is("app", "web"), {}}, "host"});
        return made;
    };
    ok(known.upsert_gang("alone", gang_of(1)));
    ok(known.upsert_pod("alone", "alone", in_phase(pod_phase::running, repels(0)), "b"));
    ok(known.upsert_gang("fills", gang_of(1)));
    ok(known.upsert_pod("fills", "fills", in_phase(pod_phase::running, repels(1)), "full"));
    auto web = asking(1);
    web.labels = {{"app", "web"}};
    ok(known.upsert_gang("five", gang_of(5)));
    add_members(known, "five", 5, web);

    static_cast<void>(cycle(known, 0));
    const auto why = explain(known, gang_at(known, "five"), {.scope = certificate_scope::free_now});
    REQUIRE(why.size() == 2);
    CHECK(why[0].code == reason_code::insufficient_resource);
    CHECK(why[0].kind == reason_kind::blocking);
    CHECK(why[1].code == reason_code::kept_off_by_others);
    CHECK(why[1].kind == reason_kind::contributing);
    CHECK(why[1].topology == "host");
    CHECK(why[1].nodes == 1); // the full one it keeps off from nothing
    REQUIRE(why[1].roles.size() == 1);
    CHECK(why[1].roles.front().needed == 5);
    CHECK(why[1].roles.front().possible == 1);
    // Once the one is gone there is nothing but too little room.
    ok(known.remove_pod("alone"));
    const auto left =
        explain(known, gang_at(known, "five"), {.scope = certificate_scope::free_now});
    REQUIRE(left.size() == 1);
    CHECK(left[0].code == reason_code::insufficient_resource);
}

TEST_CASE("gangs among pods with terms are placed by the rules, and refused only when none fits") {
    tally counts;
    CHECK(count_faults("terms between pods", 3'000, pod_world,
                       [&](const world& from) { return check_answers(from, counts); }) == 0);
    std::printf("terms between pods: %zu gangs, terms bear on %zu, of which %zu fit; %zu refused "
                "by what terms come to on each node, %zu of them for good; %zu undecided, %zu of "
                "them fit\n",
                counts.gangs, counts.borne_on, counts.fitting, counts.capped, counts.never,
                counts.undecided, counts.missed);
    CHECK(counts.borne_on * 2 > counts.gangs);
    CHECK(counts.fitting * 10 > counts.borne_on * 2);
    CHECK(counts.missed * 100 <= counts.fitting);
}

} // namespace greedy_affinity_place_test
