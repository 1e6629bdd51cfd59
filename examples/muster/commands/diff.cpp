// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <muster/document/diagnostic.hpp>

#include "../options/look.hpp"
#include "../print/plan_diff.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "diff_text.hpp"
#include "terminal.hpp"

namespace cli {
namespace {

struct diff_options {
    /// The plans before and after.
    std::vector<std::string> files;
    look how;
};

int run_diff(const diff_options& options) {
    muster::codec::diagnostics found;
    const plan_digest before = read_digest(options.files.at(0), found);
    const plan_digest after = read_digest(options.files.at(1), found);
    if (!found.ok()) {
        complain(found, false);
        return code_of_failure(found);
    }
    return finish(write(diff_text("Diff", {}, before, after, options.how)), false);
}

} // namespace

runner declare_diff(CLI::App& to) {
    const auto options = std::make_shared<diff_options>();
    to.add_option("files", options->files, "The plans before and after")
        ->required()
        ->expected(2)
        ->type_name("A.json B.json");
    add_look(to, options->how, {"table", "wide", "json", "yaml"});
    end_help(to, {.examples = {"muster plan -f cluster.yaml -o json > before.json",
                               "muster plan -f cluster.yaml -o json --preempt queue > after.json",
                               "muster diff before.json after.json"},
                  .codes = {invalid_input}});
    return [options] { return run_diff(*options); };
}

} // namespace cli
