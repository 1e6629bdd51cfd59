// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// A measured figure and what it should reach.
struct figure {
    std::string what;
    std::string unit;
    /// Nothing when it could not be measured here.
    std::optional<double> measured;
    /// Nothing when it is for orientation.
    std::optional<double> target;
    /// The target is a floor, not a ceiling.
    bool at_least = false;

    [[nodiscard]] const char* met() const noexcept {
        if (!target)
            return "-";
        if (!measured)
            return "not measured";
        return (at_least ? *measured >= *target : *measured <= *target) ? "yes" : "NO";
    }
};

/// All that one process found out: figures, lines of detail, and facts about the machine.
class report {
public:
    void at_least(std::string what, std::string unit, std::optional<double> measured,
                  double target) {
        figures_.push_back({std::move(what), std::move(unit), measured, target, true});
    }
    void at_most(std::string what, std::string unit, std::optional<double> measured,
                 double target) {
        figures_.push_back({std::move(what), std::move(unit), measured, target, false});
    }
    void orientation(std::string what, std::string unit, std::optional<double> measured) {
        figures_.push_back({std::move(what), std::move(unit), measured, std::nullopt, false});
    }
    void fact(std::string what, std::string value) {
        facts_.emplace_back(std::move(what), std::move(value));
    }

    /// One row of a detail table; `cells` are name and text in the order of the columns.
    void detail(const std::string& table, std::vector<std::pair<std::string, std::string>> cells) {
        for (auto& [name, rows] : details_)
            if (name == table) {
                rows.push_back(std::move(cells));
                return;
            }
        details_.push_back({table, {std::move(cells)}});
    }

    [[nodiscard]] std::size_t missed() const;
    void print() const;
    /// False when the file cannot be written.
    [[nodiscard]] bool write_json(const std::string& path) const;

private:
    using row = std::vector<std::pair<std::string, std::string>>;

    std::vector<figure> figures_;
    std::vector<std::pair<std::string, std::string>> facts_;
    std::vector<std::pair<std::string, std::vector<row>>> details_;
};

/// A number as the tables show it: three digits that count.
[[nodiscard]] std::string text(double value);

} // namespace bench
