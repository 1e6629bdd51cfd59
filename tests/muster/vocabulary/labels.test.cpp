// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <muster/vocabulary/labels.hpp>

namespace vocabulary_labels_test {

namespace {

using namespace muster;

bool matches(label_operator op, std::vector<std::string> values, const char* have) {
    const label_requirement requirement{"k", op, std::move(values)};
    const std::string value = have ? have : "";
    return requirement.matches(have ? &value : nullptr);
}

TEST_CASE("a set of labels does not depend on the order in which they were set") {
    const label_set one{{"a", "1"}, {"b", "2"}};
    label_set other;
    other.set("b", "9");
    other.set("a", "1");
    CHECK(one != other);
    other.set("b", "2");
    CHECK(one == other);
}

TEST_CASE("a label is found by its whole key, and the last value set counts") {
    label_set labels{{"zone", "a"}, {"zone", "b"}};
    const std::string* zone = labels.find("zone");
    CHECK(zone);
    if (zone)
        CHECK(*zone == "b");
    CHECK_FALSE(labels.find("zon"));
    CHECK_FALSE(labels.find("zonee"));
    CHECK_FALSE(label_set{}.find("zone"));
}

TEST_CASE("an absent label satisfies not-in and does-not-exist, and nothing else") {
    CHECK(matches(label_operator::not_in, {"x"}, nullptr));
    CHECK(matches(label_operator::does_not_exist, {}, nullptr));
    CHECK_FALSE(matches(label_operator::in, {"x"}, nullptr));
    CHECK_FALSE(matches(label_operator::exists, {}, nullptr));
    CHECK_FALSE(matches(label_operator::greater, {"0"}, nullptr));
    CHECK_FALSE(matches(label_operator::less, {"9"}, nullptr));
}

TEST_CASE("a label with an empty value exists") {
    CHECK(matches(label_operator::exists, {}, ""));
    CHECK_FALSE(matches(label_operator::does_not_exist, {}, ""));
    CHECK(matches(label_operator::in, {""}, ""));
}

TEST_CASE("in takes one of the values, not-in none of them") {
    CHECK(matches(label_operator::in, {"x", "y"}, "y"));
    CHECK_FALSE(matches(label_operator::in, {"x", "y"}, "z"));
    CHECK_FALSE(matches(label_operator::not_in, {"x", "y"}, "y"));
    CHECK(matches(label_operator::not_in, {"x", "y"}, "z"));
}

TEST_CASE("greater and less compare numbers strictly, not text") {
    CHECK(matches(label_operator::greater, {"9"}, "10"));
    CHECK_FALSE(matches(label_operator::greater, {"10"}, "10"));
    CHECK(matches(label_operator::less, {"10"}, "9"));
    CHECK_FALSE(matches(label_operator::less, {"10"}, "10"));
    CHECK(matches(label_operator::less, {"0"}, "-1"));
}

TEST_CASE("greater and less fail where either side is no int64") {
    CHECK_FALSE(matches(label_operator::greater, {"1"}, "ten"));
    CHECK_FALSE(matches(label_operator::greater, {"1"}, "10x"));
    CHECK_FALSE(matches(label_operator::greater, {"1"}, ""));
    CHECK_FALSE(matches(label_operator::greater, {"1"}, "9223372036854775808"));
    CHECK_FALSE(matches(label_operator::less, {"x"}, "1"));
    CHECK_FALSE(matches(label_operator::less, {}, "1"));
}

TEST_CASE("all requirements of a selector must hold; none at all match everything") {
    const label_set labels{{"a", "1"}, {"b", "2"}};
    CHECK(label_selector{}.matches(labels));
    CHECK(label_selector{}.matches({}));
    label_selector both{{{"a", label_operator::in, {"1"}}, {"b", label_operator::in, {"2"}}}};
    CHECK(both.matches(labels));
    both.requirements.back().values = {"3"};
    CHECK_FALSE(both.matches(labels));
}

} // namespace

} // namespace vocabulary_labels_test
