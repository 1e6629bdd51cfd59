// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cluster/state.hpp>
#include <muster/index/domain_scan.hpp>
#include <muster/index/flat_finder.hpp>
#include <muster/policy/placement.hpp>

namespace index_domain_scan_test {

namespace {

using namespace muster;
using traits = string_traits<4>;
using cluster = state<traits>;

struct scene {
    cluster known;

    scene() {
        cluster::gang_type group;
        group.tree = single_role(1);
        CHECK(known.upsert_gang("g", group) == event_result::applied);
        cluster::pod_type pod;
        pod.request[0] = 2;
        CHECK(known.upsert_pod("p", "g", pod) == event_result::applied);
    }

    void node(const std::string& key, std::int64_t amount) {
        cluster::node_type made;
        made.allocatable[0] = amount;
        CHECK(known.upsert_node(key, made) == event_result::applied);
    }

    template<class Score>
    std::vector<std::pair<std::string, std::int64_t>> find(const Score& score, std::int64_t want,
                                                           const std::string& without = {}) {
        detail::sequence<node_run> runs;
        domain_scan<core_of<traits>> scan;
        const auto pod = known.find_pod("p")->index;
        found = scan.find(
            known, weigh(known.accounts(), std::nullopt), score, known.node_order(),
            [&](node_index at) { return known.key(at) != without; }, known[pod].shape, {}, nullptr,
            want, runs);
        std::vector<std::pair<std::string, std::int64_t>> named;
        for (const node_run& run : runs)
            named.push_back({known.key(run.node), run.count});
        return named;
    }

    std::int64_t found = 0;
    using list = std::vector<std::pair<std::string, std::int64_t>>;
};

TEST_CASE("the tightest nodes are filled one after the other") {
    scene in;
    in.node("a", 8);
    in.node("b", 3);
    in.node("c", 5);
    CHECK(in.find(best_fit{}, 4) == scene::list{{"b", 1}, {"c", 2}, {"a", 1}});
    CHECK(in.find(first_fit{}, 5) == scene::list{{"a", 4}, {"b", 1}});
}

TEST_CASE("what is found less than was wanted is all there is") {
    scene in;
    in.node("a", 4);
    in.node("b", 1);
    CHECK(in.find(best_fit{}, 9) == scene::list{{"a", 2}});
    CHECK(in.found == 2);
    CHECK(fills_nodes(best_fit{}));
    CHECK(!fills_nodes(worst_fit{}));
}

TEST_CASE("a score that spreads takes one pod at a time") {
    scene in;
    in.node("a", 4);
    in.node("b", 6);
    CHECK(in.find(worst_fit{}, 3) == scene::list{{"b", 1}});
}

TEST_CASE("equal nodes go in the order of their keys, and those not admitted are left out") {
    scene in;
    in.node("b", 4);
    in.node("a", 4);
    CHECK(in.find(best_fit{}, 3) == scene::list{{"a", 2}, {"b", 1}});
    CHECK(in.find(best_fit{}, 3, "a") == scene::list{{"b", 2}});
}

} // namespace

} // namespace index_domain_scan_test
