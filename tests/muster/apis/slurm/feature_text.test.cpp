// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/feature_text.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace codec_slurm_feature_text_test {

using namespace muster::codec::slurm;

namespace {

std::string alternatives(const std::string& text) {
    const feature_request read = parse_features(text);
    if (read.support != feature_support::modelled)
        return read.support == feature_support::malformed ? "malformed" : "not modelled";
    std::string made = read.same_for_all ? "same: " : "";
    for (std::size_t at = 0; at < read.any_of.size(); ++at) {
        made += at == 0 ? "" : " | ";
        for (std::size_t i = 0; i < read.any_of[at].size(); ++i)
            made += (i == 0 ? "" : " ") + read.any_of[at][i];
    }
    return made;
}

/// Whether a node with these features satisfies the expression, read from left to right.
bool satisfies(const std::string& text, std::size_t& at, const std::string& features) {
    const auto operand = [&] {
        if (text[at] == '(') {
            ++at;
            const bool inner = satisfies(text, at, features);
            ++at;
            return inner;
        }
        return features.find(text[at++]) != std::string::npos;
    };
    bool value = operand();
    while (at < text.size() && text[at] != ')') {
        const bool is_and = text[at++] == '&';
        const bool next = operand();
        value = is_and ? value && next : value || next;
    }
    return value;
}

std::string expression(unsigned& state, int depth) {
    const auto next = [&](unsigned below) {
        state = state * 1664525U + 1013904223U;
        return (state >> 16U) % below;
    };
    std::string made;
    const unsigned operands = 1 + next(3);
    for (unsigned at = 0; at < operands; ++at) {
        if (at > 0)
            made += next(2) == 0 ? '&' : '|';
        if (depth > 0 && next(3) == 0)
            made += '(' + expression(state, depth - 1) + ')';
        else
            made += static_cast<char>('a' + next(4));
    }
    return made;
}

} // namespace

TEST_CASE("features are read from left to right, with parentheses") {
    CHECK(alternatives("intel") == "intel");
    CHECK(alternatives("intel&gpu&intel") == "intel gpu");
    CHECK(alternatives("foo&bar|baz") == "foo bar | baz");
    CHECK(alternatives("foo|bar&baz") == "foo baz | bar baz");
    CHECK(alternatives("foo&(bar|baz)") == "foo bar | foo baz");
    CHECK(alternatives("[rack1|rack2]") == "same: rack1 | rack2");
}

TEST_CASE("counts of nodes and names that are no labels are not modelled") {
    for (const char* const text :
         {"graphics*4", "[rack1*2&rack2*4]", "[(a|b)*1&c*2]", "a&[b|c]", "gpu mem", "!a", "a:b"})
        CHECK(alternatives(text) == "not modelled");
    std::string many = "a";
    for (int at = 0; at < 70; ++at)
        many += "|a";
    CHECK(alternatives(many) == "not modelled");
}

TEST_CASE("what is no expression is malformed") {
    for (const char* const text : {"&", "a&", "|a", "a||b", "(a", "a)", "()", "a(b)", "[]"})
        CHECK(alternatives(text) == "malformed");
    CHECK(alternatives(std::string(100'000, '(')) == "malformed");
}

TEST_CASE("the alternatives hold for just the nodes that satisfy the expression") {
    unsigned state = 7;
    for (int run = 0; run < 300; ++run) {
        const std::string text = expression(state, 2);
        const feature_request read = parse_features(text);
        if (read.support != feature_support::modelled)
            continue;
        for (unsigned set = 0; set < 16; ++set) {
            std::string features;
            for (unsigned bit = 0; bit < 4; ++bit)
                if ((set >> bit & 1U) != 0)
                    features += static_cast<char>('a' + bit);
            bool any = false;
            for (const auto& all : read.any_of) {
                bool has = true;
                for (const std::string& each : all)
                    has = has && features.find(each) != std::string::npos;
                any = any || has;
            }
            std::size_t at = 0;
            CAPTURE(text);
            CAPTURE(features);
            CHECK(any == satisfies(text, at, features));
        }
    }
}

} // namespace codec_slurm_feature_text_test
