// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <muster/base/short_text.hpp>

namespace base_short_text_test {

using namespace muster;

TEST_CASE("quoted foreign text is short and has no control characters") {
    CHECK(in_quotes("a\"b\\c\nd\x01\x7F") == "\"a\\\"b\\\\c\\nd\\x01\\x7f\"");
    CHECK(in_quotes(std::string(70, 'x')) == '"' + std::string(64, 'x') + "...\"");
    CHECK(in_quotes("\xC3\xA9\xC3\xA9", 3) == "\"\xC3\xA9...\"");
}

TEST_CASE("a list that is cut off says how many texts are left out") {
    CHECK(list_text({}, "pod").empty());
    CHECK(list_text({"a", "b", "c"}, "pod") == "a, b, c");
    CHECK(list_text({"a", "b", "c", "d"}, "pod") == "a, b, c (+1 pod)");
    CHECK(list_text({"a", "b", "c"}, "pod", 1) == "a (+2 pods)");
    CHECK(more_text(0, "pod").empty());
}

TEST_CASE("a long text is shortened between characters, and a short one stays as it is") {
    CHECK(shortened("abcdef", 6) == "abcdef");
    CHECK(shortened("abcdefg", 6) == "abc...");
    CHECK(shortened("ab\xC3\xA4\xC3\xA4", 5) == "ab...");
    CHECK(shortened("ab\xC3\xA4"
                    "defg",
                    7) == "ab\xC3\xA4...");
    CHECK(shortened("abcd", 3) == "...");
}

} // namespace base_short_text_test
