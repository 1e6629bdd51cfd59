// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "report.hpp"

namespace cli {

/// Columns as kubectl prints them: no borders, three spaces between, nothing after the last.
class table {
public:
    explicit table(std::vector<std::string> header) : columns_(header.size()) {
        rows_.push_back(std::move(header));
    }

    /// An empty cell prints `<none>`.
    void add(std::vector<std::string> cells);
    [[nodiscard]] std::string text(bool with_header = true) const;

private:
    std::size_t columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Indented by two, keys in the order of insertion, with a line end.
[[nodiscard]] std::string json_text(const boost::json::value& value);
/// The same as YAML.
[[nodiscard]] std::string yaml_text(const boost::json::value& value);

/// With its first letter in upper case.
[[nodiscard]] std::string capitalised(std::string text);

/// The plan as an object of muster.dev/v1alpha1, as `muster schema plan` describes it.
[[nodiscard]] boost::json::object plan_object(const report& made);
[[nodiscard]] boost::json::object group_object(const group_line& group);

/// Its groups, a line each.
[[nodiscard]] std::string plan_table(const report& made, bool with_header);
/// Their pods, a line each.
[[nodiscard]] std::string members_table(const report& made, bool with_header);
/// All pods as `kubectl get pods` would show them once the plan is carried out.
[[nodiscard]] std::string pods_table(const report& made, bool with_header);
/// `namespace/name` of each group.
[[nodiscard]] std::string names(const report& made);
/// Why the group does not start.
[[nodiscard]] std::string explanation(const group_line& group, const request& asked,
                                      bool with_header);

/// The JSON Schema of `plan_object`.
extern const char* const plan_schema;

} // namespace cli
