// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/vocabulary/node_claims.hpp>

namespace vocabulary_node_claims_test {

using namespace muster;

const node_claims web{{{"TCP", "", 80}}};
const node_claims dns{{{"UDP", "", 53}, {"TCP", "", 53}}};

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
    const node_claims both{{{"TCP", "", 81}, {"TCP", "", 53}}};
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
    CHECK(node.admits(web));
    node.take(web);
    CHECK_FALSE(node.admits(web));
    CHECK(node.admits(dns));
    CHECK(node.admits({}));
    node.take(dns);
    CHECK(node.size() == 3);
    SUBCASE("what is given back is free again, in any order") {
        const claimed_on_node before = node;
        const node_claims other{{{"TCP", "", 54}, {"TCP", "", 1}}};
        node.take(other);
        CHECK(node != before);
        node.give(other);
        CHECK(node == before);
        node.give(web);
        CHECK(node.admits(web));
        node.give(dns);
        CHECK(node.empty());
    }
    SUBCASE("claims that are there already are told from those of others") {
        CHECK(node.admits_others_beside(web));
        node.take(web);
        CHECK_FALSE(node.admits_others_beside(web));
    }
}

} // namespace vocabulary_node_claims_test
