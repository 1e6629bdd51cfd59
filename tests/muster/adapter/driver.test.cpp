// SPDX-License-Identifier: Apache-2.0
#include <muster/adapter/driver.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "driver_bench.hpp"

namespace adapter_driver_test {

using namespace driver_bench;

TEST_CASE("a gang that fits is bound whole, and told of once") {
    bench on;
    on.nodes(2, 2);
    on.gang("g", 4);
    on.start();
    on.run(2 * second);
    CHECK(on.bound("g") == 4);
    CHECK(on.told(event_reason::bound) == 1);
    on.judge();
    CHECK(on.status("g").reached);
    CHECK(on.status("g").running == 4);
    CHECK(on.done(api_action::bound) == 4);
    CHECK(on.done(api_action::status) <= 2);
}

TEST_CASE("a start counts as one attempt and one wait, and each refusal as a further attempt") {
    bench on;
    on.nodes(2, 2);
    on.gang("g", 5);
    on.start();
    on.run(60 * second);
    CHECK(on.all[0]->runs.counters().attempts.scheduled == 0);
    CHECK(on.all[0]->runs.counters().attempts.unschedulable +
              on.all[0]->runs.counters().attempts.never >=
          1);
    CHECK(on.all[0]->runs.waits().counts() == std::array<std::uint64_t, 15>{});
    on.node("n3", 1);
    on.run(5 * second);
    CHECK(on.all[0]->runs.counters().attempts.scheduled == 1);
    std::uint64_t all = 0;
    for (const std::uint64_t each : on.all[0]->runs.waits().counts())
        all += each;
    CHECK(all == 1);
    CHECK(on.all[0]->runs.waits().sum() > 59 * second);
    CHECK(on.all[0]->runs.waits().sum() < 66 * second);
}

TEST_CASE("of a gang that is one pod short of room nothing is bound, until there is room") {
    bench on;
    on.nodes(2, 2);
    on.gang("g", 5);
    on.start();
    on.run(60 * second);
    CHECK(on.done(api_action::bound) == 0);
    on.judge();
    CHECK(on.status("g").at == gate::space);
    CHECK(on.told(event_reason::waiting) == 1);
    on.node("n3", 1);
    on.run(1 * second);
    CHECK(on.bound("g") == 5);
    on.judge();
}

TEST_CASE("whatever becomes of the k-th bind, the gang is whole soon or nothing of it stands") {
    struct trial {
        fault_kind what;
        std::int64_t most_partial;
    };
    for (const trial& each :
         {trial{fault_kind::error, 2 * second}, trial{fault_kind::conflict, 2 * second},
          trial{fault_kind::unavailable, 2 * second}, trial{fault_kind::too_many, 2 * second},
          trial{fault_kind::lost_after, 4 * second}, trial{fault_kind::lost_before, 4 * second},
          trial{fault_kind::late, 4 * second}, trial{fault_kind::refused, 4 * second}})
        for (std::int64_t k = 1; k <= 4; ++k) {
            CAPTURE(static_cast<int>(each.what));
            CAPTURE(k);
            bench on;
            on.nodes(2, 2);
            on.gang("g", 4);
            on.wrong(order_kind::bind, each.what, k);
            on.start();
            on.run(10 * second);
            CHECK(on.bound("g") == 4);
            on.judge();
            CHECK(on.done(api_action::bound) == 4);
            CHECK(on.checker.longest_partial(0, on.api.now()) <= each.most_partial);
            CHECK(on.told(event_reason::bind_failed) == (each.what == fault_kind::refused ? 1 : 0));
        }
}

TEST_CASE("a pod that is refused for ever costs its gang its place, not the others") {
    bench on;
    on.nodes(1, 4);
    on.group("bad", 4);
    on.respawns = true;
    on.pods("bad", 4);
    on.wrong(order_kind::bind, fault_kind::refused, 1, 1'000'000, "bad-2");
    on.start();
    on.run(100 * millisecond);
    on.gang("good", 3);
    // Three of the bad gang stand by now. They are evicted when it is clear that it stays so.
    on.run(29 * second);
    CHECK(on.bound("good") == 0);
    on.run(5 * second);
    CHECK(on.done(api_action::evicted) == 3);
    CHECK(on.bound("good") == 3);
    CHECK(on.told(event_reason::evicted) == 1);
    // From now on the pod that failed goes first, and nothing else of its gang is ever bound again.
    on.run(300 * second);
    CHECK(on.done(api_action::bound) == 6);
    CHECK(on.done(api_action::evicted) == 3);
    on.judge_journal();
}

TEST_CASE("a gang that is held back keeps the first place in the queue from nobody") {
    bench on;
    on.nodes(1, 4);
    on.gang("bad", 4);
    on.wrong(order_kind::bind, fault_kind::refused, 1, 1'000'000);
    on.api.faults.back().key = "bad-0";
    on.options.most_under_way = 1;
    on.start();
    on.run(200 * millisecond);
    on.gang("good", 4);
    on.run(2 * second);
    CHECK(on.bound("bad") == 0);
    CHECK(on.bound("good") == 4);
    on.judge_journal();
}

TEST_CASE("of two gangs that each need more than half of the cluster exactly one stands") {
    bench on;
    on.nodes(3, 2);
    on.gang("a", 4);
    on.gang("b", 4);
    on.start();
    on.run(5 * second);
    CHECK(on.bound("a") + on.bound("b") == 4);
    CHECK((on.bound("a") == 4 || on.bound("b") == 4));
    on.judge();
}

TEST_CASE("of a gang and a single pod that want the last room exactly one gets it") {
    bench on;
    on.nodes(1, 2);
    on.gang("pair", 2);
    on.gang("single", 1);
    on.start();
    on.run(5 * second);
    CHECK((on.bound("pair") == 2) != (on.bound("single") == 1));
    on.judge();
}

TEST_CASE("a node that goes between the decision and the first bind takes the decision with it") {
    for (const bool gone : {true, false}) {
        CAPTURE(gone);
        bench on;
        on.nodes(2, 2);
        on.gang("g", 4);
        on.wrong(order_kind::is_current, fault_kind::unavailable);
        on.start();
        on.run_to([&] { return on.all[0]->runs.counters().decided == 1; }, 1 * second);
        if (gone)
            on.api.remove_node("n1");
        else
            on.node("n1", 2, true);
        on.run(10 * second);
        CHECK(on.done(api_action::bound) == 0);
        on.node("n3", 2);
        on.run(2 * second);
        CHECK(on.bound("g") == 4);
        on.judge();
        CHECK(on.checker.races() == 0);
    }
}

TEST_CASE("a node that goes after the first bind: its gang is completed elsewhere") {
    bench on;
    on.nodes(2, 2);
    on.options.most_under_way = 1;
    on.respawns = true;
    on.gang("g", 4);
    on.start();
    on.run_to([&] { return on.bound("g") == 1; }, 1 * second);
    std::string used;
    for (const auto& [key, pod] : on.api.pods().objects)
        if (pod.on)
            used = *pod.on;
    on.api.remove_node(used);
    on.run(200 * millisecond);
    on.node("n3", 2);
    on.run(5 * second);
    CHECK(on.bound("g") == 4);
    on.judge();
}

TEST_CASE("a member that is deleted while it is assumed, or when some are bound, is replaced") {
    for (const int bound : {0, 1, 3}) {
        CAPTURE(bound);
        bench on;
        on.nodes(2, 2);
        on.options.most_under_way = 1;
        on.respawns = true;
        on.gang("g", 4);
        on.start();
        on.run_to([&] { return on.all[0]->runs.counters().decided == 1 && on.bound("g") == bound; },
                  1 * second);
        on.api.delete_pod("g-3");
        on.run(5 * second);
        CHECK(on.bound("g") == 4);
        on.judge();
        CHECK(on.checker.longest_partial(0, on.api.now()) <= 1 * second);
    }
}

TEST_CASE("a gang that ran once takes replacements one by one, and is never evicted") {
    bench on;
    on.nodes(2, 2);
    on.gang("g", 4);
    on.start();
    on.run(2 * second);
    on.api.set_phase("g-0", pod_phase::failed);
    on.api.set_phase("g-1", pod_phase::failed);
    on.run(60 * second);
    CHECK(on.bound("g") == 2);
    CHECK(on.done(api_action::evicted) == 0);
    on.pod("g-4", "g");
    on.run(2 * second);
    // Two and one are three: less than its minima, so it waits.
    CHECK(on.bound("g") == 2);
    on.pod("g-5", "g");
    on.run(2 * second);
    CHECK(on.bound("g") == 4);
    on.api.set_phase("g-4", pod_phase::succeeded);
    on.pod("g-6", "g");
    on.run(2 * second);
    CHECK(on.bound("g") == 5);
    on.judge();
}

TEST_CASE("a minimum counts as it is when the gang is decided") {
    bench on;
    on.nodes(2, 2);
    on.group("g", 5);
    on.pods("g", 4);
    on.start();
    on.run(2 * second);
    CHECK(on.bound("g") == 0);
    on.group("g", 3);
    on.run(2 * second);
    CHECK(on.bound("g") == 4);
    on.group("g", 6);
    on.run(60 * second);
    // It had reached what it asked for then.
    CHECK(on.bound("g") == 4);
    CHECK(on.done(api_action::evicted) == 0);
    on.judge();
}

TEST_CASE("a minimum that was raised and is still to be seen stops the gang") {
    bench on;
    on.nodes(2, 2);
    on.group("g", 2);
    auto& running = on.start();
    on.run(1 * second);
    running.client.delay[static_cast<std::size_t>(object_kind::gang)] = 20 * second;
    on.group("g", 6);
    on.pods("g", 4);
    on.run(15 * second);
    CHECK(on.done(api_action::bound) == 0);
    on.run(10 * second);
    CHECK(on.done(api_action::bound) == 0);
    on.judge();
}

TEST_CASE("a group that is created anew under its name starts empty") {
    bench on;
    on.nodes(2, 2);
    on.gang("g", 2);
    on.start();
    on.run(2 * second);
    CHECK(on.bound("g") == 2);
    on.api.remove_gang("g");
    on.group("g", 2);
    on.pod("g-7", "g");
    on.run(60 * second);
    CHECK(on.done(api_action::bound) == 2);
    CHECK(on.done(api_action::evicted) == 0);
    on.pod("g-8", "g");
    on.run(2 * second);
    CHECK(on.done(api_action::bound) == 4);
    on.judge();
}

TEST_CASE("a pod that is created anew under its name is not bound for the one before") {
    bench on;
    on.nodes(2, 2);
    on.gang("g", 2);
    auto& running = on.start();
    running.client.skips = true;
    running.client.delay[static_cast<std::size_t>(object_kind::pod)] = 100 * millisecond;
    on.run_to([&] { return running.runs.counters().decided == 1; }, 1 * second);
    on.api.delete_pod("g-0");
    on.pod("g-0", "g");
    on.run(5 * second);
    CHECK(on.bound("g") == 2);
    on.judge();
}

TEST_CASE("pods that come before their group wait for it") {
    bench on;
    on.nodes(2, 2);
    on.pods("g", 4);
    on.start();
    on.run(5 * second);
    CHECK(on.done(api_action::bound) == 0);
    on.group("g", 4);
    on.run(2 * second);
    CHECK(on.bound("g") == 4);
    on.judge();
}

TEST_CASE("a queue that is missing, closed or full keeps its gangs waiting with that reason") {
    bench on;
    on.nodes(2, 4);
    on.group("missing", 2, "nowhere");
    on.pods("missing", 2);
    on.queue("small", 1);
    on.group("full", 2, "small");
    on.pods("full", 2);
    on.start();
    on.run(5 * second);
    CHECK(on.done(api_action::bound) == 0);
    CHECK(on.status("missing").at == gate::queue);
    CHECK(on.status("full").at == gate::quota);
    on.queue("small", 2);
    on.run(2 * second);
    CHECK(on.bound("full") == 2);
    on.judge();
}

TEST_CASE("a quota that was lowered below what runs evicts nobody, and lets nobody in") {
    bench on;
    on.nodes(2, 4);
    on.queue("q", 4);
    on.group("a", 3, "q");
    on.pods("a", 3);
    on.kill(on.start());
    on.start();
    on.run(2 * second);
    CHECK(on.bound("a") == 3);
    on.queue("q", 1);
    on.kill(*on.all[0]);
    on.start();
    on.group("b", 1, "q");
    on.pods("b", 1);
    on.run(60 * second);
    CHECK(on.bound("a") == 3);
    CHECK(on.bound("b") == 0);
    CHECK(on.done(api_action::evicted) == 0);
    on.judge();
}

TEST_CASE("a quota that is lowered between the decision and the first bind stops the gang") {
    bench on;
    on.nodes(2, 4);
    on.queue("q", 4);
    on.group("a", 3, "q");
    on.pods("a", 3);
    on.wrong(order_kind::is_current, fault_kind::unavailable);
    on.start();
    on.run_to([&] { return on.all[0]->runs.counters().decided == 1; }, 1 * second);
    on.queue("q", 2);
    on.run(5 * second);
    CHECK(on.done(api_action::bound) == 0);
    on.judge();
}

TEST_CASE("gaps, skipped changes and lagging lists end in the same view") {
    for (int what = 0; what < 4; ++what) {
        CAPTURE(what);
        bench on;
        on.nodes(2, 2);
        auto& running = on.start();
        running.client.skips = what == 1;
        on.run(1 * second);
        if (what == 2)
            running.client.lag = 5;
        on.gang("g", 2);
        on.respawns = true;
        on.gang("h", 2);
        on.run(20 * millisecond);
        if (what != 3)
            on.api.forget_history();
        on.api.delete_pod("h-0");
        on.run(300 * millisecond);
        on.api.forget_history();
        on.run(5 * second);
        CHECK(on.bound("g") == 2);
        CHECK(on.bound("h") == 2);
        on.judge();
    }
}

TEST_CASE("while the server is too busy binds go on, as fast as it lets them") {
    bench on;
    on.nodes(10, 4);
    for (int gang = 0; gang < 10; ++gang)
        on.gang("g" + std::to_string(gang), 4);
    on.wrong(order_kind::bind, fault_kind::too_many, 1, 60, "", 100 * millisecond);
    on.wrong(order_kind::status, fault_kind::too_many, 1, 1'000, "", 100 * millisecond);
    on.wrong(order_kind::event, fault_kind::too_many, 1, 1'000, "", 100 * millisecond);
    on.options.reports = {10, 10};
    on.start();
    on.run(5 * second);
    for (int gang = 0; gang < 10; ++gang)
        CHECK(on.bound("g" + std::to_string(gang)) == 4);
    CHECK(on.api.writes_sent() <= 40 + 60 + 10 + 50);
    on.judge_journal();
}

TEST_CASE("orders for pods come no faster than they may") {
    bench on;
    on.nodes(10, 4);
    for (int gang = 0; gang < 10; ++gang)
        on.gang("g" + std::to_string(gang), 4);
    on.options.binds = {10, 5};
    on.start();
    on.run(1 * second);
    CHECK(on.done(api_action::bound) <= 15);
    on.run(4 * second);
    CHECK(on.done(api_action::bound) == 40);
    on.judge();
}

TEST_CASE("nothing is decided on a view that is too old, and work goes on when it is fresh again") {
    bench on;
    on.nodes(2, 2);
    auto& running = on.start();
    on.run(2 * second);
    running.client.cut_off = true;
    on.gang("g", 4);
    on.run(60 * second);
    CHECK(on.api.writes_sent() == 0);
    const std::size_t cycles = running.runs.counters().cycles;
    on.run(60 * second);
    CHECK(running.runs.counters().cycles == cycles);
    running.client.cut_off = false;
    on.run(2 * second);
    CHECK(on.bound("g") == 4);
    on.judge();
}

TEST_CASE("who was stopped for longer than its lease writes nothing when it wakes up") {
    bench on;
    on.nodes(2, 4);
    on.elections.elects = true;
    auto& first = on.start("a");
    on.run(1 * second);
    on.start("b");
    on.run(1 * second);
    first.frozen = true;
    on.gang("g", 4);
    on.run(20 * second);
    CHECK(on.bound("g") == 4);
    first.frozen = false;
    on.gang("h", 4);
    on.run(5 * second);
    CHECK(on.bound("h") == 4);
    CHECK_FALSE(first.client.leads());
    on.judge();
}

TEST_CASE("of two there is one that writes, and a clock that jumps changes nothing") {
    bench on;
    on.nodes(4, 4);
    on.elections.elects = true;
    on.start("a");
    on.start("b");
    on.gang("g", 4);
    on.run(5 * second);
    on.api.jump_wall(3600 * second);
    on.gang("h", 4);
    on.run(5 * second);
    on.api.jump_wall(-7200 * second);
    on.gang("i", 4);
    on.run(60 * second);
    CHECK(on.bound("g") + on.bound("h") + on.bound("i") == 12);
    CHECK(on.all[0]->client.leads() != on.all[1]->client.leads());
    on.judge();
    for (const api_entry& each : on.api.journal())
        CHECK((each.by.empty() || each.by == "a" || each.by == "a#1"));
}

TEST_CASE("what the core refuses waits, and everybody else does not") {
    bench on;
    on.nodes(2, 4);
    on.node("wrong", -1);
    on.gang("g", 2);
    on.pod("negative", "g", -1);
    on.pod("huge", "g", std::numeric_limits<std::int64_t>::max());
    auto& running = on.start();
    on.run(2 * second);
    CHECK(on.bound("g") == 2);
    CHECK(running.runs.view().refused().pods.contains("negative"));
    CHECK(running.runs.view().refused().nodes.contains("wrong"));
    on.judge();
}

TEST_CASE("a minimum beyond all bounds costs nothing and keeps its gang waiting") {
    bench on;
    on.nodes(2, 4);
    on.group("g", std::numeric_limits<std::int32_t>::max());
    on.pods("g", 3);
    on.start();
    on.run(2 * second);
    CHECK(on.done(api_action::bound) == 0);
    CHECK(on.status("g").at == gate::members);
    on.judge();
}

TEST_CASE("room that another scheduler takes meanwhile is seen before the first bind") {
    bench on;
    on.nodes(2, 2);
    on.gang("g", 4);
    on.ours = false;
    on.pod("foreign", "other", 2);
    on.wrong(order_kind::is_current, fault_kind::unavailable);
    on.start();
    on.run_to([&] { return on.all[0]->runs.counters().decided == 1; }, 1 * second);
    on.api.bind_elsewhere("foreign", "n1");
    on.run(5 * second);
    CHECK(on.done(api_action::bound) == 0);
    CHECK(on.done(api_action::evicted) == 0);
    on.api.delete_pod("foreign");
    on.run(2 * second);
    CHECK(on.bound("g") == 4);
    on.judge();
    CHECK(on.checker.races() == 0);
}

TEST_CASE("a member that another scheduler binds stays where it is") {
    bench on;
    on.nodes(2, 4);
    on.gang("g", 4);
    auto& running = on.start();
    running.client.delay[static_cast<std::size_t>(object_kind::pod)] = 300 * millisecond;
    on.run_to([&] { return running.runs.counters().decided == 1; }, 1 * second);
    on.api.bind_elsewhere("g-2", "n2");
    on.run(5 * second);
    CHECK(on.bound("g") == 4);
    CHECK(on.api.pods().objects.at("g-2").on == "n2");
    on.judge();
}

TEST_CASE("another scheduler's pods are never touched") {
    bench on;
    on.nodes(1, 4);
    on.ours = false;
    on.pods("theirs", 2);
    on.group("theirs", 2);
    on.start();
    on.run(60 * second);
    CHECK(on.done(api_action::bound) == 0);
    CHECK(on.done(api_action::status) <= 1);
    on.judge();
}

TEST_CASE("a status that cannot be written holds up nothing, and is written when it can be") {
    for (const fault_kind what : {fault_kind::conflict, fault_kind::error, fault_kind::refused,
                                  fault_kind::lost_after, fault_kind::too_many}) {
        CAPTURE(static_cast<int>(what));
        bench on;
        on.nodes(2, 2);
        on.gang("g", 4);
        on.wrong(order_kind::status, what, 1, 2);
        on.start();
        on.run(20 * second);
        CHECK(on.bound("g") == 4);
        on.judge();
        CHECK(on.status("g").reached == (what != fault_kind::refused));
    }
}

TEST_CASE("a pod with the scheduler's own gate is let through it before it is bound") {
    bench on;
    on.nodes(2, 2);
    on.own_gate = true;
    on.gang("g", 4);
    on.wrong(order_kind::ungate, fault_kind::lost_before, 2);
    on.start();
    on.run(5 * second);
    CHECK(on.bound("g") == 4);
    CHECK(on.done(api_action::ungated) == 4);
    on.judge();
    CHECK(on.checker.longest_partial(0, on.api.now()) <= 100 * millisecond);
}

TEST_CASE("no pod is bound and no gate removed before the volumes of all members are bound") {
    bench on;
    on.nodes(2, 2);
    on.own_gate = on.unbound_volumes = true;
    on.gang("g", 4);
    on.wrong(order_kind::prepare, fault_kind::unavailable, 1, 1'000'000, "g-2");
    on.start();
    on.run(5 * second);
    CHECK(on.done(api_action::prepared) == 3);
    CHECK(on.done(api_action::ungated) == 0);
    CHECK(on.bound("g") == 0);
    on.api.faults.clear();
    on.run(60 * second);
    CHECK(on.bound("g") == 4);
    CHECK(on.done(api_action::prepared) == 4);
    on.judge();
}

TEST_CASE(
    "when the volumes of one pod come to nothing, none is bound, and others have their turn") {
    bench on;
    on.nodes(2, 2);
    on.unbound_volumes = true;
    on.gang("g", 4);
    on.wrong(order_kind::prepare, fault_kind::refused, 1, 1'000'000, "g-2");
    on.start();
    on.run(3 * second);
    CHECK(on.bound("g") == 0);
    // All members exist; the gang waits because its volumes could not be bound.
    CHECK(on.status("g").alive == 4);
    CHECK(on.status("g").at == gate::none);
    CHECK(on.status("g").held_after == outcome::refused);
    CHECK(on.status("g").message == "admission webhook denied the request");
    on.unbound_volumes = false;
    on.gang("h", 4);
    on.run(20 * second);
    CHECK(on.bound("g") == 0);
    CHECK(on.bound("h") == 4);
    on.judge();
}

TEST_CASE("of a gang that does not fit no gate is touched") {
    bench on;
    on.nodes(2, 1);
    on.own_gate = true;
    on.gang("g", 4);
    on.start();
    on.run(20 * second);
    CHECK(on.done(api_action::ungated) == 0);
    on.judge();
}

TEST_CASE("who is evicted for others leaves first, and then they come") {
    bench on;
    on.nodes(2, 2);
    on.gang("low", 4);
    on.start();
    on.run(2 * second);
    on.priority = 10;
    on.wrong(order_kind::evict, fault_kind::too_many, 2, 3, "", 300 * millisecond);
    on.wrong(order_kind::evict, fault_kind::lost_after, 4, 1);
    on.gang("high", 4);
    on.run(10 * second);
    CHECK(on.done(api_action::evicted) == 4);
    CHECK(on.bound("high") == 4);
    CHECK(on.told(event_reason::evicted) == 1);
    on.judge();
    CHECK(on.checker.races() == 0);
}

TEST_CASE("a pod that may not be evicted stays, and nobody asks for it again and again") {
    bench on;
    on.nodes(2, 2);
    on.respawns = true;
    on.gang("low", 4);
    on.start();
    on.run(2 * second);
    on.wrong(order_kind::evict, fault_kind::refused, 1, 1'000'000, "low-1");
    on.priority = 10;
    on.gang("high", 4);
    on.run(300 * second);
    CHECK(on.bound("high") == 0);
    const std::int64_t before = on.api.writes_sent();
    on.run(300 * second);
    // At most one try a minute.
    CHECK(on.api.writes_sent() - before <= 5 * (4 + 4 + 6));
    on.judge_journal();
}

TEST_CASE("a comparison with a fresh listing finds what was missed, and has it listed again") {
    bench on;
    on.nodes(2, 2);
    on.options.compare_every = 30 * second;
    auto& running = on.start();
    on.gang("g", 2);
    on.run(5 * second);
    REQUIRE(running.known.remove_pod("g-0") == event_result::applied); // a mistake of ours
    on.run(60 * second);
    CHECK(running.runs.comparisons().compared() >= 2);
    CHECK(running.runs.comparisons().mistakes() == 1);
    CHECK(running.known.find_pod("g-0").has_value());
    on.run(60 * second);
    CHECK(running.runs.comparisons().mistakes() == 1);
}

TEST_CASE("members that come to run one by one do not make a write each") {
    bench on;
    on.nodes(10, 2);
    on.group("g", 4);
    on.start();
    on.pods("g", 4);
    on.run(2 * second);
    CHECK(on.status("g").reached);
    const int before = on.done(api_action::status);
    for (int more = 4; more < 16; ++more) {
        on.pod("g-" + std::to_string(more), "g");
        on.run(600 * millisecond);
    }
    CHECK(on.done(api_action::status) - before <= 5);
    on.judge();
    CHECK(on.status("g").running == 16);
}

/// Says how often it was asked.
struct counted_words {
    int* asked;
    std::string operator()(const known_type&, gang_index) const {
        return "words " + std::to_string(++*asked);
    }
};

/// A scheduler that has words, for as long as it is told to run.
struct speaker {
    explicit speaker(bench& of, driver_options options = {})
        : on(&of),
          client(of.api, "speaker", "speaker", {}),
          runs(client, known, {}, options, counted_words{&asked}) {}
    void run(std::int64_t span) {
        for (std::int64_t end = on->api.now() + span; on->api.now() < end;) {
            runs.step();
            on->run(50 * millisecond);
        }
    }

    bench* on;
    int asked = 0;
    client_type client;
    known_type known;
    adapter::driver<client_type, policy_type, counted_words> runs;
};

TEST_CASE("words about gangs that wait are made when they begin to, and then now and then") {
    bench on;
    on.nodes(1, 2);
    on.gang("g", 3);
    speaker speaks(on);
    speaks.run(5 * second);
    CHECK(speaks.asked == 1);
    CHECK(on.status("g").message == "words 1");
    // Something is seen of it all the time.
    for (int pod = 0; pod < 20; ++pod) {
        on.pod("g-more-" + std::to_string(pod), "g", 100);
        speaks.run(1 * second);
    }
    CHECK(speaks.asked == 1);
    speaks.run(20 * second);
    CHECK(speaks.asked == 2);
    CHECK(on.status("g").message == "words 2");
    // What is not words waits for none.
    on.pod("g-last", "g", 100);
    speaks.run(1 * second);
    on.node("n2", 1);
    speaks.run(4 * second);
    CHECK(on.bound("g") == 3);
    CHECK(on.status("g").reached);
    CHECK(on.status("g").running == 3);
}

TEST_CASE("words about many gangs are made some in each step") {
    bench on;
    on.nodes(1, 2);
    for (int each = 0; each < 20; ++each)
        on.gang("g" + std::to_string(each), 3);
    driver_options options;
    options.most_words = 3;
    speaker speaks(on, options);
    int most = 0;
    for (int step = 0; step < 60; ++step) {
        const int before = speaks.asked;
        speaks.runs.step();
        most = std::max(most, speaks.asked - before);
        on.run(50 * millisecond);
    }
    CHECK(most == 3);
    CHECK(speaks.asked == 20);
}

TEST_CASE("a status that the server does not take is written without words") {
    bench on;
    on.nodes(1, 2);
    on.gang("g", 3);
    on.wrong(order_kind::status, fault_kind::refused, 1);
    speaker speaks(on);
    speaks.run(10 * second);
    CHECK(on.status("g").at == gate::space);
    CHECK(on.status("g").message.empty());
    CHECK(on.done(api_action::status) == 1);
}

/// A cluster whose clock goes on whenever somebody looks at it.
struct ticking_client : client_type {
    using client_type::client_type;
    [[nodiscard]] instant now() const {
        instant at = client_type::now();
        at.steady += ++looks;
        return at;
    }
    mutable std::int64_t looks = 0;
};

TEST_CASE("what decisions take is measured around the cycles alone, by the cluster's clock") {
    bench on;
    on.nodes(2, 2);
    on.gang("g", 4);
    ticking_client client(on.api, "ticking", "ticking", {});
    known_type known;
    adapter::driver<ticking_client, policy_type> runs(client, known);
    CHECK(runs.step().decided == false); // nothing is listed yet
    CHECK(runs.counters().deciding == 0);
    for (int step = 0; step < 20; ++step) {
        on.run(100 * millisecond);
        runs.step();
    }
    REQUIRE(runs.counters().decided == 1);
    // Between the two looks around a cycle the clock goes on by one.
    CHECK(runs.counters().deciding == static_cast<std::int64_t>(runs.counters().cycles));
}

TEST_CASE("the same world and seed give the same journal") {
    const auto play = [] {
        bench on(7);
        on.api.fault_percent = 60;
        on.nodes(3, 2);
        on.respawns = true;
        on.gang("g", 3);
        on.gang("h", 3);
        on.start();
        on.run(30 * second);
        std::string all;
        for (const api_entry& each : on.api.journal())
            all += std::to_string(each.time) + " " + std::to_string(static_cast<int>(each.what)) +
                   " " + each.by + " " + each.key + " " + each.uid + " " + each.node + "\n";
        return all;
    };
    const std::string first = play();
    CHECK(first.size() > 400);
    CHECK(first == play());
}

} // namespace adapter_driver_test
