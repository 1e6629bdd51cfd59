// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/document/diagnostic.hpp>
#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A selector as kubectl's `-l` takes it, or what is wrong with the text.
struct read_selector {
    label_selector selector;
    /// Empty when it is read.
    std::string fault;
};

namespace detail {

/// Reads requirements one after the other: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`,
/// `a`, `!a`, `a>1` and `a<1`, with commas between them.
class selector_reader {
public:
    explicit selector_reader(std::string_view text) : rest_(text) {}

    [[nodiscard]] read_selector read() {
        read_selector made;
        do {
            auto one = requirement();
            if (!fault_.empty())
                return {{}, fault_};
            made.selector.requirements.push_back(std::move(one));
        } while (takes(","));
        if (!rest_.empty())
            return {{}, "ends before " + in_quotes(rest_) + " (expected a comma)"};
        return made;
    }

private:
    static bool is_part(char of) {
        return (of >= 'a' && of <= 'z') || (of >= 'A' && of <= 'Z') || (of >= '0' && of <= '9') ||
               of == '.' || of == '-' || of == '_' || of == '/';
    }
    void skip_spaces() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    }
    bool takes(std::string_view what) {
        skip_spaces();
        if (!rest_.starts_with(what))
            return false;
        rest_.remove_prefix(what.size());
        return true;
    }
    std::string word() {
        skip_spaces();
        const auto end = std::ranges::find_if_not(rest_, is_part);
        const auto length = static_cast<std::size_t>(end - rest_.begin());
        const std::string found(rest_.substr(0, length));
        rest_.remove_prefix(length);
        return found;
    }
    void complain(std::string what) {
        if (fault_.empty())
            fault_ = std::move(what);
    }

    label_requirement requirement() {
        const bool absent = takes("!");
        label_requirement made{word(), label_operator::exists, {}};
        if (made.key.empty())
            complain(rest_.empty() ? "a label is missing at the end"
                                   : "a label is missing before " + in_quotes(rest_));
        if (absent) {
            made.op = label_operator::does_not_exist;
        } else if (takes("!=")) {
            made = {made.key, label_operator::not_in, {word()}};
        } else if (takes("==") || takes("=")) {
            made = {made.key, label_operator::in, {word()}};
        } else if (takes(">")) {
            made = {made.key, label_operator::greater, {number()}};
        } else if (takes("<")) {
            made = {made.key, label_operator::less, {number()}};
        } else if (skip_spaces(); !rest_.empty() && is_part(rest_.front())) {
            const std::string how = word();
            if (how != "in" && how != "notin")
                complain(in_quotes(how) + " is no operator (expected =, !=, in or notin)");
            made = {made.key, how == "in" ? label_operator::in : label_operator::not_in, values()};
        }
        return made;
    }
    std::string number() {
        std::string found = word();
        if (found.empty() ||
            !std::ranges::all_of(found, [](char each) { return each >= '0' && each <= '9'; }))
            complain(in_quotes(found) + " is no number");
        return found;
    }
    std::vector<std::string> values() {
        std::vector<std::string> found;
        if (!takes("("))
            complain("the values of in and notin stand in ( )");
        do
            found.push_back(word());
        while (takes(","));
        if (!takes(")"))
            complain("a ) is missing");
        return found;
    }

    std::string_view rest_;
    std::string fault_;
};

} // namespace detail

/// Reads a selector of labels as kubectl's `-l` takes it. O(text).
[[nodiscard]] inline read_selector parse_label_selector(std::string_view text) {
    return detail::selector_reader(text).read();
}

} // namespace codec
} // namespace v0_1
} // namespace muster
