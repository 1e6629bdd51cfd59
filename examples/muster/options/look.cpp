// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "choices.hpp"
#include "look.hpp"

namespace cli {

table_form look::form() const {
    table_form made(!no_headers, format == "csv");
    made.sort_by = sort_by;
    made.columns = columns;
    return made;
}

void add_look(CLI::App& to, look& how, const std::vector<std::string>& formats) {
    to.add_option("-o,--output", how.format, "Output format")
        ->check(one_of(formats))
        ->capture_default_str();
    to.add_flag("--no-headers", how.no_headers, "Print tables without the header line");
}

void add_columns(CLI::App& to, look& how) {
    to.add_option("--sort-by", how.sort_by,
                  "Column to sort tables and CSV by, numbers as numbers; the sort is stable "
                  "(default: the order of the plan)")
        ->type_name("COLUMN");
    to.add_option("--columns", how.columns,
                  "Columns of tables and CSV, in this order (default: all)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("COLUMN,COLUMN,...");
    to.parse_complete_callback([&how] {
        const bool has_columns = how.format == "table" || how.format == "wide" ||
                                 how.format == "pods" || how.format == "csv";
        if (!has_columns && !(how.sort_by.empty() && how.columns.empty()))
            throw CLI::ValidationError("-o " + how.format +
                                       " has no columns (expected table, wide, pods or csv with "
                                       "--sort-by and --columns)");
    });
}

} // namespace cli
