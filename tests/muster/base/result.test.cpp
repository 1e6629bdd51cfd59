// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/base/result.hpp>

#include <memory>
#include <string>
#include <utility>

namespace base_result_test {

namespace {

muster::result<int, std::string> half(int number) {
    if (number % 2 != 0)
        return muster::failure{std::string{"odd"}};
    return number / 2;
}

} // namespace

TEST_CASE("a result holds the value it was made from") {
    const auto done = half(10);
    REQUIRE(done.has_value());
    CHECK(static_cast<bool>(done));
    CHECK(done.value() == 5);
    CHECK(*done == 5);
}

TEST_CASE("a failed result holds its error") {
    const auto failed = half(7);
    REQUIRE_FALSE(failed.has_value());
    CHECK_FALSE(static_cast<bool>(failed));
    CHECK(failed.error() == "odd");
}

TEST_CASE("value and error may be of the same type") {
    const muster::result<int, int> done = 1;
    const muster::result<int, int> failed = muster::failure{1};
    CHECK(done.has_value());
    CHECK_FALSE(failed.has_value());
    CHECK(done.value() == failed.error());
}

TEST_CASE("a value that can only be moved is moved out") {
    muster::result<std::unique_ptr<int>, std::string> owner = std::make_unique<int>(3);
    const std::unique_ptr<int> taken = std::move(owner).value();
    CHECK(*taken == 3);
}

TEST_CASE("the value can be changed in place") {
    muster::result<std::string, int> text = std::string{"gang"};
    *text += "way";
    CHECK(text->size() == 7);
    text.value() = "muster";
    CHECK(*text == "muster");
}

} // namespace base_result_test
