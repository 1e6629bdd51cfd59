// SPDX-License-Identifier: Apache-2.0
#include <muster/document/metadata_text.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace metadata_text_test {

using namespace muster::codec;
using muster::codec::detail::go_boolean;
using muster::codec::detail::listed_words;
using muster::codec::detail::split_text;
using muster::codec::detail::whole_number;

TEST_CASE("a text is split at each separator, and empty parts count") {
    CHECK(split_text("a,,b", ',') == std::vector<std::string_view>{"a", "", "b"});
    CHECK(split_text("", ',') == std::vector<std::string_view>{""});
    CHECK(split_text(",", ',').size() == 2);
}

TEST_CASE("words of a list are trimmed, and empty words are left out") {
    CHECK(listed_words(" a b ,, \t,c") == std::vector<std::string>{"a b", "c"});
    CHECK(listed_words("").empty());
}

TEST_CASE("a whole number must be the whole text and within the bounds") {
    CHECK(whole_number("7", 0, 10) == 7);
    CHECK(whole_number("-1", -1, 10) == -1);
    for (const char* const wrong :
         {"", "+7", " 7", "7 ", "7.0", "0x7", "11", "-1", "99999999999999999999"})
        CHECK_FALSE(whole_number(wrong, 0, 10).has_value());
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    CHECK(whole_number("9223372036854775807", 0, most) == most);
}

TEST_CASE("booleans are parsed as by Go's strconv.ParseBool") {
    CHECK(go_boolean("T") == true);
    CHECK(go_boolean("False") == false);
    for (const char* const wrong : {"", "yes", "tRUE", "2"})
        CHECK_FALSE(go_boolean(wrong).has_value());
}

TEST_CASE("a message about a text of metadata names the object and the key") {
    object_metadata metadata;
    metadata.key = {"ns", "p"};
    metadata.labels.set("l", "v");
    diagnostics out;
    const metadata_text label(metadata, "pod", "l", out, "labels");
    CHECK(label.is_present());
    CHECK(label.text() == "v");
    CHECK(label.text_of("wrong") == "pod ns/p: l: wrong");
    label.warning("wrong");
    REQUIRE(out.warnings() == 1);
    CHECK(out.findings()[0].path == "metadata.labels.l");
    const metadata_text absent(metadata, "pod", "l", out);
    CHECK_FALSE(absent.is_present());
    CHECK(absent.text().empty());
}

} // namespace metadata_text_test
