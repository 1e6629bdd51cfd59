// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "../plan/report.hpp"

namespace cli {

/// How tables print: with their first line or without, and as comma-separated values (RFC 4180, but
/// with plain line ends) or for people.
struct table_form {
    table_form(bool with_header, bool as_csv = false) : header(with_header), csv(as_csv) {}
    bool header;
    bool csv;
    /// The column by which rows are sorted, and those that are printed; empty: as they are.
    std::string sort_by{};
    std::vector<std::string> columns{};
};

/// Columns as kubectl prints them: no borders, three spaces between, nothing after the last.
class table {
public:
    explicit table(std::vector<std::string> header) : columns_(header.size()) {
        rows_.push_back(std::move(header));
    }

    /// An empty cell prints `<none>`, or nothing in CSV.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// Throws std::invalid_argument for a column that it does not have.
    [[nodiscard]] std::string text(const table_form& form = true) const;

private:
    [[nodiscard]] table arranged(const table_form& form) const;
    [[nodiscard]] std::size_t column_of(const std::string& name) const;
    [[nodiscard]] std::string csv(std::size_t first) const;

    std::size_t columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Indented by two, keys in the order of insertion, with a line end.
/// The thousandths of GPUs as a quantity, e.g. 3500m.
[[nodiscard]] std::string gpus_text(std::int64_t milli);
[[nodiscard]] boost::json::value gpus_value(const muster::gpu_use& use);
[[nodiscard]] std::string json_text(const boost::json::value& value);
/// The same as YAML.
[[nodiscard]] std::string yaml_text(const boost::json::value& value);

[[nodiscard]] boost::json::value or_null(const std::optional<std::string>& text);

/// With its first letter in upper case.
[[nodiscard]] std::string capitalised(std::string text);

/// The plan as an object of muster.dev/v1alpha1, as `muster schema plan` describes it.
[[nodiscard]] boost::json::object plan_object(const report& made);
[[nodiscard]] boost::json::object group_object(const group_line& group);

/// Its groups, a line each.
[[nodiscard]] std::string plan_table(const report& made, const table_form& form);
/// Their pods, a line each.
[[nodiscard]] std::string members_table(const report& made, bool with_header);
/// All pods as `kubectl get pods` would show them once the plan is carried out.
[[nodiscard]] std::string pods_table(const report& made, const table_form& form);
/// `namespace/name` of each group.
[[nodiscard]] std::string names(const report& made);
/// Why the group does not start.
[[nodiscard]] std::string explanation(const group_line& group, const request& asked,
                                      bool with_header);

/// The JSON Schema of `plan_object`.
[[nodiscard]] std::string plan_schema();

} // namespace cli
