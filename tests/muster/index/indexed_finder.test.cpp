// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <muster/index/flat_finder.hpp>
#include <muster/index/indexed_finder.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/placement.hpp>
#include <muster/testing/random.hpp>
#include <support/card_rule.hpp>
#include <support/environment.hpp>

#include "../builders.hpp"

namespace index_indexed_finder_test {

namespace {

using namespace builders;
using namespace muster;

constexpr std::int64_t everything = std::int64_t{1} << 40;
/// In the emptied cluster cordons and conditions do not count.
constexpr std::uint8_t emptied = node_filter_selector | node_filter_taint | node_filter_absent_node;

/// What pods claim beside amounts.
enum class claimed { nothing, ports, devices };

/// A cluster of 200 nodes to which this and that happens, an indexed finder that follows, and a
/// look at all nodes that knows nothing of before.
template<class Score, std::size_t Fanout, std::size_t Thresholds>
struct walk {
    cluster known{kind_id{2}};
    indexed_finder<core_of<traits>, Fanout, Thresholds> finder{*kept_order(Score{})};
    flat_finder<traits::width> flat{Score{}};
    testing::random chance;
    claimed claims_of;
    std::vector<std::string> nodes;
    std::vector<std::string> running;
    std::size_t asking_pods = 12;
    std::size_t made = 0;
    std::string fault;

    struct watched {
        std::uint32_t number = 0;
        shape_index shape;
        std::uint64_t stamp = 0;
        std::optional<constraint_index> queue_nodes;
        std::uint64_t queue_stamp = 0;
    };
    std::vector<watched> watches;

    walk(std::uint64_t seed, claimed claims) : chance(seed), claims_of(claims) {
        if (claims == claimed::devices)
            known.set_device_rule(device_rule::of(testing::cards));
        for (int at = 0; at < 200; ++at)
            add_node();
        ok(known.upsert_gang("asking", gang_of(1)));
        ok(known.upsert_gang("running", gang_of(1)));
        for (std::size_t at = 0; at < asking_pods; ++at)
            ask_anew(at);
        for (const char* queue : {"q", "r"})
            change_queue(queue);
        for (int at = 0; at < 150; ++at)
            run_one();
    }

    [[nodiscard]] cluster::node_type some_node() {
        cluster::node_type made_now = machine(chance.between(0, 16), chance.percent(30) ? 4 : 0);
        made_now.allocatable[2] = chance.percent(10) ? 3 : 110;
        if (chance.percent(80))
            made_now.labels.set("zone", std::string(1, static_cast<char>('a' + chance.below(3))));
        for (const char* label : {"l0", "l1", "l2", "l3"})
            if (chance.percent(50))
                made_now.labels.set(label, "");
        if (chance.percent(15))
            made_now.taints.push_back({"mine", "", taint_effect::no_schedule});
        if (chance.percent(15))
            made_now.taints.push_back({"dislike", "", taint_effect::prefer_no_schedule});
        if (chance.percent(5))
            made_now.taints.push_back(
                {"node.kubernetes.io/not-ready", "", taint_effect::no_execute});
        made_now.unschedulable = chance.percent(10);
        if (claims_of == claimed::devices)
            made_now.devices =
                testing::card_rule::stock(static_cast<std::uint32_t>(chance.between(0, 2)));
        return made_now;
    }
    [[nodiscard]] constraints some_constraints() {
        constraints where;
        if (chance.percent(40))
            where.selector =
                label_is("zone", std::string(1, static_cast<char>('a' + chance.below(4))));
        if (chance.percent(10))
            where.affinity = std::vector<node_term>{
                {{{{"l0", label_operator::exists, {}}, {"l1", label_operator::exists, {}}}}, {}}};
        if (chance.percent(40))
            for (int at = 0; at < chance.between(1, 4); ++at)
                where.preferred.push_back(
                    {1 << at, {{{{"l" + std::to_string(at), label_operator::exists, {}}}}, {}}});
        if (chance.percent(30))
            where.tolerations.push_back({"mine", {}, {}});
        if (claims_of == claimed::ports && chance.percent(40))
            where.claims.ports.push_back(
                {"TCP", "", static_cast<std::int32_t>(chance.between(80, 82))});
        if (claims_of == claimed::devices && chance.percent(70))
            where.claims.devices =
                testing::card_rule::demand(static_cast<std::uint32_t>(chance.between(1, 2)),
                                           static_cast<std::uint32_t>(chance.between(1, 4)));
        return where;
    }
    [[nodiscard]] cluster::pod_type some_pod() {
        cluster::pod_type pod = asking(chance.between(0, 5), chance.percent(20) ? 1 : 0);
        pod.request[2] = 1;
        pod.where = some_constraints();
        return pod;
    }
    [[nodiscard]] const std::string& any(const std::vector<std::string>& of) {
        return of[chance.below(of.size())];
    }
    [[nodiscard]] static std::string asking_pod(std::size_t at) {
        return "asking-" + std::to_string(at);
    }

    void add_node() {
        // In any order of keys, and often between two neighbours.
        const std::string key = "n" + std::to_string(chance.below(10)) + std::to_string(made++);
        ok(known.upsert_node(key, some_node()));
        nodes.push_back(key);
    }
    void resize_one() {
        const std::string& key = any(nodes);
        cluster::node_type other = known[known.find_node(key)->index].spec;
        other.allocatable = some_node().allocatable;
        ok(known.upsert_node(key, other));
    }
    void ask_anew(std::size_t at) { ok(known.upsert_pod(asking_pod(at), "asking", some_pod())); }
    void change_queue(const char* key) {
        cluster::queue_type queue;
        if (chance.percent(70))
            queue.nodes =
                label_is("zone", std::string(1, static_cast<char>('a' + chance.below(3))));
        ok(known.upsert_queue(key, queue));
    }
    void run_one() {
        cluster::pod_type pod = in_phase(pod_phase::running, some_pod());
        const std::string key = "r" + std::to_string(made++);
        ok(known.upsert_pod(key, "running", pod, any(nodes)));
        running.push_back(key);
    }
    void end_one() {
        const std::size_t at = chance.below(running.size());
        ok(known.remove_pod(running[at]));
        running[at] = running.back();
        running.pop_back();
    }

    void happen() {
        const std::int64_t what = chance.between(0, 99);
        if (what < 30)
            run_one();
        else if (what < 65 && !running.empty())
            end_one();
        else if (what < 70)
            ok(known.upsert_node(any(nodes), some_node()));
        else if (what < 75)
            resize_one();
        else if (what < 80)
            add_node();
        else if (what < 84) {
            const std::size_t at = chance.below(nodes.size());
            ok(known.remove_node(nodes[at]));
            nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at));
        } else if (what < 97)
            ask_anew(chance.below(asking_pods));
        else if (what < 98 && claims_of == claimed::devices)
            known.set_device_rule(device_rule::of(testing::cards));
        else if (what < 98)
            change_queue(chance.percent(50) ? "q" : "r");
        else {
            // The weights move.
            auto large = machine(std::int64_t{1} << chance.between(4, 12), 8);
            large.allocatable[2] = 110;
            ok(known.upsert_node(any(nodes), large));
        }
    }

    struct question {
        pod_index pod;
        shape_index shape;
        std::optional<constraint_index> queue_nodes;
    };
    [[nodiscard]] question some_question() {
        question made_now;
        made_now.pod = known.find_pod(asking_pod(chance.below(asking_pods)))->index;
        made_now.shape = known[made_now.pod].shape;
        if (chance.percent(40)) {
            const auto& queue = known[known.find_queue(chance.percent(50) ? "q" : "r")->index];
            if (!queue.spec.nodes.requirements.empty())
                made_now.queue_nodes = queue.nodes;
        }
        return made_now;
    }

    void say(const std::string& what) {
        if (fault.empty())
            fault = what;
    }

    void catch_up() {
        finder.catch_up(known);
        flat.catch_up(known);
    }

    /// Where pod after pod goes when each time all nodes are looked at.
    [[nodiscard]] std::vector<node_index> one_by_one(const question& about, std::int64_t want) {
        plan<traits::width> tentative(known.tentative());
        std::vector<node_index> found;
        detail::sequence<node_run> runs;
        const auto& claims = known.where(about.pod).value.claims;
        while (static_cast<std::int64_t>(found.size()) < want) {
            runs.clear();
            if (flat.find(known, about.shape, about.queue_nodes, 1, runs) == 0)
                break;
            if (!tentative.try_place(about.pod, runs.front().node, known.request(about.pod), claims,
                                     {}))
                say("flat: a node that it found has no room");
            found.push_back(runs.front().node);
        }
        return found;
    }

    void compare_find() {
        const question about = some_question();
        const std::int64_t want = chance.percent(10) ? 400 : chance.between(1, 9);
        detail::sequence<node_run> runs;
        const std::int64_t count = finder.find(known, about.shape, about.queue_nodes, want, runs);
        std::vector<node_index> found;
        for (const node_run& run : runs)
            found.insert(found.end(), static_cast<std::size_t>(run.count), run.node);
        if (count != static_cast<std::int64_t>(found.size()))
            say("find: it says how many it found, and names others");
        if (found != one_by_one(about, want))
            say("find: other nodes than one by one");
    }

    void compare_room() {
        const question about = some_question();
        const std::int64_t want = chance.percent(50) ? everything : chance.between(0, 40);
        if (finder.room(known, about.shape, about.queue_nodes, want) !=
            flat.room(known, about.shape, about.queue_nodes, want))
            say("room: another than that of all nodes");
    }

    [[nodiscard]] std::int64_t held_by_emptied(shape_index shape,
                                               std::optional<constraint_index> queue_nodes) const {
        auto query = detail::query_for(known, shape, queue_nodes);
        query.filters = emptied;
        std::int64_t sum = 0;
        for (const node_index node : known.node_order())
            if (eligible(query, node))
                sum = std::min(
                    everything,
                    sum + fit_count(*query.request, known.accounts().allocatable(node),
                                    max_beside_itself(query.where->value.claims, everything)));
        return sum;
    }
    void compare_holds() {
        const question about = some_question();
        const std::int64_t held = held_by_emptied(about.shape, about.queue_nodes);
        const std::int64_t need = chance.percent(50)
                                      ? chance.between(1, 300)
                                      : std::max<std::int64_t>(1, held + chance.between(-2, 2));
        if (finder.holds(about.shape, about.queue_nodes, emptied, need) !=
            (std::min(held, everything) >= need))
            say("holds: another answer than the emptied cluster's");
    }

    [[nodiscard]] std::uint64_t stamp_of(std::optional<constraint_index> queue_nodes) const {
        return queue_nodes ? known.constraint_sets()[*queue_nodes].stamp : 0;
    }
    void watch_one() {
        const question about = some_question();
        const std::int64_t room = flat.room(known, about.shape, about.queue_nodes, everything);
        // Ports that are given back show in no amount: who claims them does not watch.
        if (room >= everything || !known.where(about.pod).value.claims.empty())
            return;
        finder.refresh_rooms([](node_index, const auto&) {});
        const std::uint32_t number = finder.watch(about.shape, about.queue_nodes, room);
        if (finder.room_seen(number) != room)
            say("watch: the room is not what was found");
        watches.push_back({number, about.shape, known.shapes()[about.shape].stamp,
                           about.queue_nodes, stamp_of(about.queue_nodes)});
    }
    void check_watches() {
        finder.refresh_rooms([](node_index, const auto&) {});
        std::erase_if(watches, [&](const watched& each) {
            const auto& shape = known.shapes()[each.shape];
            return shape.users == 0 || shape.stamp != each.stamp ||
                   stamp_of(each.queue_nodes) != each.queue_stamp;
        });
        for (const watched& each : watches) {
            if (finder.room_seen(each.number) <
                flat.room(known, each.shape, each.queue_nodes, everything))
                say("watch: there is more room than is seen");
            const std::int64_t held = held_by_emptied(each.shape, each.queue_nodes);
            const std::int64_t need = std::max<std::int64_t>(1, held + chance.between(-3, 3));
            if (finder.known_to_fit(each.number, need) && held < need)
                say("still holds: it does not any more");
            if (finder.known_too_small(each.number, need) && held >= need)
                say("still too small: it holds them by now");
        }
        if (watches.size() > 20)
            watches.erase(watches.begin(), watches.begin() + 10);
    }

    [[nodiscard]] std::string run(int turns) {
        for (int turn = 0; turn < turns && fault.empty(); ++turn) {
            for (std::int64_t events = chance.between(0, 3); events > 0; --events)
                happen();
            catch_up();
            check_watches();
            compare_find();
            compare_room();
            compare_holds();
            watch_one();
            if (!fault.empty())
                fault += " (turn " + std::to_string(turn) + ")";
        }
        return fault;
    }
};

template<class Score, std::size_t Fanout, std::size_t Thresholds>
std::string walks(std::uint64_t seeds, claimed claims) {
    for (std::uint64_t seed = 1; seed <= testing::part_of(seeds); ++seed)
        if (const std::string fault = walk<Score, Fanout, Thresholds>(seed, claims).run(150);
            !fault.empty())
            return "seed " + std::to_string(seed) + ": " + fault;
    return {};
}

TEST_CASE("the index finds what looking at all nodes pod after pod finds, through all events") {
    CHECK(walks<best_fit, 64, 64>(8, claimed::nothing) == "");
    CHECK(walks<worst_fit, 64, 64>(8, claimed::nothing) == "");
    CHECK(walks<first_fit, 64, 64>(8, claimed::nothing) == "");
}

TEST_CASE("an index that splits and learns all the time finds the same") {
    CHECK(walks<best_fit, 4, 2>(8, claimed::nothing) == "");
    CHECK(walks<worst_fit, 4, 2>(8, claimed::nothing) == "");
    CHECK(walks<first_fit, 4, 2>(8, claimed::nothing) == "");
}

/// An order that only the value tells.
template<class Score>
struct told {
    bool ordered = true;

    [[nodiscard]] std::optional<placement_order> kept_order() const noexcept {
        return ordered ? std::optional(Score::order) : std::nullopt;
    }
    std::int64_t operator()(const placement_weights<traits::width>& weights,
                            const resources<traits::width>& free,
                            const resources<traits::width>& request) const noexcept {
        return Score{}(weights, free, request);
    }
};

TEST_CASE("a score that may be an order is found by the index when it is, else by a look at all") {
    cluster known{kind_id{2}};
    for (const std::int64_t cpus : {9, 4, 7, 5})
        ok(known.upsert_node("n" + std::to_string(cpus), machine(cpus)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("p", "g", asking(2)));
    const shape_index shape = known[known.find_pod("p")->index].shape;
    for (const bool ordered : {true, false}) {
        CAPTURE(ordered);
        node_finder<core_of<traits>> finder{told<best_fit>{ordered}};
        finder.catch_up(known);
        CHECK(finder.exhaustive() == ordered);
        CHECK(finder.room(known, shape, {}, 100) == 11);
        detail::sequence<node_run> found;
        // Two fit on the tightest node, of which a look at all takes one at a time.
        CHECK(finder.find(known, shape, {}, 2, found) == (ordered ? 2 : 1));
        CHECK(known.key(found.front().node) == "n4");
        ok(known.upsert_node("n3", machine(3)));
        finder.catch_up(known);
        found.clear();
        CHECK(finder.find(known, shape, {}, 1, found) == 1);
        CHECK(known.key(found.front().node) == "n3");
        ok(known.remove_node("n3"));
        finder.catch_up(known);
    }
}

TEST_CASE(
    "what few nodes hold once emptied is counted on them, and on cordoned ones where needed") {
    cluster known{kind_id{2}};
    const auto few = [](std::int64_t cpus, bool cordoned) {
        cluster::node_type made = machine(cpus);
        made.labels.set("few", "");
        made.unschedulable = cordoned;
        return made;
    };
    ok(known.upsert_node("a", few(4, false)));
    ok(known.upsert_node("b", few(4, true)));
    for (int at = 0; at < 100; ++at)
        ok(known.upsert_node("n" + std::to_string(at), machine(4)));
    ok(known.upsert_gang("g", gang_of(1)));
    cluster::pod_type member = asking(1);
    member.where.selector = {{{"few", label_operator::exists, {}}}};
    ok(known.upsert_pod("p", "g", member));
    const shape_index shape = known[known.find_pod("p")->index].shape;
    indexed_finder<core_of<traits>, 64, 64> finder{placement_order::most_allocated};
    const auto holds = [&](std::int64_t need) {
        finder.catch_up(known);
        return finder.holds(shape, {}, emptied, need);
    };
    CHECK(holds(4));
    CHECK(holds(8));
    CHECK_FALSE(holds(9));
    CHECK(holds(4));
    ok(known.upsert_node("b", few(6, true)));
    CHECK(holds(10));
    CHECK_FALSE(holds(11));
    CHECK(holds(4));
    ok(known.upsert_node("b", few(9, true)));
    ok(known.remove_node("a"));
    CHECK(holds(9));
    CHECK_FALSE(holds(10));
    ok(known.remove_node("b"));
    CHECK_FALSE(holds(1));
}

TEST_CASE("ports that pods claim are respected by the index") {
    CHECK(walks<best_fit, 64, 64>(8, claimed::ports) == "");
    CHECK(walks<worst_fit, 4, 2>(8, claimed::ports) == "");
    CHECK(walks<first_fit, 64, 64>(8, claimed::ports) == "");
}

TEST_CASE("devices that pods demand are respected by the index") {
    CHECK(walks<best_fit, 64, 64>(8, claimed::devices) == "");
    CHECK(walks<worst_fit, 4, 2>(8, claimed::devices) == "");
    CHECK(walks<first_fit, 64, 64>(8, claimed::devices) == "");
}

/// Counts the calls of a rule whose nodes serve one pod each.
struct one_pod_per_node {
    mutable std::int64_t calls = 0;

    std::int64_t room(device_stock, std::span<const device_demand> held, device_demand,
                      std::int64_t most) const {
        ++calls;
        return held.empty() ? std::min<std::int64_t>(most, 1) : 0;
    }
};

TEST_CASE("a node without room for a pod's devices is asked again only after its claims changed") {
    const one_pod_per_node rule;
    cluster known{kind_id{2}};
    known.set_device_rule(device_rule::of(rule));
    ok(known.upsert_gang("g", gang_of(1)));
    cluster::pod_type pod = asking(1);
    pod.where.claims.devices = device_demand{1};
    ok(known.upsert_pod("asking", "g", pod));
    for (int at = 0; at < 100; ++at) {
        const std::string node = "n" + std::to_string(100 + at);
        cluster::node_type spec = machine(4);
        spec.devices = device_stock{1};
        ok(known.upsert_node(node, spec));
        ok(known.upsert_pod("on-" + node, "g", in_phase(pod_phase::running, pod), node));
    }
    const shape_index shape = known[known.find_pod("asking")->index].shape;
    indexed_finder<core_of<traits>, 64, 64> finder{placement_order::most_allocated};
    const auto found = [&] {
        finder.catch_up(known);
        detail::sequence<node_run> runs;
        rule.calls = 0;
        return finder.find(known, shape, {}, 1, runs);
    };
    CHECK(found() == 0);
    CHECK(rule.calls == 100);
    CHECK(found() == 0);
    CHECK(rule.calls == 0);
    ok(known.remove_pod("on-n150"));
    CHECK(found() == 1);
    CHECK(rule.calls == 1);
    known.set_device_rule(device_rule::of(rule));
    CHECK(found() == 1);
    ok(known.upsert_pod("on-n150", "g", in_phase(pod_phase::running, pod), "n150"));
    CHECK(found() == 0);
    CHECK(found() == 0);
    CHECK(rule.calls == 0);
}

TEST_CASE(
    "the index is used for scores that are an order, and for others all nodes are looked at") {
    struct by_hand {
        std::int64_t operator()(const placement_weights<traits::width>&,
                                const resources<traits::width>& free,
                                const resources<traits::width>&) const noexcept {
            return free[0];
        }
    };
    CHECK(node_finder<core_of<traits>>(best_fit{}).exhaustive());
    CHECK(node_finder<core_of<traits>>(first_fit{}).exhaustive());
    CHECK_FALSE(node_finder<core_of<traits>>(by_hand{}).exhaustive());
}

} // namespace

} // namespace index_indexed_finder_test
