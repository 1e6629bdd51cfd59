// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <utility>

#include <doctest/doctest.h>
#include <muster/base/any_value.hpp>

using muster::detail::any_value;

namespace {

struct small {
    int number = 0;
    friend bool operator==(const small&, const small&) = default;
};
struct large {
    std::array<long, 20> numbers{};
    friend bool operator==(const large&, const large&) = default;
};
struct empty {};
struct no_equality {
    int number = 0;
};

/// Counts its live instances.
struct counted {
    explicit counted(int& alive) : count(&alive) { ++*count; }
    counted(const counted& other) noexcept : count(other.count) { ++*count; }
    counted& operator=(const counted&) = default;
    ~counted() { --*count; }
    int* count;
};
struct counted_and_large : counted {
    using counted::counted;
    std::array<long, 20> numbers{};
};

} // namespace

TEST_CASE("any_value: a copy has the value, whether stored in place or allocated") {
    any_value one(small{7});
    any_value other(large{{1, 2, 3}});
    const any_value copy = one;
    CHECK(copy.as<small>().number == 7);
    one = other;
    CHECK(one.as<large>().numbers[2] == 3);
    other = copy;
    CHECK(other.as<small>().number == 7);
    one = std::as_const(one);
    CHECK(one.as<large>().numbers[0] == 1);
}

TEST_CASE("any_value: values of one type compare by ==, values of two types differ") {
    CHECK(any_value(small{1}) == any_value(small{1}));
    CHECK_FALSE(any_value(small{1}) == any_value(small{2}));
    CHECK(any_value(large{{4}}) == any_value(large{{4}}));
    CHECK_FALSE(any_value(large{{4}}) == any_value(small{4}));
    CHECK(any_value(empty{}) == any_value(empty{}));
    CHECK_FALSE(any_value(no_equality{1}) == any_value(no_equality{1}));
}

TEST_CASE("any_value: every copy is destroyed once") {
    int alive = 0;
    {
        any_value in_place{counted(alive)};
        any_value allocated{counted_and_large(alive)};
        CHECK(alive == 2);
        any_value copy = in_place;
        CHECK(alive == 3);
        copy = allocated;
        CHECK(alive == 3);
        copy = any_value(small{});
        CHECK(alive == 2);
    }
    CHECK(alive == 0);
}
