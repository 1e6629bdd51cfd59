// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/utf8.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace utf8_test {

using namespace muster::cel;

TEST_CASE("every code point is read as it was written") {
    for (std::uint32_t code = 0; code <= 0x10FFFF; code += code < 0x3000 ? 1 : 251) {
        if (!is_code_point(code))
            continue;
        std::string text;
        append_utf8(text, code);
        std::string_view rest = text;
        CHECK(take_code_point(rest) == code);
        CHECK(rest.empty());
        CHECK(count_code_points(text + text) == 2);
    }
}

TEST_CASE("a byte that starts no code point is U+FFFD") {
    for (const std::string_view wrong :
         {"\x80", "\xFF", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
        std::string_view rest = wrong;
        CHECK(take_code_point(rest) == 0xFFFD);
        CHECK(rest.size() == wrong.size() - 1);
    }
    CHECK_FALSE(is_code_point(0xD800));
    CHECK_FALSE(is_code_point(0x110000));
}

} // namespace utf8_test
