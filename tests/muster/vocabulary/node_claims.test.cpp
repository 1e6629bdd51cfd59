// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include <muster/vocabulary/node_claims.hpp>

namespace vocabulary_node_claims_test {

using namespace muster;

const node_claims web{{{"TCP", "", 80}}, device_demand::none};
const node_claims dns{{{"UDP", "", 53}, {"TCP", "", 53}}, device_demand::none};
constexpr device_demand small{1};
constexpr device_demand large{2};
constexpr device_stock box{5};

/// A node serves as many units as its stock says; a demand is a number of units.
struct unit_rule {
    [[nodiscard]] std::int64_t room(device_stock has, std::span<const device_demand> held,
                                    device_demand more, std::int64_t most) const {
        auto left = static_cast<std::int64_t>(has);
        for (const device_demand one : held)
            left -= static_cast<std::int64_t>(one);
        return std::clamp<std::int64_t>(left / static_cast<std::int64_t>(more), 0, most);
    }
};
constexpr unit_rule units{};
const device_rule rule = device_rule::of(units);

bool admits(const claimed_on_node& node, const node_claims& claims) {
    return node.room(claims, 1, box, rule) == 1;
}

TEST_CASE("ports conflict by number and protocol, and an empty address is every address") {
    const host_port any{"TCP", "", 80};
    CHECK_FALSE(compatible(any, any));
    CHECK_FALSE(compatible(any, {"TCP", "10.0.0.1", 80}));
    CHECK_FALSE(compatible(host_port{"TCP", "10.0.0.1", 80}, any));
    CHECK(compatible(host_port{"TCP", "10.0.0.2", 80}, {"TCP", "10.0.0.1", 80}));
    CHECK(compatible(any, {"UDP", "", 80}));
    CHECK(compatible(any, {"TCP", "", 81}));
}

TEST_CASE("claims are compatible if each of the one is with each of the other") {
    CHECK(compatible(web, dns));
    CHECK(compatible(web, {}));
    CHECK(compatible(node_claims{}, node_claims{}));
    const node_claims both{{{"TCP", "", 81}, {"TCP", "", 53}}, device_demand::none};
    CHECK_FALSE(compatible(dns, both));
    CHECK_FALSE(compatible(both, dns));
}

TEST_CASE("of pods with the same port a node takes one, of pods without claims all") {
    CHECK(max_beside_itself(web, 7) == 1);
    CHECK(max_beside_itself(web, 0) == 0);
    CHECK(max_beside_itself({}, 7) == 7);
}

TEST_CASE("a node admits claims that are compatible with all claims on it") {
    claimed_on_node node;
    CHECK(node.empty());
    CHECK(admits(node, web));
    node.take(web);
    CHECK_FALSE(admits(node, web));
    CHECK(admits(node, dns));
    CHECK(admits(node, {}));
    node.take(dns);
    CHECK(node.size() == 3);
    SUBCASE("a released demand is free again, in any order") {
        const claimed_on_node before = node;
        const node_claims other{{{"TCP", "", 54}, {"TCP", "", 1}}, small};
        node.take(other);
        CHECK(node != before);
        node.give(other);
        CHECK(node == before);
        node.give(web);
        CHECK(admits(node, web));
        node.give(dns);
        CHECK(node.empty());
    }
    SUBCASE("claims that are there already are told from those of others") {
        CHECK(node.admits_others_beside(web, box, rule));
        node.take(web);
        CHECK_FALSE(node.admits_others_beside(web, box, rule));
    }
}

TEST_CASE("the room for device demands is that of the rule") {
    claimed_on_node node;
    CHECK(node.room({{}, small}, 9, box, rule) == 5);
    CHECK(node.room({{}, large}, 9, box, rule) == 2);
    CHECK(node.room({{}, large}, 1, box, rule) == 1);
    node.take(node_claims{{}, large});
    CHECK(node.size() == 1);
    CHECK_FALSE(node.empty());
    CHECK(node.room({{}, small}, 9, box, rule) == 3);
    CHECK(node.room({}, 9, box, rule) == 9);
    SUBCASE("a demand of a pod on the node is not counted as one of the others") {
        node.take(node_claims{{}, large});
        CHECK(node.admits_others_beside({{}, large}, box, rule));
        node.take(node_claims{{}, large});
        CHECK_FALSE(node.admits_others_beside({{}, large}, box, rule));
    }
    SUBCASE("a released demand is free again") {
        node.take(node_claims{{}, small});
        node.give(node_claims{{}, large});
        CHECK(node.devices() == std::vector{small});
    }
    SUBCASE("ports and devices must both have room") {
        node.take(web);
        CHECK(node.room({web.ports, small}, 9, box, rule) == 0);
        CHECK(node.room({dns.ports, small}, 9, box, rule) == 1);
    }
}

/// Returns how often the rule was asked about the same state.
struct counting_rule {
    std::int64_t room(device_stock, std::span<const device_demand>, device_demand, std::int64_t,
                      device_state& state) const {
        state = device_state{static_cast<std::uint32_t>(state) + 1};
        return static_cast<std::int64_t>(state);
    }
};

TEST_CASE("what the rule stored is kept until the demands, the devices or the rule change") {
    const counting_rule object;
    const device_rule counting = device_rule::of(object);
    claimed_on_node node;
    const auto asked = [&] { return node.room({{}, small}, 9, box, counting); };
    CHECK(asked() == 1);
    node.take(web);
    CHECK(asked() == 2);
    node.take(node_claims{{}, large});
    CHECK(asked() == 1);
    const claimed_on_node same = node;
    CHECK(asked() == 2);
    CHECK(node == same);
    node.give(node_claims{{}, large});
    CHECK(asked() == 1);
    node.forget_state();
    CHECK(asked() == 1);
    node.clear();
    CHECK(asked() == 1);
}

TEST_CASE("without a rule no device demand is served") {
    CHECK(claimed_on_node{}.room({{}, small}, 3, box, {}) == 0);
    CHECK(claimed_on_node{}.room({}, 3, box, {}) == 3);
}

TEST_CASE("the claims of several pods are added and removed at once") {
    claimed_on_node leaving;
    leaving.take(dns);
    leaving.take(node_claims{{}, large});
    claimed_on_node node;
    node.take(web);
    const claimed_on_node before = node;
    node.take(leaving);
    CHECK(node.size() == 4);
    node.give(leaving);
    CHECK(node == before);
}

} // namespace vocabulary_node_claims_test
