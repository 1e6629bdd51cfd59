// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include <muster/cluster/state.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/vocabulary/traits.hpp>

namespace vocabulary_traits_test {

namespace {

using namespace muster;

/// A scheduler's own node: its address says nothing about its place in any order.
struct machine {
    int rank = 0;
};

struct raw_pointer_keys : string_traits<1> {
    using node_key = const machine*;
};
struct projected_pointer_keys : string_traits<1> {
    using node_key = const machine*;
    static int order(const machine* key) { return key->rank; }
};
struct number_keys {
    using node_key = int;
    using pod_key = std::pair<int, int>;
    using gang_key = long;
    using queue_key = char;
    static constexpr std::size_t width = 2;
};
struct unordered_keys : string_traits<1> {
    using pod_key = machine;
};
struct projected_struct_keys : string_traits<1> {
    using pod_key = machine;
    static int order(const machine& key) { return key.rank; }
};
struct without_width {
    using node_key = int;
    using pod_key = int;
    using gang_key = int;
    using queue_key = int;
};

static_assert(state_traits<string_traits<4>>);
static_assert(state_traits<number_keys>);
static_assert(state_traits<projected_pointer_keys>);
static_assert(state_traits<projected_struct_keys>);
static_assert(!state_traits<raw_pointer_keys>, "addresses must not decide ties");
static_assert(!state_traits<unordered_keys>);
static_assert(!state_traits<without_width>);
static_assert(!state_traits<int>);

TEST_CASE("pointers with a projection are keys, and their projection decides ties") {
    // In both arrays the better rank stands at one end: addresses cannot agree with both.
    const machine nodes[2][2] = {{{1}, {2}}, {{2}, {1}}};
    for (const auto& pair : nodes) {
        state<projected_pointer_keys> known;
        for (const machine& each : pair) {
            node<1> spec;
            spec.allocatable[kind_id{0}] = 4;
            CHECK(known.upsert_node(&each, spec) == event_result::applied);
        }
        gang<std::string> group;
        group.tree = single_role(1);
        CHECK(known.upsert_gang("g", group) == event_result::applied);
        pod<1> member;
        member.request[kind_id{0}] = 1;
        CHECK(known.upsert_pod("p", "g", member) == event_result::applied);
        const cycle_result result = cycle(known, 0);
        CHECK(result.counters.pods_placed == 1);
        if (result.counters.pods_placed == 1)
            CHECK(known.key(result.decisions.front().placements.front().node)->rank == 1);
    }
}

TEST_CASE("keys are ordered by their own order where there is no projection") {
    const key_less<string_traits<1>> by_text;
    CHECK(by_text(std::string("n10"), std::string("n2")));
    CHECK_FALSE(by_text(std::string("n2"), std::string("n2")));
    const machine first{1};
    const machine second{2};
    CHECK(key_less<projected_pointer_keys>{}(&first, &second));
    CHECK_FALSE(key_less<projected_pointer_keys>{}(&second, &first));
}

} // namespace

} // namespace vocabulary_traits_test
