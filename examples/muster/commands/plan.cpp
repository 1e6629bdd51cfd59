// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "../options/cluster.hpp"
#include "../options/look.hpp"
#include "../options/reading.hpp"
#include "../print/draw.hpp"
#include "../print/output.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "terminal.hpp"
#include "with_report.hpp"

namespace cli {
namespace {

struct plan_options {
    request asked;
    look how;
};

std::string plan_text(const report& made, const look& how) {
    if (how.format == "json")
        return json_text(plan_object(made));
    if (how.format == "yaml")
        return yaml_text(plan_object(made));
    if (how.format == "name")
        return names(made);
    if (how.format == "svg")
        return draw_nodes(made);
    if (how.format == "pods")
        return pods_table(made, how.form());
    std::string table = plan_table(made, how.form());
    if (how.format == "wide")
        table += "\n" + members_table(made, !how.no_headers);
    return table;
}

int run_plan(plan_options options) {
    const look& how = options.how;
    options.asked.reasons = how.format != "pods" && how.format != "name";
    options.asked.node_lines = how.format == "svg";
    return with_report(options.asked, [&](const report& made) {
        return finish(write(plan_text(made, how)), made.pods_pending > 0);
    });
}

} // namespace

runner declare_plan(CLI::App& to) {
    const auto options = std::make_shared<plan_options>();
    add_cluster(to, options->asked);
    add_rules(to, options->asked.rules);
    add_look(to, options->how, {"table", "wide", "pods", "json", "yaml", "name", "csv", "svg"});
    add_columns(to, options->how);
    add_group_selector(to, options->asked);
    end_help(to,
             {.examples = {"muster plan -f cluster.yaml", "muster plan -f cluster.yaml -o wide"},
              .codes = {invalid_input, pending, broken}});
    return [options] { return run_plan(*options); };
}

} // namespace cli
