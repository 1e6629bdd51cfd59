// SPDX-License-Identifier: Apache-2.0
#include <muster/document/source_text.hpp>

#include <string_view>

#include <doctest/doctest.h>

namespace codec_source_text_test {

using namespace muster::codec;

TEST_CASE("offsets become lines and columns from 1") {
    const source_text source("f", "ab\ncd\n\nx");
    CHECK(source.at(0) == location{"f", 1, 1});
    CHECK(source.at(2) == location{"f", 1, 3});
    CHECK(source.at(3) == location{"f", 2, 1});
    CHECK(source.at(6) == location{"f", 3, 1});
    CHECK(source.at(7) == location{"f", 4, 1});
    CHECK(source.at(99) == location{"f", 4, 2});
    CHECK(source_text("e", "").at(0) == location{"e", 1, 1});
}

TEST_CASE("a byte order mark is no column") {
    const source_text source("f", "\xEF\xBB\xBF{}");
    CHECK(source.start() == 3);
    CHECK(source.at(3) == location{"f", 1, 1});
}

TEST_CASE("the first byte that is not printable UTF-8 is found") {
    using detail::find_unprintable;
    constexpr auto none = std::string_view::npos;
    CHECK(find_unprintable("a\tb\r\n\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") == none);
    CHECK(find_unprintable(std::string_view("ab\0c", 4)) == 2);
    CHECK(find_unprintable("a\x1B") == 1);
    CHECK(find_unprintable("\xFF") == 0);
    CHECK(find_unprintable("a\xC3") == 1);
    CHECK(find_unprintable("\xC0\x80") == 0);         // overlong
    CHECK(find_unprintable("\xED\xA0\x80") == 0);     // surrogate
    CHECK(find_unprintable("\xF4\x90\x80\x80") == 0); // beyond U+10FFFF
}

} // namespace codec_source_text_test
