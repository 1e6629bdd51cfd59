// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

#include <muster/vocabulary/device_rule.hpp>
#include <support/card_rule.hpp>

namespace vocabulary_device_rule_test {

using namespace muster;
using testing::card_rule;

constexpr device_demand quarter = card_rule::demand(1, 1);
constexpr device_demand half = card_rule::demand(1, 2);
constexpr device_demand most = card_rule::demand(1, 3);
constexpr device_demand pair_of_halves = card_rule::demand(2, 2);

TEST_CASE("a rule returns the answer of its object, and 0 without an object") {
    const device_rule rule = device_rule::of(testing::cards);
    CHECK(rule.room(card_rule::stock(2), {}, half, 9) == 4);
    CHECK(rule.room(card_rule::stock(2), {}, half, 3) == 3);
    CHECK(rule.room(card_rule::stock(2), {}, half, 0) == 0);
    CHECK(rule.room(device_stock::none, {}, half, 9) == 0);
    CHECK(device_rule{}.room(card_rule::stock(2), {}, half, 9) == 0);
}

TEST_CASE("demands that fit in sum but on no card do not fit") {
    const device_rule rule = device_rule::of(testing::cards);
    CHECK(rule.room(card_rule::stock(2), std::vector{most, most}, half, 1) == 0);
    CHECK(rule.room(card_rule::stock(2), std::vector{most, most}, quarter, 9) == 2);
    CHECK(rule.room(card_rule::stock(3), std::vector{most, most}, pair_of_halves, 1) == 0);
    CHECK(rule.room(card_rule::stock(4), std::vector{most, most}, pair_of_halves, 9) == 2);
}

TEST_CASE("if the held demands do not fit, there is no room") {
    CHECK(device_rule::of(testing::cards)
              .room(card_rule::stock(1), std::vector{most, most}, quarter, 1) == 0);
}

/// Stores the question's number in the state, and says whether it was asked before.
struct remembering {
    mutable std::uint32_t questions = 0;

    std::int64_t room(device_stock, std::span<const device_demand>, device_demand, std::int64_t,
                      device_state& state) const {
        const bool is_known = state != device_state::unknown;
        if (!is_known)
            state = device_state{++questions};
        return is_known ? 1 : 0;
    }
};

TEST_CASE("an object that takes a state finds there what it stored") {
    const remembering object;
    const device_rule rule = device_rule::of(object);
    device_state state = device_state::unknown;
    CHECK(rule.room(card_rule::stock(1), {}, half, 9, state) == 0);
    CHECK(state == device_state{1});
    CHECK(rule.room(card_rule::stock(1), {}, half, 9, state) == 1);
    CHECK(rule.room(card_rule::stock(1), {}, half, 9) == 0);
    CHECK(object.questions == 2);
}

} // namespace vocabulary_device_rule_test
