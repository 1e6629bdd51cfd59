// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What an input may ask of a reader. Beyond a limit the answer is an error, whatever the input.
namespace limits {
inline constexpr std::size_t nesting = 64;                     ///< levels of objects and lists
inline constexpr std::size_t scalar_bytes = 4U << 20U;         ///< one string or key
inline constexpr std::size_t alias_nodes = 100'000;            ///< nodes made by YAML aliases
inline constexpr std::size_t text_bytes = 0x7FFF'FFFF;         ///< one input
inline constexpr std::size_t yaml_document_bytes = 64U << 20U; ///< YAML is read at some 7 MB/s
} // namespace limits

/// The name and the bytes of one input, and the way from an offset to line and column. Not to be
/// used from several threads at once: the table of lines is made when it is first needed.
class source_text {
public:
    /// At most limits::text_bytes of text.
    source_text(std::string name, std::string text)
        : name_(std::move(name)), text_(std::move(text)) {}

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::string_view text() const noexcept { return text_; }

    /// Where the text starts behind a byte order mark: 0 or 3.
    [[nodiscard]] std::size_t start() const noexcept {
        return text().substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
    }

    /// O(text) at the first call, then O(log lines). An offset past the end means the end.
    [[nodiscard]] location at(std::size_t offset) const {
        if (line_starts_.empty())
            find_lines();
        offset = std::min(offset, text_.size());
        const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
        const auto line = static_cast<std::uint32_t>(next - line_starts_.begin());
        const std::size_t line_start = line_starts_[line - 1U];
        return {name_, line, static_cast<std::uint32_t>(offset - line_start + 1)};
    }

private:
    void find_lines() const {
        // The first line starts behind the mark, which no editor counts as a column.
        line_starts_.push_back(static_cast<std::uint32_t>(start()));
        const char* const begin = text_.data();
        const char* const end = begin + text_.size();
        for (const char* p = begin; p < end; ++p) {
            p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
            if (p == nullptr)
                break;
            line_starts_.push_back(static_cast<std::uint32_t>(p - begin + 1));
        }
    }

    std::string name_;
    std::string text_;
    mutable std::vector<std::uint32_t> line_starts_;
};

namespace detail {

/// The length of the UTF-8 character that starts `text`, or 0 when it is none (overlong forms,
/// surrogates and values beyond U+10FFFF are none).
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto in = [&](std::size_t i, unsigned low, unsigned high) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return in(1, 0x80, 0xBF) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = first == 0xED ? 0x9F : 0xBF;
        return in(1, low, high) && in(2, 0x80, 0xBF) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const unsigned low = first == 0xF0 ? 0x90 : 0x80;
        const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
        return in(1, low, high) && in(2, 0x80, 0xBF) && in(3, 0x80, 0xBF) ? 4 : 0;
    }
    return 0;
}

/// The offset of the first byte that is not part of printable UTF-8 text (control characters but
/// tab and line ends are not), or npos.
[[nodiscard]] inline std::size_t find_unprintable(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x80) {
            const bool fine = byte >= 0x20 || byte == '\n' || byte == '\t' || byte == '\r';
            if (!fine || byte == 0x7F)
                return i;
            ++i;
            continue;
        }
        const std::size_t length = utf8_length(text.substr(i));
        if (length == 0)
            return i;
        i += length;
    }
    return std::string_view::npos;
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
