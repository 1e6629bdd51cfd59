// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/policy/domain_order.hpp>

namespace policy_domain_order_test {

namespace {

using namespace muster;

constexpr domain_rank small_and_empty{2, 100};
constexpr domain_rank small_and_full{2, 10};
constexpr domain_rank large_and_full{8, 20};

TEST_CASE("the most packed domain goes first, however large it is") {
    CHECK(most_packed{}(small_and_full, large_and_full));
    CHECK(most_packed{}(large_and_full, small_and_empty));
    CHECK(!most_packed{}(small_and_full, small_and_full));
}

TEST_CASE("the smallest domain goes first, and of those the most packed") {
    CHECK(smallest_first{}(small_and_empty, large_and_full));
    CHECK(smallest_first{}(small_and_full, small_and_empty));
    CHECK(!smallest_first{}(large_and_full, small_and_full));
}

TEST_CASE("by labels alone no domain goes before another") {
    CHECK(!as_labelled{}(small_and_full, large_and_full));
    CHECK(!as_labelled{}(large_and_full, small_and_full));
}

} // namespace

} // namespace policy_domain_order_test
