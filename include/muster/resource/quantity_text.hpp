// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <muster/base/checked.hpp>
#include <muster/base/result.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {

enum class quantity_errc : std::uint8_t { empty, no_digits, unknown_suffix, exponent_out_of_range };

/// Why a text is not a quantity, and the offset of the first wrong byte.
struct quantity_error {
    quantity_errc code;
    std::size_t offset;

    friend bool operator==(const quantity_error&, const quantity_error&) = default;
};

[[nodiscard]] constexpr std::string_view message(quantity_errc code) noexcept {
    switch (code) {
    case quantity_errc::empty:
        return "a quantity is empty";
    case quantity_errc::no_digits:
        return "a quantity with this suffix needs digits in front of it";
    case quantity_errc::unknown_suffix:
        return "a quantity is a decimal number followed by nothing, one of n u m k M G T P E, "
               "one of Ki Mi Gi Ti Pi Ei, or an exponent";
    case quantity_errc::exponent_out_of_range:
        return "the exponent of a quantity is not a 32-bit integer";
    }
    return "not a quantity";
}

namespace quantity_detail {

/// The unsigned number before the suffix, without leading and trailing zeros.
struct number_text {
    std::string_view whole;
    std::string_view fraction;
    bool has_digits;
};

struct suffix {
    quantity_format format;
    /// The base is 2 for binary_si, else 10.
    int exponent;
};

inline constexpr std::string_view digit_bytes = "0123456789";

/// Returns the longest prefix of decimal digits and removes it from `rest`.
[[nodiscard]] constexpr std::string_view take_digits(std::string_view& rest) noexcept {
    const auto digits = rest.substr(0, rest.find_first_not_of(digit_bytes));
    rest.remove_prefix(digits.size());
    return digits;
}

[[nodiscard]] constexpr number_text take_number(std::string_view& rest) noexcept {
    number_text number{take_digits(rest), {}, false};
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        number.fraction = take_digits(rest);
    }
    number.has_digits = !number.whole.empty() || !number.fraction.empty();
    const auto first = number.whole.find_first_not_of('0');
    number.whole.remove_prefix(first == std::string_view::npos ? number.whole.size() : first);
    number.fraction = number.fraction.substr(0, number.fraction.find_last_not_of('0') + 1);
    return number;
}

/// Parses the text after a number. An error's offset is relative to this text. `E` alone is the
/// suffix, `E` with digits an exponent. O(text).
[[nodiscard]] inline result<suffix, quantity_error> parse_suffix(std::string_view text) noexcept {
    constexpr std::string_view decimal_letters = "num kMGTPE";
    constexpr std::string_view binary_letters = "KMGTPE";
    constexpr failure<quantity_error> unknown{{quantity_errc::unknown_suffix, 0}};
    if (text.empty())
        return suffix{quantity_format::decimal_si, 0};
    const auto letter = text.front();
    if (text.size() == 1) {
        const auto index = decimal_letters.find(letter);
        if (letter == ' ' || index == std::string_view::npos)
            return unknown;
        return suffix{quantity_format::decimal_si, static_cast<int>(index) * 3 - 9};
    }
    if (text.size() == 2 && text.back() == 'i') {
        const auto index = binary_letters.find(letter);
        if (index == std::string_view::npos)
            return unknown;
        return suffix{quantity_format::binary_si, static_cast<int>(index) * 10 + 10};
    }
    if (letter != 'e' && letter != 'E')
        return unknown;
    text.remove_prefix(1);
    const auto is_signed = text.starts_with('-') || text.starts_with('+');
    const auto digits = text.substr(is_signed ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of(digit_bytes) != std::string_view::npos)
        return unknown;
    // from_chars knows '-', not '+'.
    const auto number = text.starts_with('+') ? digits : text;
    std::int32_t exponent = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), exponent);
    if (parsed.ec != std::errc{})
        return failure<quantity_error>{{quantity_errc::exponent_out_of_range, 1}};
    return suffix{quantity_format::decimal_exponent, exponent};
}

/// True if a number with this suffix must have digits. As in the API server, a number without
/// digits is zero only if its suffix fits int64 arithmetic: `Ei` and `e-10` are rejected.
[[nodiscard]] constexpr bool needs_digits(const suffix& unit) noexcept {
    return unit.format == quantity_format::binary_si ? unit.exponent >= 50 : unit.exponent < -9;
}

inline constexpr int128 nano_per_unit = 1'000'000'000;
inline constexpr int128 binary_cap = std::numeric_limits<std::int64_t>::max() * nano_per_unit;

/// The number times two to the `exponent` (10 to 60), in billionths, rounded up and held at
/// 2^63 - 1 units. O(1).
[[nodiscard]] constexpr int128 binary_nano(const number_text& number, int exponent) noexcept {
    // A whole part of 20 digits is beyond the cap already.
    if (number.whole.size() > 19)
        return binary_cap;
    int128 whole = 0;
    for (const auto digit : number.whole)
        whole = whole * 10 + (digit - '0');
    if (whole >= (int128{1} << (63 - exponent)))
        return binary_cap;
    // A billionth is the unit of the sum, so `weight` = 2^(exponent + 9) * 5^9 is what one unit of
    // the number weighs. Its products with 69 decimals are multiples of 5^-60 * 2^(exponent - 60),
    // and all further decimals together weigh less than that: they decide the rounding, not the
    // number, and any of them counts as one.
    constexpr std::size_t deciding_digits = 69;
    const int128 weight = nano_per_unit << exponent;
    const auto deciding = number.fraction.substr(0, deciding_digits);
    int128 fraction = deciding.size() < number.fraction.size() ? 1 : 0;
    // From the last decimal to the first. Rounding up at each step is rounding up once, as the
    // digit's share is an integer.
    for (auto digit = deciding.rbegin(); digit != deciding.rend(); ++digit)
        fraction = ((*digit - '0') * weight + fraction + 9) / 10;
    const int128 sum = whole * weight + fraction;
    return sum < binary_cap ? sum : binary_cap;
}

/// Returns the decimal digits of a value that is not negative; zero has none.
[[nodiscard]] inline std::string wide_text(int128 value) {
    std::array<char, 39> text;
    auto first = text.size();
    for (; value > 0; value /= 10)
        text[--first] = static_cast<char>('0' + static_cast<int>(value % 10));
    return {text.data() + first, text.size() - first};
}

} // namespace quantity_detail

/// Parses a Kubernetes quantity exactly: an optional sign, digits around an optional point, and a
/// suffix; no white space. A number without digits is zero (`Ki`, `.`, `-`). Parts finer than a
/// billionth are rounded away from zero. With a binary suffix the magnitude is clamped to 2^63 - 1,
/// and the format is decimal_si between zero and one. Decimal forms are unbounded, but the exponent
/// must fit int32. O(text) time; memory for the significant digits only.
[[nodiscard]] inline result<quantity, quantity_error> parse_quantity(std::string_view text) {
    using namespace quantity_detail;
    if (text.empty())
        return failure<quantity_error>{{quantity_errc::empty, 0}};
    auto rest = text;
    const bool negative = rest.starts_with('-');
    if (negative || rest.starts_with('+'))
        rest.remove_prefix(1);
    const auto number = take_number(rest);
    const auto unit = parse_suffix(rest);
    if (!unit)
        return failure<quantity_error>{
            {unit.error().code, text.size() - rest.size() + unit.error().offset}};

    if (!number.has_digits && needs_digits(*unit))
        return failure<quantity_error>{{quantity_errc::no_digits, text.size() - rest.size()}};

    if (unit->format == quantity_format::binary_si) {
        const auto nano = binary_nano(number, unit->exponent);
        const bool below_one = nano > 0 && nano < nano_per_unit;
        return quantity{negative, wide_text(nano), -9,
                        below_one ? quantity_format::decimal_si : quantity_format::binary_si};
    }
    std::string digits;
    digits.reserve(number.whole.size() + number.fraction.size());
    digits.append(number.whole).append(number.fraction);
    const auto decimals = static_cast<std::int64_t>(number.fraction.size());
    return quantity{negative, std::move(digits), unit->exponent - decimals, unit->format};
}

} // namespace v0_1
} // namespace muster
