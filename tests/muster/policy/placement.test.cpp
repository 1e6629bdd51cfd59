// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <utility>

#include <muster/policy/placement.hpp>

#include "../builders.hpp"

namespace policy_placement_test {

namespace {

using namespace builders;
using namespace muster;

struct most_gpus_left {
    template<std::size_t Width>
    std::int64_t operator()(const placement_weights<Width>&, const resources<Width>& free,
                            const resources<Width>&) const noexcept {
        return free[gpu];
    }
};
struct may_throw {
    template<std::size_t Width>
    std::int64_t operator()(const placement_weights<Width>&, const resources<Width>&,
                            const resources<Width>&) const {
        return 0;
    }
};
struct fractional {
    template<std::size_t Width>
    double operator()(const placement_weights<Width>&, const resources<Width>&,
                      const resources<Width>&) const noexcept {
        return 0.5;
    }
};
/// Urgent gangs go where most is free; pods that claim a port, where least is; others to the first.
struct by_pod_and_gang {
    template<std::size_t Width>
    std::int64_t operator()(const offered_node<Width>& offered) const noexcept {
        if (offered.of->priority > 0)
            return offered.free[cpu];
        if (!offered.pod.claims.empty())
            return -offered.free[cpu];
        return -static_cast<std::int64_t>(offered.node.value());
    }
    [[nodiscard]] friend bool operator==(by_pod_and_gang, by_pod_and_gang) = default;
};
static_assert(placement_score<most_gpus_left, 3>);
static_assert(pod_score<by_pod_and_gang, 3> && placement_score<by_pod_and_gang, 3>);
static_assert(!placement_score<may_throw, 3>);
static_assert(!placement_score<fractional, 3>, "scores are integers");

cluster three_nodes() {
    cluster known;
    ok(known.upsert_node("a", machine(6)));
    ok(known.upsert_node("b", machine(4, 1)));
    ok(known.upsert_node("c", machine(8)));
    add_gang(known, "g", 1, 3);
    return known;
}

template<class Score>
std::string placed_by() {
    cluster known = three_nodes();
    static_cast<void>(cycle(known, 0, policy<Score>{}));
    return node_of(known, "g-0");
}

TEST_CASE("best fit takes the node with the least left, all kinds weighed alike") {
    cluster known = three_nodes();
    ok(known.remove_node("b"));
    static_cast<void>(cycle(known, 0));
    CHECK(node_of(known, "g-0") == "a");
    // b has fewer cpus and a whole node's worth of gpus.
    CHECK(placed_by<best_fit>() == "a");
}

TEST_CASE("worst fit takes the node with the most left") {
    CHECK(placed_by<worst_fit>() == "b");
}

TEST_CASE("a score may look at the pod and at its gang") {
    cluster known;
    for (const auto& [key, cpus] : {std::pair("a", 6), std::pair("b", 4), std::pair("c", 8)}) {
        auto node = machine(cpus);
        node.labels = {{"zone", "z"}, {"host", key}};
        ok(known.upsert_node(key, node));
    }
    auto gang = gang_of(1);
    auto pod = asking(3);
    SUBCASE("among all nodes") {}
    SUBCASE("in a domain") {
        gang.tree.constrain_topology(vertex_index{0}, {{{"zone"}}, 0, std::nullopt});
    }
    SUBCASE("beside pods with terms") {
        pod.where.pods.emplace();
        pod.where.pods->anti_affinity.push_back({{}, "host"});
    }
    const auto placed = [&] {
        cluster copy = known;
        ok(copy.upsert_gang("h", gang));
        ok(copy.upsert_pod("h-0", "h", pod));
        static_cast<void>(cycle(copy, 0, policy<by_pod_and_gang>{}));
        return node_of(copy, "h-0");
    };
    CHECK(placed() == "a");
    pod.where.claims.ports.push_back({"TCP", "", 80});
    CHECK(placed() == "b");
    gang.priority = 1;
    CHECK(placed() == "c");
}

TEST_CASE("first fit takes the first key that fits") {
    CHECK(placed_by<first_fit>() == "a");
    cluster known = three_nodes();
    ok(known.upsert_node("a", machine(2)));
    static_cast<void>(cycle(known, 0, policy<first_fit>{}));
    CHECK(node_of(known, "g-0") == "b");
}

TEST_CASE("a score of one's own decides") {
    CHECK(placed_by<most_gpus_left>() == "b");
}

} // namespace

} // namespace policy_placement_test
