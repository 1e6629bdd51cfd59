// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "../options/cluster.hpp"
#include "../options/look.hpp"
#include "../options/reading.hpp"
#include "../print/output.hpp"
#include "../print/queue_report.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "terminal.hpp"
#include "with_report.hpp"

namespace cli {
namespace {

struct prio_options {
    request asked;
    look how;
};

std::string prio_text(const report& made, const look& how) {
    if (how.format == "json")
        return json_text(prio_object(made));
    if (how.format == "yaml")
        return yaml_text(prio_object(made));
    return prio_table(made, how.form());
}

int run_prio(prio_options options) {
    options.asked.reasons = false;
    return with_report(options.asked, [&](const report& made) {
        return finish(write(prio_text(made, options.how)), false);
    });
}

} // namespace

runner declare_prio(CLI::App& to) {
    const auto options = std::make_shared<prio_options>();
    add_cluster(to, options->asked);
    add_rules(to, options->asked.rules);
    add_look(to, options->how, {"table", "json", "yaml", "csv"});
    add_columns(to, options->how);
    add_group_selector(to, options->asked);
    end_help(to,
             {.notes = "Queues go by their priority, then by their dominant share of their quota "
                       "when\ntheir turn comes (the smaller first); in a queue groups go by "
                       "priority, then\nby age.",
              .examples = {"muster prio -f cluster.yaml"},
              .codes = {invalid_input, broken}});
    return [options] { return run_prio(*options); };
}

} // namespace cli
