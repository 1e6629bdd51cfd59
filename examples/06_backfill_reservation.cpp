// SPDX-License-Identifier: Apache-2.0
// One large gang against a stream of small ones, in virtual time, by four rules of whom room is
// kept for: nobody, the first in line by declared durations, several, and the one that was passed
// too often.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <muster/muster.hpp>

namespace {

constexpr muster::kind_id gpu{0};
using cluster = muster::state<muster::string_traits<4>>;

void expect_applied(muster::event_result what) {
    if (what != muster::event_result::applied)
        std::exit(EXIT_FAILURE);
}

void submit(cluster& to, const std::string& name, std::int64_t now, int members,
            std::int64_t hours) {
    muster::gang<std::string> group;
    group.created = now;
    group.duration = hours;
    group.tree = muster::single_role(members);
    expect_applied(to.upsert_gang(name, group));
    muster::pod<4> worker;
    worker.request[gpu] = 4;
    for (int rank = 0; rank < members; ++rank)
        expect_applied(to.upsert_pod(name + "-" + std::to_string(rank), name, worker));
}

/// Every hour a small job of three hours arrives, and at hour 2 one that needs all four nodes.
template<class Rule>
void replay(const char* title, Rule rule) {
    using muster::best_fit, muster::priority_then_age, muster::priority_then_share;
    const muster::policy<best_fit, priority_then_age, priority_then_share, Rule> how{
        {}, {}, {}, rule};
    cluster known;
    for (const char* name : {"node-a", "node-b", "node-c", "node-d"}) {
        muster::node<4> machine;
        machine.allocatable[gpu] = 4;
        expect_applied(known.upsert_node(name, machine));
    }
    std::printf("%s\n", title);
    std::multimap<std::int64_t, std::string> ends;
    int passed = 0;
    for (std::int64_t hour = 0; hour < 24; ++hour) {
        for (; !ends.empty() && ends.begin()->first == hour; ends.erase(ends.begin()))
            expect_applied(known.finish_gang(ends.begin()->second));
        submit(known, "small-" + std::to_string(100 + hour), hour, 1, 3);
        if (hour == 2)
            submit(known, "large", hour, 4, 6);
        for (const muster::decision& made : muster::cycle(known, hour, how).decisions) {
            if (made.placements.empty())
                continue;
            const std::string& name = known.key(made.gang);
            ends.emplace(hour + *known[made.gang].spec.duration, name);
            if (name == "large") {
                std::printf("  hour %2d: large starts, passed by %d\n", static_cast<int>(hour),
                            passed);
                return;
            }
            passed += hour >= 2 ? 1 : 0;
        }
        if (hour == 2)
            for (const auto& kept : known.reservations())
                std::printf("  hour  2: %s is planned for hour %d\n",
                            known.key(kept.owner.index).c_str(), static_cast<int>(*kept.start));
    }
    std::printf("  large has not started after 24 hours, passed by %d\n", passed);
}

} // namespace

int main() {
    replay("no reservations", muster::no_reservations{});
    replay("EASY backfill", muster::easy_backfill{});
    replay("conservative backfill of two", muster::conservative_backfill{2, {}});
    replay("at most three may pass", muster::bounded_bypass{3});
}
