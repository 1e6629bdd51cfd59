// SPDX-License-Identifier: Apache-2.0
#include <muster/adapter/driver.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "driver_bench.hpp"

namespace adapter_driver_crash_test {

using namespace driver_bench;

/// A gang of four with gates and volumes, whose scheduler dies at one of its writes.
struct crash_trial {
    explicit crash_trial(bool takeover) {
        on.elections.elects = takeover;
        on.nodes(2, 2);
        on.own_gate = true;
        on.unbound_volumes = true;
        on.gang("g", 4);
    }
    /// False when fewer writes than that were made.
    bool crash_at(std::int64_t write, fault_kind how) {
        on.wrong(order_kind::any, how, write);
        on.start("a");
        if (on.elections.elects) {
            on.run(1 * millisecond);
            on.start("b");
        }
        on.run(20 * second);
        if (!on.crashed())
            return false;
        died = on.api.now();
        on.kill(*on.all.front());
        on.api.faults.clear();
        on.synced_at = -1;
        if (!on.elections.elects)
            on.start("a");
        return true;
    }
    bench on;
    std::int64_t died = 0;
};

TEST_CASE("whoever dies at whichever write, applied or not: the gang is whole soon") {
    for (const bool takeover : {false, true})
        for (const fault_kind how : {fault_kind::crash_before, fault_kind::crash_after}) {
            std::int64_t points = 0;
            for (std::int64_t write = 1;; ++write) {
                CAPTURE(takeover);
                CAPTURE(how == fault_kind::crash_after);
                CAPTURE(write);
                crash_trial trial(takeover);
                bench& on = trial.on;
                if (!trial.crash_at(write, how))
                    break;
                ++points;
                on.run(25 * second);
                CHECK(on.bound("g") == 4);
                on.judge();
                CHECK(on.status("g").reached);
                CHECK(on.done(api_action::bound) == 4);
                CHECK(on.done(api_action::ungated) == 4);
                CHECK(on.done(api_action::prepared) == 4);
                CHECK(on.done(api_action::evicted) == 0);
                const std::int64_t from = takeover ? trial.died : on.synced_at;
                const std::int64_t most = takeover ? on.elections.lease + 2 * second : 2 * second;
                CHECK(on.checker.longest_partial(from, on.api.now()) <= most);
            }
            // Four pods' volumes, four gates, four binds, an event and a status at least.
            CHECK(points >= 14);
        }
}

TEST_CASE("what cannot be completed after a crash is evicted in time") {
    for (const bool takeover : {false, true})
        for (const fault_kind how : {fault_kind::crash_before, fault_kind::crash_after})
            for (std::int64_t write = 5; write <= 8; ++write) {
                CAPTURE(takeover);
                CAPTURE(how == fault_kind::crash_after);
                CAPTURE(write);
                crash_trial trial(takeover);
                bench& on = trial.on;
                REQUIRE(trial.crash_at(write, how));
                on.api.run_until(on.api.now() + 20 * millisecond);
                const int stood = on.bound("g");
                // What is left of the room goes to somebody else.
                on.ours = on.own_gate = on.unbound_volumes = false;
                for (const char* const node : {"n1", "n2"})
                    for (int at = 0; at < 2; ++at) {
                        std::int64_t used = 0;
                        for (const auto& [key, pod] : on.api.pods().objects)
                            used += pod.on == node ? 1 : 0;
                        const std::string name =
                            "foreign-" + std::string(node) + std::to_string(at);
                        on.pod(name, "foreign");
                        if (used < 2)
                            on.api.bind_elsewhere(name, node);
                    }
                on.run_to([&] { return on.synced_at >= 0; }, 30 * second);
                const std::int64_t synced = on.synced_at;
                REQUIRE(synced >= 0);
                on.run_until(synced + 32 * second);
                CHECK(on.done(api_action::evicted) == (stood < 4 ? stood : 0));
                on.run(5 * second);
                CHECK(on.bound("g") == (stood < 4 ? 0 : 4));
                on.judge_journal();
            }
}

TEST_CASE("a gang known by labels alone that a restart finds in part is completed, never evicted") {
    bench on;
    on.nodes(2, 2);
    on.group("g", 4, "", true);
    on.pods("g", 4);
    on.wrong(order_kind::bind, fault_kind::crash_before, 3);
    on.start();
    on.run(5 * second);
    REQUIRE(on.crashed());
    on.kill(*on.all.front());
    on.api.faults.clear();
    on.api.run_until(on.api.now() + 20 * millisecond);
    on.ours = false;
    on.pod("foreign", "foreign", 2);
    const std::string first = on.api.pods().objects.at("g-0").on.value();
    on.api.bind_elsewhere("foreign", first == "n1" ? "n2" : "n1");
    on.start();
    on.run(120 * second);
    CHECK(on.bound("g") == 2);
    CHECK(on.done(api_action::evicted) == 0);
    on.api.delete_pod("foreign");
    on.run(5 * second);
    CHECK(on.bound("g") == 4);
    on.judge();
}

TEST_CASE("a restart against a server that lags behind decides by what it is told, and is right") {
    for (std::size_t lag = 0; lag <= 12; ++lag) {
        CAPTURE(lag);
        bench on;
        on.nodes(2, 2);
        on.gang("g", 2);
        on.start();
        on.run(2 * second);
        on.gang("h", 2);
        on.run(2 * second);
        on.kill(*on.all.front());
        scheduler& again = on.start();
        again.client.lag = lag;
        on.run(10 * second);
        CHECK(on.bound("g") == 2);
        CHECK(on.bound("h") == 2);
        CHECK(on.done(api_action::bound) == 4);
        on.judge();
    }
}

} // namespace adapter_driver_crash_test
