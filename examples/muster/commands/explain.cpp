// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <muster/document/nearest.hpp>

#include "../options/cluster.hpp"
#include "../options/look.hpp"
#include "../options/reading.hpp"
#include "../print/output.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "terminal.hpp"
#include "with_report.hpp"

namespace cli {
namespace {

struct explain_options {
    request asked;
    look how;
    /// NAME or NAMESPACE/NAME of a group; empty: all groups that wait.
    std::string group;
    std::optional<std::int64_t> tries;
};

/// Complains that the report has no such group, and suggests the nearest name.
int no_such_group(const report& made, const std::string& wanted) {
    const bool with_namespace = wanted.find('/') != std::string::npos;
    std::vector<std::string> known;
    for (const group_line& group : made.groups)
        known.push_back(with_namespace ? group.name_space + "/" + group.name : group.name);
    complain("there is no group " + muster::codec::in_quotes(wanted) +
             " with something to decide (expected NAME or NAMESPACE/NAME)" +
             muster::codec::suggestion(wanted, known));
    return usage;
}

bool is_explained(const group_line& group, const std::string& wanted) {
    if (!wanted.empty())
        return wanted == group.name || wanted == group.name_space + "/" + group.name;
    return !group.starts() || !group.lost.empty() || group.nominated_pods() > 0 ||
           !group.surplus.empty();
}

int print_explanations(const report& made, const explain_options& options) {
    const std::string& wanted = options.group;
    boost::json::array objects;
    std::string out;
    bool waits = false;
    for (const group_line& group : made.groups) {
        if (!is_explained(group, wanted))
            continue;
        waits = waits || group.waits + group.gated > 0;
        objects.push_back(group_object(group));
        out +=
            (out.empty() ? "" : "\n") + explanation(group, options.asked, !options.how.no_headers);
    }
    if (objects.empty() && !wanted.empty())
        return no_such_group(made, wanted);
    if (options.how.format == "json")
        out = json_text(objects);
    else if (options.how.format == "yaml")
        out = yaml_text(objects);
    else if (objects.empty())
        complain("none of the groups asked for waits");
    return finish(write(out), waits || (wanted.empty() && made.pods_pending > 0));
}

int run_explain(explain_options options) {
    request& asked = options.asked;
    asked.headlines = options.how.format == "table";
    asked.changes_of = options.group;
    asked.surplus_reasons = true;
    asked.forecast = true;
    asked.tries = options.tries;
    return with_report(asked,
                       [&](const report& made) { return print_explanations(made, options); });
}

} // namespace

runner declare_explain(CLI::App& to) {
    const auto options = std::make_shared<explain_options>();
    add_cluster(to, options->asked);
    add_rules(to, options->asked.rules);
    add_look(to, options->how, {"table", "json", "yaml"});
    add_group_selector(to, options->asked);
    to.add_option("group", options->group, "Group to explain (default: all groups that wait)")
        ->type_name("NAME|NAMESPACE/NAME");
    to.add_option("--tries", options->tries,
                  "Maximum number of cycles to simulate for each group in search of changes "
                  "that would start it, and four times as many in total; 0 = do not search "
                  "(default: 20 to 500, fewer in a large cluster)")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30U))
        ->type_name("N");
    end_help(to, {.examples = {"muster explain -f cluster.yaml",
                               "muster explain trainer -f cluster.yaml"},
                  .codes = {invalid_input, pending, broken}});
    return [options] { return run_explain(*options); };
}

} // namespace cli
