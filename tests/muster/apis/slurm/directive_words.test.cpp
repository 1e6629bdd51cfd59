// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/directive_words.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace codec_slurm_directive_words_test {

using namespace muster::codec::slurm;

namespace {

/// The words between bars, or `offset: message`.
std::string words(std::string_view text) {
    std::vector<directive_word_text> read;
    if (const auto wrong = split_directive({100, text}, read))
        return std::to_string(wrong->offset) + ": " + std::string(wrong->message);
    std::string made;
    for (const directive_word_text& each : read)
        made += "|" + each.text;
    return made;
}

} // namespace

TEST_CASE("white space separates words") {
    CHECK(words(" -N 2\t--ntasks=4 \r") == "|-N|2|--ntasks=4");
    CHECK(words("--nodes=2") == "|--nodes=2");
    CHECK(words("") == "");
}

TEST_CASE("quotes of both kinds group, in the middle of a word too") {
    CHECK(words(" --comment=\"a 'b' c\" -J 'my job'") == "|--comment=a 'b' c|-J|my job");
    CHECK(words(" -C\"a&b\"'|c'") == "|-Ca&b|c");
    CHECK(words(" --comment=''") == "|--comment=");
}

TEST_CASE("a backslash escapes the next byte") {
    CHECK(words(R"( -J my\ job --comment=\"x\" -D a\#b)") == "|-J|my job|--comment=\"x\"|-D|a#b");
    CHECK(words("-J a\\") == "|-J|a\\");
}

TEST_CASE("a number sign outside of quotes begins a comment") {
    CHECK(words(" -N2 # two nodes") == "|-N2");
    CHECK(words(" -N2# two nodes") == "|-N2");
    CHECK(words(" --comment='#1'") == "|--comment=#1");
    CHECK(words("# -N2") == "");
}

TEST_CASE("a quote that is not closed and a lone colon are errors at their places") {
    CHECK(words(" -J 'x").starts_with("104: the quote is not closed"));
    CHECK(words(" -N1 : -N2").starts_with("105: a colon separates"));
}

TEST_CASE("words know where they stand") {
    std::vector<directive_word_text> read;
    CHECK_FALSE(split_directive({7, " -N  2"}, read));
    REQUIRE(read.size() == 2);
    CHECK(read[0].offset == 8);
    CHECK(read[1].offset == 12);
}

} // namespace codec_slurm_directive_words_test
