// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/slurm/script_lines.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// One word of a directive, without its quotes and escapes.
struct directive_word_text {
    std::string text;
    std::size_t offset = 0; ///< in the text
};

/// Why a directive cannot be split into words.
struct directive_error {
    std::size_t offset = 0;
    std::string_view message;
};

namespace detail {

/// Reads words as sbatch does: white space separates them, quotes of both kinds group, a backslash
/// escapes one byte also inside of quotes, and an unescaped `#` outside of them begins a comment.
class word_splitter {
public:
    explicit word_splitter(const directive_line& line) : line_(line) {}

    [[nodiscard]] std::optional<directive_error> run(std::vector<directive_word_text>& into) {
        for (;;) {
            while (at_ < line_.text.size() && is_space(line_.text[at_]))
                ++at_;
            if (at_ == line_.text.size() || line_.text[at_] == '#')
                return std::nullopt;
            if (line_.text[at_] == ':')
                return directive_error{line_.offset + at_,
                                       "a colon separates components on the command line only "
                                       "(expected `#SBATCH hetjob` on a line of its own)"};
            directive_word_text word{{}, line_.offset + at_};
            if (!read(word.text))
                return directive_error{line_.offset + quote_at_,
                                       "the quote is not closed (expected one more on this line)"};
            into.push_back(std::move(word));
        }
    }

private:
    [[nodiscard]] static bool is_space(char c) {
        return white_space.find(c) != std::string_view::npos;
    }

    /// Returns false if a quote is not closed.
    [[nodiscard]] bool read(std::string& word) {
        char quote = '\0';
        for (; at_ < line_.text.size(); ++at_) {
            const char c = line_.text[at_];
            if (c == '\\' && at_ + 1 < line_.text.size())
                word += line_.text[++at_];
            else if (quote != '\0' && c == quote)
                quote = '\0';
            else if (quote == '\0' && (c == '"' || c == '\'')) {
                quote = c;
                quote_at_ = at_;
            } else if (quote == '\0' && (is_space(c) || c == '#'))
                break;
            else
                word += c;
        }
        return quote == '\0';
    }

    const directive_line& line_;
    std::size_t at_ = 0;
    std::size_t quote_at_ = 0;
};

} // namespace detail

/// Appends the words of a directive to `into`. O(line).
[[nodiscard]] inline std::optional<directive_error>
split_directive(const directive_line& line, std::vector<directive_word_text>& into) {
    return detail::word_splitter(line).run(into);
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
