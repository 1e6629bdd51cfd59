// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "../options/choices.hpp"
#include "../print/output.hpp"
#include "../print/plan_diff.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "terminal.hpp"

namespace cli {

runner declare_schema(CLI::App& to) {
    const auto output = std::make_shared<std::string>();
    to.add_option("output", *output, "Command whose output to describe")
        ->required()
        ->check(one_of(std::vector<std::string>{"plan", "diff"}));
    end_help(to, {.examples = {"muster schema plan"}});
    return
        [output] { return finish(write(*output == "plan" ? plan_schema() : diff_schema), false); };
}

} // namespace cli
