// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/adapter/span_histogram.hpp>
#include <muster/base/assert.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

using adapter::span_histogram;

/// Writes metrics in the Prometheus text format (0.0.4). Values in, text out: it keeps no counters.
/// Names are the caller's own and must be valid; values of labels may be any text.
class metrics_writer {
public:
    using labels = std::vector<std::pair<std::string_view, std::string_view>>;

    /// What follows are samples of this family. A counter's name ends in _total.
    void family(std::string_view name, std::string_view type, std::string_view help) {
        MUSTER_ASSERT(type != "counter" || name.ends_with("_total"), "counters are totals");
        name_ = name;
        text_.append("# HELP ").append(name).append(" ").append(help);
        text_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
    }

    void sample(std::uint64_t value, const labels& of = {}) {
        line(name_, of, std::to_string(value));
    }
    void sample(std::int64_t value, const labels& of = {}) {
        line(name_, of, std::to_string(value));
    }
    /// Writes an amount given in thousandths (as cpu is) in whole units.
    void thousandths(std::int64_t amount, const labels& of = {}) {
        line(name_, of, decimal_text(amount, 3));
    }
    /// A span of nanoseconds, as seconds.
    void seconds(std::int64_t span, const labels& of = {}) { line(name_, of, seconds_text(span)); }

    template<std::size_t Bounds>
    void histogram(const span_histogram<Bounds>& spans, const labels& of = {}) {
        std::uint64_t below = 0;
        for (std::size_t at = 0; at <= Bounds; ++at) {
            below += spans.counts()[at];
            const std::string bound = at < Bounds ? seconds_text(spans.bounds()[at]) : "+Inf";
            labels with = of;
            with.emplace_back("le", bound);
            line(name_ + "_bucket", with, std::to_string(below));
        }
        line(name_ + "_sum", of, seconds_text(spans.sum()));
        line(name_ + "_count", of, std::to_string(below));
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    static std::string seconds_text(std::int64_t span) { return decimal_text(span, 9); }

    /// Returns `amount` / 10^`places` in decimal, exact and without trailing zeros.
    static std::string decimal_text(std::int64_t amount, std::size_t places) {
        const bool negative = amount < 0;
        const auto size =
            negative ? 0 - static_cast<std::uint64_t>(amount) : static_cast<std::uint64_t>(amount);
        std::uint64_t unit = 1;
        for (std::size_t place = 0; place < places; ++place)
            unit *= 10;
        std::string text = (negative ? "-" : "") + std::to_string(size / unit);
        if (const std::uint64_t rest = size % unit; rest > 0) {
            std::string digits = std::to_string(rest);
            digits.insert(0, places - digits.size(), '0');
            digits.erase(digits.find_last_not_of('0') + 1);
            text += "." + digits;
        }
        return text;
    }

    void line(const std::string& name, const labels& of, const std::string& value) {
        text_ += name;
        char before = '{';
        for (const auto& [key, text] : of) {
            text_ += before;
            text_.append(key).append("=\"");
            for (const char c : text) {
                if (c == '\n') {
                    text_ += "\\n";
                    continue;
                }
                if (c == '\\' || c == '"')
                    text_ += '\\';
                text_ += c;
            }
            text_ += '"';
            before = ',';
        }
        if (!of.empty())
            text_ += '}';
        text_ += ' ' + value + '\n';
    }

    std::string name_;
    std::string text_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
