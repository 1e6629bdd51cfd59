// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/words/surplus_text.hpp>

namespace words_surplus_text_test {

using muster::words::surplus_text;

TEST_CASE("at most three members that wait beyond the minimum are named") {
    CHECK(surplus_text({"a"}) == "a waits beyond the minimum");
    CHECK(surplus_text({"a", "b"}) == "a, b wait beyond the minimum");
    CHECK(surplus_text({"a", "b", "c", "d"}) == "a, b, c (+1 pod) wait beyond the minimum");
}

} // namespace words_surplus_text_test
