// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

namespace bench {

namespace {

std::string quoted(const std::string& value) {
    std::string made = "\"";
    for (const char each : value) {
        if (each == '"' || each == '\\')
            made += '\\';
        if (static_cast<unsigned char>(each) >= 0x20U)
            made += each;
    }
    return made + '"';
}

std::string exact(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.9g", value);
    return std::isfinite(value) ? buffer : "null";
}

std::string exact(const std::optional<double>& value) {
    return value ? exact(*value) : "null";
}

/// Rows of equal columns, each as wide as its widest cell; the first to the left, others to the
/// right.
void print_table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()), 0);
        for (std::size_t column = 0; column < row.size(); ++column)
            widths[column] = std::max(widths[column], row[column].size());
    }
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            const std::string padding(widths[column] - row[column].size(), ' ');
            line += column == 0 ? row[column] + padding : "  " + padding + row[column];
        }
        std::printf("%s\n", line.c_str());
    }
}

} // namespace

std::string text(double value) {
    char buffer[32];
    const double size = std::fabs(value);
    if (size >= 100.0 || value == 0.0)
        std::snprintf(buffer, sizeof buffer, "%.0f", value);
    else if (size >= 10.0)
        std::snprintf(buffer, sizeof buffer, "%.1f", value);
    else
        std::snprintf(buffer, sizeof buffer, "%.2f", value);
    return buffer;
}

std::size_t report::missed() const {
    std::size_t count = 0;
    for (const figure& each : figures_)
        count += std::string(each.met()) == "NO" ? 1U : 0U;
    return count;
}

void report::print() const {
    for (const auto& [what, value] : facts_)
        std::printf("%s: %s\n", what.c_str(), value.c_str());
    std::vector<std::vector<std::string>> rows{{"what", "unit", "measured", "target", "met"}};
    for (const figure& each : figures_)
        rows.push_back({each.what, each.unit, each.measured ? text(*each.measured) : "-",
                        each.target ? (each.at_least ? ">= " : "<= ") + text(*each.target) : "-",
                        each.met()});
    std::printf("\n");
    print_table(rows);
    for (const auto& [name, details] : details_) {
        std::printf("\n%s\n", name.c_str());
        rows.assign(1, {});
        for (const auto& [title, value] : details.front())
            rows.front().push_back(title);
        for (const row& each : details) {
            rows.emplace_back();
            for (const auto& [title, value] : each)
                rows.back().push_back(value);
        }
        print_table(rows);
    }
}

bool report::write_json(const std::string& path) const {
    std::ofstream out(path);
    out << "{\n";
    for (const auto& [what, value] : facts_)
        out << "  " << quoted(what) << ": " << quoted(value) << ",\n";
    out << "  \"figures\": [";
    const char* separator = "\n";
    for (const figure& each : figures_) {
        out << separator << "    {\"what\": " << quoted(each.what)
            << ", \"unit\": " << quoted(each.unit) << ", \"measured\": " << exact(each.measured)
            << ", \"target\": " << exact(each.target)
            << ", \"at_least\": " << (each.at_least ? "true" : "false")
            << ", \"met\": " << quoted(each.met()) << "}";
        separator = ",\n";
    }
    out << "\n  ],\n  \"details\": {";
    separator = "\n";
    for (const auto& [name, details] : details_) {
        out << separator << "    " << quoted(name) << ": [";
        const char* between = "\n";
        for (const row& each : details) {
            out << between << "      {";
            const char* comma = "";
            for (const auto& [title, value] : each) {
                out << comma << quoted(title) << ": " << quoted(value);
                comma = ", ";
            }
            out << "}";
            between = ",\n";
        }
        out << "\n    ]";
        separator = ",\n";
    }
    out << "\n  }\n}\n";
    out.close();
    return static_cast<bool>(out);
}

} // namespace bench
