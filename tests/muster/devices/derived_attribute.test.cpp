// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/derived_attribute.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

namespace derived_attribute_test {

using muster::device_attributes;
using muster::read_derived_attribute;
using muster::selector_outcome;

namespace {

device_attributes gpu() {
    device_attributes made;
    made.driver = "x.com";
    made.attributes = {{"x.com/numa", std::int64_t{1}},
                       {"x.com/at", std::string("root-3")},
                       {"x.com/is", true},
                       {"x.com/version", muster::semantic_version{1, 2, 3, {}, {}}}};
    return made;
}

muster::derived_value of(const std::string& text) {
    return read_derived_attribute("y.com/a", text).of(gpu());
}
template<class Value>
bool is(const std::string& text, const Value& value) {
    const auto made = of(text);
    const auto* const found = made.value ? std::get_if<Value>(&*made.value) : nullptr;
    return found && *found == value && made.outcome == selector_outcome::matches;
}

} // namespace

TEST_CASE("an expression has a bool, int, string or version, or a list of one of these") {
    CHECK(is("device.attributes['x.com'].numa + 1", std::int64_t{2}));
    CHECK(is("device.attributes['x.com'].at", std::string("root-3")));
    CHECK(is("device.attributes['x.com'].is && true", true));
    CHECK(is("device.driver", std::string("x.com")));
    CHECK(is("[device.attributes['x.com'].numa, device.attributes['x.com'].numa]",
             std::vector<std::int64_t>{1, 1}));
    CHECK(is("['a']", std::vector<std::string>{"a"}));
    CHECK(is("[]", std::vector<std::string>{}));
    const auto version = of("device.attributes['x.com'].version");
    REQUIRE(version.value);
    CHECK(std::get<muster::semantic_version>(*version.value).minor == 2);
}

TEST_CASE("an expression fails without a value, or with another one, and says why") {
    const auto why = [](const std::string& text, selector_outcome outcome) {
        const auto made = of(text);
        CHECK_FALSE(made.value);
        CHECK(made.outcome == outcome);
        return made.text;
    };
    CHECK(why("device.attributes['x.com'].none", selector_outcome::failed) == "no such key: none");
    CHECK(why("quantity('1')", selector_outcome::failed) ==
          "the value must be a bool, int, string or version, or a list of one of these, not "
          "kubernetes.Quantity");
    CHECK(why("[device.attributes['x.com'].numa, device.attributes['x.com'].at]",
              selector_outcome::failed)
              .ends_with("not list"));
    CHECK_FALSE(why("1 +", selector_outcome::failed).empty());
    // Kubernetes may read this.
    CHECK_FALSE(why("type(1)", selector_outcome::not_supported).empty());
    CHECK(read_derived_attribute("a", std::string(10241, ' ')).error.text ==
          "the text is longer than 10 KiB");
}

TEST_CASE("a selector must still be a bool") {
    CHECK_FALSE(muster::parse_device_selector("device.driver"));
    CHECK(muster::parse_device_selector("device.driver == 'x.com'"));
}

} // namespace derived_attribute_test
