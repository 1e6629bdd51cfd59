// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/resource/quantity_text.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace resource_quantity_test {

using namespace std::string_literals;

namespace {

constexpr auto top = std::numeric_limits<std::int64_t>::max();
constexpr auto bottom = std::numeric_limits<std::int64_t>::min();

muster::quantity read(std::string_view text) {
    const auto parsed = muster::parse_quantity(text);
    REQUIRE_MESSAGE(parsed.has_value(), text);
    return *parsed;
}

std::string canonical(std::string_view text) {
    return read(text).to_text();
}

muster::quantity_error error_of(std::string_view text) {
    const auto parsed = muster::parse_quantity(text);
    REQUIRE_MESSAGE(!parsed.has_value(), text);
    return parsed.error();
}

/// A second opinion that shares nothing with the library: schoolbook arithmetic on digit strings.
namespace schoolbook {

std::string without_leading_zeros(std::string digits) {
    while (digits.size() > 1 && digits.front() == '0')
        digits.erase(0, 1);
    return digits;
}

std::string doubled(std::string digits) {
    int carry = 0;
    for (std::size_t index = digits.size(); index-- > 0;) {
        const int sum = (digits[index] - '0') * 2 + carry;
        digits[index] = static_cast<char>('0' + sum % 10);
        carry = sum / 10;
    }
    return carry == 0 ? digits : "1" + digits;
}

std::string plus_one(std::string digits) {
    for (std::size_t index = digits.size(); index-- > 0;) {
        if (digits[index] != '9') {
            ++digits[index];
            return digits;
        }
        digits[index] = '0';
    }
    return "1" + digits;
}

/// Nothing if a remainder is left.
std::optional<std::string> divided_by_1024(std::string digits) {
    int remainder = 0;
    for (auto& digit : digits) {
        const int part = remainder * 10 + (digit - '0');
        digit = static_cast<char>('0' + part / 1024);
        remainder = part % 1024;
    }
    if (remainder != 0)
        return std::nullopt;
    return without_leading_zeros(digits);
}

bool less(const std::string& lhs, const std::string& rhs) {
    return lhs.size() != rhs.size() ? lhs.size() < rhs.size() : lhs < rhs;
}

/// Without the last `count` digits, rounded up.
std::string shortened(std::string digits, std::size_t count) {
    digits.insert(0, count + 1, '0');
    const auto kept = digits.substr(0, digits.size() - count);
    const bool exact = digits.find_first_not_of('0', digits.size() - count) == std::string::npos;
    return without_leading_zeros(exact ? kept : plus_one(kept));
}

struct suffix {
    std::string text;
    int ten;
    int two;
    bool exponent;
};

struct answer {
    std::string text;
    std::string milli;
};

std::string decimal_text(std::string nano, bool exponent) {
    int power = -9;
    for (; nano.ends_with("000") && (exponent || power < 18); power += 3)
        nano.erase(nano.size() - 3);
    if (power == 0)
        return nano;
    if (exponent)
        return nano + "e" + std::to_string(power);
    constexpr std::array<const char*, 10> names{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    return nano + names.at(static_cast<std::size_t>(power + 9) / 3);
}

std::string text_of(const std::string& nano, const suffix& unit) {
    const bool binary = unit.two > 0 && nano.ends_with("000000000") && !less(nano, "1024000000000");
    if (!binary)
        return decimal_text(nano, unit.exponent);
    auto units = nano.substr(0, nano.size() - 9);
    std::size_t power = 0;
    while (const auto quotient = divided_by_1024(units)) {
        units = *quotient;
        ++power;
    }
    constexpr std::array<const char*, 7> names{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    return units + names.at(power);
}

answer expected(bool negative, const std::string& whole, const std::string& fraction,
                const suffix& unit) {
    auto digits = "0" + whole + fraction;
    for (int count = 0; count < unit.two; ++count)
        digits = doubled(digits);
    // Billionths: as many digits as there are decimals behind the ninth are cut off.
    const int surplus = static_cast<int>(fraction.size()) - unit.ten - 9;
    auto nano =
        surplus > 0
            ? shortened(digits, static_cast<std::size_t>(surplus))
            : without_leading_zeros(digits + std::string(static_cast<std::size_t>(-surplus), '0'));
    if (nano == "0")
        return {"0", "0"};
    const auto cap = std::to_string(top) + "000000000";
    if (unit.two > 0 && less(cap, nano))
        nano = cap;
    auto milli = shortened(nano, 6);
    if (less(negative ? "9223372036854775808" : "9223372036854775807", milli))
        milli = "OVERFLOW";
    else if (negative)
        milli = "-" + milli;
    return {(negative ? "-" : "") + text_of(nano, unit), milli};
}

} // namespace schoolbook

} // namespace

TEST_CASE("a quantity never rounds a non-zero request to zero") {
    for (const auto* text : {"1n", "0.1n", "1e-30", "1e-2147483648", "0.00000000000000001Ki"}) {
        CAPTURE(text);
        CHECK_FALSE(read(text).is_zero());
        CHECK(read(text).milli_up() == 1);
        CHECK(read(text).units_up() == 1);
        CHECK(read(text).milli_down() == 0);
        CHECK(read(text).units_down() == 0);
        const auto negative = read("-"s + text);
        CHECK(negative.sign() == -1);
        CHECK(negative.milli_up() == -1);
        CHECK(negative.units_down() == 0);
    }
}

TEST_CASE("what is finer than a billionth is rounded away from zero") {
    CHECK(canonical("0.9n") == "1n");
    CHECK(canonical("3.001n") == "4n");
    CHECK(canonical("-3.001n") == "-4n");
    CHECK(canonical("0.9999999999") == "1");
    CHECK(canonical("9.9999999999999k") == "10k");
    CHECK(canonical("999999999.9999999999") == "1G");
    CHECK(canonical("0.1m") == "100u");
}

TEST_CASE("a request rounds up and a capacity rounds down") {
    CHECK(read("1.9999").units_up() == 2);
    CHECK(read("1.9999").units_down() == 1);
    CHECK(read("-1.9999").units_up() == -2);
    CHECK(read("-1.9999").units_down() == -1);
    CHECK(read("1.0001").milli_up() == 1001);
    CHECK(read("1.0001").milli_down() == 1000);
    CHECK(read("1.5Gi").units_up() == 1610612736);
    CHECK(read("3").units_up() == 3);
    CHECK(read("3").units_down() == 3);
    CHECK(read("2k").milli_down() == 2'000'000);
}

TEST_CASE("a quantity beyond int64 is printed exactly and held at the end of the range") {
    for (const auto* text : {"12E", "2000E", "1e30", "100e2147483646"}) {
        CAPTURE(text);
        CHECK(canonical(text) == text);
        const auto value = read(text);
        CHECK(value.units_up() == top);
        CHECK(value.units_down() == top);
        CHECK(value.milli_up() == top);
        CHECK(value.milli_down() == top);
        CHECK_FALSE(value.exact_milli());
        CHECK(read("-"s + text).units_up() == bottom);
    }
    CHECK(canonical("12345678901234567890123456") == "12345678901234567890123456");
}

TEST_CASE("billionths are exact up to 10^37") {
    const auto text_of = [](const std::string& text) {
        auto amount = read(text).billionths();
        const bool negative = amount < 0;
        std::string digits;
        for (amount = negative ? -amount : amount; amount > 0; amount /= 10)
            digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(amount % 10)));
        return (negative ? "-" : "") + digits;
    };
    CHECK(text_of("0") == "");
    CHECK(text_of("1n") == "1");
    CHECK(text_of("-1.5") == "-1500000000");
    CHECK(text_of("1000000000000000000002") == "1000000000000000000002000000000");
    const auto largest = std::string(28, '9');
    CHECK(text_of(largest) == largest + "000000000");
    CHECK(text_of("-1e28") == "-1" + std::string(37, '0'));
    CHECK(text_of("1e2147483646") == "1" + std::string(37, '0'));
}

TEST_CASE("the ends of int64 are exact") {
    CHECK(read("9223372036854775807").units_up() == top);
    CHECK(read("-9223372036854775808").units_up() == bottom);
    CHECK(read("9223372036854775806.1").units_up() == top);
    CHECK(read("9223372036854775807.1").units_down() == top);
    CHECK(read("9223372036854775.807").exact_milli() == top);
    CHECK(read("-9223372036854775.808").exact_milli() == bottom);
    CHECK_FALSE(read("9223372036854775.8071").exact_milli());
    CHECK(read("9223372036854775.8071").milli_down() == top);
}

TEST_CASE("a binary quantity is held at 2^63 - 1 and a decimal one is not") {
    for (const auto* text : {"8Ei", "9Ei", "9223372036854775807Ki", "99999999999999999999999Ki"}) {
        CAPTURE(text);
        CHECK(canonical(text) == "9223372036854775807");
        CHECK(canonical("-"s + text) == "-9223372036854775807");
    }
    CHECK(canonical("7Ei") == "7Ei");
    CHECK(canonical("9223372036854775808") == "9223372036854775808");
}

TEST_CASE("a binary quantity below 1024 or with a fraction prints in decimal") {
    CHECK(canonical("1023Ki") == "1023Ki");
    CHECK(canonical("1.1Ki") == "1126400m");
    CHECK(canonical("0.5Ki") == "512");
    CHECK(canonical("1.5Gi") == "1536Mi");
    CHECK(canonical("-1024Mi") == "-1Gi");
    CHECK(read("0.5Ki").format() == muster::quantity_format::binary_si);
    CHECK(read("0.0005Ki").format() == muster::quantity_format::decimal_si);
    CHECK(read("-0.0005Ki").format() == muster::quantity_format::decimal_si);
}

TEST_CASE("binary fractions are rounded once, however many decimals decide") {
    // 2^-60 has 60 decimals; its product with 2^60 is one exactly.
    const auto exact = "0.000000000000000000867361737988403547205962240695953369140625"s;
    CHECK(canonical(exact + "Ei") == "1");
    CHECK(canonical(exact + std::string(100'000, '0') + "Ei") == "1");
    CHECK(canonical(exact + std::string(100'000, '0') + "1Ei") == "1000000001n");
    // 2^-69 * 5^-9 has 69 decimals; times 2^60 it is a billionth exactly.
    const auto nano = "0.00000000000000000000000000086736173798840354720596224069595336914062"s;
    CHECK(canonical(nano + "5Ei") == "1n");
    CHECK(canonical(nano + "50Ei") == "1n");
    CHECK(canonical(nano + "4999999999999999999999Ei") == "1n");
    CHECK(canonical(nano + "5000000000000000000001Ei") == "2n");
}

TEST_CASE("exponents are multiples of three and print in the exponent form") {
    CHECK(canonical("1e14") == "100e12");
    CHECK(canonical("0.5e-1") == "50e-3");
    CHECK(canonical("-1e-30") == "-1e-9");
    CHECK(canonical("1E3") == "1e3");
    CHECK(canonical("1E") == "1E");
    CHECK(canonical("5e2") == "500");
    CHECK(canonical("0e9") == "0");
    CHECK(canonical("1e2147483647") == "10e2147483646");
}

TEST_CASE("a number without a digit is zero where the API server takes it for zero") {
    for (const auto* text : {".", "-.", "+", "-", "Ki", "Ti", "k", "e3", "e-9", "-.E", "n"}) {
        CAPTURE(text);
        CHECK(canonical(text) == "0");
        CHECK(read(text).sign() == 0);
    }
    CHECK(error_of("Ei") == muster::quantity_error{muster::quantity_errc::no_digits, 0});
    CHECK(error_of("-.Pi") == muster::quantity_error{muster::quantity_errc::no_digits, 2});
    CHECK(error_of("e-10").code == muster::quantity_errc::no_digits);
    CHECK(canonical("0Ei") == "0");
    CHECK(canonical(".0e-10") == "0");
}

TEST_CASE("an error names its kind and the byte where the trouble starts") {
    using enum muster::quantity_errc;
    using muster::quantity_error;
    CHECK(error_of("") == quantity_error{empty, 0});
    CHECK(error_of(" 1") == quantity_error{unknown_suffix, 0});
    CHECK(error_of("1 ") == quantity_error{unknown_suffix, 1});
    CHECK(error_of("-1.5K") == quantity_error{unknown_suffix, 4});
    CHECK(error_of("1e") == quantity_error{unknown_suffix, 1});
    CHECK(error_of("1e+-3") == quantity_error{unknown_suffix, 1});
    CHECK(error_of("1\0"s) == quantity_error{unknown_suffix, 1});
    CHECK(error_of("1\0Gi"s) == quantity_error{unknown_suffix, 1});
    CHECK(error_of("1e2147483648") == quantity_error{exponent_out_of_range, 2});
    CHECK(error_of("0e-2147483649") == quantity_error{exponent_out_of_range, 2});
    for (const auto code : {empty, no_digits, unknown_suffix, exponent_out_of_range})
        CHECK_FALSE(muster::message(code).empty());
}

TEST_CASE("quantities compare by value, whatever their format") {
    CHECK(read("1Ki") == read("1024"));
    CHECK(read("1e3") == read("1k"));
    CHECK(read("-0") == read("0Ki"));
    CHECK(read("0.1") != read("-0.1"));
    constexpr std::array ascending{"-1e2147483647", "-2k", "-1999", "-1n", "0",    "1n",
                                   "999u",          "1m",  "1",     "1Ki", "1025", "1.1k",
                                   "8Ei",           "10E", "1e30",  "2e30"};
    for (std::size_t left = 0; left < ascending.size(); ++left)
        for (std::size_t right = 0; right < ascending.size(); ++right)
            CHECK((read(ascending[left]) < read(ascending[right])) == (left < right));
}

TEST_CASE("an amount prints in the format that it is given") {
    using enum muster::quantity_format;
    using enum muster::quantity_scale;
    CHECK(muster::quantity_text(600'000'000, units, decimal_si) == "600M");
    CHECK(muster::quantity_text(3000, milli, decimal_si) == "3");
    CHECK(muster::quantity_text(3500, milli, decimal_si) == "3500m");
    CHECK(muster::quantity_text(209'715'200, units, binary_si) == "200Mi");
    CHECK(muster::quantity_text(1'500, units, binary_si) == "1500");
    CHECK(muster::quantity_text(1'500, milli, binary_si) == "1500m");
    CHECK(muster::quantity_text(100'000, units, decimal_exponent) == "100e3");
    CHECK(muster::quantity_text(0, units, binary_si) == "0");
    CHECK(muster::quantity_text(-2048, units, binary_si) == "-2Ki");
    CHECK(muster::quantity_text(top, units, decimal_si) == "9223372036854775807");
    CHECK(muster::quantity_text(bottom, units, decimal_si) == "-9223372036854775808");
    CHECK(muster::quantity_text(bottom, milli, decimal_si) == "-9223372036854775808m");
    CHECK(muster::quantity_text(bottom, units, binary_si) == "-8Ei");
}

TEST_CASE("no input takes more than its own length in time and memory") {
    constexpr std::size_t million = 1'000'000;
    const std::string zeros(million, '0');
    const std::string nines(million, '9');
    CHECK(canonical(nines) == nines);
    CHECK(read(nines).milli_up() == top);
    CHECK(canonical("0." + nines) == "1");
    CHECK(canonical(zeros + "1") == "1");
    CHECK(canonical("1" + zeros) == "1" + std::string(million - 18, '0') + "E");
    CHECK(canonical("1" + zeros + "e0") == "10e999999");
    CHECK(canonical("0." + zeros + "1") == "1n");
    CHECK(canonical(nines + "Ei") == "9223372036854775807");
    CHECK(canonical("0." + nines + "Ei") == "1Ei");
    CHECK(canonical(nines + "e-2147483648") == "1e-9");
    CHECK(canonical(nines + "e2147483647").size() == million + 1 + 11);
    CHECK(canonical("1e" + zeros + "3") == "1e3");
    CHECK(error_of("1e" + nines).code == muster::quantity_errc::exponent_out_of_range);
    CHECK(error_of("1e-" + nines).code == muster::quantity_errc::exponent_out_of_range);
    CHECK(error_of("1" + std::string(million, 'E')).code == muster::quantity_errc::unknown_suffix);
    CHECK(canonical("1000e2147483647") == "10000e2147483646");
}

TEST_CASE("canonical text and thousandths agree with schoolbook arithmetic") {
    std::mt19937_64 random{20240917};
    const auto below = [&](std::uint64_t bound) { return static_cast<int>(random() % bound); };
    const auto digits = [&](int most) {
        std::string text;
        const bool runs = below(3) == 0;
        for (int count = below(static_cast<std::uint64_t>(most) + 1); count > 0; --count)
            text += runs ? "09"[below(2)] : static_cast<char>('0' + below(10));
        return text;
    };
    const auto pick_suffix = [&]() -> schoolbook::suffix {
        constexpr std::string_view decimal = "num kMGTPE";
        constexpr std::string_view binary = "KMGTPE";
        const auto kind = below(3);
        if (kind == 0) {
            const auto index = below(decimal.size());
            const auto letter = decimal[static_cast<std::size_t>(index)];
            return {letter == ' ' ? "" : std::string(1, letter), index * 3 - 9, 0, false};
        }
        if (kind == 1) {
            const auto index = below(binary.size());
            return {std::string(1, binary[static_cast<std::size_t>(index)]) + "i", 0,
                    index * 10 + 10, false};
        }
        const auto exponent = below(80) - 40;
        const auto sign = exponent >= 0 && below(2) == 0 ? "+"s : ""s;
        return {(below(2) == 0 ? "e" : "E") + sign + std::to_string(exponent), exponent, 0, true};
    };
    for (int round = 0; round < 6000; ++round) {
        const auto whole = "0" + digits(below(4) == 0 ? 30 : 6);
        const auto fraction = digits(below(4) == 0 ? 90 : 12);
        const auto unit = pick_suffix();
        const auto sign = below(3);
        const auto text = (sign == 0   ? "-"
                           : sign == 1 ? "+"
                                       : "") +
                          whole + (fraction.empty() && below(2) == 0 ? "" : "." + fraction) +
                          unit.text;
        CAPTURE(text);
        const auto expected = schoolbook::expected(sign == 0, whole, fraction, unit);
        const auto value = read(text);
        const auto milli = value.exact_milli();
        REQUIRE(value.to_text() == expected.text);
        REQUIRE((milli ? std::to_string(*milli) : "OVERFLOW"s) == expected.milli);
        const auto again = read(expected.text);
        REQUIRE(again == value);
        REQUIRE(again.to_text() == expected.text);
    }
}

TEST_CASE("rounding down and rounding up differ by one exactly where a fraction is cut off") {
    std::mt19937_64 random{7};
    for (int round = 0; round < 4000; ++round) {
        const auto nano = static_cast<std::int64_t>(random() >> (1 + random() % 40));
        const auto value = read(std::to_string(nano) + "n");
        CAPTURE(nano);
        REQUIRE(value.milli_down() == nano / 1'000'000);
        REQUIRE(value.milli_up() == nano / 1'000'000 + (nano % 1'000'000 != 0 ? 1 : 0));
        REQUIRE(value.units_down() == nano / 1'000'000'000);
        REQUIRE(value.units_up() == nano / 1'000'000'000 + (nano % 1'000'000'000 != 0 ? 1 : 0));
    }
}

TEST_CASE("any short text of the alphabet is an error or reads back as itself") {
    constexpr std::string_view alphabet = "019.+-eEimkKP \x80";
    std::size_t valid = 0;
    for (std::size_t number = 0; number < 15 * 15 * 15 * 15; ++number) {
        std::string text;
        for (auto rest = number; rest > 0; rest /= alphabet.size())
            text += alphabet[rest % alphabet.size()];
        const auto parsed = muster::parse_quantity(text);
        if (!parsed) {
            REQUIRE(parsed.error().offset <= text.size());
            continue;
        }
        ++valid;
        REQUIRE(read(parsed->to_text()) == *parsed);
    }
    CHECK(valid > 1000);
}

} // namespace resource_quantity_test
