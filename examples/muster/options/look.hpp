// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "../print/output.hpp"

namespace cli {

/// How a command prints its result.
struct look {
    std::string format = "table";
    bool no_headers = false;
    std::string sort_by;
    std::vector<std::string> columns;

    [[nodiscard]] table_form form() const;
};

/// Adds `-o` with the given formats, and `--no-headers`.
void add_look(CLI::App& to, look& how, const std::vector<std::string>& formats);

/// Adds `--sort-by` and `--columns`. These are wrong usage with formats that have no columns.
void add_columns(CLI::App& to, look& how);

} // namespace cli
