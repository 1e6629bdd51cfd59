// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "../options/cluster.hpp"
#include "../options/look.hpp"
#include "../options/reading.hpp"
#include "../print/draw.hpp"
#include "../print/output.hpp"
#include "../print/queue_report.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "terminal.hpp"
#include "with_report.hpp"

namespace cli {
namespace {

struct queues_options {
    request asked;
    look how;
};

std::string queues_text(const report& made, const look& how) {
    if (how.format == "json")
        return json_text(queues_object(made));
    if (how.format == "yaml")
        return yaml_text(queues_object(made));
    if (how.format == "svg")
        return draw_queues(made);
    if (how.format != "name")
        return queues_table(made, how.format == "wide", how.form());
    std::string lines;
    for (const queue_line& queue : made.queues)
        lines += queue.name.empty() ? "" : queue.name + "\n";
    return lines;
}

int run_queues(queues_options options) {
    options.asked.reasons = false;
    return with_report(options.asked, [&](const report& made) {
        return finish(write(queues_text(made, options.how)), false);
    });
}

} // namespace

runner declare_queues(CLI::App& to) {
    const auto options = std::make_shared<queues_options>();
    add_cluster(to, options->asked);
    add_rules(to, options->asked.rules);
    add_look(to, options->how, {"table", "wide", "json", "yaml", "name", "csv", "svg"});
    add_columns(to, options->how);
    add_selector(to, options->asked.queues_with,
                 "Print only queues with these labels, in kubectl's syntax: a=b, a!=b, a in (b,c), "
                 "a, !a (default: all)");
    end_help(to, {.examples = {"muster queues -f cluster.yaml -o wide"},
                  .codes = {invalid_input, broken}});
    return [options] { return run_queues(*options); };
}

} // namespace cli
