// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The bytes that base64 (RFC 4648, with padding) stands for; white space is skipped. Nothing when
/// it is no base64.
[[nodiscard]] inline std::optional<std::string> decode_base64(std::string_view text) {
    const auto value_of = [](char c) -> int {
        if (c >= 'A' && c <= 'Z')
            return c - 'A';
        if (c >= 'a' && c <= 'z')
            return c - 'a' + 26;
        if (c >= '0' && c <= '9')
            return c - '0' + 52;
        return c == '+' ? 62 : c == '/' ? 63 : -1;
    };
    std::string out;
    out.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    unsigned digits = 0;
    unsigned padding = 0;
    for (const char c : text) {
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
            continue;
        if (c == '=') {
            ++padding;
            continue;
        }
        const int value = value_of(c);
        if (value < 0 || padding > 0)
            return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(value);
        if (++digits % 4 == 0) {
            out += static_cast<char>(bits >> 16U & 255U);
            out += static_cast<char>(bits >> 8U & 255U);
            out += static_cast<char>(bits & 255U);
            bits = 0;
        }
    }
    const unsigned rest = digits % 4;
    if (padding != (4 - rest) % 4 || rest == 1)
        return std::nullopt;
    if (rest >= 2)
        out += static_cast<char>(bits >> (rest == 2 ? 4U : 10U) & 255U);
    if (rest == 3)
        out += static_cast<char>(bits >> 2U & 255U);
    return out;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
