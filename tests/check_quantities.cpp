// SPDX-License-Identifier: Apache-2.0

// check_quantities FILE.tsv compares parse_quantity() with a table of quantities. The columns are
// input (backslash-escaped), valid (0 or 1), canonical text, thousandths rounded away from zero (or
// OVERFLOW); further columns are ignored, as are empty lines, lines that start with '#' and a
// header. Prints every disagreement; exits with 0 if there is none, 1 if there are some, 2 if the
// file cannot be read.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <muster/resource/quantity_text.hpp>

namespace {

void append_utf8(std::string& text, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    const auto tail = [&](unsigned shift) { put(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        tail(0);
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        tail(6);
        tail(0);
    } else {
        put(0xF0 | (code >> 18 & 7));
        tail(12);
        tail(6);
        tail(0);
    }
}

/// The number that exactly `count` hexadecimal digits at the start of `text` spell.
std::optional<std::uint32_t> hexadecimal(std::string_view text, std::size_t count) {
    if (text.size() < count)
        return std::nullopt;
    std::uint32_t value = 0;
    for (const char letter : text.substr(0, count)) {
        constexpr std::string_view lower = "0123456789abcdef";
        constexpr std::string_view upper = "0123456789ABCDEF";
        auto digit = lower.find(letter);
        if (digit == std::string_view::npos)
            digit = upper.find(letter);
        if (digit == std::string_view::npos)
            return std::nullopt;
        value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    return value;
}

/// A backslash in front of anything that is no known escape stands for itself.
std::string unescape(std::string_view text) {
    constexpr std::string_view letters = "tnrabfv0\\\"'";
    constexpr std::string_view meanings{"\t\n\r\a\b\f\v\0\\\"'", letters.size()};
    std::string plain;
    while (!text.empty()) {
        const char letter = text.front();
        text.remove_prefix(1);
        if (letter != '\\' || text.empty()) {
            plain += letter;
            continue;
        }
        const char kind = text.front();
        if (const auto index = letters.find(kind); index != std::string_view::npos) {
            plain += meanings[index];
            text.remove_prefix(1);
            continue;
        }
        const std::size_t count = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
        const auto code = count > 0 ? hexadecimal(text.substr(1), count) : std::nullopt;
        if (!code) {
            plain += letter;
            continue;
        }
        if (kind == 'x')
            plain += static_cast<char>(*code);
        else
            append_utf8(plain, *code);
        text.remove_prefix(1 + count);
    }
    return plain;
}

constexpr std::size_t column_count = 4;
using columns = std::array<std::string_view, column_count>;

/// The first columns; those that the line does not have are empty.
columns split(std::string_view line) {
    columns found;
    for (auto& column : found) {
        const auto end = line.find('\t');
        column = line.substr(0, end);
        line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    }
    return found;
}

/// What we make of an input, written as the table writes it.
std::string answer(const std::string& input) {
    const auto parsed = muster::parse_quantity(input);
    if (!parsed)
        return "invalid";
    const auto milli = parsed->exact_milli();
    return "valid, " + parsed->to_text() + ", milli " +
           (milli ? std::to_string(*milli) : std::string{"OVERFLOW"});
}

std::string expectation(const columns& row) {
    if (row[1] == "0")
        return "invalid";
    return "valid, " + std::string{row[2]} + ", milli " + std::string{row[3]};
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: check_quantities FILE.tsv\n", stderr);
        return 2;
    }
    std::ifstream file{argv[1], std::ios::binary};
    if (!file) {
        std::fprintf(stderr, "check_quantities: cannot read %s\n", argv[1]);
        return 2;
    }
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t number = 0;
    bool header_possible = true;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.ends_with('\r'))
            line.pop_back();
        if (line.empty() || line.starts_with('#'))
            continue;
        const auto row = split(line);
        const bool has_verdict = row[1] == "0" || row[1] == "1";
        if (header_possible && !has_verdict) {
            header_possible = false;
            continue;
        }
        header_possible = false;
        const auto expected = has_verdict ? expectation(row) : std::string{"a row with 0 or 1"};
        const auto got = answer(unescape(row[0]));
        if (expected == got) {
            ++passed;
            continue;
        }
        ++failed;
        std::printf("%s:%zu: '%.*s': expected %s; got %s\n", argv[1], number,
                    static_cast<int>(row[0].size()), row[0].data(), expected.c_str(), got.c_str());
    }
    if (file.bad() || number == 0) {
        std::fprintf(stderr, "check_quantities: cannot read %s\n", argv[1]);
        return 2;
    }
    std::printf("%zu passed, %zu failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
