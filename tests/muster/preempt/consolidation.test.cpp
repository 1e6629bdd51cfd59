// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"

namespace preempt_consolidation_test {

namespace {

using namespace builders;
using namespace muster;

template<class Rule = move_preemptible>
auto moving(Rule rule = {}) {
    return policy{best_fit{},        priority_then_age{}, priority_then_share{}, no_reservations{},
                  surplus_at_once{}, most_packed{},       no_eviction{},         rule};
}

/// Who moves where, as "pod>node", in the order of keys.
std::vector<std::string> moves_of(const cluster& in, const cycle_result& result) {
    std::vector<std::string> made;
    for (const decision& each : result.decisions) {
        CHECK(each.evictions.size() == each.moves.size());
        for (std::size_t at = 0; at < each.moves.size(); ++at) {
            CHECK(each.evictions[at] == each.moves[at].pod);
            made.push_back(in.key(each.moves[at].pod) + ">" + in.key(each.moves[at].node));
        }
    }
    std::sort(made.begin(), made.end());
    return made;
}

using names = std::vector<std::string>;

/// Two nodes of 8 with one of 3 on each, and a gang of one that asks for 8.
cluster scattered() {
    cluster known;
    for (const char* node : {"a", "b"})
        ok(known.upsert_node(node, machine(8)));
    add_running(known, "left", 3, "a");
    add_running(known, "right", 3, "b");
    add_gang(known, "new", 1, 8);
    return known;
}

TEST_CASE("nobody is moved unless the policy says so") {
    cluster known = scattered();
    const cycle_result result = cycle(known, 1);
    CHECK(result.counters.pods_moved == 0);
    CHECK(is(answered(known, "new"), answer::waiting, gate::space));
}

TEST_CASE("a pod moves to another node so that a gang fits, and both stand in the end") {
    cluster known = scattered();
    cycle_result result = cycle(known, 1, moving());
    // Of equals the newest goes, which for equal times is the first by key.
    CHECK(moves_of(known, result) == names{"left-0>b"});
    CHECK(result.counters.pods_moved == 1);
    CHECK(result.counters.pods_evicted == 1);
    CHECK(result.counters.pods_nominated == 1);
    CHECK(node_of(known, "new-0") == "a");
    CHECK(answered(known, "new").kind == answer::admitted);

    SUBCASE("cycles on an unchanged cluster move nothing more") {
        const auto accounts = known.accounts();
        for (int now = 2; now < 5; ++now) {
            result = cycle(known, now, moving());
            CHECK(result.counters.pods_moved == 0);
            CHECK(result.counters.pods_placed == 0);
        }
        CHECK(known.accounts() == accounts);
    }
    ok(known.remove_pod("left-0"));
    ok(known.upsert_pod("left-1", "left", asking(3)));
    result = cycle(known, 6, moving());
    CHECK(result.counters.pods_placed == 2);
    CHECK(node_of(known, "left-1") == "b");
    CHECK(known[known.find_pod("left-1")->index].assumed);
    CHECK(known[known.find_pod("new-0")->index].assumed);
    CHECK(known.migrations() == 0);
    CHECK(free_cpu(known, "a") == 0);
    CHECK(free_cpu(known, "b") == 2);
}

TEST_CASE("a pod that is tied to its node by its volumes stays") {
    for (const char* tied : {"left", "right"}) {
        cluster known = scattered();
        cluster::pod_type stays = asking(3);
        stays.where.tied_to_node = true;
        stays.phase = pod_phase::running;
        const bool is_left = tied == std::string("left");
        ok(known.upsert_pod(tied + std::string("-0"), tied, stays, is_left ? "a" : "b"));
        const cycle_result result = cycle(known, 1, moving());
        CHECK(moves_of(known, result) == names{is_left ? "right-0>a" : "left-0>b"});
    }
}

TEST_CASE("nobody else gets the place of a pod that moves") {
    cluster known = scattered();
    static_cast<void>(cycle(known, 1, moving()));
    ok(known.remove_pod("left-0"));
    add_gang(known, "thief", 1, 3);
    static_cast<void>(cycle(known, 2, moving()));
    CHECK(is(answered(known, "thief"), answer::waiting, gate::space));
    ok(known.upsert_pod("left-1", "left", asking(3)));
    static_cast<void>(cycle(known, 3, moving()));
    CHECK(node_of(known, "left-1") == "b");
}

TEST_CASE("the fewest move: one of two rather than two of one") {
    cluster known;
    for (const char* node : {"a", "b", "c"})
        ok(known.upsert_node(node, machine(8)));
    add_running(known, "small", 2, "a");
    add_running(known, "other", 2, "a");
    add_running(known, "large", 4, "b");
    add_running(known, "rest", 4, "c");
    add_gang(known, "new", 1, 8);
    const cycle_result result = cycle(known, 1, moving());
    CHECK(moves_of(known, result) == names{"large-0>a"});
}

TEST_CASE("pods change places where there is no other way") {
    cluster known;
    ok(known.upsert_node("a", machine(10)));
    ok(known.upsert_node("b", machine(6)));
    add_running(known, "x", 5, "a");
    add_running(known, "y", 3, "b");
    cluster::pod_type apart = asking(7);
    apart.where.selector = label_is("is", "a");
    cluster::node_type first = machine(10);
    first.labels = {{"is", "a"}};
    ok(known.upsert_node("a", first));
    ok(known.upsert_gang("new", gang_of(1)));
    ok(known.upsert_pod("new-0", "new", apart));
    const cycle_result result = cycle(known, 1, moving());
    CHECK(moves_of(known, result) == names{"x-0>b", "y-0>a"});
    CHECK(node_of(known, "new-0") == "a");
}

TEST_CASE("nobody moves when the gang would not start all the same") {
    cluster known;
    for (const char* node : {"a", "b"})
        ok(known.upsert_node(node, machine(8)));
    SUBCASE("too little is free in all") {
        add_running(known, "left", 5, "a");
        add_running(known, "right", 4, "b");
        add_gang(known, "new", 1, 8);
    }
    SUBCASE("those who would move find no place") {
        add_running(known, "left", 5, "a");
        add_running(known, "right", 5, "b");
        add_gang(known, "new", 2, 3);
        ok(known.upsert_pod("new-0", "new", asking(4)));
    }
    SUBCASE("they may not be evicted") {
        for (const char* each : {"left", "right"}) {
            auto non_preemptible = gang_of(1);
            non_preemptible.preemptible = false;
            ok(known.upsert_gang(each, non_preemptible));
        }
        ok(known.upsert_pod("left-0", "left", in_phase(pod_phase::running, asking(3)), "a"));
        ok(known.upsert_pod("right-0", "right", in_phase(pod_phase::running, asking(3)), "b"));
        add_gang(known, "new", 1, 8);
    }
    SUBCASE("its queue has no quota left") {
        ok(known.upsert_queue("q", quota_of(7)));
        add_running(known, "left", 3, "a");
        add_running(known, "right", 3, "b");
        add_gang(known, "new", 1, 8, "q");
    }
    SUBCASE("their queue has more than its quota, so that they could not come back") {
        ok(known.upsert_queue("q", quota_of(5)));
        add_running(known, "left", 3, "a", "q");
        add_running(known, "right", 3, "b", "q");
        add_gang(known, "new", 1, 8);
    }
    SUBCASE("their gangs are below their minima, so that they could not come back") {
        for (const auto& [gang, node] :
             {std::pair<std::string, std::string>{"left", "a"}, {"right", "b"}}) {
            ok(known.upsert_gang(gang, gang_of(2)));
            ok(known.upsert_pod(gang + "-0", gang, in_phase(pod_phase::running, asking(3)), node));
        }
        add_gang(known, "new", 1, 8);
    }
    SUBCASE("too many of a gang would be on the move at a time") {
        auto careful = gang_of(1);
        careful.max_disrupted = 0;
        ok(known.upsert_gang("left", careful));
        ok(known.upsert_gang("right", careful));
        ok(known.upsert_pod("left-0", "left", in_phase(pod_phase::running, asking(3)), "a"));
        ok(known.upsert_pod("right-0", "right", in_phase(pod_phase::running, asking(3)), "b"));
        add_gang(known, "new", 1, 8);
    }
    SUBCASE("they may stand nowhere else") {
        for (const char* node : {"a", "b"}) {
            cluster::node_type labelled = machine(8);
            labelled.labels = {{"is", node}};
            ok(known.upsert_node(node, labelled));
        }
        ok(known.upsert_gang("left", gang_of(1)));
        ok(known.upsert_gang("right", gang_of(1)));
        cluster::pod_type tied = in_phase(pod_phase::running, asking(3));
        tied.where.selector = label_is("is", "a");
        ok(known.upsert_pod("left-0", "left", tied, "a"));
        tied.where.selector = label_is("is", "b");
        ok(known.upsert_pod("right-0", "right", tied, "b"));
        add_gang(known, "new", 1, 8);
    }
    const auto accounts = known.accounts();
    const cycle_result result = cycle(known, 1, moving());
    CHECK(result.counters.pods_moved == 0);
    CHECK(result.counters.pods_evicted == 0);
    CHECK(known.accounts() == accounts);
    CHECK(answered(known, "new").kind != answer::admitted);
}

TEST_CASE("a gang moves within what its queue has, even where that is used up") {
    cluster known;
    for (const char* node : {"a", "b"})
        ok(known.upsert_node(node, machine(8)));
    ok(known.upsert_queue("q", quota_of(6)));
    ok(known.upsert_queue("p", quota_of(8)));
    add_running(known, "left", 3, "a", "q");
    add_running(known, "right", 3, "b", "q");
    add_gang(known, "new", 1, 8, "p");
    CHECK(cycle(known, 1, moving()).counters.pods_moved == 1);
    CHECK(used_cpu(known, "q") == 6);
    CHECK(used_cpu(known, "p") == 8);
}

TEST_CASE("of a gang that has just started only members beyond its minima move, until it has run") {
    cluster known;
    for (const char* node : {"a", "b"})
        ok(known.upsert_node(node, machine(8)));
    for (const auto& [gang, node] :
         {std::pair<std::string, std::string>{"left", "a"}, {"right", "b"}}) {
        ok(known.upsert_gang(gang, gang_of(1)));
        cluster::pod_type young = in_phase(pod_phase::running, asking(3));
        young.started = 0;
        ok(known.upsert_pod(gang + "-0", gang, young, node));
    }
    add_gang(known, "new", 1, 8);
    const auto how = moving(move_preemptible{10, {}});
    CHECK(cycle(known, 5, how).counters.pods_moved == 0);
    CHECK(cycle(known, 9, how).counters.pods_moved == 0);
    CHECK(cycle(known, 10, how).counters.pods_moved == 1);
}

TEST_CASE("for a gang with terms between pods others move where these then let it start") {
    cluster known;
    for (const auto& [name, zone] :
         {std::pair("a", "x"), std::pair("b", "x"), std::pair("c", "y")}) {
        auto spec = machine(8);
        spec.labels = {{"zone", zone}};
        ok(known.upsert_node(name, spec));
    }
    const auto labelled = [](cluster::pod_type made) {
        made.labels = {{"app", "p"}};
        return made;
    };
    for (const auto& [name, node] : {std::pair("left", "a"), std::pair("right", "b")}) {
        ok(known.upsert_gang(name, gang_of(1)));
        ok(known.upsert_pod(std::string(name) + "-0", name,
                            labelled(in_phase(pod_phase::running, asking(3))), node));
    }
    add_running(known, "full", 8, "c");
    ok(known.upsert_gang("new", gang_of(1)));
    auto asks = asking(8);
    asks.where.pods.emplace();
    SUBCASE("it seeks whoever moves, and stays near") {
        asks.where.pods->affinity.push_back({{label_is("app", "p"), {}}, "zone"});
        ok(known.upsert_pod("new-0", "new", asks));
        const cycle_result result = cycle(known, 1, moving());
        CHECK(moves_of(known, result) == names{"left-0>b"});
        CHECK(node_of(known, "new-0") == "a");
        ok(known.remove_pod("left-0"));
        ok(known.upsert_pod("left-0", "left", labelled(asking(3))));
        static_cast<void>(cycle(known, 2, moving()));
        static_cast<void>(cycle(known, 3, moving()));
        CHECK(node_of(known, "left-0") == "b");
        CHECK(known[gang_at(known, "new")].nominated == 0);
        CHECK(node_of(known, "new-0") == "a");
    }
    SUBCASE("it does not come before the one that it seeks has come to its place") {
        asks.where.pods->affinity.push_back({{label_is("app", "p"), {}}, "zone"});
        ok(known.upsert_pod("new-0", "new", asks));
        // Nobody but the one that moves is sought.
        ok(known.upsert_pod("right-0", "right", in_phase(pod_phase::running, asking(3)), "b"));
        CHECK(moves_of(known, cycle(known, 1, moving())) == names{"left-0>b"});
        ok(known.remove_pod("left-0"));
        for (std::int64_t now = 2; now < 5; ++now) {
            CHECK(cycle(known, now, moving()).counters.pods_placed == 0);
            CHECK(known[gang_at(known, "new")].nominated == 1);
        }
        // Another gang that seeks it is to come too, and nobody moves for that.
        auto small = asks;
        small.request = units(1);
        ok(known.upsert_gang("late", gang_of(1)));
        ok(known.upsert_pod("late-0", "late", small));
        CHECK(cycle(known, 5, moving()).counters.pods_moved == 0);
        CHECK(known[gang_at(known, "late")].nominated == 1);
        ok(known.upsert_pod("left-0", "left", labelled(asking(3))));
        static_cast<void>(cycle(known, 6, moving()));
        static_cast<void>(cycle(known, 7, moving()));
        CHECK(node_of(known, "left-0") == "b");
        CHECK(known[gang_at(known, "new")].nominated == 0);
        CHECK(known[gang_at(known, "late")].nominated == 0);
        CHECK(is(answered(known, "new"), answer::admitted));
        CHECK(is(answered(known, "late"), answer::admitted));
        CHECK(cycle(known, 8, moving()).counters.asked == 0);
    }
    SUBCASE("it keeps apart from them, so that others make room for it in another zone") {
        asks.where.pods->anti_affinity.push_back({{label_is("app", "p"), {}}, "zone"});
        ok(known.upsert_pod("new-0", "new", asks));
        const cycle_result result = cycle(known, 1, moving());
        CHECK(moves_of(known, result) == names{"full-0>a", "left-0>b"});
        CHECK(node_of(known, "new-0") == "c");
    }
    SUBCASE("nobody moves where that does not help it") {
        auto non_preemptible = gang_of(1);
        non_preemptible.preemptible = false;
        ok(known.upsert_gang("full", non_preemptible));
        asks.where.pods->anti_affinity.push_back({{label_is("app", "p"), {}}, "zone"});
        asks.where.selector.requirements.push_back({"zone", label_operator::in, {"x"}});
        ok(known.upsert_pod("new-0", "new", asks));
        CHECK(cycle(known, 1, moving()).counters.pods_moved == 0);
    }
}

TEST_CASE("a place is kept for as long as the policy says") {
    cluster known = scattered();
    const auto how = moving(move_preemptible{0, 10});
    static_cast<void>(cycle(known, 1, how));
    ok(known.remove_pod("left-0"));
    static_cast<void>(cycle(known, 10, how));
    CHECK(known.migrations() == 1);
    static_cast<void>(cycle(known, 11, how));
    CHECK(known.migrations() == 0);
    CHECK(free_cpu(known, "b") == 5);
}

TEST_CASE("members that are to stand together move within their domain") {
    cluster known;
    const topology network{{"rack"}};
    for (const auto& [node, rack] :
         {std::pair<std::string, std::string>{"a", "one"}, {"b", "one"}, {"c", "two"}}) {
        cluster::node_type spec = machine(8);
        spec.labels = {{"rack", rack}, {"is", node}};
        ok(known.upsert_node(node, spec));
    }
    gang_tree tree = single_role(2);
    tree.constrain_topology(vertex_index{0}, {network, 0, {}});
    ok(known.upsert_gang("pair", gang_of(tree)));
    ok(known.upsert_pod("pair-0", "pair", in_phase(pod_phase::running, asking(2)), "a"));
    ok(known.upsert_pod("pair-1", "pair", in_phase(pod_phase::running, asking(2)), "b"));
    // It fills its node best of all, but in the other rack.
    add_running(known, "rest", 6, "c");
    cluster::pod_type whole = asking(8);
    whole.where.selector = label_is("is", "a");
    ok(known.upsert_gang("new", gang_of(1)));
    ok(known.upsert_pod("new-0", "new", whole));
    const cycle_result result = cycle(known, 1, moving());
    CHECK(moves_of(known, result) == names{"pair-0>b"});
}

TEST_CASE("where others move to does not bear on whom members of a gang are to stand with") {
    cluster known;
    const topology network{{"rack"}};
    for (const auto& [node, cpus, rack] :
         {std::tuple<std::string, std::int64_t, std::string>{"a", 3, "one"},
          {"b", 4, "one"},
          {"c", 1, "two"}}) {
        cluster::node_type spec = machine(cpus);
        spec.labels = {{"rack", rack}};
        ok(known.upsert_node(node, spec));
    }
    gang_tree of_many(0);
    vertex_index last{0};
    for (int role = 0; role < 40; ++role)
        last = of_many.add(vertex_index{0}, 0);
    ok(known.upsert_gang("many", gang_of(of_many)));
    ok(known.upsert_pod("many-0", "many", in_role(last, in_phase(pod_phase::running, asking(1))),
                        "b"));
    // In the order of their turns they do not fit, whoever moves: it takes the search.
    gang_tree tree(0);
    const auto small = tree.add(vertex_index{0}, 2);
    const auto large = tree.add(vertex_index{0}, 1);
    tree.constrain_topology(vertex_index{0}, {network, 0, {}});
    ok(known.upsert_gang("new", gang_of(tree)));
    add_members(known, "new", 2, in_role(small, asking(2)));
    ok(known.upsert_pod("new-large", "new", in_role(large, asking(3))));

    const cycle_result result = cycle(known, 1, moving());
    CHECK(moves_of(known, result) == names{"many-0>c"});
    CHECK(node_of(known, "new-large") == "a");
    CHECK(node_of(known, "new-0") == "b");
    CHECK(node_of(known, "new-1") == "b");
}

TEST_CASE("a pod whose eviction is refused keeps the gang from coming, and nobody moves in vain") {
    cluster known = scattered();
    static_cast<void>(cycle(known, 1, moving()));
    ok(known.keep("left-0"));
    const cycle_result result = cycle(known, 2, moving());
    CHECK(known[gang_at(known, "new")].nominated == 1);
    CHECK(moves_of(known, result).size() == 1);
}

TEST_CASE("many pods make room for a gang, each group where it takes no room that is needed") {
    cluster known;
    for (int at = 0; at < 12; ++at) {
        const std::string node = "n" + std::to_string(10 + at);
        ok(known.upsert_node(node, machine(8)));
        for (int pod = 0; pod < 1 + at % 2; ++pod)
            add_running(known, "g" + std::to_string(10 + at) + "-" + std::to_string(pod), 1, node);
    }
    // 18 pods of 1 leave room for nine of 8 at best.
    add_gang(known, "new", 9, 8);
    cycle_result result = cycle(known, 1, moving());
    CHECK(known[gang_at(known, "new")].nominated == 9);
    // Six nodes with one pod, three with two.
    CHECK(result.counters.pods_moved == 12);
    for (const decision& each : result.decisions)
        for (const auto& [pod, node] : each.moves) {
            const std::string key = known.key(pod);
            const std::string gang = known.key(known[pod].gang);
            ok(known.remove_pod(key));
            ok(known.upsert_pod(key + "-again", gang, asking(1)));
        }
    result = cycle(known, 2, moving());
    CHECK(result.counters.pods_placed == 21);
    CHECK(known[gang_at(known, "new")].nominated == 0);
}

TEST_CASE("whom the rules may evict is moved instead where that is enough") {
    cluster known = scattered();
    auto fresh = gang_of(1);
    fresh.priority = 5;
    ok(known.upsert_gang("new", fresh));
    const policy both{
        best_fit{},        priority_then_age{}, priority_then_share{}, no_reservations{},
        surplus_at_once{}, most_packed{},       priority_preemption{}, move_preemptible{}};
    SUBCASE("moved") {
        const cycle_result result = cycle(known, 1, both);
        CHECK(result.counters.pods_moved == 1);
        CHECK(result.counters.pods_evicted == 1);
    }
    SUBCASE("evicted, as moving is not enough") {
        add_running(known, "more", 5, "b");
        const cycle_result result = cycle(known, 1, both);
        CHECK(result.counters.pods_moved == 0);
        CHECK(result.counters.pods_evicted == 1);
    }
}

} // namespace

} // namespace preempt_consolidation_test
