// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/base/checked.hpp>

namespace muster {
inline namespace v0_1 {

/// How a quantity is written: `12M`, `12e6` or `12Mi`.
enum class quantity_format : std::uint8_t { decimal_si, decimal_exponent, binary_si };

/// What an int64 amount counts: whole units, or thousandths of one.
enum class quantity_scale : std::uint8_t { units, milli };

/// An exact Kubernetes `resource.Quantity`: a whole number of billionths, and the format in which
/// it is written. Quantities compare by value, whatever their formats. Stores significant digits
/// only, so a power of ten needs no memory.
class quantity {
public:
    /// Zero.
    quantity() = default;

    /// The exact amount. O(1).
    quantity(std::int64_t amount, quantity_scale scale, quantity_format format)
        : quantity(amount < 0, magnitude_text(amount), scale == quantity_scale::milli ? -3 : 0,
                   format) {}

    /// `digits` times ten to the `exponent`, negated if `negative`. Parts finer than a billionth
    /// are rounded away from zero, so that only zero becomes zero. Preconditions: `digits` has only
    /// '0' to '9' (empty = zero); the exponent's magnitude is below 2^62. O(digits).
    quantity(bool negative, std::string digits, std::int64_t exponent, quantity_format format)
        : digits_(std::move(digits)), exponent_(exponent), negative_(negative), format_(format) {
        strip_zeros();
        if (exponent_ < finest_exponent && !digits_.empty()) {
            round_up_to_finest();
            strip_zeros();
        }
        if (digits_.empty()) {
            exponent_ = 0;
            negative_ = false;
        }
    }

    [[nodiscard]] quantity_format format() const noexcept { return format_; }
    [[nodiscard]] bool is_zero() const noexcept { return digits_.empty(); }

    /// -1, 0 or 1.
    [[nodiscard]] int sign() const noexcept { return is_zero() ? 0 : negative_ ? -1 : 1; }

    /// Returns thousandths, rounded away from zero and clamped to int64. For requests: only zero
    /// becomes zero. O(1), as are the conversions below.
    [[nodiscard]] std::int64_t milli_up() const noexcept { return saturate(rounded(3, true)); }

    /// Returns thousandths, rounded toward zero and clamped to int64. For capacities.
    [[nodiscard]] std::int64_t milli_down() const noexcept { return saturate(rounded(3, false)); }

    /// Returns whole units, rounded away from zero and clamped to int64. For requests.
    [[nodiscard]] std::int64_t units_up() const noexcept { return saturate(rounded(0, true)); }

    /// Returns whole units, rounded toward zero and clamped to int64. For capacities.
    [[nodiscard]] std::int64_t units_down() const noexcept { return saturate(rounded(0, false)); }

    /// Returns billionths: exact if their magnitude is below 10^37, else clamped to 10^37. Sums of
    /// 17 never overflow.
    [[nodiscard]] int128 billionths() const noexcept {
        constexpr std::int64_t kept_digits = 37;
        int128 magnitude = 1;
        if (whole_digits() - finest_exponent > kept_digits) {
            for (std::int64_t digit = 0; digit < kept_digits; ++digit)
                magnitude *= 10;
            return negative_ ? -magnitude : magnitude;
        }
        magnitude = 0;
        for (const auto digit : digits_)
            magnitude = magnitude * 10 + (digit - '0');
        if (!is_zero())
            for (auto place = exponent_; place > finest_exponent; --place)
                magnitude *= 10;
        return negative_ ? -magnitude : magnitude;
    }

    /// Like milli_up(), but nullopt if the value does not fit int64.
    [[nodiscard]] std::optional<std::int64_t> exact_milli() const noexcept {
        const auto wide = rounded(3, true);
        if (saturate(wide) != wide)
            return std::nullopt;
        return static_cast<std::int64_t>(wide);
    }

    /// Returns the canonical text: no fraction, and the largest suffix or exponent that leaves an
    /// integer. A binary quantity below 1024 or with a fraction is written in decimal. Beyond the
    /// largest suffix zeros are written out: at most two more than in the text that was parsed.
    /// parse_quantity() restores the same value. O(digits).
    [[nodiscard]] std::string to_text() const {
        if (is_zero())
            return "0";
        return is_binary_text() ? binary_text() : decimal_text();
    }

    friend bool operator==(const quantity& lhs, const quantity& rhs) noexcept {
        return lhs.negative_ == rhs.negative_ && lhs.exponent_ == rhs.exponent_ &&
               lhs.digits_ == rhs.digits_;
    }

    friend std::weak_ordering operator<=>(const quantity& lhs, const quantity& rhs) noexcept {
        if (lhs.sign() != rhs.sign() || lhs.is_zero())
            return lhs.sign() <=> rhs.sign();
        return lhs.negative_ ? compare_magnitudes(rhs, lhs) : compare_magnitudes(lhs, rhs);
    }

private:
    static constexpr std::int64_t finest_exponent = -9;
    static constexpr std::int64_t largest_suffix_exponent = 18;
    /// The largest multiple of three that parse_quantity() accepts as an exponent.
    static constexpr std::int64_t largest_written_exponent = 2147483646;

    static std::string magnitude_text(std::int64_t amount) {
        const auto magnitude = static_cast<std::uint64_t>(amount);
        return std::to_string(amount < 0 ? 0 - magnitude : magnitude);
    }

    /// Digits before the decimal point; negative if zeros follow the point first.
    std::int64_t whole_digits() const noexcept {
        return static_cast<std::int64_t>(digits_.size()) + exponent_;
    }

    static std::weak_ordering compare_magnitudes(const quantity& lhs,
                                                 const quantity& rhs) noexcept {
        if (const auto order = lhs.whole_digits() <=> rhs.whole_digits(); order != 0)
            return order;
        return lhs.digits_.compare(rhs.digits_) <=> 0;
    }

    /// Normalizes: the first and the last digit are not zero.
    void strip_zeros() {
        const auto last = digits_.find_last_not_of('0');
        if (last == std::string::npos) {
            digits_.clear();
            return;
        }
        exponent_ += static_cast<std::int64_t>(digits_.size() - last) - 1;
        digits_.erase(last + 1);
        digits_.erase(0, digits_.find_first_not_of('0'));
    }

    /// Precondition: the digits are stripped, so the part that is cut off is not zero.
    void round_up_to_finest() {
        const auto kept = whole_digits() - finest_exponent;
        digits_.erase(kept > 0 ? static_cast<std::size_t>(kept) : 0);
        exponent_ = finest_exponent;
        const auto last_below_nine = digits_.find_last_not_of('9');
        if (last_below_nine == std::string::npos) {
            exponent_ += static_cast<std::int64_t>(digits_.size());
            digits_.assign(1, '1');
        } else {
            exponent_ += static_cast<std::int64_t>(digits_.size() - last_below_nine) - 1;
            digits_.erase(last_below_nine + 1);
            ++digits_.back();
        }
    }

    /// Returns the value times ten to the `shift`, as an integer: exact if it fits int64, else any
    /// value beyond int64.
    int128 rounded(int shift, bool away_from_zero) const noexcept {
        // Every number of 20 digits is beyond int64.
        constexpr std::int64_t enough = 20;
        auto wanted = whole_digits() + shift;
        if (wanted > enough)
            wanted = enough;
        const auto size = static_cast<std::int64_t>(digits_.size());
        int128 magnitude = 0;
        for (std::int64_t index = 0; index < wanted; ++index)
            magnitude = magnitude * 10 +
                        (index < size ? digits_[static_cast<std::size_t>(index)] - '0' : 0);
        if (away_from_zero && size > 0 && size > wanted)
            ++magnitude;
        return negative_ ? -magnitude : magnitude;
    }

    bool is_binary_text() const noexcept {
        if (format_ != quantity_format::binary_si || exponent_ < 0)
            return false;
        const auto units = rounded(0, false);
        return saturate(units) == units && (units >= 1024 || units <= -1024);
    }

    std::string binary_text() const {
        auto units = units_down();
        std::size_t power = 0;
        for (; units % 1024 == 0; units /= 1024)
            ++power;
        auto text = std::to_string(units);
        if (power > 0) {
            text += "KMGTPE"[power - 1];
            text += 'i';
        }
        return text;
    }

    std::string decimal_text() const {
        const bool with_exponent = format_ == quantity_format::decimal_exponent;
        auto printed = exponent_ - ((exponent_ % 3) + 3) % 3;
        const auto largest = with_exponent ? largest_written_exponent : largest_suffix_exponent;
        if (printed > largest)
            printed = largest;
        std::string text = negative_ ? "-" : "";
        text += digits_;
        text.append(static_cast<std::size_t>(exponent_ - printed), '0');
        if (printed == 0)
            return text;
        if (with_exponent)
            return text + 'e' + std::to_string(printed);
        return text + "num kMGTPE"[(printed - finest_exponent) / 3];
    }

    std::string digits_;
    std::int64_t exponent_ = 0;
    bool negative_ = false;
    quantity_format format_ = quantity_format::decimal_si;
};

/// Returns the canonical text of an amount: `600M` for 600000000 units in decimal_si.
[[nodiscard]] inline std::string quantity_text(std::int64_t amount, quantity_scale scale,
                                               quantity_format format) {
    return quantity{amount, scale, format}.to_text();
}

} // namespace v0_1
} // namespace muster
