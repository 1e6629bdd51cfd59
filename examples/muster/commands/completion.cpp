// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../options/choices.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "completion_script.hpp"
#include "terminal.hpp"

namespace cli {
namespace {

/// Returns the values that the type name of an option lists, as in `{a,b}`.
std::vector<std::string> listed_values(const std::string& type) {
    std::vector<std::string> values;
    const std::size_t open = type.find(":{");
    if (open == type.npos)
        return values;
    const std::size_t close = type.find('}', open);
    for (std::size_t from = open + 2; from < close;) {
        const std::size_t comma = std::min(type.find(',', from), close);
        values.push_back(type.substr(from, comma - from));
        from = comma + 1;
    }
    return values;
}

known_option describe(const CLI::Option& declared, std::vector<std::string> values) {
    known_option option;
    for (const std::string& name : declared.get_snames())
        option.names.push_back("-" + name);
    for (const std::string& name : declared.get_lnames())
        option.names.push_back("--" + name);
    option.help = declared.get_description();
    option.takes_value = declared.get_items_expected_max() > 0;
    option.is_file = declared.get_type_name().starts_with("FILE");
    option.values = std::move(values);
    return option;
}

known_command describe(const CLI::App& declared) {
    known_command made;
    made.name = declared.get_name();
    made.help = declared.get_description();
    for (const CLI::Option* option : declared.get_options()) {
        std::vector<std::string> values = listed_values(option->get_type_name());
        if (option->get_positional())
            made.words = std::move(values);
        else
            made.options.push_back(describe(*option, std::move(values)));
    }
    return made;
}

int print_completion(const CLI::App& program, shell which) {
    std::vector<known_command> commands;
    for (const CLI::App* declared : program.get_subcommands(nullptr))
        commands.push_back(describe(*declared));
    return finish(write(completion_script(which, commands)), false);
}

} // namespace

runner declare_completion(CLI::App& to) {
    static const std::map<std::string, shell> shells{
        {"bash", shell::bash}, {"zsh", shell::zsh}, {"fish", shell::fish}};
    const auto which = std::make_shared<shell>(shell::bash);
    add_choice(to, "shell", *which, shells, "Name of the shell");
    to.get_option("shell")->required();
    end_help(to, {.examples = {"source <(muster completion bash)    # or zsh",
                               "muster completion fish | source"}});
    return [which, &to] { return print_completion(*to.get_parent(), *which); };
}

} // namespace cli
