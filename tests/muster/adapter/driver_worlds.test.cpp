// SPDX-License-Identifier: Apache-2.0
#include <muster/adapter/driver.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "driver_bench.hpp"

namespace adapter_driver_worlds_test {

using namespace driver_bench;

/// Two nodes, two gangs, and everything that can go wrong for a while. Then all is well again, and
/// must be so with the gangs too.
struct world {
    explicit world(std::uint64_t seed) : roll(seed), on(seed) {
        on.respawns = true;
        on.kubelets_may_refuse = true;
        on.own_gate = roll.percent(30);
        on.unbound_volumes = roll.percent(20);
        on.elections.elects = roll.percent(50);
        on.elections.lease = 5 * second;
        on.elections.renewal = 2 * second;
        on.elections.retry = 500 * millisecond;
        on.checker = testing::journal_checker{{500 * millisecond, 2 * second}};
        on.api.fault_percent = roll.between(0, 25);
        on.api.how_long.latency = roll.between(1, 30) * millisecond;
        on.api.how_long.timeout = 1 * second;
        if (roll.percent(30))
            on.options.most_under_way = 1;
        on.options.compare_every = 20 * second;
        on.options.stale_after = 300 * millisecond;
        on.nodes(2, 3);
        on.queue("q", 6);
        for (int at = 0; at < 2; ++at) {
            count[at] = static_cast<int>(roll.between(2, 3));
            minimum[at] = static_cast<int>(roll.between(1, count[at]));
            on.group(name(at), minimum[at], "q", labels_only[at] = roll.percent(20));
            on.pods(name(at), count[at]);
        }
        on.start("a");
        if (on.elections.elects)
            on.start("b");
    }

    static std::string name(int gang) { return gang == 0 ? "g" : "h"; }
    [[nodiscard]] int any_gang() { return static_cast<int>(roll.below(2)); }
    [[nodiscard]] std::string any_node() { return roll.percent(50) ? "n1" : "n2"; }
    [[nodiscard]] std::string any_pod() {
        const int gang = any_gang();
        return name(gang) + "-" + std::to_string(roll.between(0, count[gang] - 1));
    }
    [[nodiscard]] scheduler* any_scheduler() {
        return on.all.empty() ? nullptr : on.all[roll.below(on.all.size())].get();
    }

    void bury() {
        for (std::size_t at = 0; at < on.all.size();)
            if (on.api.has_crashed(bench::name_of(*on.all[at])))
                on.kill(*on.all[at]);
            else
                ++at;
    }
    void revive() {
        for (const char* const identity : {"a", "b"}) {
            if (std::string(identity) == "b" && !on.elections.elects)
                continue;
            if (std::ranges::none_of(on.all,
                                     [&](const auto& each) { return each->identity == identity; }))
                on.start(identity);
        }
    }

    void disturb() {
        scheduler* const one = any_scheduler();
        switch (roll.below(17)) {
        case 0:
            if (one != nullptr)
                on.kill(*one);
            return;
        case 1:
            on.wrong(order_kind::any,
                     roll.percent(50) ? fault_kind::crash_before : fault_kind::crash_after,
                     roll.between(1, 6));
            return;
        case 2:
            if (one != nullptr && on.elections.elects)
                one->frozen = !one->frozen;
            return;
        case 3:
            if (one != nullptr)
                one->client.cut_off = !one->client.cut_off;
            return;
        case 4:
            on.api.forget_history();
            return;
        case 5:
            if (one != nullptr)
                one->client.skips = !one->client.skips;
            return;
        case 6:
            if (one != nullptr)
                one->client.delay[roll.below(object_kinds)] = roll.between(0, 200) * millisecond;
            return;
        case 7:
            on.api.remove_node(any_node());
            return;
        case 8:
            on.node(any_node(), 3, roll.percent(50));
            return;
        case 9:
            on.api.delete_pod(any_pod());
            return;
        case 10:
            on.api.set_phase(any_pod(), pod_phase::failed);
            return;
        case 11: {
            const int gang = any_gang();
            minimum[gang] = static_cast<int>(roll.between(1, count[gang]));
            on.group(name(gang), minimum[gang], "q", labels_only[gang]);
            return;
        }
        case 12: {
            const int gang = any_gang();
            on.api.remove_gang(name(gang));
            for (int at = 0; at < count[gang]; ++at)
                on.api.delete_pod(name(gang) + "-" + std::to_string(at));
            on.group(name(gang), minimum[gang], "q", labels_only[gang]);
            return;
        }
        case 13: {
            on.ours = on.respawns = false;
            const std::string foreign = "foreign-" + std::to_string(++foreigners);
            const bool gate = std::exchange(on.own_gate, false);
            const bool volumes = std::exchange(on.unbound_volumes, false);
            on.pod(foreign, "foreign");
            on.own_gate = gate;
            on.unbound_volumes = volumes;
            on.api.bind_elsewhere(foreign, any_node());
            on.ours = on.respawns = true;
            return;
        }
        case 14:
            on.queue("q", roll.between(1, 6));
            return;
        case 15:
            on.wrong(order_kind::bind, fault_kind::refused, 1, roll.between(1, 4), any_pod());
            return;
        case 16:
            on.api.jump_wall(roll.between(-3600, 3600) * second);
            return;
        }
    }

    void play() {
        const std::int64_t disturbances = roll.between(3, 25);
        for (std::int64_t at = 0; at < disturbances; ++at) {
            on.run(roll.between(1, roll.percent(50) ? 60 : 3'000) * millisecond);
            bury();
            if (roll.percent(60))
                revive();
            disturb();
        }
        on.run(roll.between(1, 2'000) * millisecond);
    }

    void make_well() {
        on.api.fault_percent = 0;
        on.api.faults.clear();
        bury();
        revive();
        on.nodes(2, 3);
        on.queue("q", 6);
        for (int at = 1; at <= foreigners; ++at)
            on.api.delete_pod("foreign-" + std::to_string(at));
        for (const auto& each : on.all) {
            each->frozen = each->client.cut_off = false;
            each->client.delay = {};
        }
    }

    testing::random roll;
    bench on;
    int count[2] = {};
    int minimum[2] = {};
    bool labels_only[2] = {};
    int foreigners = 0;
};

TEST_CASE("whatever goes wrong for a while, in the end every gang stands and nothing is written") {
    const std::uint64_t first = muster::testing::random_seed();
    const std::uint64_t cases = muster::testing::case_count(2'000);
    for (std::uint64_t seed = first; seed < first + cases; ++seed) {
        CAPTURE(seed);
        world of(seed);
        of.play();
        of.make_well();
        of.on.run(150 * second);
        for (int gang = 0; gang < 2; ++gang) {
            CAPTURE(gang);
            CHECK(of.on.bound(world::name(gang)) == of.count[gang]);
        }
        of.on.judge();
        if (cases == 1)
            of.on.print();
    }
}

} // namespace adapter_driver_worlds_test
