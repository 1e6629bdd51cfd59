// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

/// Text as XML carries it; what XML cannot carry becomes U+FFFD.
[[nodiscard]] inline std::string xml_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
                out += "\xEF\xBF\xBD";
            else
                out += c;
        }
    }
    return out;
}

/// A drawing that stands alone: whole pixels, no fonts or styles from elsewhere, the same bytes for
/// the same calls.
class svg {
public:
    svg(std::int64_t width, std::int64_t height, std::string_view title)
        : out_("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) +
               "\" height=\"" + std::to_string(height) + "\" viewBox=\"0 0 " +
               std::to_string(width) + " " + std::to_string(height) +
               "\" font-family=\"sans-serif\" font-size=\"11\">\n<title>" + xml_text(title) +
               "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n") {}

    /// A filled rectangle; with a tooltip, and outlined, when these are given; the outline in
    /// dashes when these are wanted.
    void rect(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
              std::string_view fill, std::string_view tooltip = {}, std::string_view stroke = {},
              bool dashed = false) {
        out_ += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
                std::to_string(width) + "\" height=\"" + std::to_string(height) + "\" fill=\"" +
                std::string(fill) + "\"";
        if (!stroke.empty())
            out_ += " stroke=\"" + std::string(stroke) + "\"";
        if (dashed)
            out_ += " stroke-dasharray=\"3 2\"";
        close("rect", tooltip);
    }

    /// Text that starts at x, or ends there, on the base line y.
    void text(std::int64_t x, std::int64_t y, std::string_view what, bool ends_there = false,
              std::string_view tooltip = {}) {
        out_ += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\"";
        if (ends_there)
            out_ += " text-anchor=\"end\"";
        out_ += ">";
        if (!tooltip.empty())
            out_ += "<title>" + xml_text(tooltip) + "</title>";
        out_ += xml_text(what) + "</text>\n";
    }

    /// Adds bold, larger text that starts at x on the base line y.
    void heading(std::int64_t x, std::int64_t y, std::string_view what) {
        out_ += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
                "\" font-size=\"13\" font-weight=\"bold\">" + xml_text(what) + "</text>\n";
    }

    [[nodiscard]] std::string finish() && { return std::move(out_) + "</svg>\n"; }

private:
    void close(std::string_view name, std::string_view tooltip) {
        if (tooltip.empty())
            out_ += "/>\n";
        else
            out_ += "><title>" + xml_text(tooltip) + "</title></" + std::string(name) + ">\n";
    }

    std::string out_;
};

} // namespace cli
