// SPDX-License-Identifier: Apache-2.0
// A score and an order of one's own, each a small value that satisfies a concept, beside built-in
// ones in one policy.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include <muster/muster.hpp>

namespace {

constexpr std::size_t width = 4;
constexpr muster::kind_id gpu{0};
using cluster = muster::state<muster::string_traits<width>>;

/// A node that the pod would fill to the last GPU goes first; all others as `Otherwise` says.
template<class Otherwise>
struct fill_up_first {
    Otherwise otherwise;

    template<std::size_t Width>
    std::int64_t operator()(const muster::placement_weights<Width>& weights,
                            const muster::resources<Width>& free,
                            const muster::resources<Width>& request) const noexcept {
        if (request[gpu] > 0 && request[gpu] == free[gpu])
            return std::numeric_limits<std::int64_t>::max();
        return otherwise(weights, free, request);
    }
};

/// From `from` o'clock on the low priorities go first, until midnight.
struct night_shift {
    std::int64_t from = 20;

    bool operator()(muster::gang_rank lhs, muster::gang_rank rhs, std::int64_t now) const noexcept {
        if (now / 3600 % 24 >= from && lhs.priority != rhs.priority)
            return lhs.priority < rhs.priority;
        return muster::priority_then_age{}(lhs, rhs, now);
    }
};

static_assert(muster::placement_score<fill_up_first<muster::worst_fit>, width>);
static_assert(muster::gang_order<night_shift>);

void expect_applied(muster::event_result what) {
    if (what != muster::event_result::applied)
        std::exit(EXIT_FAILURE);
}

void add_node(cluster& to, const char* key, std::int64_t gpus) {
    muster::node<width> machine;
    machine.allocatable[gpu] = gpus;
    expect_applied(to.upsert_node(key, machine));
}

void add_gang(cluster& to, const std::string& key, std::int64_t priority, std::int64_t created,
              std::int64_t members, std::int64_t gpus) {
    muster::gang<std::string> group;
    group.priority = priority;
    group.created = created;
    group.tree = muster::single_role(members);
    expect_applied(to.upsert_gang(key, group));
    muster::pod<width> worker;
    worker.request[gpu] = gpus;
    for (std::int64_t rank = 0; rank < members; ++rank)
        expect_applied(to.upsert_pod(key + "-" + std::to_string(rank), key, worker));
}

// `preview` decides without changing the state, so policies can be compared on the same one.
template<class Policy>
void show(const char* title, const cluster& known, std::int64_t now, const Policy& how) {
    std::printf("%s\n", title);
    for (const muster::decision& made : muster::preview(known, now, how).decisions) {
        std::printf("  %-6s", known.key(made.gang).c_str());
        for (const auto& [pod, node] : made.placements)
            std::printf(" %s", known.key(node).c_str());
        std::printf("%s\n", made.placements.empty() ? " waits" : "");
    }
}

} // namespace

int main() {
    cluster known;
    add_node(known, "large", 8);
    add_node(known, "medium", 4);
    add_node(known, "small", 2);
    const std::int64_t now = 20 * 3600;
    add_gang(known, "urgent", 10, now, 3, 4);     // high priority, and came just now
    add_gang(known, "batch", 0, 0, 2, 4);         // low priority: batch work
    add_gang(known, "tiny", 5, now - 3600, 1, 2); // fills the small node exactly

    show("built-in: pack, by priority and age", known, now, muster::policy<>{});
    show("built-in: spread, by priority and age", known, now, muster::policy<muster::worst_fit>{});
    show("our own: fill up first, else spread; the night shift began at 20:00", known, now,
         muster::policy<fill_up_first<muster::worst_fit>, night_shift>{});
    show("our own: the same, where it begins at 22:00", known, now,
         muster::policy<fill_up_first<muster::worst_fit>, night_shift>{{}, {22}, {}, {}});
}
