// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/random.hpp>
#include <support/brute_force.hpp>
#include <support/cases.hpp>

namespace cycle_work_conserving_test {

namespace {

using namespace muster;
using namespace muster::testing;

constexpr kind_id cpu{0};

/// All orders of queues behind one type, so that one cycle is compiled.
struct any_order {
    static constexpr bool by_fair_share = true;
    int which = 0;

    [[nodiscard]] bool counts_next_gang() const noexcept { return which == 3; }
    [[nodiscard]] bool operator()(const queue_rank& lhs, const queue_rank& rhs) const noexcept {
        switch (which) {
        case 1:
            return weighted_share{}(lhs, rhs);
        case 2:
            return deserved_first{}(lhs, rhs);
        case 3:
            return fair_share_first{}(lhs, rhs);
        case 4:
            return priority_then_due{}(lhs, rhs);
        case 5:
            return least_past_use{}(lhs, rhs);
        default:
            return priority_then_share{}(lhs, rhs);
        }
    }
};
constexpr int orders = 6;

/// Queues on two levels that deserve some, weigh something and may have a ceiling, whose gangs ask
/// for more than there is.
world contended(std::uint64_t seed) {
    testing::random draw(seed);
    world made;
    made.seed = seed;
    made.kinds = 2;
    for (int at = 0; at < draw.between(1, 3); ++at) {
        node<world_width> spec;
        spec.allocatable[cpu] = draw.between(2, 7);
        spec.allocatable[made.pods_kind()] = 10;
        made.nodes.push_back({"n" + std::to_string(at), spec});
    }
    for (int at = 0; at < 4; ++at) {
        queue<world_width> spec;
        spec.priority = draw.between(0, 1);
        spec.weight = draw.between(0, 3);
        spec.past_use[cpu] = draw.between(0, 5);
        if (draw.percent(60))
            spec.deserved.set(cpu, draw.between(0, 5));
        if (draw.percent(30))
            spec.quota.set(cpu, draw.between(1, 8));
        made.queues.push_back({"q" + std::to_string(at), spec, {}});
        if (at > 1 && draw.percent(60))
            made.queues.back().parent = "q" + std::to_string(draw.below(2));
    }
    for (int at = 0; at < draw.between(4, 8); ++at) {
        const std::string key = "g" + std::to_string(at);
        gang<std::string> spec;
        spec.queue = "q" + std::to_string(draw.below(4));
        spec.priority = draw.between(0, 1);
        spec.created = draw.between(0, 3);
        const auto pods = draw.between(1, 3);
        spec.tree = gang_tree(draw.between(1, pods));
        made.gangs.push_back({key, spec});
        for (std::int64_t member = 0; member < pods; ++member) {
            pod<world_width> one;
            one.request[cpu] = draw.between(1, 3);
            one.request[made.pods_kind()] = 1;
            made.pods.push_back({key + "-" + std::to_string(member), key, one, {}});
        }
    }
    return made;
}

/// Worlds in which somebody starts and somebody does not.
std::size_t contended_worlds = 0;

std::string check_idle(const world& from) {
    for (int which = 0; which < orders; ++which) {
        world_state known = to_state(from);
        const policy how{best_fit{}, priority_then_age{}, any_order{which}};
        const cycle_result result = cycle(known, 0, how);
        std::size_t waiting = 0;
        for (const auto& [key, gang] : known.gang_keys()) {
            const last_verdict& last = known[gang].last;
            if (last.kind == answer::admitted)
                continue;
            ++waiting;
            if (brute_force<world_traits>(known, gang).fits())
                return "idle: " + key + " fits and waits by order " + std::to_string(which);
        }
        contended_worlds += waiting > 0 && result.counters.pods_placed > 0 ? 1 : 0;
    }
    return {};
}

} // namespace

TEST_CASE("by whatever order of queues, no gang waits whom free room and quotas would take whole") {
    contended_worlds = 0;
    CHECK(count_faults("work conserving", 500, contended, check_idle) == 0);
    std::printf("work conserving: contended %zu times\n", contended_worlds);
    CHECK(contended_worlds > 0);
}

} // namespace cycle_work_conserving_test
