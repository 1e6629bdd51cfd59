// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// What a kind of name may look like. All start and end with a letter or digit.
struct name_syntax {
    std::size_t most = 63;
    bool dots = false;
    /// Upper case letters and underscores.
    bool mixed = false;
    std::string_view called;
};

// Kubernetes, "Object Names and IDs" and "Labels and Selectors".
inline constexpr name_syntax dns_label{63, false, false, "a DNS label"};
inline constexpr name_syntax dns_subdomain{253, true, false, "a DNS subdomain"};
inline constexpr name_syntax label_value{63, true, true, "a label value"};
/// The name of an object that pods name in a label.
inline constexpr name_syntax labelled_object{63, true, false,
                                             "a DNS subdomain of a label's length"};

namespace detail {

[[nodiscard]] constexpr bool is_lower_or_digit(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
[[nodiscard]] constexpr bool is_upper(char c) noexcept {
    return c >= 'A' && c <= 'Z';
}
[[nodiscard]] constexpr bool is_end(char c, const name_syntax& syntax) noexcept {
    return is_lower_or_digit(c) || (syntax.mixed && is_upper(c));
}

} // namespace detail

/// Whether `text` is such a name; nothing is none.
[[nodiscard]] constexpr bool is_legal(std::string_view text, const name_syntax& syntax) noexcept {
    if (text.empty() || text.size() > syntax.most || !detail::is_end(text.front(), syntax) ||
        !detail::is_end(text.back(), syntax))
        return false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (detail::is_end(c, syntax) || c == '-' || (c == '_' && syntax.mixed))
            continue;
        if (c != '.' || !syntax.dots)
            return false;
        // Every part of a subdomain is a name of its own; label values are not so strict.
        if (!syntax.mixed &&
            !(detail::is_end(text[at - 1], syntax) && detail::is_end(text[at + 1], syntax)))
            return false;
    }
    return true;
}

[[nodiscard]] constexpr bool is_label_value(std::string_view text) noexcept {
    return text.empty() || is_legal(text, label_value);
}

/// A key of a label or annotation: a name, with the subdomain of whoever owns it before a slash.
[[nodiscard]] constexpr bool is_qualified_name(std::string_view key) noexcept {
    const std::size_t slash = key.find('/');
    if (slash == std::string_view::npos)
        return is_legal(key, label_value);
    return is_legal(key.substr(0, slash), dns_subdomain) &&
           is_legal(key.substr(slash + 1), label_value);
}

/// The name itself where it is legal; else one that is, and that differs wherever the given ones
/// do: what is forbidden becomes a dash, and six characters that depend on the whole name close it.
/// Nobody is to read such a name, only to find it again.
[[nodiscard]] inline std::string fitted(std::string_view name, const name_syntax& syntax) {
    if (is_legal(name, syntax))
        return std::string(name);
    std::uint32_t hash = 2166136261U; // FNV-1a
    for (const char c : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    std::string made;
    for (const char c : name.substr(0, syntax.most - 6)) {
        const char lower =
            detail::is_upper(c) && !syntax.mixed ? static_cast<char>(c - 'A' + 'a') : c;
        const bool kept = detail::is_end(lower, syntax) || (lower == '.' && syntax.dots) ||
                          (lower == '_' && syntax.mixed && !made.empty());
        // Dots only where something stands on both sides.
        if (kept && !(lower == '.' && (made.empty() || !detail::is_end(made.back(), syntax))))
            made += lower;
        else if (!made.empty() && made.back() != '.')
            made += '-';
    }
    while (!made.empty() && !detail::is_end(made.back(), syntax))
        made.pop_back();
    made += made.empty() ? "x-" : "-";
    for (int digit = 0; digit < 5; ++digit, hash >>= 4)
        made += "0123456789abcdef"[hash & 15U];
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
